// src/passes/plan.cpp: planning, first part: which values of a group are row values and which invariant, and which sizes are the same.
#include "passes/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/registry.h"
#include "passes/planner.h"

namespace natif::passes {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;
using ops::LoopShape;

bool is_float32(const ir::Type& type) { return type.is_tensor() && type.dtype == ir::DType::Float32; }

std::vector<int64_t> axes_of(const Node& node) {
  const ir::AttributeValue* axis = ir::find(node.attributes, "axis");
  base::require(axis, "a reduction without axes");
  if (const auto* one = std::get_if<int64_t>(axis)) return {*one};
  return std::get<std::vector<int64_t>>(*axis);
}

bool flag(const Node& node, std::string_view name) {
  const ir::AttributeValue* value = ir::find(node.attributes, name);
  return value && std::get<bool>(*value);
}

// ---- what a node must be to join a kernel ----

void demand_kernel(const Draft& draft, const Node& node) {
  const ops::Native& native = native_of(node);
  if (native.shape == LoopShape::None || (native.applies && !native.applies(node.attributes))) throw Refused{"it has no kernel"};
  for (Value operand : node.operands)
    if (!is_float32(draft.function.type(operand))) throw Refused{"its kernel is for float32"};
  const ir::Type& result = draft.function.type(node.results[0]);
  if (!is_float32(result) && native.shape != LoopShape::ArgReduction) throw Refused{"its kernel is for float32"};
  const int rank = draft.function.type(node.operands[0]).rank();
  switch (native.shape) {
    case LoopShape::Contraction:
      if (draft.function.type(node.operands[1]).rank() != 2) throw Refused{"each matrix of the batch has a right operand of its own"};
      return;
    case LoopShape::Softmax:
      if (rank == 0) throw Refused{"its operand has no axis"};
      return;
    case LoopShape::Reduction:
      return;
    case LoopShape::ArgReduction: {
      const std::vector<int64_t> axes = axes_of(node);
      const bool last = axes.size() == 1 && rank >= 1 && axes[0] == rank - 1;
      const bool first_of_matrix = axes.size() == 1 && rank == 2 && axes[0] == 0;
      if (!last && !first_of_matrix) throw Refused{"it runs along another axis than the last, or the first of a matrix"};
      return;
    }
    case LoopShape::Transpose:
      if (rank != 2 || ir::get<std::vector<int64_t>>(node.attributes, "perm") != std::vector<int64_t>{1, 0})
        throw Refused{"it permutes more than the two axes of a matrix"};
      return;
    case LoopShape::Pointwise:
    case LoopShape::None:
      return;
  }
}

// Row ops fix how many axes lead; a group of pointwise ops takes all axes of its largest rank but the last.
int leading_axes(const Draft& draft) {
  int leading = -1, highest = 0;
  for (const auto& [value, variable] : draft.variable_of) highest = std::max(highest, draft.function.type(value).rank());
  for (const Node* node : draft.ops) {
    const LoopShape shape = native_of(*node).shape;
    highest = std::max(highest, draft.function.type(node->results[0]).rank());
    const bool by_rows = shape == LoopShape::Contraction || shape == LoopShape::Softmax ||
                         ((shape == LoopShape::Reduction || shape == LoopShape::ArgReduction) && is_along_last_axis(*node, draft.function));
    if (!by_rows) continue;
    const int here = draft.function.type(node->operands[0]).rank() - 1;
    if (leading >= 0 && here != leading) throw Refused{"its rows are other axes than those of the ops before"};
    leading = here;
  }
  return leading >= 0 ? leading : std::max(highest - 1, 0);
}

// ---- row values and invariant values ----

bool makes_rows(const Node& node, const ir::Function& function) {
  switch (native_of(node).shape) {
    case LoopShape::Contraction:
    case LoopShape::Softmax:
      return true;
    case LoopShape::Reduction:
    case LoopShape::ArgReduction:
      return is_along_last_axis(node, function);
    default:
      return false;
  }
}

// What control flow hands on are row values.
void settle_variables(Draft& draft) {
  for (const auto& [value, variable] : draft.variable_of) {
    const ir::Type& type = draft.function.type(value);
    if (!is_float32(type)) throw Refused{"it hands on a tensor that is not float32"};
    if (type.rank() != draft.leading + 1 && type.rank() != draft.leading)
      throw Refused{"the rank of a tensor that it hands on is another than that of the ops before"};
    draft.invariant[value] = false;
  }
  for (const Run& run : draft.runs)
    for (const Handing& handing : run.handings)
      if (draft.number_of(handing.from)) throw Refused{"it hands on a number as a tensor"};
}

void settle_roles(Draft& draft) {
  std::map<Value, bool> needed_whole, needed_by_row;
  for (Value value : draft.handed_on) needed_by_row[value] = true;
  for (size_t i = draft.ops.size(); i-- > 0;) {
    const Node& node = *draft.ops[i];
    const Value result = node.results[0];
    const LoopShape shape = native_of(node).shape;
    const bool whole = shape == LoopShape::Transpose || (!is_pointwise(node) && !makes_rows(node, draft.function));
    const bool invariant = whole || needed_whole[result];
    if (invariant && needed_by_row[result]) throw Refused{"its result is needed whole and by rows"};
    if (invariant && makes_rows(node, draft.function)) throw Refused{"all rows of a value are needed at once"};
    draft.invariant[result] = invariant;
    const int rank = draft.function.type(result).rank();
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const Value operand = node.operands[k];
      if (!draft.computes(operand)) continue;
      const int operand_rank = draft.function.type(operand).rank();
      const bool is_weights = shape == LoopShape::Contraction && k == 1;
      const bool is_broadcast = is_pointwise(node) && operand_rank < rank && !(operand_rank == 0 && draft.leading == 0);
      if (whole) throw Refused{"all rows of a value are needed at once"};
      if (!draft.op_of(operand) && (invariant || is_weights || is_broadcast))
        throw Refused{"a value that control flow hands on is needed whole"};
      (invariant || is_weights || is_broadcast ? needed_whole : needed_by_row)[operand] = true;
      if (needed_whole[operand] && needed_by_row[operand]) throw Refused{"a value is needed whole and by rows"};
    }
    if (!invariant && rank != draft.leading + 1 && rank != draft.leading) throw Refused{"its rank is another than that of the ops before"};
  }
}

