// runtime/native_function.cpp: the type NativeFunction: its life, its attributes and how it stands in for the function that it was made
// from. It is a descriptor and a vectorcall callable, carries the function's metadata in its __dict__ as functools.wraps does, pickles by
// qualified name, and cannot be subclassed.
#include "runtime/native_function.h"

#include <structmember.h>

#include <cstring>

namespace natif::runtime {
namespace {

PyTypeObject* native_function_type = nullptr;

NativeFunction& of(PyObject* object) { return *reinterpret_cast<NativeFunction*>(object); }

// ---- making --------------------------------------------------------------------------------------------------------------------

bool read_choice(PyObject* options, const char* key, const char* fallback, std::string& value) {
  PyObject* object = PyDict_GetItemString(options, key);
  const char* text = object == nullptr ? fallback : PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : nullptr;
  if (text == nullptr) PyErr_Format(PyExc_TypeError, "natif: option %s must be a str", key);
  if (text != nullptr) value = text;
  return text != nullptr;
}

bool read_options(PyObject* options, FunctionState& state) {
  std::string mode, mismatch;
  if (!read_choice(options, "mode", "auto", mode) || !read_choice(options, "on_mismatch", "raise", mismatch)) return false;
  if (mode != "auto" && mode != "native" && mode != "python") {
    PyErr_Format(PyExc_ValueError, "natif: mode must be \"auto\", \"native\" or \"python\", got \"%s\"", mode.c_str());
    return false;
  }
  if (mismatch != "raise" && mismatch != "fallback") {
    PyErr_Format(PyExc_ValueError, "natif: on_mismatch must be \"raise\" or \"fallback\", got \"%s\"", mismatch.c_str());
    return false;
  }
  state.mode = mode == "native"   ? FunctionState::Mode::kNative
               : mode == "python" ? FunctionState::Mode::kPython
                                  : FunctionState::Mode::kAuto;
  state.fallback = mismatch == "fallback";
  PyObject* require = PyDict_GetItemString(options, "require");
  const int truth = require == nullptr ? 0 : PyObject_IsTrue(require);
  state.require = truth == 1;
  return truth >= 0;
}

bool copy_metadata(PyObject* python, PyObject* dict) {
  for (const char* name : {"__module__", "__name__", "__qualname__", "__doc__"}) {
    Ref value(PyObject_GetAttrString(python, name));
    if (!value || PyDict_SetItemString(dict, name, value.get()) < 0) return false;
  }
  Ref own(PyObject_GetAttrString(python, "__dict__"));
  return own && PyDict_Update(dict, own.get()) == 0 && PyDict_SetItemString(dict, "__wrapped__", python) == 0;
}

// The signature without the bound parameters, for inspect and for TypeErrors. The annotations and defaults are Python's own objects.
bool set_bound_signature(NativeFunction& self) {
  Ref signature_of = import_from("inspect", "signature");
  Ref whole(signature_of ? PyObject_CallOneArg(signature_of.get(), self.python) : nullptr);
  Ref parameters(whole ? PyObject_GetAttrString(whole.get(), "parameters") : nullptr);
  Ref values(parameters ? PyMapping_Values(parameters.get()) : nullptr);
  Ref left(PyList_New(0));
  if (!values || !left) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) {
    Ref name(PyObject_GetAttrString(PyList_GET_ITEM(values.get(), i), "name"));
    if (!name) return false;
    if (PyDict_Contains(self.bound, name.get()) == 0 && PyList_Append(left.get(), PyList_GET_ITEM(values.get(), i)) < 0) return false;
  }
  Ref replace(PyObject_GetAttrString(whole.get(), "replace"));
  Ref arguments(PyTuple_New(0)), keywords(Py_BuildValue("{s:O}", "parameters", left.get()));
  Ref signature(replace && arguments && keywords ? PyObject_Call(replace.get(), arguments.get(), keywords.get()) : nullptr);
  return signature && PyDict_SetItemString(self.dict, "__signature__", signature.get()) == 0;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"python", "provider", "name", "options", nullptr};
  PyObject *python, *provider, *name, *options;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OUO!", const_cast<char**>(names), &PyFunction_Type, &python, &provider, &name,
                                   &PyDict_Type, &options)) {
    return nullptr;
  }
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_RuntimeError, "natif: native functions work in the main interpreter only, not in a subinterpreter");
    return nullptr;
  }
  Ref object(type->tp_alloc(type, 0));
  if (!object) return nullptr;
  NativeFunction& self = of(object.get());
  self.vectorcall = call_native_function;
  self.python = Py_NewRef(python);
  self.provider = Py_NewRef(provider);
  self.name = Py_NewRef(name);
  self.options = PyDict_Copy(options);
  self.dict = PyDict_New();
  self.state = new FunctionState;
  if (self.options == nullptr || self.dict == nullptr || !read_options(options, *self.state) || !copy_metadata(python, self.dict))
    return nullptr;
  self.state->name = PyUnicode_AsUTF8(name);
  PyObject* bound = PyDict_GetItemString(options, "bound");
  if (bound != nullptr && bound != Py_None) {
    if (!PyDict_Check(bound)) return PyErr_Format(PyExc_TypeError, "natif: option bound must be a dict");
    self.bound = PyDict_Copy(bound);
    if (self.bound == nullptr || !set_bound_signature(self)) return nullptr;
  }
  return object.release();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  NativeFunction& self = of(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self.dict);
  Py_VISIT(self.python);
  Py_VISIT(self.provider);
  Py_VISIT(self.options);
  Py_VISIT(self.bound);
  if (self.state != nullptr) {
    Py_VISIT(self.state->error.get());
    Py_VISIT(self.state->globals.get());
    for (const ParameterSource& source : self.state->sources) Py_VISIT(source.object.get());
    if (const int stop = self.state->names.visit(visit, arg); stop != 0) return stop;
  }
  return 0;
}

