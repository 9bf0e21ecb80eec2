// src/bind/module.cpp: natif._compiler, the compiler as a Python module, and how its errors look from Python: a fault of the program is a
// natif.CompileError in its own words, a broken invariant of the compiler a RuntimeError that says so.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/error.h"
#include "bind/register.h"

namespace nb = nanobind;

namespace natif::bind {

namespace {

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const base::UserError& error) {
    const nb::object type = nb::module_::import_("natif.errors").attr("CompileError");
    const std::string text = error.what();
    PyErr_SetString(type.ptr(), (text.starts_with("natif: ") ? text : "natif: " + text).c_str());
  } catch (const base::InternalError& error) {
    PyErr_SetString(PyExc_RuntimeError, ("natif: internal error: " + std::string(error.what())).c_str());
  }
}

}  // namespace

NB_MODULE(_compiler, module) {
  nb::register_exception_translator(translate);
  register_claims(module);
  register_compile(module);
  register_registry(module);
  register_eval(module);
  register_passes(module);
}

}  // namespace natif::bind