// ---- sizes ----

std::vector<Size> fresh_shape(Draft& draft, const ir::Type& type) {
  std::vector<Size> shape;
  for (int64_t size : type.dims) shape.push_back(draft.sizes.fresh(size));
  return shape;
}

// The sizes of an operand that must be exactly these, by a check where it is an input.
void demand_shape(Draft& draft, Value operand, const std::vector<Size>& shape) {
  if (draft.computes(operand)) {
    const std::vector<Size>& own = draft.shapes.at(operand);
    base::require(own.size() == shape.size(), "an operand of another rank");
    for (size_t axis = 0; axis < shape.size(); ++axis) draft.sizes.unify(own[axis], shape[axis]);
    return;
  }
  if (draft.number_of(operand)) throw Refused{"a number stands where a matrix is needed"};
  const ir::Type& type = draft.function.type(operand);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (type.dims[axis] != ir::free_size) draft.sizes.unify(draft.sizes.fresh(type.dims[axis]), shape[axis]);
    draft.check(operand, axis, shape[axis]);
  }
}

void relate_pointwise(Draft& draft, const Node& node, const std::vector<Size>& shape) {
  for (Value operand : node.operands) {
    if (!draft.computes(operand)) continue;  // inputs are checked as they are read
    const std::vector<Size>& own = draft.shapes.at(operand);
    for (size_t i = 0; i < own.size(); ++i) {
      const Size mine = own[own.size() - 1 - i], theirs = shape[shape.size() - 1 - i];
      if (!draft.sizes.is_one(mine)) draft.sizes.unify(mine, theirs);
    }
  }
}

void relate_sizes(Draft& draft, const Node& node) {
  const Value result = node.results[0];
  std::vector<Size> shape = fresh_shape(draft, draft.function.type(result));
  switch (native_of(node).shape) {
    case LoopShape::Pointwise:
      relate_pointwise(draft, node, shape);
      break;
    case LoopShape::Contraction: {
      const Size depth = draft.sizes.fresh(ir::free_size);
      std::vector<Size> left = shape;
      left.back() = depth;
      if (transposes_left(node)) std::reverse(left.begin(), left.end());
      demand_shape(draft, node.operands[0], left);
      demand_shape(draft, node.operands[1], transposes_right(node) ? std::vector{shape.back(), depth} : std::vector{depth, shape.back()});
      break;
    }
    case LoopShape::Softmax:
      demand_shape(draft, node.operands[0], shape);
      break;
    case LoopShape::Transpose:
      demand_shape(draft, node.operands[0], {shape[1], shape[0]});
      break;
    case LoopShape::Reduction:
    case LoopShape::ArgReduction: {
      std::vector<int64_t> axes = axes_of(node);
      std::sort(axes.begin(), axes.end());
      std::vector<Size> operand = shape;
      if (flag(node, "keep_dims"))
        for (size_t i = axes.size(); i-- > 0;) operand.erase(operand.begin() + axes[i]);
      for (int64_t axis : axes) operand.insert(operand.begin() + axis, draft.sizes.fresh(ir::free_size));
      demand_shape(draft, node.operands[0], operand);
      break;
    }
    case LoopShape::None:
      break;
  }
  if (!draft.invariant.at(result))
    for (size_t axis = 0; axis < draft.rows.size(); ++axis) draft.sizes.unify(shape[axis], draft.rows[axis]);
  draft.shapes[result] = std::move(shape);
}

