// runtime/tensor_bridge.cpp: reading and refusing arguments.
#include "runtime/tensor_bridge.h"

#include <cstring>
#include <string>

namespace natif::runtime {
namespace {

// An empty tensor has no buffer; native code gets this address, so that null always means "not readable".
alignas(64) char empty_buffer[64];

constexpr const char* kFallback = ", or use on_mismatch=\"fallback\" to run such calls in Python";

// TensorFlow's names of its element types, by number (tensorflow/core/framework/types.proto).
std::string dtype_name(int dtype) {
  constexpr const char* kNames[] = {"invalid",   "float32", "float64",    "int32",   "uint8",    "int16",   "int8",     "string",
                                    "complex64", "int64",   "bool",       "qint8",   "quint8",   "qint32",  "bfloat16", "qint16",
                                    "quint16",   "uint16",  "complex128", "float16", "resource", "variant", "uint32",   "uint64"};
  if (dtype >= 0 && dtype < static_cast<int>(std::size(kNames))) return kNames[dtype];
  return "dtype " + std::to_string(dtype);
}

bool is_cpu_name(const char* name) {
  const size_t length = name == nullptr ? 0 : strlen(name);
  return length >= 6 && memcmp(name + length - 6, ":CPU:0", 6) == 0 && strstr(name, "/job:localhost/") == name;
}

// "numpy.ndarray", "list", "tensorflow.RaggedTensor": the class as a user writes it.
std::string type_name(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  Ref module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  const char* text = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
  PyErr_Clear();
  const char* last = strrchr(type->tp_name, '.');
  const std::string name = last == nullptr ? type->tp_name : last + 1;
  if (text == nullptr || strcmp(text, "builtins") == 0) return name;
  return std::string(text).substr(0, strcspn(text, ".")) + "." + name;
}

bool belongs_to_tensorflow(PyObject* value) {
  const std::string name = type_name(value);
  return name.starts_with("tensorflow.") || name.starts_with("keras.");
}

// Instances of tf.Tensor that are not eager, and Keras's placeholders.
bool is_symbolic(const TensorFlow& tf, PyObject* value) {
  if (PyObject_TypeCheck(value, tf.tensor) && Py_TYPE(value) != tf.eager_tensor) return true;
  const char* last = strrchr(Py_TYPE(value)->tp_name, '.');
  return strcmp(last == nullptr ? Py_TYPE(value)->tp_name : last + 1, "KerasTensor") == 0;
}

Match read_integer(PyObject* value, natif_scalar& scalar) {
  Ref index(PyNumber_Index(value));
  if (!index) return Match::kRaised;
  int overflow = 0;
  scalar.i = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  return overflow != 0 ? Match::kOverflow : Match::kFits;
}

Match read_real(PyObject* value, natif_scalar& scalar) {
  scalar.f = PyFloat_AsDouble(value);
  return scalar.f == -1.0 && PyErr_Occurred() ? Match::kRaised : Match::kFits;
}

}  // namespace

Match read_tensor(const TensorFlow& tf, const EagerContext& context, PyObject* value, const natif_value_type& type, TF_Status* status,
                  TensorObject& token, natif_tensor& view) {
  if (Py_TYPE(value) != tf.eager_tensor) return is_symbolic(tf, value) ? Match::kSymbolic : Match::kNotEager;
  const TensorFlowApi& api = tf.api;
  TFE_TensorHandle* handle = api.handle_of(value);
  view.dtype = api.handle_dtype(handle);
  if (view.dtype != type.dtype) return Match::kDtype;
  view.rank = api.handle_rank(handle, status);
  if (view.rank != type.rank) return Match::kRank;
  const char* device = api.handle_device(handle, status);
  if (device != context.cpu_name && !is_cpu_name(device)) return Match::kDevice;
  for (int i = 0; i < view.rank; ++i) {
    view.dims[i] = api.handle_dim(handle, i, status);
    if (type.dims != nullptr && type.dims[i] >= 0 && type.dims[i] != view.dims[i]) return Match::kSize;
  }
  view.data = api.handle_data(handle, status);
  if (view.data == nullptr) {
    if (api.status_code(status) != 0) return Match::kUnreadable;
    view.data = empty_buffer;
  }
  view.object = &token;
  token = parameter_token(handle, value);
  return Match::kFits;
}

Match read_scalar(const TensorFlow& tf, PyObject* value, const natif_value_type& type, natif_scalar& scalar) {
  const PyNumberMethods* number = Py_TYPE(value)->tp_as_number;
  switch (type.kind) {
    case NATIF_INT:
      if (PyLong_CheckExact(value)) return read_integer(value, scalar);
      if (is_symbolic(tf, value)) return Match::kSymbolic;
      if (number == nullptr || number->nb_index == nullptr || belongs_to_tensorflow(value)) return Match::kNumber;
      return read_integer(value, scalar);
    case NATIF_FLOAT:
      if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) return read_real(value, scalar);
      if (is_symbolic(tf, value)) return Match::kSymbolic;
      if (number == nullptr || (number->nb_float == nullptr && number->nb_index == nullptr) || belongs_to_tensorflow(value))
        return Match::kNumber;
      return read_real(value, scalar);
    default:
      if (PyBool_Check(value)) {
        scalar.i = value == Py_True;
        return Match::kFits;
      }
      if (is_symbolic(tf, value)) return Match::kSymbolic;
      // numpy.bool (called bool_ before NumPy 2) is no subclass of bool.
      const std::string name = type_name(value);
      if (name != "numpy.bool" && name != "numpy.bool_") return Match::kNumber;
      const int truth = PyObject_IsTrue(value);
      scalar.i = truth;
      return truth < 0 ? Match::kRaised : Match::kFits;
  }
}

