// src/ops/families.h: the shapes that ops share, so that an op's file holds only what is its own.
#pragma once

#include "ops/op_def.h"

namespace natif::ops {

/// One float32 tensor of any rank in, the same type out. `refusal` is given the description of anything else.
Verdict unary_float32(const Call&, const base::Diagnostic& refusal);

/// Two operands with NumPy broadcasting: float32 tensors, or one of them a Python number that takes the tensor's dtype.
Verdict binary_float32(const Call&, const base::Diagnostic& refusal);

/// The type of `a` and `b` broadcast together; sizes that can't be known, or that don't fit, are free (TensorFlow reports the latter at run time).
ir::Type broadcast(const ir::Type& a, const ir::Type& b);

/// The element rule that applies one intrinsic to all operands.
template <ir::Intrinsic intrinsic>
ir::Term apply(ir::Expression& expression, std::span<const ir::Term> operands) {
  return operands.size() == 1 ? expression.call(intrinsic, operands[0]) : expression.call(intrinsic, operands[0], operands[1]);
}

}  // namespace natif::ops