// A variable has one shape wherever it is handed on.
void relate_variables(Draft& draft) {
  for (const auto& [value, index] : draft.variable_of) {
    Variable& variable = draft.kernel.variables[index];
    std::vector<Size> shape = fresh_shape(draft, draft.function.type(value));
    if (!variable.shape.empty())
      for (size_t axis = 0; axis < shape.size(); ++axis) draft.sizes.unify(variable.shape[axis], shape[axis]);
    for (size_t axis = 0; axis < draft.rows.size(); ++axis) draft.sizes.unify(shape[axis], draft.rows[axis]);
    const bool is_column = static_cast<int>(shape.size()) == draft.leading;
    if (variable.shape.empty()) variable = {shape, is_column ? draft.sizes.fresh(1) : shape.back()};
    draft.shapes[value] = std::move(shape);
  }
}

void relate_handings(Draft& draft) {
  for (const Run& run : draft.runs)
    for (const Handing& handing : run.handings) demand_shape(draft, handing.from, draft.shapes.at(handing.to));
}

// ---- the draft ----

Draft begin(const ir::Function& function, std::span<const Node* const> nodes, const std::vector<Value>& outputs) {
  Draft draft{.function = function, .nodes = nodes};
  for (Value output : outputs) (function.type(output).is_tensor() ? draft.outputs : draft.kernel.number_outputs).push_back(output);
  draft.kernel.outputs = draft.outputs;
  for_each_node_of(draft, [&](const Node& node) {
    const bool computes_number = node.kind == NodeKind::Scalar || node.kind == NodeKind::Dimension;
    draft.has_control_flow = draft.has_control_flow || computes_number || !node.regions.empty();
    if (node.kind != NodeKind::Op && node.kind != NodeKind::ToTensor && node.kind != NodeKind::Literal) return;
    base::require(node.results.size() == 1, "a node of a kernel has one result");
    draft.producer[node.results[0]] = &node;
    if (node.kind != NodeKind::Op) return;
    draft.ops.push_back(&node);
    for (Value operand : node.operands) {
      auto& consumers = draft.consumers[operand];
      if (consumers.empty() || consumers.back() != &node) consumers.push_back(&node);
    }
  });
  find_runs(draft);
  return draft;
}

void collect_rules(Draft& draft) {
  std::vector<std::string>& rules = draft.kernel.rules;
  for (const Node* node : draft.ops) {
    const ops::Exactness& exact = ops::find_node(node->op).exact;
    if (!exact.variants.empty()) continue;  // chosen at run time, stage by stage
    const std::string rule(exact.rule);
    if (!rule.empty() && std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
  }
}

// Renumbers the sizes so that equal ones are one, and keeps those that are used.
void finish_sizes(Draft& draft) {
  Kernel& kernel = draft.kernel;
  std::map<Size, Size> numbers;
  const auto renumber = [&](Size& size) {
    const auto [place, added] = numbers.try_emplace(draft.sizes.root(size), static_cast<Size>(numbers.size()));
    if (added) kernel.sizes.push_back({draft.sizes.fixed(size)});
    size = place->second;
  };
  const auto renumber_all = [&](std::vector<Size>& sizes) { std::for_each(sizes.begin(), sizes.end(), renumber); };
  // Without row values there are no rows, and no input tells how many.
  const bool has_rows = std::any_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) { return !stage.invariant; });
  if (has_rows) kernel.leading = draft.rows;
  renumber_all(kernel.leading);
  for (Stage& stage : kernel.stages) {
    renumber_all(stage.leading);
    renumber_all(stage.shape);
    renumber(stage.width);
    renumber(stage.depth);
  }
  for (Variable& variable : kernel.variables) {
    renumber_all(variable.shape);
    renumber(variable.width);
  }
  for (KnownDimension& dimension : kernel.dimensions) renumber(dimension.size);
  for (Check& check : kernel.checks) renumber(check.size);
  for (Pair& pair : kernel.pairs) renumber_all(pair.sizes);
  std::vector<Check> checks;
  for (const Check& check : kernel.checks)
    if (std::find(checks.begin(), checks.end(), check) == checks.end()) checks.push_back(check);
  kernel.checks = std::move(checks);
  for (Size size = 0; size < kernel.sizes.size(); ++size) {
    const bool known = std::any_of(kernel.checks.begin(), kernel.checks.end(), [&](const Check& check) { return check.size == size; });
    if (!known && kernel.sizes[size].fixed == ir::free_size && !kernel.only_general) throw Refused{"no input has one of its sizes"};
  }
}

}  // namespace

// ---- planner.h ----

