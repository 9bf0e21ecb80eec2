// src/passes/stages.cpp: planning, second part: which loops compute a group. A pointwise op whose result goes into one other pointwise loop
// only becomes part of that loop's expression, up to most_work_of_a_loop; the last product that a loop's expression reads takes the
// expression as its epilogue.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "passes/cost_model.h"
#include "passes/planner.h"

namespace natif::passes {

namespace {

using ir::Node;
using ir::Value;
using ops::LoopShape;

class StageWriter {
 public:
  explicit StageWriter(Draft& draft) : draft_(draft), function_(draft.function) {}

  StagesByOp run() {
    find_roots();
    for (bool invariant : {true, false}) {
      for (const Node* node : draft_.ops) {
        if (draft_.invariant.at(node->results[0]) != invariant) continue;
        const size_t before = draft_.kernel.stages.size();
        add(*node);
        if (draft_.kernel.stages.size() > before) stages_.at[node] = static_cast<uint32_t>(before);
      }
    }
    settle_forms();
    return std::move(stages_);
  }

 private:
  const std::vector<Size>& shape(Value value) const { return draft_.shapes.at(value); }

  bool same_shape(Value a, Value b) const { return same_sizes(shape(a), shape(b)); }

  bool same_sizes(const std::vector<Size>& a, const std::vector<Size>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Size x, Size y) { return draft_.sizes.same(x, y); });
  }

  // The pointwise node in whose loop each pointwise node is computed.
  void find_roots() {
    std::map<const Node*, int64_t> work;  // of the loop so far
    for (size_t i = draft_.ops.size(); i-- > 0;) {
      const Node* node = draft_.ops[i];
      if (!is_pointwise(*node)) continue;
      const Value result = node->results[0];
      roots_[node] = node;
      work[node] = work_of_functions(element(*node));
      const auto consumers = draft_.consumers.find(result);
      if (draft_.is_kept(result) || consumers == draft_.consumers.end()) continue;
      const Node* common = nullptr;
      bool one = true;
      for (const Node* consumer : consumers->second) {
        const Node* root = is_pointwise(*consumer) && in_one_run(*node, *consumer) ? roots_.at(consumer) : nullptr;
        one = one && root && (!common || root == common);
        common = root;
      }
      const bool fits =
          one && same_shape(result, common->results[0]) && draft_.invariant.at(result) == draft_.invariant.at(common->results[0]);
      if (fits && work[common] + work[node] <= most_work_of_a_loop) {
        roots_[node] = common;
        work[common] += work[node];
      }
    }
    for (const Node* node : draft_.ops)
      if (is_pointwise(*node) && roots_.at(node) == node) choose_product(*node);
  }

  // Only within a straight run of ops is the one computed as often as the other.
  bool in_one_run(const Node& a, const Node& b) const { return draft_.run_of.at(&a) == draft_.run_of.at(&b); }

  // The product that takes a loop's expression as its epilogue: the last one whose result goes nowhere else.
  void choose_product(const Node& root) {
    for (size_t i = draft_.ops.size(); i-- > 0;) {
      const Node* node = draft_.ops[i];
      const Value result = node->results[0];
      const auto consumers = draft_.consumers.find(result);
      if (native_of(*node).shape != LoopShape::Contraction || draft_.is_kept(result) || consumers == draft_.consumers.end()) continue;
      const bool only_here = std::all_of(consumers->second.begin(), consumers->second.end(),
                                         [&](const Node* consumer) { return is_pointwise(*consumer) && roots_.at(consumer) == &root; });
      if (!only_here || !same_shape(result, root.results[0]) || !in_one_run(*node, root)) continue;
      product_of_[&root] = node;
      has_epilogue_.insert(node);
      return;
    }
  }

  void add(const Node& node) {
    switch (native_of(node).shape) {
      case LoopShape::Pointwise:
        if (roots_.at(&node) == &node) add_pointwise(node);
        return;
      case LoopShape::Contraction:
        if (!has_epilogue_.contains(&node)) add_product(node, nullptr);
        return;
      case LoopShape::Softmax:
        return add_row_op(node, StageKind::Softmax);
      case LoopShape::Reduction:
        return add_row_op(node, StageKind::Reduction);
      case LoopShape::ArgReduction:
        return add_row_op(node, StageKind::ArgReduction);
      case LoopShape::Transpose:
        return add_row_op(node, StageKind::Transpose);
      case LoopShape::None:
        break;
    }
    throw base::InternalError("an op without a kernel in a plan");
  }

