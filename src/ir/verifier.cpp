// src/ir/verifier.cpp: one walk over the regions, with the values that are visible and the constructs around.
#include "ir/verifier.h"

#include <vector>

#include "base/error.h"
#include "ir/printer.h"

namespace natif::ir {

namespace {

bool is_int(const Type& type) { return type.kind == Type::Kind::Int; }
bool is_bool(const Type& type) { return type.kind == Type::Kind::Bool; }
bool is_float(const Type& type) { return type.kind == Type::Kind::Float; }

/// What a terminator may leave: the nearest node whose branch it ends, and the nearest loop.
struct Surroundings {
  const Node* branch = nullptr;
  const Node* loop = nullptr;
  bool in_kernel = false;
};

class Verifier {
 public:
  Verifier(const Function& function, const OpCheck& check_op)
      : function_(function), check_op_(check_op), defined_(function.values.size()), visible_(function.values.size()) {}

  void run() {
    const Node whole{.kind = NodeKind::Return, .op = {}, .operands = {}, .results = {}, .attributes = {}, .regions = {}, .span = {}};
    require(function_.tuple || function_.results.size() == 1, whole, "several results that are no tuple");
    for (const Parameter& parameter : function_.parameters) define(whole, parameter.value);
    for (const ValueInfo& info : function_.values)
      if (info.type.rank() > max_rank) fail_verification(function_, whole, "a tensor of more than " + std::to_string(max_rank) + " axes");
    region(whole, function_.body, {});
  }

 private:
  void require(bool holds, const Node& node, const char* rule) const {
    if (!holds) fail_verification(function_, node, rule);
  }

  void define(const Node& node, Value value) {
    require(value < defined_.size(), node, "a value that the function does not have");
    require(!defined_[value], node, "a value that is defined twice");
    defined_[value] = visible_[value] = true;
    scope_.push_back(value);
  }

  const Type& type(Value value) const {
    base::require(value < function_.values.size(), "a value that the function does not have");
    return function_.type(value);
  }

  void require_fits(const Node& node, const std::vector<Value>& from, const std::vector<Value>& to, const char* rule) const {
    require(from.size() == to.size(), node, rule);
    for (size_t i = 0; i < from.size(); ++i) require(fits(type(from[i]), type(to[i])), node, rule);
  }

  void region(const Node& owner, const Region& region, const Surroundings& around) {
    const size_t outer = scope_.size();
    for (Value argument : region.arguments) define(owner, argument);
    require(!region.nodes.empty() && is_terminator(region.nodes.back().kind), owner, "a region that ends in no terminator");
    for (const Node& node : region.nodes) {
      require(!is_terminator(node.kind) || &node == &region.nodes.back(), node, "a terminator that is not the last node of its region");
      for (Value operand : node.operands)
        require(operand < visible_.size() && visible_[operand], node, "an operand that is not defined at this place");
      check(node, around);
      for (Value result : node.results) define(node, result);
    }
    for (; scope_.size() > outer; scope_.pop_back()) visible_[scope_.back()] = false;
  }

  void check(const Node& node, const Surroundings& around) {
    switch (node.kind) {
      case NodeKind::Op:
        return check_op(node);
      case NodeKind::Literal:
        return check_literal(node);
      case NodeKind::Scalar:
        return check_scalar(node);
      case NodeKind::ToTensor:
        return check_to_tensor(node);
      case NodeKind::Dimension:
        return check_dimension(node);
      case NodeKind::If:
        return check_if(node, around);
      case NodeKind::For:
        return check_for(node);
      case NodeKind::Loop:
        return check_loop(node);
      case NodeKind::Kernel:
        return check_kernel(node);
      case NodeKind::Yield:
        require(around.branch != nullptr, node, "a yield outside of a branch");
        return require_fits(node, node.operands, around.branch->results, "a yield of other values than the results of its node");
      case NodeKind::Continue:
        return check_continue(node, around);
      case NodeKind::Break:
        require(around.loop != nullptr, node, "a break outside of a loop");
        return require_fits(node, node.operands, around.loop->results, "a break with other values than the results of its loop");
      case NodeKind::Return:
        return check_return(node, around);
    }
  }

