// src/codegen/function.cpp: see function.h. Tensors are Tensor variables that release themselves, parameters and constants are borrowed.
#include "codegen/function.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/control.h"
#include "codegen/scalars.h"
#include "codegen/stage.h"
#include "codegen/values.h"
#include "ops/registry.h"

namespace natif::codegen {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;

class EntryWriter : public ControlWriter {
 public:
  EntryWriter(Writer& w, Tables& tables, const passes::CompiledFunction& compiled, const Code& entry)
      : ControlWriter(w, tables, compiled.function), compiled_(compiled), entry_(entry), read_(values_read(function_)) {
    storage_.resize(function_.values.size(), Storage::Owned);
    for (size_t i = 0; i < function_.values.size(); ++i)
      if (function_.values[i].type.is_number()) storage_[i] = Storage::Number;
  }

  void print() {
    w_.line("natif_status $(const natif_host* host, natif_call* call, natif_frame* frame) {", entry_);
    w_.line("const Session session{host, call};");
    for (size_t i = 0; i < function_.parameters.size(); ++i) print_parameter(i);
    bool loops = false;
    ir::for_each_node(function_.body, [&](const Node& node) { loops = loops || is_number_loop(node); });
    if (loops) w_.line("Poll<4096> poll;");
    print_region(function_.body, {});
    w_.close();
  }

 private:
  static bool is_number_loop(const Node& node) {
    return (node.kind == NodeKind::For || node.kind == NodeKind::Loop) && !runs_ops(node.regions[0]);
  }

  void print_parameter(size_t i) {
    const Value value = function_.parameters[i].value;
    switch (type(value).kind) {
      case ir::Type::Kind::Tensor:
        storage_[value] = Storage::Borrowed;
        w_.line("const natif_tensor& $ = frame->parameters[$].tensor;", name(value), i);
        return;
      case ir::Type::Kind::Int:
        w_.line("const int64_t $ = frame->parameters[$].scalar.i;", name(value), i);
        return;
      case ir::Type::Kind::Float:
        w_.line("const double $ = frame->parameters[$].scalar.f;", name(value), i);
        return;
      case ir::Type::Kind::Bool:
        w_.line("const bool $ = frame->parameters[$].scalar.i != 0;", name(value), i);
        return;
    }
  }

  void print_region(const Region& region, const Targets& targets) override {
    const auto dying = last_uses(region);
    std::set<Value> local;
    for (size_t i = 0; i < region.nodes.size(); ++i) {
      const Node& node = region.nodes[i];
      print_node(node, targets);
      local.insert(node.results.begin(), node.results.end());
      if (ir::is_terminator(node.kind)) continue;
      for (Value value : dying[i])
        if (local.contains(value) && storage_[value] == Storage::Owned) w_.line("$.release();", name(value));
    }
  }

  bool holds(Value) const override { return true; }

  void declare(Value value) override {
    if (storage_[value] == Storage::Number) {
      w_.line("$ $ = 0;", number_type(type(value)), name(value));
    } else {
      w_.line("Tensor $(session);", name(value));
    }
  }

  void copy(Value to, Value from) override { w_.line(storage_[to] == Storage::Number ? "$ = $;" : "$.share($);", name(to), name(from)); }

  void keep(const Code& next, Value from) override {
    if (storage_[from] == Storage::Number) {
      w_.line("const $ $ = $;", number_type(type(from)), next, name(from));
    } else {
      w_.line("Tensor $(session);", next);
      w_.line("$.share($);", next, name(from));
    }
  }

  void move(Value to, const Code& next) override { w_.line(storage_[to] == Storage::Number ? "$ = $;" : "$.take($);", name(to), next); }

  Code leave_at_fault(const Node& node) override { return code("return raise(session, fault, $);", tables_.span(node.span)); }

  Code leave_at_step_0(const Node& node) override {
    return code("return host->fail(call, NATIF_VALUE_ERROR, $, \"range() arg 3 must not be zero\");", tables_.span(node.span));
  }

  void print_other(const Node& node) override {
    switch (node.kind) {
      case NodeKind::Op:
        return print_op(node);
      case NodeKind::ToTensor:
        return print_to_tensor(node);
      case NodeKind::Dimension:
        w_.line("const int64_t $ = static_cast<const natif_tensor&>($).dims[$];", name(node.results[0]), name(node.operands[0]),
                number(ir::get<int64_t>(node.attributes, "axis")));
        return;
      case NodeKind::Kernel:
        return print_kernel(node);
      case NodeKind::Return:
        return print_return(node);
      default:
        throw base::InternalError("a node of control flow without its code");
    }
  }

  void print_op(const Node& node) {
    const ops::OpDef& op = ops::find_node(node.op);
    std::vector<Code> operands;
    for (Value value : node.operands) operands.push_back(name(value));
    base::require(node.results.size() == 1, "an op has one result");
    for (std::string_view attribute : op.tfe->constants) {
      const ir::AttributeValue* axes = ir::find(node.attributes, attribute);
      base::require(axes, "an attribute that becomes an operand is missing");
      const Code constant = identifier("c", node.results[0], attribute);
      print_constant(constant, int32_constant(*axes));
      operands.push_back(constant);
    }
    const Value result = node.results[0];
    const size_t site = tables_.op_site(node, op, read_.contains(result));
    declare(result);
    w_.line("if (const natif_status status = run_op(session, $, $, $)) return status;  // line $: $", site, name(result), list(operands),
            node.span.line, trusted_name(node.op));
  }

