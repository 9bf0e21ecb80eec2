// src/bind/claims.cpp: claiming for Python. A claim crosses as a dict of plain facts, the graph as text among them; lowering derives it
// again from the source and compares, so a claim that was stored, sent or edited is never trusted.
#include "bind/claims.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/register.h"
#include "ir/printer.h"

namespace nb = nanobind;

namespace natif::bind {

namespace {

struct LiteralObject {
  nb::object operator()(ops::None) const { return nb::none(); }
  nb::object operator()(ir::DType dtype) const { return nb::cast(std::string(ir::name(dtype))); }
  nb::object operator()(const auto& value) const { return nb::cast(value); }
};

void put_span(nb::dict& facts, const base::Span& span) {
  facts["line"] = span.line;
  facts["column"] = span.column;
  facts["end_line"] = span.end_line;
  facts["end_column"] = span.end_column;
}

nb::dict site_facts(const base::Site& site) {
  nb::dict facts;
  put_span(facts, site.span);
  facts["target"] = site.target;
  facts["outcome"] = std::string(base::name(site.outcome));
  facts["rule"] = site.rule;
  facts["code"] = site.code;
  facts["message"] = site.message;
  facts["suggestion"] = site.suggestion;
  facts["lane"] = site.lane;
  facts["exact"] = site.exact;
  return facts;
}

nb::list claim_module(nb::object tree, const std::string& filename, const std::string& module_name, const Specialized& specialized) {
  nb::list claims;
  const front::Module module = front::claim(front::Syntax(std::move(tree)), module_name, filename, specialization_of(specialized));
  for (const front::ClaimedFunction& function : module.functions) claims.append(facts_of(function));
  return claims;
}

}  // namespace

front::Specialization specialization_of(const Specialized& specialized) {
  if (!specialized) return {};
  const auto& [function, first_line, sizes] = *specialized;
  return {function, first_line, sizes};
}

nb::dict facts_of(const front::ClaimedFunction& function) {
  nb::dict facts;
  facts["name"] = function.name;
  put_span(facts, function.span);
  facts["first_line"] = function.first_line;
  facts["decorated"] = function.decorated;
  facts["marked"] = function.marked;
  facts["native"] = function.native;
  nb::list sites;
  for (const base::Site& site : function.sites) sites.append(site_facts(site));
  facts["sites"] = sites;
  nb::list guards;
  for (const front::Guard& guard : function.guards)
    guards.append(nb::make_tuple(guard.name, !guard.value, guard.value ? std::visit(LiteralObject{}, *guard.value) : nb::none()));
  facts["guards"] = guards;
  facts["ir"] = function.native ? ir::print(function.graph) : std::string();
  return facts;
}

const front::ClaimedFunction& confirm(const front::Module& module, const nb::dict& claim) {
  const nb::object name = claim["name"], line = claim["first_line"];
  for (const front::ClaimedFunction& function : module.functions) {
    if (!name.equal(nb::cast(function.name)) || !line.equal(nb::cast(function.first_line))) continue;
    const nb::dict facts = facts_of(function);
    for (const auto& [key, value] : facts)
      if (!claim.contains(key) || !value.equal(claim[key]))
        throw nb::value_error(
            ("natif: the claim of " + function.name + " is not what its source gives: its " + nb::cast<std::string>(key) + " differs")
                .c_str());
    if (nb::len(claim) != nb::len(facts))
      throw nb::value_error(("natif: the claim of " + function.name + " has facts that no claim has").c_str());
    return function;
  }
  throw nb::value_error(
      ("natif: the claim of " + nb::cast<std::string>(nb::str(name)) + " is of a function that its source does not have").c_str());
}

void register_claims(nb::module_& module) {
  module.def(
      "claim_module", &claim_module, nb::arg("tree"), nb::arg("filename"), nb::arg("module_name"), nb::arg("specialized") = nb::none(),
      "The verdict on every function of a source file.\n\n"
      "`tree` is an ast.Module. Returns one dict for each def, in the order of the source: `name` (__qualname__), its place, `first_line`\n"
      "(co_firstlineno), `decorated` (by natif.native), `marked` (has a tensor marker), `native`, `sites` (dicts with the fields of a "
      "report's\n"
      "sites), `guards` (name, whether it is a function, value: module-level names whose value was compiled in) and `ir` (the graph's "
      "text).\n"
      "Imports and runs nothing of the file. Equal sources give equal answers.\n\n"
      "`specialized` is None or (name, first_line, {parameter: sizes}): the claim on that function is then one for tensors of these sizes\n"
      "alone, and those on functions that call it mean nothing. natif.CompileError where a size contradicts the parameter's annotation.");
}

}  // namespace natif::bind
