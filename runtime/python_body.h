// runtime/python_body.h: running the function as written, and the switch that says so on stderr.
#ifndef NATIF_RUNTIME_PYTHON_BODY_H_
#define NATIF_RUNTIME_PYTHON_BODY_H_

#include "runtime/native_function.h"

namespace natif::runtime {

// Calls the Python function with these arguments and the bound tensors. While a graph is built, through TensorFlow's tf_convert, so that
// AutoGraph sees the body as it would see the function itself.
PyObject* run_body(const NativeFunction& self, bool graph, PyObject* const* args, size_t args_and_flag, PyObject* keyword_names);

// NATIF_LOG=1 at import: one line on stderr for each call.
bool logs_calls();

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_PYTHON_BODY_H_
