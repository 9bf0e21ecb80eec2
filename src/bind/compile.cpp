// src/bind/compile.cpp: from confirmed claims to generated C++.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "base/error.h"
#include "bind/claims.h"
#include "bind/register.h"
#include "codegen/emit.h"
#include "ir/printer.h"
#include "passes/pipeline.h"
#include "passes/plan_text.h"

namespace nb = nanobind;

namespace natif::bind {

namespace {

/// What a module became: the files to build, and for each function its texts and where its sites run.
struct ModulePlan {
  std::vector<codegen::File> files;
  std::vector<passes::CompiledFunction> functions;
  std::vector<std::string> graphs;  // the text of each function before the passes
};

passes::Lane read_lane(const std::string& name) {
  if (name == "auto") return passes::Lane::Auto;
  if (name == "tfe") return passes::Lane::Tfe;
  if (name == "fused") return passes::Lane::Fused;
  throw base::UserError("natif: the lane is \"auto\", \"tfe\" or \"fused\", not \"" + name + "\"");
}

passes::Numerics read_numerics(const std::string& name) {
  if (name == "exact") return passes::Numerics::Exact;
  if (name == "fast") return passes::Numerics::Fast;
  throw base::UserError("natif: numerics is \"exact\" or \"fast\", not \"" + name + "\"");
}

/// (claim, name in the artifact, lane, numerics)
using Request = std::tuple<nb::dict, std::string, std::string, std::string>;

ModulePlan compile_module(nb::object tree, const std::string& filename, const std::string& module_name,
                          const std::vector<Request>& requests, const std::vector<std::string>& levels, bool verify,
                          const Specialized& specialized) {
  const front::Module module = front::claim(front::Syntax(std::move(tree)), module_name, filename, specialization_of(specialized));
  ModulePlan plan;
  for (const auto& [claim, name, lane, numerics] : requests) {
    const front::ClaimedFunction& function = confirm(module, claim);
    if (!function.native) throw base::UserError("natif: " + function.name + " is not native: see its sites");
    ir::Function graph = function.graph;
    graph.name = name;
    plan.graphs.push_back(ir::print(graph));
    plan.functions.push_back(passes::compile(std::move(graph), {read_lane(lane), read_numerics(numerics), verify}));
  }
  plan.files = codegen::emit({module_name, filename, levels}, plan.functions);
  return plan;
}

nb::list files_of(const ModulePlan& plan) {
  nb::list files;
  for (const codegen::File& file : plan.files) files.append(nb::make_tuple(file.name, file.level, file.text));
  return files;
}

nb::list sites_of(const passes::CompiledFunction& function) {
  nb::list sites;
  for (const passes::SiteFacts& site : function.sites) sites.append(nb::make_tuple(site.site, site.lane, site.rule, site.exact));
  return sites;
}

nb::list functions_of(const ModulePlan& plan) {
  nb::list functions;
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    nb::dict facts;
    facts["name"] = plan.functions[i].function.name;
    facts["ir"] = plan.graphs[i];
    facts["plan"] = passes::plan_text(plan.functions[i]);
    facts["sites"] = sites_of(plan.functions[i]);
    functions.append(facts);
  }
  return functions;
}

/// (the facts of a claim, where its sites run under the default options; none where it is not native)
nb::list plan_module(nb::object tree, const std::string& filename, const std::string& module_name) {
  nb::list plans;
  for (front::ClaimedFunction& function : front::claim(front::Syntax(std::move(tree)), module_name, filename).functions) {
    const nb::dict facts = facts_of(function);
    nb::list sites;
    if (function.native && (function.decorated || function.marked)) sites = sites_of(passes::compile(std::move(function.graph), {}));
    plans.append(nb::make_tuple(facts, sites));
  }
  return plans;
}

}  // namespace

void register_compile(nb::module_& module) {
  nb::class_<ModulePlan>(module, "ModulePlan", "What a module is compiled to, before the C++ compiler sees it.")
      .def_prop_ro("files", &files_of, "The generated files: (name, vector level or \"\", text).")
      .def_prop_ro(
          "functions", &functions_of,
          "One dict for each function: `name`, `ir`, `plan`, and `sites`: (index of the site, lane, exactness rule or \"\", exact).");
  module.def("plan_module", &plan_module, nb::arg("tree"), nb::arg("filename"), nb::arg("module_name"),
             "What claim_module() says of a file, each claim with where its sites run under the default options, as ModulePlan.functions "
             "has them:\n"
             "empty for functions that are not native, or neither decorated nor marked. Writes no C++.");
  module.def("compile_module", &compile_module, nb::arg("tree"), nb::arg("filename"), nb::arg("module_name"), nb::arg("functions"),
             nb::arg("levels"), nb::arg("verify") = false, nb::arg("specialized") = nb::none(),
             "Compiles functions of one source file to the C++ of one artifact.\n\n"
             "`functions` holds (claim, name in the artifact, lane, numerics). Each claim is derived again from `tree`: ValueError where "
             "it differs.\n"
             "`specialized` is as claim_module() takes it; then the claims are those that it gave with it.\n"
             "natif.CompileError where a function is not native, or where lane=\"fused\" meets an op that no kernel can run.");
}

}  // namespace natif::bind