// Only what can lead back here and is not needed for a call: a cleared function can still be called by a finaliser of the same cycle.
int clear(PyObject* object) {
  Py_CLEAR(of(object).dict);
  Py_CLEAR(of(object).options);
  if (of(object).state != nullptr) of(object).state->error = Ref();
  return 0;
}

void destroy(PyObject* object) {
  NativeFunction& self = of(object);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self.weak_references != nullptr) PyObject_ClearWeakRefs(object);
  clear(object);
  Py_CLEAR(self.python);
  Py_CLEAR(self.provider);
  Py_CLEAR(self.name);
  Py_CLEAR(self.bound);
  delete self.state;
  type->tp_free(object);
  Py_DECREF(type);
}

// ---- standing in for the function ------------------------------------------------------------------------------------------------

PyObject* bind_to_instance(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<%s function %U at %p>", of(self).bound == nullptr ? "native" : "bound native", of(self).name, self);
}

// Functions of the Python function that may change, read through.
PyObject* get_from_python(PyObject* self, void* name) { return PyObject_GetAttrString(of(self).python, static_cast<const char*>(name)); }

PyObject* reduce(PyObject* self, PyObject*) {
  if (of(self).bound == nullptr) return PyObject_GetAttrString(self, "__qualname__");
  PyObject* origin = PyDict_GetItemString(of(self).options, "origin");
  if (origin == nullptr) return PyErr_Format(PyExc_TypeError, "natif: this bound function does not know the function that it came from");
  Ref rebind = import_from("natif._runtime", "rebind");
  return rebind ? Py_BuildValue("O(OO)", rebind.get(), origin, of(self).bound) : nullptr;
}

PyObject* copy(PyObject* self, PyObject*) { return Py_NewRef(self); }

// ---- what natif adds ---------------------------------------------------------------------------------------------------------------

// A module in memory is the graph evaluator's.
bool is_interpreted(const FunctionState& state) {
  return state.artifact && reinterpret_cast<Artifact*>(state.artifact.get())->path == Py_None;
}

PyObject* is_native(PyObject* self, void*) {
  const FunctionState& state = *of(self).state;
  return PyBool_FromLong(state.mode != FunctionState::Mode::kPython && state.stage != FunctionState::Stage::kUnavailable &&
                         !is_interpreted(state));
}

