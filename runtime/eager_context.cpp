// runtime/eager_context.cpp: finding TensorFlow and following its eager context.
#include "runtime/eager_context.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "runtime/op_cache.h"
#include "runtime/processors.h"
#include "runtime/thread_pool.h"
#include "runtime/thread_state.h"

namespace natif::runtime {
namespace {

struct State {
  std::optional<TensorFlow> tensorflow;
  std::optional<Installation> overridden;
  EagerContext* context = nullptr;
  bool closed = false;
};

State& state() {
  static State instance;
  return instance;
}

PyTypeObject* import_type(const char* module, const char* name) {
  Ref type = import_from(module, name);
  if (!type) return nullptr;
  if (!PyType_Check(type.get())) {
    PyErr_Format(PyExc_RuntimeError, "natif: %s.%s is not a class; reinstall TensorFlow or upgrade natif", module, name);
    return nullptr;
  }
  return reinterpret_cast<PyTypeObject*>(type.release());
}

bool fill_python_side(TensorFlow& tf) {
  tf.eager_tensor = import_type("tensorflow.python.framework.ops", "EagerTensor");
  tf.tensor = tf.eager_tensor ? import_type("tensorflow", "Tensor") : nullptr;
  if (tf.tensor == nullptr) return false;
  Ref ops(PyImport_ImportModule("tensorflow.python.framework.ops"));
  Ref modes = import_from("tensorflow.python.framework.ops", "PromoMode");
  if (!ops || !modes) return false;
  tf.ops_globals = Py_NewRef(PyModule_GetDict(ops.get()));
  tf.numpy_mode_off = PyObject_GetAttrString(modes.get(), "OFF");
  return tf.numpy_mode_off != nullptr;
}

// What NATIF_NUM_THREADS says: 0 where it is unset, empty or no number of threads, of which natif.policy then decides; -1: an error is set.
long threads_of_environment() {
  const char* text = getenv("NATIF_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  char* end;
  const long threads = strtol(text, &end, 10);
  if (*end == '\0' && threads >= 1 && threads <= 4096) return threads;
  Ref refuse = import_from("natif.policy", "refuse_setting");
  Ref said(PyUnicode_FromFormat("natif: NATIF_NUM_THREADS must be a whole number from 1 to 4096, got '%s'", text));
  return refuse && said && Ref(PyObject_CallOneArg(refuse.get(), said.get())) ? 0 : -1;
}

// Threads for parallel_for: NATIF_NUM_THREADS, else TensorFlow's intra-op setting, else the machine; within what the process may use.
bool configure_pool(PyObject* python_context) {
  long threads = threads_of_environment();
  if (threads < 0) return false;
  if (threads == 0) {
    Ref setting(PyObject_GetAttrString(python_context, "intra_op_parallelism_threads"));
    if (!setting) return false;
    threads = PyLong_AsLong(setting.get());
    if (threads == -1 && PyErr_Occurred()) return false;
  }
  const int available = available_threads();
  set_pool_threads(threads <= 0 || threads > available ? available : static_cast<int>(threads));
  return true;
}

// The address at which handles of this context answer the name of CPU:0, from a handle of its own.
const char* find_cpu_name(const TensorFlowApi& api) {
  TF_Status* status = ThreadState::of_thread().status(api);
  TF_Tensor* tensor = api.allocate_tensor(NATIF_FLOAT32, nullptr, 0, sizeof(float));
  TFE_TensorHandle* handle = tensor == nullptr ? nullptr : api.new_handle(tensor, status);
  if (tensor != nullptr) api.delete_tensor(tensor);
  if (handle == nullptr) return nullptr;
  const char* name = api.handle_device(handle, status);
  api.delete_handle(handle);
  return name;
}

void retire(EagerContext* context) {
  if (context == nullptr) return;
  context->retired = true;
  if (context->active_calls == 0) delete context;
}

}  // namespace

EagerContext::EagerContext() = default;
EagerContext::~EagerContext() { op_caches.clear(); }  // before the context goes

const TensorFlow* tensorflow() {
  State& s = state();
  if (s.tensorflow) return &*s.tensorflow;
  TensorFlow tf;
  if (s.overridden) {
    tf.installation = *s.overridden;
  } else if (!read_installation(tf.installation)) {
    return nullptr;
  }
  if (!open_tensorflow(tf.installation, tf.api) || !fill_python_side(tf)) return nullptr;
  s.tensorflow = tf;
  return &*s.tensorflow;
}

void override_installation(const Installation* facts) {
  State& s = state();
  retire(std::exchange(s.context, nullptr));
  s.tensorflow.reset();
  s.overridden.reset();
  if (facts != nullptr) s.overridden = *facts;
}

EagerContext* known_context(const TensorFlow& tf) {
  EagerContext* context = state().context;
  if (context == nullptr || tf.api.c_context() != context->c_context) return nullptr;
  PyObject* python = tf.api.python_context();
  if (python == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  Py_DECREF(python);
  return python == context->python.get() ? context : nullptr;
}

bool is_initialized(const TensorFlow& tf) {
  if (tf.api.c_context() == nullptr) return false;
  // After a reset the C++ side still has the old context until the new one is initialised.
  Ref python(tf.api.python_context());
  Ref handle(python ? PyObject_GetAttrString(python.get(), "_context_handle") : nullptr);
  PyErr_Clear();
  return handle && handle.get() != Py_None;
}

EagerContext* acquire_context(const TensorFlow& tf) {
  State& s = state();
  if (EagerContext* context = known_context(tf)) return context;
  auto fresh = std::make_unique<EagerContext>();
  Ref get_context = import_from("tensorflow.python.eager.context", "context");
  fresh->python = Ref(get_context ? PyObject_CallNoArgs(get_context.get()) : nullptr);
  if (!fresh->python) return nullptr;
  Ref initialized(PyObject_CallMethod(fresh->python.get(), "ensure_initialized", nullptr));
  fresh->capsule = Ref(initialized ? PyObject_GetAttrString(fresh->python.get(), "_handle") : nullptr);
  if (!fresh->capsule) return nullptr;
  if (!PyCapsule_CheckExact(fresh->capsule.get())) {
    PyErr_SetString(PyExc_RuntimeError, "natif: TensorFlow's eager context has no handle of the expected kind; upgrade natif");
    return nullptr;
  }
  fresh->handle = static_cast<TFE_Context*>(PyCapsule_GetPointer(fresh->capsule.get(), PyCapsule_GetName(fresh->capsule.get())));
  if (fresh->handle == nullptr || !configure_pool(fresh->python.get())) return nullptr;
  fresh->c_context = tf.api.c_context();
  fresh->cpu_name = find_cpu_name(tf.api);
  if (fresh->cpu_name == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "natif: TensorFlow's eager context cannot make a tensor on CPU:0");
    return nullptr;
  }
  // Other threads ran while Python was asked; what they have found is as good.
  if (EagerContext* context = known_context(tf)) return context;
  retire(std::exchange(s.context, fresh.release()));
  return s.context;
}

void leave(EagerContext& context) {
  if (--context.active_calls == 0 && context.retired) delete &context;
}

void close_context() {
  state().closed = true;
  retire(std::exchange(state().context, nullptr));
}

bool is_closed() { return state().closed; }

}  // namespace natif::runtime
