// src/eval/scalar.h: one operation on Python's numbers, chosen at run time; the arithmetic itself is kernels/scalar.h.
#pragma once

#include <optional>
#include <span>

#include "ir/graph.h"
#include "runtime/abi.h"

namespace natif::eval {

/// What Python raises; `error` is a natif_error, 0 where the result is of another type than the operation declares and the call is
/// declined.
struct ScalarError {
  int32_t error;
  const char* text;
};

/// Computes `op` on operands of these kinds, of which there are one or two. `result` means nothing after an error. A combination that
/// ir/verifier.h refuses is a base::InternalError.
std::optional<ScalarError> apply(ir::ScalarOp op, std::span<const ir::Type::Kind> kinds, std::span<const natif_scalar> operands,
                                 natif_scalar& result);

}  // namespace natif::eval