  void print_constant(const Code& variable, const Constant& constant) {
    w_.line("natif_tensor $;", variable);
    w_.line("if (const natif_status status = host->constant(call, $, &$)) return status;", tables_.constant(constant), variable);
  }

  void print_to_tensor(const Node& node) {
    const Value from = node.operands[0], to = node.results[0];
    const auto literal = literals_.find(from);
    if (literal != literals_.end()) {
      if (const auto constant = element_constant(*literal->second, type(to).dtype)) {
        storage_[to] = Storage::Borrowed;
        return print_constant(name(to), *constant);
      }
    }
    declare(to);
    w_.line("if (const natif_status status = from_number(session, $, $, $)) return status;", name(from), ir::abi_number(type(to).dtype),
            name(to));
  }

  void print_poll(const Region& body) override {
    if (runs_ops(body)) {
      w_.line("if (const natif_status status = host->poll(call)) return status;");
    } else {
      w_.line("if (const natif_status status = poll(session)) return status;");
    }
  }

  // Which of an op's rules hold.
  Code choice(const Code& function, const ops::Exactness& exact) {
    std::vector<Code> arguments = {"call->rules", tables_.rule(std::string(exact.rule))};
    for (std::string_view variant : exact.variants) arguments.push_back(tables_.rule(std::string(variant)));
    return code("$($)", function, list(arguments));
  }

  void print_kernel(const Node& node) {
    const auto index = static_cast<size_t>(ir::get<int64_t>(node.attributes, "kernel"));
    const passes::Kernel& kernel = compiled_.kernels[index];
    std::vector<Code> arguments = {"session"};
    for (const std::vector<Value>* values : {&kernel.inputs, &kernel.numbers, &kernel.steering})
      for (Value value : *values) arguments.push_back(name(value));
    for (Value value : node.results) {
      declare(value);
      arguments.push_back(name(value));
    }
    // Under numerics="fast" products take the first order, unproven.
    if (has_product(kernel))
      arguments.push_back(kernel.fast ? Code("ProductRules{.onednn = true}") : choice("product_rules", ops::find_node("MatMul").exact));
    if (has_ordered_softmax(kernel)) arguments.push_back(choice("softmax_rules", ops::find_node("Softmax").exact));
    uint64_t needed = 0;
    for (const std::string& rule : kernel.rules) needed |= uint64_t{1} << tables_.rule(rule);
    const Code call = code("$($)", kernel_name(entry_, index), list(arguments)), status = identifier("kernel", index);
    if (needed) {
      w_.line("const natif_status $ = (call->rules & $u) == $u ? $ : NATIF_DECLINED;", status, needed, needed, call);
    } else {
      w_.line("const natif_status $ = $;", status, call);
    }
    w_.line("if ($ == NATIF_FAILED) return NATIF_FAILED;", status);
    w_.line("if ($ == NATIF_DECLINED) {", status);
    print_ops(node);
    w_.close();
  }

  // The ops in place of a kernel, as a function of their own: the ways out of one function with hundreds of tensors, each of which releases
  // those before it, take the C++ compiler minutes. Numbers are copied into it, so that they may stay in registers outside.
  void print_ops(const Node& kernel) {
    std::vector<Code> captures = {"&"};
    for (Value number : numbers_from_outside(kernel.regions[0])) captures.push_back(name(number));
    w_.line("const auto ops = [$]() __attribute__((noinline, cold)) -> natif_status {", list(captures));
    print_region(kernel.regions[0], {.yielded = kernel.results});
    w_.line("return NATIF_OK;");
    w_.close(";");
    w_.line("if (const natif_status status = ops()) return status;");
  }

  std::set<Value> numbers_from_outside(const Region& region) const {
    std::set<Value> read, own(region.arguments.begin(), region.arguments.end());
    ir::for_each_node(region, [&](const Node& node) {
      own.insert(node.results.begin(), node.results.end());
      for (const Region& inner : node.regions) own.insert(inner.arguments.begin(), inner.arguments.end());
      for (Value value : node.operands)
        if (type(value).is_number()) read.insert(value);
    });
    std::erase_if(read, [&](Value value) { return own.contains(value); });
    return read;
  }

  void print_return(const Node& node) {
    std::set<Value> given;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Value value = node.operands[i];
      const Code slot = code("frame->results[$]", i);
      switch (type(value).kind) {
        case ir::Type::Kind::Tensor:
          break;
        case ir::Type::Kind::Float:
          w_.line("$.scalar.f = $;", slot, name(value));
          continue;
        case ir::Type::Kind::Int:
        case ir::Type::Kind::Bool:
          w_.line("$.scalar.i = $;", slot, name(value));
          continue;
      }
      // A tensor returned twice is shared first and given last.
      const bool again = std::count(node.operands.begin() + static_cast<std::ptrdiff_t>(i) + 1, node.operands.end(), value) > 0;
      if (storage_[value] == Storage::Owned && !again) {
        w_.line("$.give($);", name(value), slot);
      } else {
        w_.line("give_shared(session, $, $);", name(value), slot);
      }
    }
    w_.line("return NATIF_OK;");
  }

  const passes::CompiledFunction& compiled_;
  const Code& entry_;
  std::set<Value> read_;
  std::vector<Storage> storage_;
};

}  // namespace

Code entry_name(size_t index, const ir::Function& function) { return identifier("f", index, function.name); }
Code kernel_name(const Code& entry, size_t kernel) { return code("$_kernel_$", entry, kernel); }

void print_entry(Writer& w, Tables& tables, const passes::CompiledFunction& compiled, const Code& entry) {
  EntryWriter(w, tables, compiled, entry).print();
}

}  // namespace natif::codegen