  // A stage for the result of `node`, without its operands.
  Stage begin_stage(const Node& node, StageKind kind) {
    const Value result = node.results[0];
    Stage stage{.kind = kind};
    stage.invariant = draft_.invariant.at(result);
    stage.result = result;
    stage.dtype = function_.type(result).dtype;
    const std::vector<Size>& sizes = shape(result);
    stage.shape = sizes;
    const bool is_column = !stage.invariant && static_cast<int>(sizes.size()) == draft_.leading;
    stage.width = is_column || sizes.empty() ? draft_.sizes.fresh(1) : sizes.back();
    stage.depth = stage.width;
    if (stage.invariant && !sizes.empty()) stage.leading.assign(sizes.begin(), sizes.end() - 1);
    return stage;
  }

  void finish_stage(Stage stage) {
    const auto place = std::find(draft_.outputs.begin(), draft_.outputs.end(), stage.result);
    if (place != draft_.outputs.end()) stage.output = static_cast<uint32_t>(place - draft_.outputs.begin());
    if (!stage.output && stage.dtype != ir::DType::Float32) throw Refused{"its indices do not leave the control flow around it"};
    stages_.of_value[stage.result] = static_cast<uint32_t>(draft_.kernel.stages.size());
    draft_.kernel.stages.push_back(std::move(stage));
  }

  void add_row_op(const Node& node, StageKind kind) {
    Stage stage = begin_stage(node, kind);
    const Value operand = node.operands[0];
    if (draft_.number_of(operand)) throw Refused{"a number stands where a tensor is needed"};
    stage.ops = {node.op};
    stage.reduction = native_of(node).reduction;
    const bool reduces = kind == StageKind::Reduction || kind == StageKind::ArgReduction;
    if (kind == StageKind::Reduction && stage.invariant && !(function_.type(operand).rank() == 2 && reduced_axes(node) == 1)) {
      if (draft_.op_of(operand)) throw Refused{"all rows of a value are needed at once"};
      stage.axes = reduced_axes(node);
    }
    stage.over_rows = reduces && stage.invariant && !stage.axes;
    stage.depth = stage.axes ? stage.width : operand_size(node, kind);
    stage.operands = {{source(operand), Access::Full}};
    finish_stage(std::move(stage));
  }

  // The columns of the operand of a row op, or the rows of that of a Transpose or of a reduction over rows.
  Size operand_size(const Node& node, StageKind kind) {
    const Value result = node.results[0], operand = node.operands[0];
    if (kind == StageKind::Softmax) return shape(result).back();
    if (kind == StageKind::Transpose) return shape(result)[0];
    const size_t axis = is_along_last_axis(node, function_) ? static_cast<size_t>(function_.type(operand).rank() - 1) : 0;
    if (draft_.computes(operand)) return shape(operand)[axis];
    const uint32_t input = draft_.input(operand);
    for (const Check& check : draft_.kernel.checks)
      if (check.input == input && check.axis == axis && !check.or_one) return check.size;
    throw base::InternalError("an input of a reduction without sizes");
  }

  Source source(Value value) {
    const auto variable = draft_.variable_of.find(value);
    if (variable != draft_.variable_of.end()) return {Source::Kind::Variable, variable->second};
    if (draft_.op_of(value)) return {Source::Kind::Stage, stages_.of_value.at(value)};
    return {Source::Kind::Input, draft_.input(value)};
  }

  // ---- pointwise loops ----

  // The expression of a loop while it is put together.
  struct Loop {
    const Node* root;
    Stage stage;
    Value sum = 0;  // the product whose epilogue this is
    bool has_sum = false;
    std::map<Value, ir::Term> terms;
  };

  void add_pointwise(const Node& root) {
    const auto product = product_of_.find(&root);
    if (product != product_of_.end()) return add_product(*product->second, &root);
    Loop loop{.root = &root, .stage = begin_stage(root, StageKind::Pointwise)};
    fill(loop);
    finish_stage(std::move(loop.stage));
  }

