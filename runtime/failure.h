// runtime/failure.h: why a call failed, recorded by code that may not hold the GIL, and raised as a Python exception afterwards.
#ifndef NATIF_RUNTIME_FAILURE_H_
#define NATIF_RUNTIME_FAILURE_H_

#include <string>

#include "runtime/abi.h"
#include "runtime/python.h"

namespace natif::runtime {

struct Failure {
  enum class Kind {
    kNone,
    kNative,      // native code called natif_host.fail: `code` is a natif_error
    kTensorFlow,  // a TensorFlow operation failed: `code` is a TF_Code
    kPython,      // a Python exception was raised on behalf of the call, by a signal handler or TensorFlow's own Python code
    kWrapping     // a Python exception was raised while the results were wrapped
  };

  Kind kind = Kind::kNone;
  int code = 0;
  int span = -1;  // index into natif_module.spans, or -1
  std::string text;
  const char* op = nullptr;  // of a TensorFlow failure
  Ref exception;             // of kPython and kWrapping

  // Whether the exception stands as it is. Otherwise the Python body decides, since it gives the very error that eager gives: see
  // native_call.cpp.
  bool is_final() const { return kind == Kind::kPython || (kind == Kind::kNative && code == NATIF_OVERFLOW_ERROR); }
};

// The exception for the failure, with a traceback entry at its line of the user's source; empty when making it failed (an error is set).
// Classes: natif_error as named; TensorFlow's by tf.errors.exception_type_from_error_code, with the message that eager gives.
Ref make_exception(const Failure& failure, const natif_module& module, const char* function);

// The exception class of a natif_error; RuntimeError for a number that this runtime does not know.
PyObject* exception_class(int error);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_FAILURE_H_
