// src/passes/plan_text.cpp: see plan_text.h.
#include "passes/plan_text.h"

#include <optional>

#include "ops/registry.h"
#include "passes/control_flow.h"
#include "passes/cost_model.h"

namespace natif::passes {

namespace {

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += separator;
    text += item;
  }
  return text;
}

std::string line(const base::Span& span) { return "line " + std::to_string(span.line); }

// The name of a size: its number where it is known, else the input's axis that it is read from.
std::string size_text(const ir::Function& function, const Kernel& kernel, Size size) {
  if (kernel.sizes[size].fixed != ir::free_size) return std::to_string(kernel.sizes[size].fixed);
  for (const Check& check : kernel.checks)
    if (check.size == size) return function.values[kernel.inputs[check.input]].name + ".shape[" + std::to_string(check.axis) + "]";
  return "size";
}

std::string terms_text(const ir::Function& function, const Kernel& kernel, const std::vector<WorkTerm>& terms) {
  std::vector<std::string> parts;
  for (const WorkTerm& term : terms) {
    if (term.picoseconds == 0) continue;
    std::vector<std::string> factors;
    if (term.picoseconds != 1) factors.push_back(std::to_string(term.picoseconds));
    for (Size size : term.sizes) factors.push_back(size_text(function, kernel, size));
    parts.push_back(joined(factors, "*"));
  }
  return parts.empty() ? "0" : joined(parts, " + ");
}

std::string_view kind_text(const Stage& stage) {
  switch (stage.kind) {
    case StageKind::Pointwise:
      return "pointwise";
    case StageKind::Contraction:
      return stage.expression.terms.size() > 1 ? "product, then pointwise in place" : "product";
    case StageKind::Softmax:
      return "softmax of each row";
    case StageKind::Reduction:
      return stage.axes ? "reduction of a whole tensor" : stage.over_rows ? "reduction over rows" : "reduction of each row";
    case StageKind::ArgReduction:
      return stage.over_rows ? "argmax over rows" : "argmax of each row";
    case StageKind::Transpose:
      return "transpose";
  }
  return "";
}

void add_stage(std::string& text, const ir::Function& function, const Kernel& kernel, const Stage& stage, size_t indent = 4) {
  std::vector<std::string> shape;
  for (Size size : stage.shape) shape.push_back(size_text(function, kernel, size));
  text += std::string(indent, ' ') + (stage.invariant ? "once: " : "row block: ");
  text += std::string(kind_text(stage)) + " (" + joined(stage.ops, ", ") + ") -> [" + joined(shape, ", ") + "]";
  if (const auto parameter = packed_parameter(kernel, stage)) text += ", " + function.parameters[*parameter].name + " packed once";
  text += stage.output ? ", a result\n" : ", kept in scratch memory\n";
}

// The stages of a kernel with control flow, under the statements of the source.
class StructureWriter {
 public:
  StructureWriter(std::string& text, const ir::Function& function, const Kernel& kernel)
      : text_(text), function_(function), kernel_(kernel) {}

  void add(const ir::Region& region, size_t indent, bool in_branch = false) {
    for (const ir::Node& node : region.nodes) {
      if (!has_place(node)) continue;
      add_segment(place_++, indent);
      if (in_branch && node.kind == ir::NodeKind::Break) add_line("break", indent);
      if (in_branch && node.kind == ir::NodeKind::Continue) add_line("continue", indent);
      if (owns_regions(node)) add_statement(node, indent);
    }
  }

 private:
  void add_statement(const ir::Node& node, size_t indent) {
    add_line(statement_name(node) + ", " + line(node.span) + ":", indent);
    const bool is_if = node.kind == ir::NodeKind::If;
    add(node.regions[0], indent + 2, is_if);
    if (!is_if) return;
    const size_t before = text_.size();
    add_line("else:", indent);
    const size_t after = text_.size();
    add(node.regions[1], indent + 2, true);
    if (text_.size() == after) text_.resize(before);
  }

  void add_line(const std::string& line, size_t indent) { text_ += std::string(indent, ' ') + line + "\n"; }

  void add_segment(uint32_t place, size_t indent) {
    for (const Segment& segment : kernel_.segments)
      if (segment.place == place)
        for (uint32_t stage : segment.stages) add_stage(text_, function_, kernel_, kernel_.stages[stage], indent);
  }

  std::string& text_;
  const ir::Function& function_;
  const Kernel& kernel_;
  uint32_t place_ = 0;
};