  void check_op(const Node& node) const {
    require(!node.op.empty() && !node.results.empty() && node.regions.empty(), node, "an op without a name or a result, or with a region");
    for (Value operand : node.operands) require(type(operand).is_tensor(), node, "an operand of an op that is no tensor");
    for (Value result : node.results) require(type(result).is_tensor(), node, "a result of an op that is no tensor");
    if (check_op_) check_op_(function_, node);
  }

  void require_form(const Node& node, size_t operands) const {
    require(node.operands.size() == operands && node.results.size() == 1 && node.regions.empty(), node,
            "a wrong number of operands or results");
  }

  void check_literal(const Node& node) const {
    require_form(node, 0);
    const AttributeValue* value = find(node.attributes, "value");
    require(value != nullptr, node, "a literal without a value");
    const Type& result = type(node.results[0]);
    require((is_int(result) && std::holds_alternative<int64_t>(*value)) || (is_float(result) && std::holds_alternative<double>(*value)) ||
                (is_bool(result) && std::holds_alternative<bool>(*value)),
            node, "a literal of another type than its result");
  }

  void check_scalar(const Node& node) const {
    const bool unary = node.scalar == ScalarOp::Negate || node.scalar == ScalarOp::Absolute || node.scalar == ScalarOp::BitNot ||
                       node.scalar >= ScalarOp::Not;
    require_form(node, unary ? 1 : 2);
    for (Value operand : node.operands) require(type(operand).is_number(), node, "arithmetic on something that is no number");
    require(type(node.results[0]).is_number(), node, "arithmetic whose result is no number");
    const Type &left = type(node.operands[0]), &right = type(node.operands.back()), &result = type(node.results[0]);
    const bool mixed = left.kind != right.kind;
    constexpr const char* types = "arithmetic on numbers of these types";
    switch (node.scalar) {
      case ScalarOp::Add:
      case ScalarOp::Subtract:
      case ScalarOp::Multiply:
      case ScalarOp::FloorDivide:
      case ScalarOp::Modulo:
      case ScalarOp::Power:
      case ScalarOp::Negate:
      case ScalarOp::Absolute:
      case ScalarOp::Minimum:
      case ScalarOp::Maximum:
        return require(!mixed && !is_bool(left) && result == left, node, types);
      case ScalarOp::Divide:
        return require(!mixed && !is_bool(left) && is_float(result), node, types);
      case ScalarOp::BitAnd:
      case ScalarOp::BitOr:
      case ScalarOp::BitXor:
        return require(!mixed && !is_float(left) && result == left, node, types);
      case ScalarOp::BitNot:
        return require(is_int(left) && is_int(result), node, types);
      case ScalarOp::ShiftLeft:
      case ScalarOp::ShiftRight:
        return require(is_int(left) && is_int(right) && is_int(result), node, types);
      case ScalarOp::Equal:
      case ScalarOp::NotEqual:
        return require((!mixed || (!is_bool(left) && !is_bool(right))) && is_bool(result), node, types);
      case ScalarOp::Less:
      case ScalarOp::LessEqual:
      case ScalarOp::Greater:
      case ScalarOp::GreaterEqual:
        return require(!is_bool(left) && !is_bool(right) && is_bool(result), node, types);
      case ScalarOp::Not:
        return require(is_bool(left) && is_bool(result), node, types);
      case ScalarOp::ToInt:
        return require(!is_int(left) && is_int(result), node, types);
      case ScalarOp::ToFloat:
        return require(!is_float(left) && is_float(result), node, types);
      case ScalarOp::ToBool:
        return require(!is_bool(left) && is_bool(result), node, types);
    }
  }