void set_size_error(const natif_value_type& type, int axis, const natif_tensor& view, const natif_value_type& first, int first_axis,
                    const natif_tensor& first_view) {
  PyErr_Format(PyExc_ValueError, "natif: expected size %lld in dimension %d of '%s', as in dimension %d of '%s', got %lld%s",
               static_cast<long long>(first_view.dims[first_axis]), axis, type.name, first_axis, first.name,
               static_cast<long long>(view.dims[axis]), kFallback);
}

void set_mismatch_error(const TensorFlow& tf, Match match, PyObject* value, const natif_value_type& type, const char* function,
                        TF_Status* status) {
  const TensorFlowApi& api = tf.api;
  const std::string parameter =
      std::string(" for ") + (type.hidden ? "the module-level name '" : "'") + type.name + "' of " + function + "()";
  const std::string fallback = kFallback;
  const auto raise = [&](PyObject* error, const std::string& text) { PyErr_SetString(error, ("natif: " + text).c_str()); };
  TFE_TensorHandle* handle = Py_TYPE(value) == tf.eager_tensor ? api.handle_of(value) : nullptr;
  switch (match) {
    case Match::kSymbolic:
    case Match::kNotEager:
      return raise(PyExc_TypeError, "expected a TensorFlow EagerTensor, got " + type_name(value) + parameter +
                                        "; convert it with tf.convert_to_tensor" + fallback);
    case Match::kDtype: {
      const std::string expected = dtype_name(type.dtype);
      return raise(PyExc_ValueError, "expected a " + expected + " tensor, got " + dtype_name(api.handle_dtype(handle)) + parameter +
                                         "; cast it with tf.cast(" + type.name + ", tf." + expected + ")" + fallback);
    }
    case Match::kRank:
      return raise(PyExc_ValueError, "expected a rank-" + std::to_string(type.rank) + " tensor, got rank " +
                                         std::to_string(api.handle_rank(handle, status)) + parameter + "; reshape it" + fallback);
    case Match::kDevice: {
      const char* device = api.handle_device(handle, status);
      return raise(PyExc_ValueError, std::string("expected a tensor on CPU:0, got one on ") + (device == nullptr ? "no device" : device) +
                                         parameter + "; copy it with tf.identity under tf.device(\"CPU:0\")" + fallback);
    }
    case Match::kSize:
      for (int i = 0; i < type.rank; ++i) {
        const int64_t size = api.handle_dim(handle, i, status);
        if (type.dims[i] < 0 || type.dims[i] == size) continue;
        return raise(PyExc_ValueError, "expected size " + std::to_string(type.dims[i]) + " in dimension " + std::to_string(i) + " of '" +
                                           type.name + "', got " + std::to_string(size) + fallback);
      }
      return;
    case Match::kUnreadable:
      return raise(PyExc_RuntimeError, std::string("TensorFlow cannot read the tensor") + parameter + ": " + api.status_message(status));
    case Match::kNumber: {
      const char* expected = type.kind == NATIF_INT ? "an int" : type.kind == NATIF_FLOAT ? "a float" : "a bool";
      return raise(PyExc_TypeError, std::string("expected ") + expected + ", got " + type_name(value) + parameter);
    }
    case Match::kOverflow:
      return raise(PyExc_OverflowError, "a Python int too large for 64 bits" + parameter);
    case Match::kFits:
    case Match::kRaised:
      return;
  }
}

}  // namespace natif::runtime