  void add_product(const Node& node, const Node* root) {
    Loop loop{.root = root ? root : &node, .stage = begin_stage(root ? *root : node, StageKind::Contraction)};
    Stage& stage = loop.stage;
    const Value left = node.operands[0], right = node.operands[1];
    stage.transpose_left = transposes_left(node);
    stage.transpose_right = transposes_right(node);
    stage.of_batch = function_.type(left).rank() > 2;
    if (stage.transpose_left && draft_.computes(left)) throw Refused{"its transposed left operand is computed by rows"};
    stage.operands = {{source(left), Access::Full}, {source(right), Access::Full}};
    stage.depth = product_depth(node, stage.transpose_right ? 1 : 0);
    stage.ops = {node.op};
    loop.sum = node.results[0];
    loop.has_sum = true;
    loop.terms[loop.sum] = stage.expression.input(0);
    stage.expression.result = loop.terms[loop.sum];
    if (root) fill(loop);
    finish_stage(std::move(stage));
  }

  Size product_depth(const Node& node, size_t axis) {
    const Value right = node.operands[1];
    if (draft_.op_of(right)) return shape(right)[axis];
    const uint32_t input = draft_.input(right);
    for (const Check& check : draft_.kernel.checks)
      if (check.input == input && check.axis == axis && !check.or_one) return check.size;
    throw base::InternalError("weights without sizes");
  }

  // The expressions of all nodes that are computed in the loop.
  void fill(Loop& loop) {
    for (const Node* node : draft_.ops) {
      if (!is_pointwise(*node) || roots_.at(node) != loop.root) continue;
      std::vector<ir::Term> operands;
      settle_pair(loop, *node);
      for (size_t k = 0; k < node->operands.size(); ++k) operands.push_back(term(loop, *node, k));
      loop.terms[node->results[0]] = native_of(*node).element(loop.stage.expression, operands);
      const bool tail_of_two = operands.size() == 2 && has_own_tail(*node);
      loop.stage.tail_of_two = loop.stage.tail_of_two || tail_of_two;
      loop.stage.broadcast_tail = loop.stage.broadcast_tail || (tail_of_two && reads_broadcast(loop.stage, operands));
      loop.stage.ops.push_back(node->op);
    }
    loop.stage.expression.result = loop.terms.at(loop.root->results[0]);
    for (const ir::Expression::Entry& entry : loop.stage.expression.terms)
      if (entry.kind == ir::Expression::Kind::Call && !ir::same_in_tail(entry.intrinsic)) loop.stage.tail_matters = true;
  }

  bool reads_broadcast(const Stage& stage, const std::vector<ir::Term>& terms) const {
    const bool is_product = stage.kind == StageKind::Contraction;
    return std::any_of(terms.begin(), terms.end(), [&](ir::Term term) {
      const ir::Expression::Entry& entry = stage.expression.terms[term.index];
      if (entry.kind != ir::Expression::Kind::Input || (is_product && entry.input == 0)) return false;
      const Access access = stage.operands[is_product ? entry.input + 1 : entry.input].access;
      return access != Access::Full && access != Access::Scalar;
    });
  }

  ir::Term term(Loop& loop, const Node& node, size_t position) {
    const Value operand = node.operands[position];
    // An input may be read in two ways by two ops of one loop, as a whole and broadcast, so what was found for one does not serve the
    // other.
    if (const auto known = loop.terms.find(operand); known != loop.terms.end() && (draft_.op_of(operand) || draft_.number_of(operand)))
      return known->second;
    if (const Node* number = draft_.number_of(operand)) return number_term(loop, *number, operand);
    const Operand read = draft_.computes(operand) ? computed_operand(loop, operand) : input_operand(loop, node, position);
    return loop.terms[operand] = add_operand(loop, read);
  }

  ir::Term number_term(Loop& loop, const Node& number, Value operand) {
    const auto literal = draft_.producer.find(number.operands[0]);
    if (literal != draft_.producer.end() && literal->second->kind == ir::NodeKind::Literal)
      if (const auto element = element_of(*literal->second)) return loop.terms[operand] = loop.stage.expression.constant(*element);
    if (!draft_.changing.contains(number.operands[0]))
      return loop.terms[operand] = add_operand(loop, {{Source::Kind::Number, draft_.number(number.operands[0])}, Access::Scalar});
    if (loop.stage.invariant) throw Refused{"what is the same for all rows reads a number that changes"};
    return loop.terms[operand] = add_operand(loop, {{Source::Kind::Changing, draft_.changing_number(number.operands[0])}, Access::Scalar});
  }

