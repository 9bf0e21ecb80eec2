// runtime/guards.h: decides whether running natively would be silently different from running the Python body. Everything that is asked at
// each call is asked of TensorFlow's own thread-local data, in C, for about 0.1 µs together.
#ifndef NATIF_RUNTIME_GUARDS_H_
#define NATIF_RUNTIME_GUARDS_H_

#include <span>

#include "runtime/eager_context.h"

namespace natif::runtime {

// Why a call ran in Python.
enum class Reason {
  kNone,           // it did not
  kArguments,      // the arguments do not fit the signature: CPython raises its own TypeError
  kMode,           // NATIF_MODE=python
  kUnavailable,    // the build or the load failed; reported once
  kBuilding,       // called by the very build of the function
  kGraph,          // a graph is being built or traced
  kTape,           // a gradient tape or forward accumulator records
  kDevice,         // a tf.device scope other than CPU:0
  kOpCallbacks,    // op callbacks, among them check_numerics
  kAsync,          // asynchronous execution
  kNumpyBehavior,  // NumPy's type promotion is switched on
  kOverridden,     // the operators of tf.Tensor are not TensorFlow's
  kSymbolic,       // a symbolic tensor among the arguments
  kMismatch,       // arguments that do not fit, with on_mismatch="fallback"
  kMissingName,    // a module-level name that the function reads is not there
  kRebound,        // a name that the code was compiled from holds something else now
  kDeclined,       // the native code left this call to eager
  kFailed,         // the native code failed and the body gives the error
  kShutdown,       // the interpreter is shutting down
  kCount
};

// The reason's name, as it stands in `calls` and in the log.
const char* reason_name(Reason reason);

// Whether this thread may run natively, the arguments aside. `context` is the current one, or null while TensorFlow has not initialised
// any. Never sets an error.
Reason check_thread(const TensorFlow& tf, const EagerContext* context);

// Whether any tape or accumulator is active and not stopped on this thread; only then recorded_by_tape() need be asked.
bool any_tape(const TensorFlow& tf);
// 1 when a tape or accumulator would record an operation on these tensors, 0 when none would, -1 with an error set.
int recorded_by_tape(const TensorFlow& tf, std::span<PyObject* const> tensors);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_GUARDS_H_