  void check_to_tensor(const Node& node) const {
    require_form(node, 1);
    const Type& result = type(node.results[0]);
    require(type(node.operands[0]).is_number() && result.is_tensor() && result.rank() == 0, node,
            "a conversion other than of a number to a rank-0 tensor");
  }

  void check_dimension(const Node& node) const {
    require_form(node, 1);
    const Type& operand = type(node.operands[0]);
    const AttributeValue* axis = find(node.attributes, "axis");
    require(axis && std::holds_alternative<int64_t>(*axis), node, "a dimension without an axis");
    const int64_t value = std::get<int64_t>(*axis);
    require(operand.is_tensor() && value >= 0 && value < operand.rank() && is_int(type(node.results[0])), node,
            "no dimension of this tensor");
  }

  void check_if(const Node& node, Surroundings around) {
    require(node.operands.size() == 1 && is_bool(type(node.operands[0])), node, "an if on something that is no bool");
    require(node.regions.size() == 2, node, "an if without its two branches");
    around.branch = &node;
    for (const Region& branch : node.regions) {
      require(branch.arguments.empty(), node, "a branch with arguments");
      region(node, branch, around);
    }
  }

  void check_for(const Node& node) {
    require(node.operands.size() >= 3 && node.regions.size() == 1, node, "a for without its range or its body");
    const std::vector<Value>& arguments = node.regions[0].arguments;
    for (size_t i = 0; i < 3; ++i) require(is_int(type(node.operands[i])), node, "a range of something that is no int");
    require(!arguments.empty() && is_int(type(arguments[0])), node, "a for without its variable");
    const std::vector<Value> initial(node.operands.begin() + 3, node.operands.end()), carried(arguments.begin() + 1, arguments.end());
    require_fits(node, initial, carried, "initial values that are not the arguments of the body");
    require_fits(node, carried, node.results, "results of a for that are not its carried values");
    region(node, node.regions[0], {.branch = nullptr, .loop = &node});
  }

  void check_loop(const Node& node) {
    require(node.regions.size() == 1, node, "a loop without its body");
    require_fits(node, node.operands, node.regions[0].arguments, "initial values that are not the arguments of the body");
    region(node, node.regions[0], {.branch = nullptr, .loop = &node});
  }

  void check_kernel(const Node& node) {
    const AttributeValue* kernel = find(node.attributes, "kernel");
    require(kernel && std::holds_alternative<int64_t>(*kernel), node, "a kernel without its number");
    require(node.regions.size() == 1 && node.regions[0].arguments.empty(), node, "a kernel without its body, or with arguments");
    region(node, node.regions[0], {.branch = &node, .loop = nullptr, .in_kernel = true});
  }

  void check_continue(const Node& node, const Surroundings& around) const {
    require(around.loop != nullptr, node, "a continue outside of a loop");
    std::vector<Value> carried = around.loop->regions[0].arguments;
    if (around.loop->kind == NodeKind::For) carried.erase(carried.begin());
    require_fits(node, node.operands, carried, "a continue with other values than the arguments of its loop");
  }

  void check_return(const Node& node, const Surroundings& around) const {
    constexpr const char* rule = "a return of other values than the results of the function";
    require(!around.in_kernel, node, "a return out of a kernel");
    require(node.operands.size() == function_.results.size(), node, rule);
    for (size_t i = 0; i < node.operands.size(); ++i) require(fits(type(node.operands[i]), function_.results[i], true), node, rule);
  }

  const Function& function_;
  const OpCheck& check_op_;
  std::vector<bool> defined_, visible_;
  std::vector<Value> scope_;
};

}  // namespace

void verify(const Function& function, const OpCheck& check_op) { Verifier(function, check_op).run(); }

void fail_verification(const Function& function, const Node& node, const std::string& rule) {
  throw base::InternalError("the graph of " + function.name + " is not valid: " + rule + ", in: " + print(function, node));
}

}  // namespace natif::ir
