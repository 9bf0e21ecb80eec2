// src/bind/eval.cpp: the graph's text form and the graph evaluator for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/register.h"
#include "eval/module.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ops/verify.h"

namespace natif::bind {

namespace nb = nanobind;

namespace {

nb::capsule evaluated_module(std::string name, std::string source_file, const std::vector<std::string>& texts) {
  std::vector<ir::Function> functions;
  for (const std::string& text : texts)
    for (ir::Function& function : ir::parse_all(text)) functions.push_back(std::move(function));
  return nb::capsule(eval::make_module(std::move(name), std::move(source_file), std::move(functions)), "natif_module");
}

std::string normal_graph(const std::string& text, bool places) {
  std::string normal;
  for (const ir::Function& function : ir::parse_all(text)) {
    ops::verify(function);
    normal += ir::print(function, places ? ir::Places::Shown : ir::Places::Hidden);
  }
  return normal;
}

}  // namespace

void register_eval(nb::module_& module) {
  using namespace nb::literals;
  module.def("evaluated_module", evaluated_module, "name"_a, "source_file"_a, "texts"_a,
             "A module in memory whose functions, given in the graph's text form, are interpreted over TensorFlow's ops: a capsule for\n"
             "natif._runtime.Artifact.of_module(). It needs no compiler and lives until the process ends.");
  module.def("normal_graph", normal_graph, "text"_a, "places"_a = true,
             "The text of graphs, verified and with values numbered in order; places=False leaves out places in the source and claims.");
}

}  // namespace natif::bind
