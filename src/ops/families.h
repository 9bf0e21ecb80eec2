// src/ops/families.h: the shapes that ops share, so that an op's file holds only what is its own.
#pragma once

#include <vector>

#include "base/error.h"
#include "ops/op_def.h"

namespace natif::ops {

/// One float32 tensor of any rank in, the same type out; a Python float becomes a rank-0 tensor. `refusal` takes the description of
/// anything else.
Verdict unary_float32(const Call&, const base::Diagnostic& refusal);

/// Two operands with NumPy broadcasting: float32 tensors, or one of them a Python number that takes the tensor's dtype.
Verdict binary_float32(const Call&, const base::Diagnostic& refusal);

/// Whether operand 0 is an int or a bool and was given to a function that turns it into an int32 or bool tensor before it sees the other
/// operand, where eager then raises.
bool is_number_converted_alone(const Call&);

/// The float32 tensor given for a parameter; null for anything else.
const ir::Type* float32_tensor(const Call&, size_t parameter);

/// For the hole of a refusal: "a rank-1 int64 tensor", "an int", "something that is no tensor".
std::string what(const Call&, size_t parameter);

/// A flag that was left out or given as None, or written as True, False or a number; nullopt for anything else.
std::optional<bool> flag(const Call&, size_t parameter);

/// `axis` counted from 0; nullopt where a tensor of this rank has no such axis.
std::optional<int64_t> normal_axis(int64_t axis, int rank);

/// The type of `a` and `b` broadcast together; sizes that can't be known, or that don't fit, are free (TensorFlow reports the latter at run
/// time).
ir::Type broadcast(const ir::Type& a, const ir::Type& b);

/// The type of `x` with its axes in the order `permutation`.
ir::Type transposed(const ir::Type& x, const std::vector<int64_t>& permutation);

/// The type of a matrix product of the last two axes, each operand transposed where the flag says so; the axes before them broadcast.
ir::Type matrix_product(const ir::Type& a, const ir::Type& b, bool transpose_a, bool transpose_b);

/// The element rule that applies one intrinsic to all operands.
template <ir::Intrinsic intrinsic>
ir::Term apply(ir::Expression& expression, std::span<const ir::Term> operands) {
  return operands.size() == 1 ? expression.call(intrinsic, operands[0]) : expression.call(intrinsic, operands[0], operands[1]);
}

// Reductions: the parameters input_tensor, axis, keepdims and name; the attributes axis (from 0, ascending) and keep_dims.

inline constexpr base::Diagnostic reduction_operand{.code = "NTF-REDUCE-1",
                                                    .text = "a reduction takes a float32 tensor, got {}",
                                                    .suggestion = "annotate the operand as a float32 tensor",
                                                    .example = "tf.reduce_sum(i1)"};
inline constexpr base::Diagnostic reduction_axis{.code = "NTF-REDUCE-2",
                                                 .text = "the axis of a reduction has to be known when compiling",
                                                 .suggestion = "write an int, a list or tuple of ints, or None",
                                                 .example = "tf.reduce_sum(x2, axis=n)"};
inline constexpr base::Diagnostic reduction_range{.code = "NTF-REDUCE-3",
                                                  .text = "a reduction over axis {}",
                                                  .suggestion = "name axes that the tensor has, each once",
                                                  .example = "tf.reduce_sum(x2, axis=2)"};
inline constexpr base::Diagnostic reduction_keepdims{.code = "NTF-REDUCE-4",
                                                     .text = "keepdims has to be known when compiling",
                                                     .suggestion = "write keepdims=True or keepdims=False",
                                                     .example = "tf.reduce_sum(x2, axis=1, keepdims=flag)"};
inline constexpr List<const base::Diagnostic*, 8> reduction_diagnostics{&reduction_operand, &reduction_axis, &reduction_range,
                                                                        &reduction_keepdims};
inline constexpr Parameters reduction_parameters{operand("input_tensor"), attribute("axis"), attribute("keepdims"), name_parameter};

Verdict reduce_float32(const Call&);

constexpr Tfe reduction_node(std::string_view op) { return {.op = op, .attributes = Names{"keep_dims"}, .constants = Names{"axis"}}; }

}  // namespace natif::ops
