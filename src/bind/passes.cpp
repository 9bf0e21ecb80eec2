// src/bind/passes.cpp: passes and the writer of C++ on graphs in text form, for golden cells.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <map>

#include "base/error.h"
#include "bind/register.h"
#include "codegen/emit.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ops/verify.h"
#include "passes/common_subexpressions.h"
#include "passes/dead_code.h"
#include "passes/fold_numbers.h"
#include "passes/fuse.h"
#include "passes/pipeline.h"
#include "passes/plan_text.h"

namespace nb = nanobind;

namespace natif::bind {

namespace {

void fuse_all(ir::Function& function) {
  passes::CompiledFunction compiled{.function = std::move(function), .options = {.lane = passes::Lane::Fused}};
  passes::fuse(compiled);
  function = std::move(compiled.function);
}

const std::map<std::string, std::function<void(ir::Function&)>>& passes_by_name() {
  static const std::map<std::string, std::function<void(ir::Function&)>> table = {
      {"common_subexpressions", [](ir::Function& function) { passes::share_common_subexpressions(function); }},
      {"dead_code", passes::remove_dead_code},
      {"fold_numbers", passes::fold_numbers},
      {"fuse", fuse_all},
  };
  return table;
}

std::string run_pass(const std::string& name, const std::string& text) {
  const auto pass = passes_by_name().find(name);
  if (pass == passes_by_name().end()) throw base::UserError("natif: no pass is called " + name);
  ir::Function function = ir::parse(text);
  ops::verify(function);
  pass->second(function);
  ops::verify(function);
  return ir::print(function, ir::Places::Hidden);
}

passes::CompiledFunction compile_text(const std::string& text, const std::string& lane) {
  const std::map<std::string, passes::Lane> lanes = {
      {"auto", passes::Lane::Auto}, {"tfe", passes::Lane::Tfe}, {"fused", passes::Lane::Fused}};
  const auto chosen = lanes.find(lane);
  if (chosen == lanes.end()) throw base::UserError("natif: no lane is called " + lane);
  return passes::compile(ir::parse(text), {.lane = chosen->second, .verify = true});
}

std::string emit_graph(const std::string& text, const std::string& lane) {
  const passes::CompiledFunction compiled = compile_text(text, lane);
  return codegen::emit({"module", "module.py"}, {&compiled, 1}).front().text;
}

std::string plan_graph(const std::string& text, const std::string& lane) { return passes::plan_text(compile_text(text, lane)); }

}  // namespace

void register_passes(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "run_pass", run_pass, "name"_a, "text"_a,
      "The graph after one pass (the name of its header), without places; verified before and after. `fuse` runs as under lane=\"fused\".");
  module.def("emit_graph", emit_graph, "text"_a, "lane"_a, "The C++ of a module that has this graph as its one function.");
  module.def("plan_graph", plan_graph, "text"_a, "lane"_a, "The plan of this graph, as source(\"plan\") shows it.");
}

}  // namespace natif::bind
