// src/passes/cost_model.cpp: see cost_model.h.
#include "passes/cost_model.h"

namespace natif::passes {

namespace {

int64_t work_of(ir::Intrinsic intrinsic) {
  switch (intrinsic) {
    case ir::Intrinsic::Divide:
      return 110;
    case ir::Intrinsic::Sqrt:
      return 150;
    case ir::Intrinsic::Exp:
    case ir::Intrinsic::Tanh:
      return 300;
    case ir::Intrinsic::Log:
      return 330;
    case ir::Intrinsic::Sigmoid:
      return 400;
    default:
      return 10;
  }
}

int64_t work_of(const ir::Expression& expression) {
  constexpr int64_t load = 20, store = 40;
  int64_t work = store + work_of_functions(expression);
  for (const ir::Expression::Entry& entry : expression.terms)
    if (entry.kind == ir::Expression::Kind::Input) work += load;
  return work;
}

int64_t calls_in(const ir::Expression& expression) {
  int64_t calls = 0;
  for (const ir::Expression::Entry& entry : expression.terms) calls += entry.kind == ir::Expression::Kind::Call;
  return calls;
}

}  // namespace

int64_t work_of_functions(const ir::Expression& expression) {
  int64_t work = 0;
  for (const ir::Expression::Entry& entry : expression.terms)
    if (entry.kind == ir::Expression::Kind::Call) work += work_of(entry.intrinsic);
  return work;
}

std::vector<WorkTerm> work_of(const Stage& stage) {
  constexpr int64_t multiply_add = 15, transpose = 300;
  // An element's, and a row's.
  constexpr int64_t softmax = 360, softmax_row = 9700, reduction = 25, reduction_row = 5600, argmax = 65, argmax_row = 6600;
  switch (stage.kind) {
    case StageKind::Pointwise:
      return {{work_of(stage.expression), {stage.width}}};
    case StageKind::Contraction:
      return {{multiply_add, {stage.depth, stage.width}}, {work_of(stage.expression), {stage.width}}};
    case StageKind::Softmax:
      return {{softmax, {stage.width}}, {softmax_row, {}}};
    case StageKind::Reduction:
      return {{reduction, {stage.depth}}, {reduction_row, {}}};
    case StageKind::ArgReduction:
      return {{argmax, {stage.depth}}, {argmax_row, {}}};
    case StageKind::Transpose:
      return {{transpose, {stage.width}}};
  }
  return {};
}

std::optional<uint32_t> packed_parameter(const Kernel& kernel, const Stage& stage) {
  if (stage.kind != StageKind::Contraction) return std::nullopt;
  const Source& right = stage.operands[1].source;
  const int64_t depth = kernel.sizes[stage.depth].fixed, width = kernel.sizes[stage.width].fixed;
  const bool known = right.kind == Source::Kind::Input && depth != ir::free_size && width != ir::free_size;
  constexpr int64_t wide = 512;
  if (!known || depth == 0 || (width < wide && !stage.transpose_right) || width < 2) return std::nullopt;
  return kernel.bound[right.index];
}

std::vector<WorkTerm> operations_of(const Stage& stage) {
  switch (stage.kind) {
    case StageKind::Pointwise:
      return {{calls_in(stage.expression), {stage.width}}};
    case StageKind::Contraction:
      return {{2, {stage.depth, stage.width}}, {calls_in(stage.expression), {stage.width}}};
    case StageKind::Softmax:
      return {{5, {stage.width}}};
    case StageKind::Reduction:
    case StageKind::ArgReduction:
      return {{1, {stage.depth}}};
    case StageKind::Transpose:
      return {};
  }
  return {};
}

}  // namespace natif::passes