Size Sizes::fresh(int64_t fixed) {
  parents_.push_back(static_cast<Size>(parents_.size()));
  infos_.push_back({fixed});
  return parents_.back();
}

Size Sizes::root(Size size) const {
  while (parents_[size] != size) size = parents_[size];
  return size;
}

void Sizes::unify(Size a, Size b) {
  a = root(a), b = root(b);
  if (a == b) return;
  if (infos_[a].fixed != ir::free_size && infos_[b].fixed != ir::free_size && infos_[a].fixed != infos_[b].fixed)
    throw Refused{"its sizes do not fit"};
  if (infos_[a].fixed == ir::free_size) infos_[a].fixed = infos_[b].fixed;
  parents_[b] = a;
}

bool Draft::is_output(Value value) const { return std::find(outputs.begin(), outputs.end(), value) != outputs.end(); }

const Node* Draft::op_of(Value value) const {
  const auto found = producer.find(value);
  return found != producer.end() && found->second->kind == NodeKind::Op ? found->second : nullptr;
}

const Node* Draft::number_of(Value value) const {
  const auto found = producer.find(value);
  return found != producer.end() && found->second->kind == NodeKind::ToTensor ? found->second : nullptr;
}

namespace {

uint32_t index_in(std::vector<Value>& list, Value value) {
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) return static_cast<uint32_t>(found - list.begin());
  list.push_back(value);
  return static_cast<uint32_t>(list.size() - 1);
}

}  // namespace

uint32_t Draft::input(Value value) { return index_in(kernel.inputs, value); }
uint32_t Draft::number(Value value) { return index_in(kernel.numbers, value); }
uint32_t Draft::changing_number(Value value) { return index_in(kernel.changing, value); }

void Draft::check(Value value, size_t axis, Size size, bool or_one) {
  kernel.checks.push_back({input(value), static_cast<uint32_t>(axis), size, or_one});
}

uint32_t reduced_axes(const Node& node) {
  uint32_t axes = 0;
  for (int64_t axis : axes_of(node)) axes |= uint32_t{1} << axis;
  return axes;
}

const ops::Native& native_of(const Node& node) { return ops::find_node(node.op).native; }
bool transposes_left(const Node& node) { return flag(node, "transpose_a") || flag(node, "adj_x"); }
bool transposes_right(const Node& node) { return flag(node, "transpose_b") || flag(node, "adj_y"); }
bool is_pointwise(const Node& node) { return native_of(node).shape == LoopShape::Pointwise; }

bool is_along_last_axis(const Node& node, const ir::Function& function) {
  const std::vector<int64_t> axes = axes_of(node);
  return axes.size() == 1 && axes[0] == function.type(node.operands[0]).rank() - 1;
}

// ---- plan.h ----

std::optional<float> element_of(const Node& literal) {
  const ir::AttributeValue* value = ir::find(literal.attributes, "value");
  base::require(value, "a literal without a value");
  double real = 0;
  if (const auto* integer = std::get_if<int64_t>(value)) {
    real = static_cast<double>(*integer);
  } else if (const auto* floating = std::get_if<double>(value)) {
    real = *floating;
  } else {
    return std::nullopt;
  }
  if (std::isfinite(real) && std::fabs(real) > static_cast<double>(std::numeric_limits<float>::max())) return std::nullopt;
  return static_cast<float>(real);
}

static void find_bound(Draft& draft) {
  const auto& parameters = draft.function.parameters;
  for (Value input : draft.kernel.inputs) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const ir::Parameter& parameter) { return parameter.bound && parameter.value == input; });
    draft.kernel.bound.push_back(found == parameters.end() ? std::nullopt
                                                           : std::optional(static_cast<uint32_t>(found - parameters.begin())));
  }
}

std::variant<Kernel, Refusal> plan_kernel(const ir::Function& function, std::span<const Node* const> nodes,
                                          const std::vector<Value>& outputs) {
  Draft draft = begin(function, nodes, outputs);
  try {
    if (draft.ops.empty()) throw Refused{"it computes nothing"};
    for (const Node* node : draft.ops) demand_kernel(draft, *node);
    draft.leading = leading_axes(draft);
    settle_variables(draft);
    settle_roles(draft);
    for (int axis = 0; axis < draft.leading; ++axis) draft.rows.push_back(draft.sizes.fresh(ir::free_size));
    relate_variables(draft);
    for (const Node* node : draft.ops) relate_sizes(draft, *node);
    relate_handings(draft);
    const StagesByOp stages = add_stages(draft);
    if (draft.has_control_flow) add_segments(draft, stages);
    collect_rules(draft);
    finish_sizes(draft);
    find_bound(draft);
    return std::move(draft.kernel);
  } catch (const Refused& refused) {
    return Refusal{refused.reason};
  }
}

}  // namespace natif::passes