PyObject* report(PyObject* self, void*) { return PyObject_CallMethod(of(self).provider, "report", "O", of(self).name); }

PyObject* source(PyObject* self, PyObject* kind) { return PyObject_CallMethod(of(self).provider, "source", "OO", of(self).name, kind); }

PyObject* bind(PyObject* self, PyObject* args, PyObject* keywords) {
  if (PyTuple_GET_SIZE(args) != 0) return PyErr_Format(PyExc_TypeError, "natif: bind() takes tensors by parameter name only");
  Ref tensors(keywords == nullptr ? PyDict_New() : Py_NewRef(keywords));
  return tensors ? PyObject_CallMethod(of(self).provider, "bind", "OO", self, tensors.get()) : nullptr;
}

PyObject* calls(PyObject* self, void*) {
  const FunctionState& state = *of(self).state;
  Ref python(PyDict_New());
  for (size_t i = 1; python && i < state.python_calls.size(); ++i) {
    if (state.python_calls[i] == 0) continue;
    Ref count(PyLong_FromUnsignedLongLong(state.python_calls[i]));
    if (!count || PyDict_SetItemString(python.get(), reason_name(static_cast<Reason>(i)), count.get()) < 0) return nullptr;
  }
  return python ? Py_BuildValue("{s:K,s:O}", "native", static_cast<unsigned long long>(state.native_calls), "python", python.get())
                : nullptr;
}

PyMethodDef methods[] = {{"source", source, METH_O, "source(kind)\n--\n\nThe \"ir\", \"plan\" or \"cpp\" of the function, as text."},
                         {"bind", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(bind)), METH_VARARGS | METH_KEYWORDS,
                          "bind(**tensors)\n--\n\nA native function in which these parameters are fixed to these tensors."},
                         {"__reduce__", reduce, METH_NOARGS, nullptr},
                         {"__copy__", copy, METH_NOARGS, nullptr},
                         {"__deepcopy__", copy, METH_O, nullptr},
                         {}};

PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__annotations__", get_from_python, nullptr, nullptr, const_cast<char*>("__annotations__")},
    {"__defaults__", get_from_python, nullptr, nullptr, const_cast<char*>("__defaults__")},
    {"__kwdefaults__", get_from_python, nullptr, nullptr, const_cast<char*>("__kwdefaults__")},
    {"__globals__", get_from_python, nullptr, nullptr, const_cast<char*>("__globals__")},
    {"is_native", is_native, nullptr, "Whether calls run natively wherever that gives what the Python body gives.", nullptr},
    {"report", report, nullptr, "What was claimed and lowered, site by site.", nullptr},
    {"calls", calls, nullptr, "{\"native\": n, \"python\": {reason: n}}: where the calls so far ran.", nullptr},
    {}};

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(NativeFunction, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(NativeFunction, weak_references), READONLY, nullptr},
                         {"__vectorcalloffset__", T_PYSSIZET, offsetof(NativeFunction, vectorcall), READONLY, nullptr},
                         {"python", T_OBJECT_EX, offsetof(NativeFunction, python), READONLY, "The function as written."},
                         {"provider", T_OBJECT_EX, offsetof(NativeFunction, provider), READONLY, "What builds and describes the function."},
                         {"options", T_OBJECT_EX, offsetof(NativeFunction, options), READONLY, "The options that it was made with."},
                         {}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind_to_instance)},
                       {Py_tp_repr, reinterpret_cast<void*>(represent)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, attributes},
                       {Py_tp_members, members},
                       {0, nullptr}};

PyType_Spec spec = {
    "natif._runtime.NativeFunction", sizeof(NativeFunction), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

bool add_native_function_type(PyObject* module) {
  native_function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return native_function_type != nullptr &&
         PyModule_AddObjectRef(module, "NativeFunction", reinterpret_cast<PyObject*>(native_function_type)) == 0;
}

bool is_native_function(PyObject* object) { return Py_TYPE(object) == native_function_type; }

}  // namespace natif::runtime