  ir::Term add_operand(Loop& loop, const Operand& operand) {
    std::vector<Operand>& operands = loop.stage.operands;
    const size_t first = loop.has_sum ? 2 : 0;  // after left and right
    for (size_t i = first; i < operands.size(); ++i)
      if (operands[i].source == operand.source && operands[i].access == operand.access)
        return loop.stage.expression.input(static_cast<uint32_t>(i - first + (loop.has_sum ? 1 : 0)));
    operands.push_back(operand);
    return loop.stage.expression.input(static_cast<uint32_t>(operands.size() - 1 - first + (loop.has_sum ? 1 : 0)));
  }

  bool all_ones(const std::vector<Size>& sizes) const {
    return std::all_of(sizes.begin(), sizes.end(), [&](Size size) { return draft_.sizes.is_one(size); });
  }

  Operand computed_operand(Loop& loop, Value operand) {
    const std::vector<Size>&own = shape(operand), &theirs = shape(loop.root->results[0]);
    const Source from = source(operand);
    if (draft_.invariant.at(operand)) {
      if (all_ones(own)) return {from, Access::Scalar};
      if (loop.stage.invariant && own.size() == theirs.size() && same_shape(operand, loop.root->results[0])) return {from, Access::Full};
      const bool one_row = all_ones({own.begin(), own.end() - 1});
      if (one_row && draft_.sizes.same(own.back(), theirs.back())) return {from, Access::Row};
      throw Refused{"it broadcasts a computed value otherwise than by rows or columns"};
    }
    const Size width =
        from.kind == Source::Kind::Variable ? draft_.kernel.variables[from.index].width : draft_.kernel.stages[from.index].width;
    return {from, draft_.sizes.same(width, loop.stage.width) ? Access::Full : Access::Column};
  }

  // ---- inputs of pointwise loops ----

  Operand input_operand(Loop& loop, const Node& node, size_t position) {
    const Value operand = node.operands[position];
    const std::vector<Size>& result = shape(node.results[0]);
    const std::vector<int64_t>& dims = function_.type(operand).dims;
    const Source from = source(operand);
    const auto is_one = [](int64_t size) { return size == 1; };
    if (native_of(node).broadcasting == ops::Broadcasting::LastAxis && position == 1) {
      draft_.check(operand, 0, result.back());
      return {from, Access::Row};
    }
    if (std::all_of(dims.begin(), dims.end(), is_one)) return {from, Access::Scalar};
    if (dims.size() == 1 && result.size() > 1) {
      draft_.check(operand, 0, result.back());
      return {from, Access::Row};
    }
    if (dims.size() != result.size()) return strided(from, "it broadcasts over axes in front");
    const bool one_row = std::all_of(dims.begin(), dims.end() - 1, is_one);
    const bool is_column_loop = !loop.stage.invariant && static_cast<int>(result.size()) == draft_.leading;
    if (dims.size() > 1 && one_row && !all_ones({result.begin(), result.end() - 1})) {
      draft_.check(operand, dims.size() - 1, result.back());
      return {from, Access::Row};
    }
    const bool one_column = !is_column_loop && dims.back() == 1 && !draft_.sizes.is_one(result.back());
    const bool doubtful = is_doubtful(loop, node, position);
    for (size_t axis = 0; axis + (one_column ? 1 : 0) < dims.size(); ++axis) draft_.check(operand, axis, result[axis], doubtful);
    if (one_column) return {from, doubtful ? Access::Strided : Access::Column};
    return {from, doubtful ? Access::Strided : Access::Full};
  }

  Operand strided(Source from, const char* reason) {
    if (!may_have_general_form()) throw Refused{reason};
    return {from, Access::Strided};
  }

  bool may_have_general_form() const { return is_all_pointwise() && !draft_.has_control_flow; }

  bool is_all_pointwise() const {
    return std::all_of(draft_.ops.begin(), draft_.ops.end(),
                       [&](const Node* node) { return is_pointwise(*node) && !draft_.invariant.at(node->results[0]); });
  }