// The elements of each row that operand `i` reads from memory; nullopt for what is the same for all rows, or in scratch memory.
std::optional<Size> size_read(const Stage& stage, size_t i) {
  const Operand& operand = stage.operands[i];
  const bool is_weights = stage.kind == StageKind::Contraction && i == 1;
  if (operand.source.kind != Source::Kind::Input || is_weights) return std::nullopt;
  if (operand.access != Access::Full && operand.access != Access::Strided) return std::nullopt;
  const bool as_wide_as_result = stage.kind == StageKind::Pointwise || (stage.kind == StageKind::Contraction && i > 1);
  return as_wide_as_result ? stage.width : stage.depth;
}

void add_kernel(std::string& text, const ir::Function& function, const Kernel& kernel, const ir::Region& region, size_t number) {
  const bool has_control_flow = !kernel.segments.empty();
  text += "kernel " + std::to_string(number) + ": reads";
  for (ir::Value value : kernel.inputs)
    text += " " + (function.values[value].name.empty() ? "%" + std::to_string(value) : function.values[value].name);
  text += "\n";
  std::vector<WorkTerm> operations;
  std::vector<std::string> bytes;
  for (const Stage& stage : kernel.stages) {
    if (stage.invariant || !has_control_flow) add_stage(text, function, kernel, stage);
    if (stage.invariant) continue;
    const std::vector<WorkTerm> here = operations_of(stage);
    operations.insert(operations.end(), here.begin(), here.end());
    if (stage.output) bytes.push_back(std::to_string(ir::size_of(stage.dtype)) + "*" + size_text(function, kernel, stage.width));
    for (size_t i = 0; i < stage.operands.size(); ++i)
      if (const auto size = size_read(stage, i)) bytes.push_back("4*" + size_text(function, kernel, *size));
  }
  if (has_control_flow) StructureWriter(text, function, kernel).add(region, 4);
  text += std::string(has_control_flow ? "    a row, with each stage once: " : "    a row: ") + terms_text(function, kernel, operations) +
          " operations, " + (bytes.empty() ? "0" : joined(bytes, " + ")) + " bytes of memory read and written\n";
  if (kernel.has_general_form) text += "    other shapes that broadcast: the same stages over gathered rows\n";
  if (!kernel.rules.empty())
    text += "    eager's bits by the rules " + joined(kernel.rules, ", ") + "; where one is not proven, TensorFlow's ops\n";
}

void add_op(std::string& text, const ir::Node& node, bool fused, Numerics numerics) {
  text += "  " + line(node.span) + ": " + node.op + ": ";
  const ops::OpDef& op = ops::find_node(node.op);
  if (!fused) {
    text += "tfe; eager's own kernel\n";
  } else if (op.exact.rule.empty()) {
    text += "fused; bits given by IEEE 754\n";
  } else if (numerics == Numerics::Fast) {
    text += "fused; within the bounds of numerics=\"fast\"\n";
  } else {
    text += "fused; rule " + std::string(op.exact.rule) + " (" + std::string(op.exact.domain) + ")\n";
  }
}

void add_ops(std::string& text, const ir::Region& region, bool fused, Numerics numerics) {
  for (const ir::Node& node : region.nodes) {
    if (node.kind == ir::NodeKind::Op) add_op(text, node, fused, numerics);
    for (const ir::Region& inner : node.regions) add_ops(text, inner, fused || node.kind == ir::NodeKind::Kernel, numerics);
  }
}

}  // namespace

std::string plan_text(const CompiledFunction& compiled) {
  constexpr std::string_view lanes[] = {"auto", "tfe", "fused"};
  const ir::Function& function = compiled.function;
  std::string text = function.name + ": lane " + std::string(lanes[static_cast<int>(compiled.options.lane)]) +
                     (compiled.options.numerics == Numerics::Exact ? ", numerics exact\n" : ", numerics fast\n");
  ir::for_each_node(function.body, [&](const ir::Node& node) {
    if (node.kind != ir::NodeKind::Kernel) return;
    const auto number = static_cast<size_t>(ir::get<int64_t>(node.attributes, "kernel"));
    add_kernel(text, function, compiled.kernels[number], node.regions[0], number);
  });
  for (const Split& split : compiled.splits) text += "split before " + split.op + ", " + line(split.span) + ": " + split.reason + "\n";
  text += "ops:\n";
  add_ops(text, function.body, false, compiled.options.numerics);
  return text;
}

}  // namespace natif::passes
