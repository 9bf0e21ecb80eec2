// runtime/failure.cpp: from a recorded failure to the exception that eager, or Python, would raise.
#include "runtime/failure.h"

// Exported by CPython 3.11 for its own extension modules, as _ctypes and pyexpat use it: adds an entry to the traceback of the current
// error.
extern "C" PyAPI_FUNC(void) _PyTraceback_Add(const char*, const char*, int);

namespace natif::runtime {
namespace {

// Eager's message is TensorFlow's own, then the op and the (empty) name: ops.raise_from_not_ok_status and MaybeRaiseExceptionFromTFStatus.
Ref tensorflow_exception(const Failure& failure) {
  Ref class_of = import_from("tensorflow.python.framework.errors_impl", "exception_type_from_error_code");
  Ref type(class_of ? PyObject_CallFunction(class_of.get(), "i", failure.code) : nullptr);
  if (!type) return Ref();
  std::string message = failure.text;
  const std::string op = std::string("[Op:") + failure.op + "]";
  if (message.find(op) == std::string::npos) message += " " + op;
  message += " name: ";
  return Ref(PyObject_CallFunction(type.get(), "OOs#", Py_None, Py_None, message.data(), static_cast<Py_ssize_t>(message.size())));
}

}  // namespace

PyObject* exception_class(int error) {
  switch (error) {
    case NATIF_ZERO_DIVISION_ERROR:
      return PyExc_ZeroDivisionError;
    case NATIF_OVERFLOW_ERROR:
      return PyExc_OverflowError;
    case NATIF_VALUE_ERROR:
      return PyExc_ValueError;
    case NATIF_TYPE_ERROR:
      return PyExc_TypeError;
    case NATIF_INDEX_ERROR:
      return PyExc_IndexError;
    case NATIF_MEMORY_ERROR:
      return PyExc_MemoryError;
    default:
      return PyExc_RuntimeError;
  }
}

Ref make_exception(const Failure& failure, const natif_module& module, const char* function) {
  Ref exception;
  switch (failure.kind) {
    case Failure::Kind::kPython:
    case Failure::Kind::kWrapping:
      return failure.exception;
    case Failure::Kind::kTensorFlow:
      exception = tensorflow_exception(failure);
      break;
    case Failure::Kind::kNative:
      exception = Ref(
          PyObject_CallFunction(exception_class(failure.code), "s#", failure.text.data(), static_cast<Py_ssize_t>(failure.text.size())));
      break;
    case Failure::Kind::kNone:
      exception = Ref(PyObject_CallFunction(PyExc_RuntimeError, "s", "natif: native code failed without saying why"));
      break;
  }
  if (!exception) return Ref();
  set_error(std::move(exception));
  if (failure.span >= 0 && failure.span < module.span_count) {
    _PyTraceback_Add(function, module.source_file, module.spans[failure.span].line);
  }
  return take_error();
}

}  // namespace natif::runtime
