// src/passes/plan.h: the plan of a kernel: how a group of ops runs as one loop over blocks of rows. The planner decides whether a group can
// be one kernel at all; codegen only prints what stands here.
//
// A kernel has `leading` leading axes, whose sizes multiplied are its rows. A value of it is
//   a row value        one row for each row of the kernel: [rows…, width], or [rows…] with width 1
//   an invariant value the same for all rows: a bias, weights; computed once, before the rows
// and stages compute them in order, the row values for a block of rows at a time, so that only the kernel's results reach memory.
//
// Control flow in a kernel depends on Python numbers only, so it is the same for all blocks. Stages that run one after another are a
// segment; the launch runs the numbers' part of the control flow once and records the segments that are to run, a schedule, which every
// block then follows. What control flow hands on (a loop's carried tensors, what a branch yields) are variables with a place of their own.
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
  enum class Kind : uint8_t { Input, Stage, Number, Variable, Changing };
  Kind kind;
  uint32_t index;  // into Kernel::inputs, stages (of the whole kernel), numbers, variables or changing

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

/// A row value that control flow hands on.
struct Variable {
  std::vector<Size> shape;
  Size width = 0;
};

/// variable ← source, a stage or a variable.
struct Move {
  uint32_t variable;
  Source source;
};

/// Stages that run one after another, and then moves, all at once. One without either is a point where ways meet.
struct Segment {
  /// Where the launch records it: after the op or before the control flow or the end of a region that stands at this place among those
  /// of the kernel's region, in program order (control_flow.h: has_place).
  uint32_t place = 0;
  std::vector<uint32_t> stages;
  std::vector<Move> moves;
  std::vector<uint32_t> numbers;  // into Kernel::changing: elements whose values are recorded with it
  std::vector<uint32_t> next;     // the segments that may run after it
};

/// A number of the control flow that is the length of an axis of a row value.
struct KnownDimension {
  ir::Value number;
  Size size;
};

struct Kernel {
  std::vector<ir::Value> inputs;               // tensors
  std::vector<std::optional<uint32_t>> bound;  // of inputs: the function's parameter that is the same tensor at each call
  std::vector<ir::Value> numbers;              // Python numbers that became elements
  std::vector<ir::Value> steering;             // Python numbers that the control flow reads
  std::vector<ir::Value> outputs;
  std::vector<ir::Value> number_outputs;  // Python numbers that the control flow leaves behind
  std::vector<SizeInfo> sizes;
  std::vector<Check> checks;
  std::vector<Pair> pairs;
  std::vector<Size> leading;  // the sizes that make the rows
  std::vector<Stage> stages;  // in order, those of row values after the invariant ones
  std::vector<Variable> variables;
  std::vector<Segment> segments;           // empty without control flow; the first begins
  std::vector<ir::Value> changing;         // Python numbers that became elements and are the control flow's own
  std::vector<KnownDimension> dimensions;  // of the control flow
  std::vector<uint32_t> variable_outputs;  // into outputs: what a variable holds at the end, so it may be a tensor that exists already
  std::vector<std::string> rules;          // exactness rules that it relies on, but those of products and softmax
  bool fast = false;                       // numerics="fast": transcendentals by math_fast.h, and no formulas of their own for tails
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

/// Plans `nodes` (nodes of one region, in order: ops, control flow, and the numbers that they read) as one kernel whose results are the
/// values in `outputs`.
std::variant<Kernel, Refusal> plan_kernel(const ir::Function&, std::span<const ir::Node* const> nodes,
                                          const std::vector<ir::Value>& outputs);

/// The float32 element that a literal becomes in TensorFlow; nullopt where the conversion may raise.
std::optional<float> element_of(const ir::Node& literal);

}  // namespace natif::passes
