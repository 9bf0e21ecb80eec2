// runtime/signature.cpp: reading and binding parameters.
#include "runtime/signature.h"

#include <cstring>

namespace natif::runtime {

bool Signature::read(PyObject* python, PyObject* bound) {
  const auto* code = reinterpret_cast<const PyCodeObject*>(PyFunction_GET_CODE(python));
  if ((code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) != 0) {
    PyErr_SetString(PyExc_TypeError, "natif: a native function takes no *args and no **kwargs");
    return false;
  }
  Ref names(PyCode_GetVarnames(const_cast<PyCodeObject*>(code)));
  if (!names) return false;
  python_positional_ = code->co_argcount;
  for (int i = 0; i < code->co_argcount + code->co_kwonlyargcount; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names.get(), i);
    if (bound != nullptr && PyDict_Contains(bound, name) == 1) continue;
    names_.push_back(Ref::borrow(name));
    places_.push_back(i);
    positional_only_ += i < code->co_posonlyargcount;
    positional_ += i < code->co_argcount;
  }
  return true;
}

int Signature::find(const char* name) const {
  for (int i = 0; i < count(); ++i) {
    if (strcmp(PyUnicode_AsUTF8(names_[i].get()), name) == 0) return i;
  }
  return -1;
}

int Signature::find(PyObject* name) const {
  for (int i = positional_only_; i < count(); ++i) {
    if (names_[i].get() == name) return i;
  }
  for (int i = positional_only_; i < count(); ++i) {
    if (PyUnicode_Compare(names_[i].get(), name) == 0) return i;
  }
  return -1;
}

PyObject* Signature::default_of(PyObject* python, int i) const {
  if (is_keyword_only(i)) {
    PyObject* defaults = PyFunction_GET_KW_DEFAULTS(python);
    return defaults == nullptr || !PyDict_Check(defaults) ? nullptr : PyDict_GetItem(defaults, names_[i].get());
  }
  PyObject* defaults = PyFunction_GET_DEFAULTS(python);
  if (defaults == nullptr || !PyTuple_Check(defaults)) return nullptr;
  const Py_ssize_t at = places_[i] - (python_positional_ - PyTuple_GET_SIZE(defaults));
  return at < 0 ? nullptr : PyTuple_GET_ITEM(defaults, at);
}

bool Signature::bind(PyObject* python, PyObject* const* args, size_t positional, PyObject* keyword_names, PyObject** values) const {
  const int total = count();
  if (positional > static_cast<size_t>(positional_)) return false;
  const int given = static_cast<int>(positional);
  for (int i = 0; i < given; ++i) values[i] = args[i];
  for (int i = given; i < total; ++i) values[i] = nullptr;
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    const int i = find(PyTuple_GET_ITEM(keyword_names, k));
    if (i < 0 || values[i] != nullptr) return false;
    values[i] = args[positional + static_cast<size_t>(k)];
  }
  for (int i = given; i < total; ++i) {
    if (values[i] == nullptr && (values[i] = default_of(python, i)) == nullptr) return false;
  }
  return true;
}

}  // namespace natif::runtime
