// src/codegen/scalars.h: prints arithmetic on Python numbers as calls of kernels/scalar.h, and the elements that numbers become.
#pragma once

#include <optional>

#include "codegen/tables.h"
#include "codegen/writer.h"
#include "ir/graph.h"

namespace natif::codegen {

/// "const int64_t v3_n = INT64_C(5);"
void print_literal(Writer&, const ir::Function&, const ir::Node& literal);

/// One Scalar node: declares its result; where Python can raise, the statement `leave` follows, which may read `fault`.
void print_scalar(Writer&, const ir::Function&, const ir::Node&, const Code& leave);

/// The rank-0 tensor that a literal becomes as TensorFlow converts it; nullopt where the conversion is left to TensorFlow at run time,
/// because it may raise: a bool, or a number outside the dtype's range.
std::optional<Constant> element_constant(const ir::Node& literal, ir::DType);

}  // namespace natif::codegen
