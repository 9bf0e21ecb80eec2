// runtime/module.cpp: the extension module `natif._runtime`: the types Artifact and NativeFunction, the self-check's outcomes, and the
// switches by which the tests put the runtime into situations that a healthy machine never shows.

#include "runtime/artifact.h"
#include "runtime/eager_context.h"
#include "runtime/host_table.h"
#include "runtime/native_function.h"
#include "runtime/self_check.h"
#include "runtime/thread_pool.h"

namespace natif::runtime {
namespace {

PyObject* rebind(PyObject*, PyObject* args) {
  PyObject *function, *tensors;
  if (!PyArg_ParseTuple(args, "OO!", &function, &PyDict_Type, &tensors)) return nullptr;
  Ref bind(PyObject_GetAttrString(function, "bind")), none(PyTuple_New(0));
  return bind && none ? PyObject_Call(bind.get(), none.get(), tensors) : nullptr;
}

PyObject* close(PyObject*, PyObject*) {
  close_context();
  Py_RETURN_NONE;
}

PyObject* py_check_tensorflow(PyObject*, PyObject*) {
  if (tensorflow() == nullptr) return nullptr;
  Py_RETURN_NONE;
}

// override_installation(**facts): fields of Installation by name; no facts: back to the true ones.
PyObject* py_override_installation(PyObject*, PyObject* args, PyObject* keywords) {
  Installation facts;
  const struct {
    const char* name;
    std::string& field;
  } fields[] = {{"root", facts.root},
                {"version", facts.version},
                {"library_version", facts.library_version},
                {"implementation", facts.implementation},
                {"python", facts.python},
                {"machine", facts.machine},
                {"missing_symbol", facts.missing_symbol},
                {"foreign_symbol", facts.foreign_symbol}};
  if (PyTuple_GET_SIZE(args) != 0) return PyErr_Format(PyExc_TypeError, "override_installation() takes keyword arguments only");
  if (keywords == nullptr || PyDict_GET_SIZE(keywords) == 0) {
    override_installation(nullptr);
    Py_RETURN_NONE;
  }
  if (!read_installation(facts)) return nullptr;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, &value);) {
    const char* text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : nullptr;
    bool known = false;
    for (const auto& field : fields) {
      if (text == nullptr || PyUnicode_CompareWithASCIIString(key, field.name) != 0) continue;
      field.field = text;
      known = true;
    }
    if (!known) return PyErr_Format(PyExc_TypeError, "override_installation() has no text fact %R", key);
  }
  override_installation(&facts);
  Py_RETURN_NONE;
}

PyObject* py_inject_fault(PyObject*, PyObject* name) {
  const char* text = name == Py_None ? "" : PyUnicode_AsUTF8(name);
  if (text == nullptr) return nullptr;
  if (!inject_fault(text)) return PyErr_Format(PyExc_ValueError, "natif: no host function is called %R", name);
  Py_RETURN_NONE;
}

PyObject* py_pool_threads(PyObject*, PyObject*) { return PyLong_FromLong(process_pool().threads()); }

PyMethodDef functions[] = {
    {"rebind", rebind, METH_VARARGS, "rebind(function, tensors)\n--\n\nfunction.bind(**tensors); how bound functions are unpickled."},
    {"check_tensorflow", py_check_tensorflow, METH_NOARGS,
     "check_tensorflow()\n--\n\nRaises the RuntimeError that says why native code cannot work with the installed TensorFlow, if so. "
     "Imports "
     "it; initialises nothing."},
    {"pool_threads", py_pool_threads, METH_NOARGS, "pool_threads()\n--\n\nHow many threads native code uses, the caller included."},
    {"override_installation", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_override_installation)),
     METH_VARARGS | METH_KEYWORDS,
     "override_installation(**facts)\n--\n\nFor tests: makes the checks of the installation see these facts; none: the true ones."},
    {"inject_fault", py_inject_fault, METH_O, "inject_fault(name)\n--\n\nFor tests: makes a host function fail; None: none."},
    {"_close", close, METH_NOARGS, nullptr},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "natif._runtime",
                          "The runtime of natif: native functions inside Python.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

bool register_exit(PyObject* module) {
  Ref on_exit = import_from("atexit", "register");
  Ref function(PyObject_GetAttrString(module, "_close"));
  return on_exit && function && Ref(PyObject_CallOneArg(on_exit.get(), function.get()));
}

}  // namespace
}  // namespace natif::runtime

PyMODINIT_FUNC PyInit__runtime() {
  using namespace natif::runtime;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError, "natif: native functions work in the main interpreter only, not in a subinterpreter");
    return nullptr;
  }
  Ref module(PyModule_Create(&definition));
  if (!module || !add_artifact_type(module.get()) || !add_native_function_type(module.get()) || !add_self_check(module.get()) ||
      !register_exit(module.get())) {
    return nullptr;
  }
  return module.release();
}
