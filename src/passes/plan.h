// src/passes/plan.h: the plan of a kernel: how a group of ops runs as one loop over blocks of rows. The planner decides whether a group can
// be one kernel at all; codegen only prints what stands here.
//
// A kernel has `leading` leading axes, whose sizes multiplied are its rows. A value of it is
//   a row value        one row for each row of the kernel: [rows…, width], or [rows…] with width 1
//   an invariant value the same for all rows: a bias, weights; computed once, before the rows
// and stages compute them in order, the row values for a block of rows at a time, so that only the kernel's results reach memory.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel_ir.h"
#include "ops/op_def.h"

namespace natif::passes {

/// An index into Kernel::sizes.
using Size = uint32_t;

/// One axis' length. Free sizes are read from the inputs' axes at run time.
struct SizeInfo {
  int64_t fixed = ir::free_size;
};

/// Where an operand of a stage comes from.
struct Source {
  enum class Kind : uint8_t { Input, Stage, Number };
  Kind kind;
  uint32_t index;  // into Kernel::inputs, stages (of the whole kernel) or numbers

  bool operator==(const Source&) const = default;
};

/// How a stage reads an operand at row r, column c of its own shape.
enum class Access : uint8_t {
  Full,     // [r, c]
  Row,      // [c]
  Column,   // [r]
  Scalar,   // the one element
  Strided,  // Full, Row, Column or Scalar, as the sizes turn out at run time
};

struct Operand {
  Source source;
  Access access;
};

enum class StageKind : uint8_t { Pointwise, Contraction, Softmax, Reduction, ArgReduction, Transpose };

/// One loop. Its result has the shape [rows…, width]; an invariant one has rows of its own.
struct Stage {
  StageKind kind;
  bool invariant = false;
  std::vector<Size> leading;  // of an invariant stage: the sizes that make its rows
  std::vector<Size> shape;    // the result's axes
  Size width = 0;             // columns of the result
  Size depth = 0;             // of Contraction: K. Of Softmax, Reduction, ArgReduction, Transpose: columns of the operand
  /// Of Pointwise: over `operands`. Of Contraction: the epilogue, whose input 0 is the sum and input i ≥ 1 is operand i + 1.
  ir::Expression expression;
  /// Of Contraction: left, right, then those of the epilogue. Of the rest after Pointwise: the one operand.
  std::vector<Operand> operands;
  bool transpose_left = false;                      // of Contraction
  bool transpose_right = false;                     // of Contraction: the right operand is [width, depth]
  bool of_batch = false;                            // of Contraction: the left operand has more than two axes
  bool over_rows = false;                           // of Reduction, ArgReduction: along the first axis of a matrix; then invariant
  std::optional<uint32_t> axes;                     // of Reduction: any axes, bit by bit, of a whole input; then invariant
  ops::Reduction reduction = ops::Reduction::None;  // of Reduction
  bool tail_of_two = false;                         // of Pointwise, Contraction: some function of two operands has such a formula,
  bool broadcast_tail = false;                      // and one of those operands is broadcast
  bool tail_matters = false;  // of Pointwise, Contraction: some function of `expression` has a formula of its own for tails
  ir::Value result = 0;
  ir::DType dtype = ir::DType::Float32;
  std::vector<std::string> ops;    // what was fused into the stage, for the reader
  std::optional<uint32_t> output;  // the index into Kernel::outputs of a result that leaves the kernel
};

/// An axis of an input whose length must be `size`; `or_one`: or 1, which is broadcast.
struct Check {
  uint32_t input;
  uint32_t axis;
  Size size;
  bool or_one = false;

  bool operator==(const Check&) const = default;
};

/// Two inputs of one operation that broadcast each other: along `axes`, counted from the last, at least one has the full size.
struct Pair {
  uint32_t first, second;
  std::vector<Size> sizes;  // one an axis

  bool operator==(const Pair&) const = default;
};

struct Kernel {
  std::vector<ir::Value> inputs;               // tensors
  std::vector<std::optional<uint32_t>> bound;  // of inputs: the function's parameter that is the same tensor at each call
  std::vector<ir::Value> numbers;              // Python numbers that became elements
  std::vector<ir::Value> outputs;
  std::vector<SizeInfo> sizes;
  std::vector<Check> checks;
  std::vector<Pair> pairs;
  std::vector<Size> leading;       // the sizes that make the rows
  std::vector<Stage> stages;       // in order, those of row values after the invariant ones
  std::vector<std::string> rules;  // exactness rules that it relies on, but those of products and softmax
  bool fast = false;               // numerics="fast": transcendentals by math_fast.h, and no formulas of their own for tails
  /// All stages are pointwise over one shape without broadcasting but of scalars, so any block of elements is as good as a row.
  bool flat = false;
  /// All stages are pointwise and of row values: where the sizes turn out otherwise than the plan says, the kernel's general form runs, in
  /// which any operand may be broadcast along any axes.
  bool has_general_form = false;
  /// Of the general form: groups of inputs that must have the whole shape together, as an op of theirs is computed over all of it.
  std::vector<std::vector<uint32_t>> covers;
  /// The plan reads some operand by broadcasting over axes in front, so only the general form can run.
  bool only_general = false;
};

/// Why a group is no kernel.
struct Refusal {
  std::string reason;
};

/// Plans `nodes` (Op, ToTensor and Literal nodes of one region, in order) as one kernel whose results are the values in `outputs`.
std::variant<Kernel, Refusal> plan_kernel(const ir::Function&, std::span<const ir::Node* const> nodes,
                                          const std::vector<ir::Value>& outputs);

/// The float32 element that a literal becomes in TensorFlow; nullopt where the conversion may raise.
std::optional<float> element_of(const ir::Node& literal);

}  // namespace natif::passes
