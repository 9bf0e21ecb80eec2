// src/front/diagnostics.h: what the front end says of the language, as the ops say it of their calls. The example of each is a function
// body over the parameters that ops/op_def.h names, or a whole module where it has a `def`; the tests compile it and expect this diagnostic
// alone of its last function.
#pragma once

#include <span>

#include "base/diagnostic.h"

namespace natif::front::diagnostics {

extern const base::Diagnostic call_not_covered, method_call, attribute_read, statement, expression, tensor_condition, parameter_annotation,
    variadic_parameter, default_value, result_annotation, no_result, result_type, results_differ, result_value, unknown_name,
    enclosing_name, module_name, maybe_unbound, types_differ, loop_changes_type, large_int, iterable, range_arguments, tensor_operator,
    unary_plus, operand_types, call_arguments, native_call_types, recursive_call, callee_is_python, callee_returns_in_loop, shape_index,
    tensor_index, unpacking, coroutine, builtin_arguments, nesting, native_call_arguments;

/// All of them, in the order of their codes.
std::span<const base::Diagnostic* const> all();

}  // namespace natif::front::diagnostics
