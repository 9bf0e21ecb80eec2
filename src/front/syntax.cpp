// src/front/syntax.cpp: reading fields of ast objects.
#include "front/syntax.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace nb = nanobind;

namespace natif::front {

namespace {

bool is_node(nb::handle object) {
  static PyObject* const base = nb::object(nb::module_::import_("ast").attr("AST")).release().ptr();
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(base));
}

// Claiming a file is mostly field access, so a name's Python string is made once and a field looked up once. The strings live as long as
// the process; the GIL guards the table.
PyObject* interned(const char* name) {
  static auto* strings = new std::unordered_map<std::string_view, PyObject*>;
  PyObject*& string = (*strings)[name];
  if (string == nullptr) string = PyUnicode_InternFromString(name);
  return string;
}

// The attribute; an invalid object where there is none.
nb::object attribute(nb::handle node, PyObject* name) {
  PyObject* value = PyObject_GetAttr(node.ptr(), name);
  if (value == nullptr) PyErr_Clear();
  return nb::steal(value);
}

int integer(nb::handle node, const char* name) {
  const nb::object value = attribute(node, interned(name));
  return !value.is_valid() || value.is_none() ? 0 : nb::cast<int>(value);
}

}  // namespace

std::string_view Syntax::kind() const {
  const std::string_view name = Py_TYPE(node_.ptr())->tp_name;
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool Syntax::is_statement() const {
  constexpr std::string_view kinds[] = {"FunctionDef", "AsyncFunctionDef",
                                        "ClassDef",    "Return",
                                        "Delete",      "Assign",
                                        "AugAssign",   "AnnAssign",
                                        "For",         "AsyncFor",
                                        "While",       "If",
                                        "With",        "AsyncWith",
                                        "Match",       "Raise",
                                        "Try",         "TryStar",
                                        "Assert",      "Import",
                                        "ImportFrom",  "Global",
                                        "Nonlocal",    "Expr",
                                        "Pass",        "Break",
                                        "Continue"};
  return *this && std::ranges::find(kinds, kind()) != std::end(kinds);
}

bool Syntax::has_own_names() const {
  constexpr std::string_view kinds[] = {"Lambda", "ListComp", "SetComp", "DictComp", "GeneratorExp"};
  return *this && std::ranges::find(kinds, kind()) != std::end(kinds);
}

nb::object Syntax::field(const char* name) const {
  const nb::object value = node_.is_valid() ? attribute(node_, interned(name)) : nb::object();
  base::require(value.is_valid(), "an ast node lacks a field that the grammar gives it");
  return value;
}

Syntax Syntax::child(const char* name) const { return Syntax(field(name)); }

std::vector<Syntax> Syntax::children(const char* name) const {
  std::vector<Syntax> nodes;
  for (nb::handle item : field(name)) nodes.emplace_back(nb::borrow(item));
  return nodes;
}

std::string Syntax::text(const char* name) const {
  const nb::object value = field(name);
  return value.is_none() ? std::string() : nb::cast<std::string>(value);
}

base::Span Syntax::span() const {
  return {integer(node_, "lineno"), integer(node_, "col_offset"), integer(node_, "end_lineno"), integer(node_, "end_col_offset")};
}

std::vector<Syntax> children_of(const Syntax& node) {
  std::vector<Syntax> nodes;
  const nb::object object = nb::borrow(nb::handle(static_cast<PyObject*>(const_cast<void*>(node.identity()))));
  for (nb::handle name : attribute(object, interned("_fields"))) {
    const nb::object value = attribute(object, name.ptr());
    if (!value.is_valid()) continue;
    if (nb::isinstance<nb::list>(value)) {
      for (nb::handle item : value)
        if (is_node(item)) nodes.emplace_back(nb::borrow(item));
    } else if (is_node(value)) {
      nodes.emplace_back(value);
    }
  }
  return nodes;
}

std::vector<std::string> dotted_path(const Syntax& expression) {
  std::vector<std::string> path;
  Syntax at = expression;
  while (at.is("Attribute")) {
    path.push_back(at.text("attr"));
    at = at.child("value");
  }
  if (!at.is("Name")) return {};
  path.push_back(at.text("id"));
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace natif::front
