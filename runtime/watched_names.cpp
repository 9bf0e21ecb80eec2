// runtime/watched_names.cpp: finding a function's names, and comparing what they hold.
#include "runtime/watched_names.h"

#include <algorithm>
#include <cstring>

#include "runtime/native_function.h"

namespace natif::runtime {
namespace {

uint64_t version_of(PyObject* dict) { return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag; }

bool is_tensorflows(const char* module) {
  return module != nullptr && (strncmp(module, "tensorflow", 10) == 0 || strncmp(module, "keras", 5) == 0);
}

bool is_tensorflow_module(PyObject* value) {
  if (!PyModule_Check(value)) return false;
  const char* name = PyModule_GetName(value);
  PyErr_Clear();
  return is_tensorflows(name);
}

// A function, class or instance of a class of TensorFlow's.
bool is_tensorflow_object(PyObject* value) {
  Ref module(PyObject_GetAttrString(value, "__module__"));
  const char* name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
  PyErr_Clear();
  return is_tensorflows(name);
}

// Whether a function of TensorFlow's is exported under a name that ends so, as its tf_export decorator has noted in it or in a function
// that it wraps; also true where nothing is noted.
bool is_exported_as(PyObject* function, PyObject* name) {
  bool noted = false;
  for (Ref each = Ref::borrow(function); each; each = Ref(PyObject_GetAttrString(each.get(), "__wrapped__"))) {
    Ref exports(PyObject_GetAttrString(each.get(), "_tf_api_names"));
    for (Py_ssize_t i = 0; exports && PyTuple_Check(exports.get()) && i < PyTuple_GET_SIZE(exports.get()); ++i) {
      const char* path = PyUnicode_AsUTF8(PyTuple_GET_ITEM(exports.get(), i));
      if (path == nullptr) continue;
      const char* dot = strrchr(path, '.');
      if (PyUnicode_CompareWithASCIIString(name, dot == nullptr ? path : dot + 1) == 0) return PyErr_Clear(), true;
      noted = true;
    }
    PyErr_Clear();
  }
  PyErr_Clear();
  return !noted;
}

bool is_constant(PyObject* value) {
  return value == Py_None || PyLong_Check(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) || PyTuple_CheckExact(value) ||
         PyList_CheckExact(value);
}

// Floats count as the same only with the same bits.
int is_same(PyObject* held, PyObject* expected) {
  if (held == nullptr || expected == nullptr) return held == expected;
  if (held == expected && !PyList_CheckExact(held)) return 1;
  if (Py_TYPE(held) != Py_TYPE(expected)) return 0;
  if (PyFloat_CheckExact(held)) {
    const double left = PyFloat_AS_DOUBLE(held), right = PyFloat_AS_DOUBLE(expected);
    return memcmp(&left, &right, sizeof left) == 0;
  }
  return is_constant(held) ? PyObject_RichCompareBool(held, expected, Py_EQ) : 0;
}

PyObject* python_function(PyObject* value) {
  if (is_native_function(value)) return reinterpret_cast<NativeFunction*>(value)->python;
  return PyFunction_Check(value) ? value : nullptr;
}

// The names that a code object loads from its module or from the builtins, as a list.
Ref loaded_names(PyObject* code) {
  Ref instructions_of = import_from("dis", "get_instructions");
  Ref instructions(instructions_of ? PyObject_CallOneArg(instructions_of.get(), code) : nullptr);
  Ref iterator(instructions ? PyObject_GetIter(instructions.get()) : nullptr);
  Ref names(PyList_New(0));
  if (!iterator || !names) return Ref();
  while (Ref instruction{PyIter_Next(iterator.get())}) {
    Ref operation(PyObject_GetAttrString(instruction.get(), "opname"));
    if (!operation) return Ref();
    if (PyUnicode_CompareWithASCIIString(operation.get(), "LOAD_GLOBAL") != 0) continue;
    Ref name(PyObject_GetAttrString(instruction.get(), "argval"));
    if (!name || PyList_Append(names.get(), name.get()) < 0) return Ref();
  }
  return PyErr_Occurred() ? Ref() : names;
}

// Whether the code imports something of TensorFlow's itself.
bool imports_tensorflow(PyObject* names) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    const char* text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
    if (text != nullptr && strncmp(text, "tensorflow", 10) == 0) return true;
  }
  return false;
}

}  // namespace

bool WatchedNames::read(PyObject* python, PyObject* globals, PyObject* constants, std::set<std::string> inputs) {
  python_ = Ref::borrow(python);
  globals_ = Ref::borrow(globals);
  constants_ = Ref::borrow(constants);
  inputs_ = std::move(inputs);
  return read_again();
}

bool WatchedNames::read_again() {
  dictionaries_.clear();
  functions_.clear();
  foreign_ = false;
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(constants_.get(), &at, &name, &value);) watch(globals_.get(), name, value);
  if (!read_code(python_.get())) return false;
  for (Py_ssize_t at = 0; PyDict_Next(constants_.get(), &at, &name, &value);) {
    PyObject* callee = python_function(value);
    if (callee != nullptr && !read_code(callee)) return false;
  }
  return true;
}