  // Whether an input of the result's rank may turn out to be broadcast: there is another operand of that rank to broadcast it to. Where all
  // stages are pointwise the plan takes it as whole, since another form of the kernel stands by.
  bool is_doubtful(const Loop& loop, const Node& node, size_t position) const {
    if (loop.stage.invariant || may_have_general_form()) return false;
    const int rank = function_.type(node.results[0]).rank();
    for (size_t k = 0; k < node.operands.size(); ++k)
      if (k != position && node.operands[k] != node.operands[position] && function_.type(node.operands[k]).rank() == rank) return true;
    return false;
  }

  // Two inputs of one rank broadcast to each other: one of them has to be whole, or the op's own result would be smaller than its loop.
  void settle_pair(Loop& loop, const Node& node) {
    if (node.operands.size() != 2) return;
    const Value a = node.operands[0], b = node.operands[1];
    const bool both_inputs = draft_.is_input(a) && draft_.is_input(b);
    if (!both_inputs || function_.type(a).rank() != function_.type(b).rank() || !is_doubtful(loop, node, 0)) return;
    draft_.kernel.pairs.push_back({draft_.input(a), draft_.input(b), shape(node.results[0])});
  }

  void settle_forms() {
    Kernel& kernel = draft_.kernel;
    kernel.flat = is_all_pointwise();
    bool has_columns = false;
    for (const Stage& stage : kernel.stages) {
      const bool is_full = draft_.leading + 1 == static_cast<int>(shape(stage.result).size()) || draft_.leading == 0;
      kernel.flat = kernel.flat && is_full && (!draft_.has_control_flow || same_sizes(stage.shape, kernel.stages.front().shape));
      for (const Operand& operand : stage.operands) {
        kernel.flat = kernel.flat && (operand.access == Access::Full || operand.access == Access::Scalar);
        kernel.only_general = kernel.only_general || (may_have_general_form() && operand.access == Access::Strided);
        has_columns = has_columns || (operand.source.kind == Source::Kind::Stage && operand.access != Access::Full);
      }
    }
    for (const Variable& variable : kernel.variables) kernel.flat = kernel.flat && same_sizes(variable.shape, kernel.stages.front().shape);
    kernel.has_general_form = may_have_general_form() && !has_columns && kernel.inputs.size() > 1;
    if (kernel.only_general && !kernel.has_general_form) throw Refused{"it broadcasts over axes in front"};
    if (kernel.has_general_form) find_covers();
  }

  // An op whose result leaves the kernel, or whose tail has a formula of its own, has to be as large as the kernel's loop.
  void find_covers() {
    std::map<Value, std::set<uint32_t>> inputs;
    for (const Node* node : draft_.ops) {
      std::set<uint32_t>& own = inputs[node->results[0]];
      for (Value operand : node->operands) {
        if (draft_.op_of(operand)) own.insert(inputs[operand].begin(), inputs[operand].end());
        if (!draft_.producer.contains(operand)) own.insert(draft_.input(operand));
      }
      if (!draft_.is_output(node->results[0]) && !has_own_tail(*node)) continue;
      std::vector<uint32_t> cover(own.begin(), own.end());
      auto& covers = draft_.kernel.covers;
      if (cover.size() < draft_.kernel.inputs.size() && std::find(covers.begin(), covers.end(), cover) == covers.end())
        covers.push_back(std::move(cover));
    }
  }

  // A pointwise op by itself, over its operands.
  static ir::Expression element(const Node& node) {
    ir::Expression expression;
    std::vector<ir::Term> operands;
    for (uint32_t i = 0; i < node.operands.size(); ++i) operands.push_back(expression.input(i));
    expression.result = native_of(node).element(expression, operands);
    return expression;
  }

  bool has_own_tail(const Node& node) const {
    const ir::Expression expression = element(node);
    return std::any_of(expression.terms.begin(), expression.terms.end(), [](const ir::Expression::Entry& entry) {
      return entry.kind == ir::Expression::Kind::Call && !ir::same_in_tail(entry.intrinsic);
    });
  }

  Draft& draft_;
  const ir::Function& function_;
  std::map<const Node*, const Node*> roots_, product_of_;
  std::set<const Node*> has_epilogue_;
  StagesByOp stages_;
};

}  // namespace

StagesByOp add_stages(Draft& draft) { return StageWriter(draft).run(); }

}  // namespace natif::passes
