// runtime/guards.cpp: the questions, cheapest first.
#include "runtime/guards.h"

#include <cstring>

#include "runtime/op_cache.h"

// Exported by CPython 3.11; the lookup also gives the type a fresh version tag.
extern "C" PyAPI_FUNC(PyObject*) _PyType_Lookup(PyTypeObject*, PyObject*);

namespace natif::runtime {
namespace {

constexpr const char* kReasonNames[] = {"none",         "arguments",    "mode",     "unavailable",    "building",   "graph",    "tape",
                                        "device",       "op_callbacks", "async",    "numpy_behavior", "overridden", "symbolic", "mismatch",
                                        "missing_name", "rebound",      "declined", "failed",         "shutdown"};
static_assert(std::size(kReasonNames) == static_cast<size_t>(Reason::kCount));

// The operators whose Python functions the registry's lowerings stand for.
constexpr const char* kOperators[] = {"__add__",      "__radd__",     "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__",
                                      "__rtruediv__", "__floordiv__", "__mod__", "__pow__",  "__neg__", "__abs__",  "__matmul__",
                                      "__rmatmul__",  "__eq__",       "__ne__",  "__lt__",   "__le__",  "__gt__",   "__ge__",
                                      "__getitem__",  "__invert__",   "__and__", "__or__",   "__xor__"};

bool is_cpu_scope(PyObject* device_name) {
  if (device_name == nullptr || device_name == Py_None) return true;
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(device_name) ? PyUnicode_AsUTF8AndSize(device_name, &length) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return false;
  }
  return length == 0 || strcmp(text, kCpuDevice) == 0 || strcmp(text, "/device:CPU:0") == 0;
}

bool has_callbacks(PyObject* callbacks) {
  if (callbacks == nullptr || callbacks == Py_None) return false;
  if (PyList_CheckExact(callbacks)) return PyList_GET_SIZE(callbacks) != 0;
  return !PyTuple_CheckExact(callbacks) || PyTuple_GET_SIZE(callbacks) != 0;
}

// Both switches live in module globals; their dictionary's version tells whether any global has changed since they were looked at.
bool numpy_behavior(const TensorFlow& tf) {
  static uint64_t seen_version = 0;
  static bool seen = false;
  const auto* globals = reinterpret_cast<PyDictObject*>(tf.ops_globals);
  if (globals->ma_version_tag == seen_version) return seen;
  PyObject* mode = PyDict_GetItemString(tf.ops_globals, "_dtype_conversion_mode");
  PyObject* slicing = PyDict_GetItemString(tf.ops_globals, "_numpy_style_slicing");
  seen = (mode != nullptr && mode != tf.numpy_mode_off) || slicing == Py_True;
  seen_version = globals->ma_version_tag;
  return seen;
}

bool is_tensorflows_own(PyObject* function) {
  Ref module(function == nullptr ? nullptr : PyObject_GetAttrString(function, "__module__"));
  const char* text = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
  PyErr_Clear();
  return text != nullptr && strncmp(text, "tensorflow.", 11) == 0;
}

// Assigning to an attribute of the class changes its version tag, so the operators are looked at once for each such change.
bool operators_overridden(const TensorFlow& tf) {
  static unsigned seen_version = 0;
  static bool seen = false;
  if (tf.eager_tensor->tp_version_tag == seen_version && seen_version != 0) return seen;
  seen = false;
  for (const char* name : kOperators) {
    Ref text(PyUnicode_InternFromString(name));
    if (!text) PyErr_Clear();
    if (!text || !is_tensorflows_own(_PyType_Lookup(tf.eager_tensor, text.get()))) seen = true;
  }
  seen_version = tf.eager_tensor->tp_version_tag;
  return seen;
}

bool runs_async(const TensorFlow& tf, const EagerContext& context) {
  TFE_Executor* executor = tf.api.thread_executor(context.handle);
  const bool async = tf.api.executor_is_async(executor);
  tf.api.delete_executor(executor);
  return async;
}

}  // namespace

const char* reason_name(Reason reason) { return kReasonNames[static_cast<int>(reason)]; }

Reason check_thread(const TensorFlow& tf, const EagerContext* context) {
  PyObject* python = context != nullptr ? context->python.get() : tf.api.python_context();
  if (python == nullptr) {
    PyErr_Clear();  // TensorFlow has not made its context object yet, so everything stands at its defaults
    return Reason::kNone;
  }
  const EagerThreadState* thread = tf.api.thread_state(python);
  if (context == nullptr) Py_DECREF(python);  // TensorFlow keeps its current context alive
  if (thread == nullptr) {
    PyErr_Clear();
    return Reason::kNone;
  }
  if (!thread->is_eager) return Reason::kGraph;
  if (!is_cpu_scope(thread->device_name)) return Reason::kDevice;
  if (thread->invoking_op_callbacks || has_callbacks(thread->op_callbacks)) return Reason::kOpCallbacks;
  if (context != nullptr && runs_async(tf, *context)) return Reason::kAsync;
  if (numpy_behavior(tf)) return Reason::kNumpyBehavior;
  if (operators_overridden(tf)) return Reason::kOverridden;
  return Reason::kNone;
}

bool any_tape(const TensorFlow& tf) {
  PyObject* empty = tf.api.tape_set_is_empty();
  const bool any = empty != Py_True;
  Py_XDECREF(empty);
  return any;
}

int recorded_by_tape(const TensorFlow& tf, std::span<PyObject* const> tensors) {
  Ref list(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  if (!list) return -1;
  for (size_t i = 0; i < tensors.size(); ++i) PyTuple_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Py_NewRef(tensors[i]));
  Ref types(tf.api.possible_gradient_types(list.get()));
  if (!types) return -1;
  return PyLong_AsLong(types.get()) != 0;
}

}  // namespace natif::runtime