bool WatchedNames::read_code(PyObject* python) {
  if (std::find(functions_.begin(), functions_.end(), python) != functions_.end()) return true;
  functions_.push_back(python);
  PyObject* code = PyFunction_GET_CODE(python);
  Ref all_names(PyObject_GetAttrString(code, "co_names"));
  Ref globals = all_names ? loaded_names(code) : Ref();
  if (!globals) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(globals.get()); ++i) {
    if (!read_global(PyList_GET_ITEM(globals.get(), i), all_names.get())) return false;
  }
  if (!imports_tensorflow(all_names.get())) return true;
  Ref tensorflow(PyImport_ImportModule("tensorflow"));
  return tensorflow && read_module(tensorflow.get(), all_names.get());
}

bool WatchedNames::read_global(PyObject* name, PyObject* all_names) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) return false;
  if (inputs_.contains(text) || is_watched(globals_.get(), name)) return true;
  PyObject* value = PyDict_GetItemWithError(globals_.get(), name);
  if (value == nullptr && PyErr_Occurred()) return false;
  PyObject* builtins = PyEval_GetBuiltins();
  PyObject* builtin = PyDict_GetItemWithError(builtins, name);
  if (builtin == nullptr && PyErr_Occurred()) return false;
  watch(globals_.get(), name, value);
  if (value == nullptr) {
    if (builtin == nullptr) foreign_ = true;
    if (builtin != nullptr && !is_watched(builtins, name)) watch(builtins, name, builtin);
    return true;
  }
  // What was compiled as a builtin has been hidden since by a name of the module; constants under such a name are watched already.
  if (builtin != nullptr) foreign_ = true;
  if (PyModule_Check(value)) return read_module(value, all_names);
  if (!is_constant(value) && !is_tensorflow_object(value)) foreign_ = true;
  return true;
}

// The attributes that a code object uses are not told apart by the module that they are looked up in: more names than needed are watched,
// never fewer.
bool WatchedNames::read_module(PyObject* module, PyObject* names) {
  const bool is_tensorflow = is_tensorflow_module(module);
  PyObject* dict = PyModule_GetDict(module);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    PyObject* value = PyDict_GetItemWithError(dict, name);
    if (value == nullptr && PyErr_Occurred()) return false;
    if (value == nullptr || is_watched(dict, name)) continue;
    watch(dict, name, value);
    if (is_tensorflow_module(value) && !read_module(value, names)) return false;
    if (is_tensorflow && PyCallable_Check(value) && !is_tensorflow_object(value)) foreign_ = true;
    if (is_tensorflow && PyFunction_Check(value) && !is_exported_as(value, name)) foreign_ = true;
  }
  return true;
}

void WatchedNames::watch(PyObject* dict, PyObject* name, PyObject* value) {
  auto found = std::find_if(dictionaries_.begin(), dictionaries_.end(), [&](const Dictionary& each) { return each.dict.get() == dict; });
  if (found == dictionaries_.end()) found = dictionaries_.insert(found, Dictionary{Ref::borrow(dict), 0, {}});
  found->names.push_back({Ref::borrow(name), Ref(Py_XNewRef(value))});
  found->has_lists |= value != nullptr && PyList_CheckExact(value);
}

bool WatchedNames::is_watched(PyObject* dict, PyObject* name) const {
  for (const Dictionary& each : dictionaries_) {
    if (each.dict.get() != dict) continue;
    return std::any_of(each.names.begin(), each.names.end(),
                       [&](const Name& other) { return PyUnicode_Compare(other.name.get(), name) == 0; });
  }
  return false;
}

int WatchedNames::hold(const Dictionary& dictionary) {
  for (const Name& name : dictionary.names) {
    PyObject* held = PyDict_GetItemWithError(dictionary.dict.get(), name.name.get());
    if (held == nullptr && PyErr_Occurred()) return -1;
    if (const int same = is_same(held, name.value.get()); same != 1) return same;
  }
  return 1;
}

int WatchedNames::hold() {
  if (foreign_) {
    if (!read_again()) return -1;
    if (foreign_) return 0;
  }
  for (Dictionary& dictionary : dictionaries_) {
    const uint64_t version = version_of(dictionary.dict.get());
    if (version == dictionary.version) continue;
    if (const int same = hold(dictionary); same != 1) return same;
    if (!dictionary.has_lists) dictionary.version = version;
  }
  return 1;
}

int WatchedNames::visit(visitproc visit, void* arg) const {
  for (const Ref* each : {&python_, &globals_, &constants_}) Py_VISIT(each->get());
  for (const Dictionary& dictionary : dictionaries_) {
    Py_VISIT(dictionary.dict.get());
    for (const Name& name : dictionary.names) Py_VISIT(name.value.get());
  }
  return 0;
}

}  // namespace natif::runtime
