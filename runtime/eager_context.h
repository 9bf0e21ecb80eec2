// runtime/eager_context.h: the connection to TensorFlow: the resolved functions and the process's one eager context. TensorFlow makes the
// context; the runtime only borrows it, keeps it alive while it is in use, and notices when it was replaced. All functions need the GIL.
#ifndef NATIF_RUNTIME_EAGER_CONTEXT_H_
#define NATIF_RUNTIME_EAGER_CONTEXT_H_

#include <memory>
#include <vector>

#include "runtime/tensorflow_api.h"
#include "runtime/tensorflow_images.h"

namespace natif::runtime {

class OpCache;

// TensorFlow, as this process has loaded it. Filled once, before the first native call.
struct TensorFlow {
  TensorFlowApi api{};
  Installation installation;
  PyTypeObject* eager_tensor = nullptr;  // the class of eager tensors
  PyTypeObject* tensor = nullptr;        // tf.Tensor, of which symbolic tensors are instances too
  PyObject* ops_globals = nullptr;       // names of tensorflow.python.framework.ops
  PyObject* numpy_mode_off = nullptr;    // the value of ops._dtype_conversion_mode without NumPy behaviour
};

// One eager context, from the call that first uses it until it has been replaced and the last call in it has ended.
struct EagerContext {
  Ref python;   // tensorflow.python.eager.context.Context
  Ref capsule;  // its _handle, which owns the TFE_Context
  TFE_Context* handle = nullptr;
  void* c_context = nullptr;       // what api.c_context() answers as long as this context is current
  const char* cpu_name = nullptr;  // the name of CPU:0, at the address that handles in this context answer
  int active_calls = 0;            // may only change with the GIL
  bool retired = false;
  std::vector<std::unique_ptr<OpCache>> op_caches;  // of each artifact that has run here

  EagerContext();
  ~EagerContext();
};

// The loaded TensorFlow; null with an error set when its checks fail. The first call imports it if need be; never initialises the context.
const TensorFlow* tensorflow();

// Makes tensorflow() repeat its checks with these facts; null: with the true ones. For tests.
void override_installation(const Installation* facts);

// The current context if it is the one seen last, else null; costs nanoseconds. No error is set.
EagerContext* known_context(const TensorFlow& tf);

// Whether TensorFlow's context object exists and is initialised. No error is set.
bool is_initialized(const TensorFlow& tf);

// The current context, initialised as any operation initialises it; null with an error set. Whoever lets other threads run before enter()
// must ask again.
EagerContext* acquire_context(const TensorFlow& tf);

// A call begins or ends in a context.
inline void enter(EagerContext& context) { ++context.active_calls; }
void leave(EagerContext& context);

// Gives everything up that belongs to the context; natif runs nothing afterwards. At the interpreter's exit.
void close_context();
bool is_closed();

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_EAGER_CONTEXT_H_
