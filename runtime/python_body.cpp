// runtime/python_body.cpp: the ways into the Python body.
#include "runtime/python_body.h"

#include <cstdlib>
#include <cstring>

namespace natif::runtime {
namespace {

// The body as AutoGraph converts it in the present control context; the function itself where TensorFlow's AutoGraph has converted it
// before.
Ref converted(PyObject* python) {
  Ref convert = import_from("tensorflow.python.autograph.impl.api", "tf_convert");
  Ref control_status = convert ? import_from("tensorflow.python.autograph.core.ag_ctx", "control_status_ctx") : Ref();
  Ref status(control_status ? PyObject_CallNoArgs(control_status.get()) : nullptr);
  return status ? Ref(PyObject_CallFunctionObjArgs(convert.get(), python, status.get(), nullptr)) : Ref();
}

// Raises the TypeError for arguments that do not fit the parameters that bind() has left over.
PyObject* raise_wrong_arguments(const NativeFunction& self, PyObject* const* args, size_t positional, PyObject* keyword_names) {
  Ref signature(PyObject_GetAttrString(reinterpret_cast<PyObject*>(const_cast<NativeFunction*>(&self)), "__signature__"));
  Ref bind(signature ? PyObject_GetAttrString(signature.get(), "bind") : nullptr);
  Ref bound(bind ? PyObject_Vectorcall(bind.get(), args, positional, keyword_names) : nullptr);
  if (bound) PyErr_SetString(PyExc_TypeError, "natif: the arguments do not fit the parameters that bind() has left");
  return nullptr;
}

PyObject* call_with_bound(const NativeFunction& self, PyObject* target, PyObject* const* args, size_t args_and_flag,
                          PyObject* keyword_names) {
  Signature open, whole;
  if (!open.read(self.python, self.bound) || !whole.read(self.python, nullptr)) return nullptr;
  const size_t positional = PyVectorcall_NARGS(args_and_flag);
  std::vector<PyObject*> given(static_cast<size_t>(open.count()));
  if (!open.bind(self.python, args, positional, keyword_names, given.data())) {
    return raise_wrong_arguments(self, args, positional, keyword_names);
  }
  std::vector<PyObject*> all;
  Ref names(PyTuple_New(0));
  size_t next = 0, count = 0;
  std::vector<PyObject*> keywords;
  for (int i = 0; i < whole.count(); ++i) {
    PyObject* bound = PyDict_GetItemWithError(self.bound, whole.name(i));
    all.push_back(bound != nullptr ? bound : given[next++]);
    if (whole.is_keyword_only(i)) {
      keywords.push_back(whole.name(i));
    } else {
      ++count;
    }
  }
  if (!keywords.empty()) {
    names = Ref(PyTuple_New(static_cast<Py_ssize_t>(keywords.size())));
    for (size_t i = 0; names && i < keywords.size(); ++i) PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(i), Py_NewRef(keywords[i]));
  }
  if (!names) return nullptr;
  return PyObject_Vectorcall(target, all.data(), count, names.get());
}

}  // namespace

PyObject* run_body(const NativeFunction& self, bool graph, PyObject* const* args, size_t args_and_flag, PyObject* keyword_names) {
  Ref target = graph ? converted(self.python) : Ref::borrow(self.python);
  if (!target) return nullptr;
  if (self.bound != nullptr) return call_with_bound(self, target.get(), args, args_and_flag, keyword_names);
  return PyObject_Vectorcall(target.get(), args, args_and_flag, keyword_names);
}

bool logs_calls() {
  static const bool logs = [] {
    const char* text = getenv("NATIF_LOG");
    return text != nullptr && *text != '\0' && strcmp(text, "0") != 0;
  }();
  return logs;
}

}  // namespace natif::runtime
