// src/bind/eval.cpp: the graph evaluator for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/register.h"
#include "eval/module.h"
#include "ir/parser.h"

namespace natif::bind {

namespace nb = nanobind;

namespace {

nb::capsule evaluated_module(std::string name, std::string source_file, const std::vector<std::string>& texts) {
  std::vector<ir::Function> functions;
  for (const std::string& text : texts)
    for (ir::Function& function : ir::parse_all(text)) functions.push_back(std::move(function));
  return nb::capsule(eval::make_module(std::move(name), std::move(source_file), std::move(functions)), "natif_module");
}

}  // namespace

void register_eval(nb::module_& module) {
  using namespace nb::literals;
  module.def("evaluated_module", evaluated_module, "name"_a, "source_file"_a, "texts"_a,
             "A module in memory whose functions, given in the graph's text form, are interpreted over TensorFlow's ops: a capsule for\n"
             "natif._runtime.Artifact.of_module(). It needs no compiler and lives until the process ends.");
}

}  // namespace natif::bind
