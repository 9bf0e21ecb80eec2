// src/codegen/expression.h: prints kernel expressions as generic lambdas over elements (kernels/math.h).
#pragma once

#include <vector>

#include "codegen/writer.h"
#include "ir/kernel_ir.h"

namespace natif::codegen {

/// Prints "const auto name = <head> {", the expression with `inputs[i]` for its input i, and "};". `element` is a variable of the lambda
/// that has the element's type. `fast` takes the functions of kernels/math_fast.h where it has one.
void print_expression(Writer&, const Code& name, const Code& head, const Code& element, const ir::Expression&,
                      const std::vector<Code>& inputs, bool fast);

}  // namespace natif::codegen
