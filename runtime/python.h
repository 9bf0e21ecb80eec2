// runtime/python.h: CPython's API, and the one smart pointer that the runtime uses for references. Every function that takes or returns a
// `Ref` or a `PyObject*` needs the GIL.
#ifndef NATIF_RUNTIME_PYTHON_H_
#define NATIF_RUNTIME_PYTHON_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace natif::runtime {

// Owns one reference, or none.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(const Ref& other) : object_(Py_XNewRef(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  static Ref borrow(PyObject* borrowed) { return Ref(Py_XNewRef(borrowed)); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// The attribute at the end of a dotted path of a module, such as import_from("tensorflow.python.eager", "context"); empty: an error is set.
inline Ref import_from(const char* module_name, const char* attribute) {
  Ref module(PyImport_ImportModule(module_name));
  return module ? Ref(PyObject_GetAttrString(module.get(), attribute)) : Ref();
}

// The error that is set, taken away from the thread (normalised, with its traceback); empty when there is none.
inline Ref take_error() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return Ref();
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref(value);
}

// Sets an error again that take_error() took.
inline void set_error(Ref error) {
  PyObject* value = error.release();
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value))), value, PyException_GetTraceback(value));
}

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_PYTHON_H_
