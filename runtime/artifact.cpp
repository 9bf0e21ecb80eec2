// runtime/artifact.cpp: opening an artifact and checking that this host and this CPU can run it.
#include "runtime/artifact.h"

#include <dlfcn.h>
#include <structmember.h>

#include <string>

#include "runtime/artifact_check.h"
#include "runtime/cpu_level.h"

namespace natif::runtime {
namespace {

PyTypeObject* artifact_type = nullptr;

const natif_module* open_module(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    PyErr_Format(PyExc_RuntimeError, "natif: the artifact %s cannot be loaded: %s; delete it and build again", path, dlerror());
    return nullptr;
  }
  const auto* module = static_cast<const natif_module*>(dlsym(library, "natif_module"));
  if (module == nullptr) {
    PyErr_Format(PyExc_RuntimeError, "natif: %s is no artifact: it lacks the symbol natif_module; delete it and build again", path);
  } else if (module->abi_version != NATIF_ABI_VERSION) {
    PyErr_Format(PyExc_RuntimeError, "natif: the artifact %s is of ABI version %u, this natif runs version %u; build it again", path,
                 module->abi_version, static_cast<unsigned>(NATIF_ABI_VERSION));
  } else if (!tables_are_sound(*module)) {
    PyErr_Format(PyExc_RuntimeError, "natif: the artifact %s has a damaged header; delete it and build again", path);
  } else {
    return module;
  }
  return nullptr;
}

// The highest level that runs here and is not above `max_level` (null: any); -1: none.
int choose_level(const natif_module& module, const char* max_level) {
  int chosen = -1;
  for (int i = 0; i < module.level_count; ++i) {
    if (cpu_has_level(module.levels[i])) chosen = i;
    if (max_level != nullptr && std::string_view(max_level) == module.levels[i]) break;
  }
  return chosen;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"path", "max_level", nullptr};
  PyObject* path = nullptr;
  const char* max_level = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|z", const_cast<char**>(names), PyUnicode_FSDecoder, &path, &max_level))
    return nullptr;
  Ref owned_path(path);
  const char* utf8 = PyUnicode_AsUTF8(path);
  const natif_module* module = utf8 == nullptr ? nullptr : open_module(utf8);
  if (module == nullptr) return nullptr;
  const int level = choose_level(*module, max_level);
  if (level < 0) {
    std::string levels;
    for (int i = 0; i < module->level_count; ++i) levels += std::string(i == 0 ? "" : ", ") + module->levels[i];
    return PyErr_Format(PyExc_RuntimeError, "natif: the artifact %s holds code for %s, none of which this CPU runs; build it here", utf8,
                        levels.c_str());
  }
  auto* self = reinterpret_cast<Artifact*>(type->tp_alloc(type, 0));
  if (self == nullptr) return nullptr;
  self->path = owned_path.release();
  self->module = module;
  self->level = level;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* of_module(PyObject*, PyObject* capsule) {
  const auto* module = static_cast<const natif_module*>(PyCapsule_GetPointer(capsule, "natif_module"));
  if (module == nullptr) return nullptr;
  auto* self = reinterpret_cast<Artifact*>(artifact_type->tp_alloc(artifact_type, 0));
  if (self == nullptr) return nullptr;
  self->path = Py_NewRef(Py_None);
  self->module = module;
  return reinterpret_cast<PyObject*>(self);
}

void destroy(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(reinterpret_cast<Artifact*>(object)->path);
  type->tp_free(object);
  Py_DECREF(type);
}

const natif_module& module_of(PyObject* object) { return *reinterpret_cast<Artifact*>(object)->module; }

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(module_of(self).name); }
PyObject* get_source_file(PyObject* self, void*) { return PyUnicode_FromString(module_of(self).source_file); }
PyObject* get_level(PyObject* self, void*) {
  return PyUnicode_FromString(module_of(self).levels[reinterpret_cast<Artifact*>(self)->level]);
}

template <class NameOf>
PyObject* tuple_of_names(int count, NameOf name_of) {
  Ref names(PyTuple_New(count));
  for (int i = 0; names && i < count; ++i) {
    PyObject* name = PyUnicode_FromString(name_of(i));
    if (name == nullptr) return nullptr;
    PyTuple_SET_ITEM(names.get(), i, name);
  }
  return names.release();
}

PyObject* get_functions(PyObject* self, void*) {
  return tuple_of_names(module_of(self).function_count, [&](int i) { return module_of(self).functions[i].name; });
}
PyObject* get_rules(PyObject* self, void*) {
  return tuple_of_names(module_of(self).rule_count, [&](int i) { return module_of(self).rules[i]; });
}

PyMemberDef members[] = {
    {"path", T_OBJECT_EX, offsetof(Artifact, path), READONLY, "Path of the shared object; None for a module in memory."}, {}};
PyGetSetDef attributes[] = {{"name", get_name, nullptr, "__name__ of the Python module.", nullptr},
                            {"source_file", get_source_file, nullptr, "File of the Python source.", nullptr},
                            {"level", get_level, nullptr, "The vector level in use.", nullptr},
                            {"functions", get_functions, nullptr, "Qualified names of the native functions.", nullptr},
                            {"rules", get_rules, nullptr, "Exactness rules that the code relies on.", nullptr},
                            {}};
PyMethodDef methods[] = {{"of_module", of_module, METH_O | METH_STATIC,
                          "of_module(capsule)\n--\n\nThe artifact of a natif_module in memory, which lives as long as the process."},
                         {}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_doc, const_cast<char*>("Artifact(path, max_level=None)\n--\n\nThe native code of one Python module, loaded.")},
    {0, nullptr}};
PyType_Spec spec = {"natif._runtime.Artifact", sizeof(Artifact), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

bool add_artifact_type(PyObject* module) {
  artifact_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return artifact_type != nullptr && PyModule_AddObjectRef(module, "Artifact", reinterpret_cast<PyObject*>(artifact_type)) == 0;
}

bool is_artifact(PyObject* object) { return Py_TYPE(object) == artifact_type; }

const natif_function* find_function(const natif_module& module, std::string_view name) {
  for (int i = 0; i < module.function_count; ++i) {
    if (name == module.functions[i].name) return &module.functions[i];
  }
  return nullptr;
}

natif_entry entry_of(const Artifact& artifact, const natif_function& function) {
  for (int i = artifact.level; i >= 0; --i) {
    if (function.entries[i] != nullptr) return function.entries[i];
  }
  return nullptr;
}

}  // namespace natif::runtime
