// src/bind/registry.cpp: the op registry and all diagnostics as plain Python values.
#include "ops/registry.h"

#include <algorithm>

#include "bind/register.h"
#include "front/diagnostics.h"

namespace natif::bind {

namespace nb = nanobind;

namespace {

nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

template <class List>
nb::list texts(const List& views) {
  nb::list list;
  for (std::string_view view : views) list.append(text(view));
  return list;
}

std::string_view symbol(ops::Operator op) {
  constexpr std::string_view symbols[] = {"", "+", "-", "*", "/", "@", "-x", "abs()"};
  return symbols[static_cast<int>(op)];
}

std::string_view name(ops::LoopShape shape) {
  constexpr std::string_view names[] = {"none", "pointwise", "contraction", "softmax", "reduction", "arg_reduction", "transpose"};
  return names[static_cast<int>(shape)];
}

std::string_view name(ops::ParameterKind kind) {
  constexpr std::string_view names[] = {"operand", "attribute", "name"};
  return names[static_cast<int>(kind)];
}

nb::dict describe(const ops::Parameter& parameter) {
  nb::dict dict;
  dict["name"] = text(parameter.name);
  dict["kind"] = text(name(parameter.kind));
  dict["required"] = parameter.required;
  dict["other_names"] = texts(parameter.other_names);
  return dict;
}

nb::dict describe(const ops::OpDef& op) {
  nb::dict dict;
  dict["rule"] = text(ops::rule_id(op));
  dict["node"] = text(op.tfe->op);
  dict["node_attributes"] = texts(op.tfe->attributes);
  dict["node_constants"] = texts(op.tfe->constants);
  dict["summary"] = text(op.summary.value);
  nb::list spellings, parameters, examples, diagnostics, seed_rules;
  ops::for_each_spelling(op, [&](std::string_view spelling) { spellings.append(text(spelling)); });
  dict["spellings"] = spellings;
  dict["operator"] = text(symbol(op.op));
  for (const ops::Parameter& parameter : op.parameters.value) parameters.append(describe(parameter));
  dict["parameters"] = parameters;
  dict["kernel"] = text(name(op.native.shape));
  dict["exactness_rule"] = text(op.exact.rule);
  dict["exactness_domain"] = text(op.exact.domain);
  dict["numpy"] = text(op.numpy.value);
  for (std::string_view example : op.examples.value) examples.append(text(example));
  for (std::string_view example : op.more_examples) examples.append(text(example));
  dict["examples"] = examples;
  for (const base::Diagnostic* diagnostic : op.diagnostics) diagnostics.append(text(diagnostic->code));
  dict["diagnostics"] = diagnostics;
  for (const ops::SeedRule& rule : op.seed_rules) seed_rules.append(nb::make_tuple(text(rule.id), text(rule.code)));
  dict["seed_rules"] = seed_rules;
  return dict;
}

nb::dict describe(const base::Diagnostic& diagnostic, bool of_op) {
  nb::dict dict;
  dict["code"] = text(diagnostic.code);
  dict["outcome"] = text(base::name(diagnostic.outcome));
  dict["text"] = text(diagnostic.text);
  dict["suggestion"] = text(diagnostic.suggestion);
  dict["example"] = text(diagnostic.example);
  dict["of_op"] = of_op;
  return dict;
}

nb::list registry() {
  nb::list list;
  for (const ops::OpDef* op : ops::all_ops()) list.append(describe(*op));
  return list;
}

nb::list diagnostics() {
  nb::list list;
  for (const base::Diagnostic* diagnostic : front::diagnostics::all()) list.append(describe(*diagnostic, false));
  std::vector<const base::Diagnostic*> seen;
  for (const ops::OpDef* op : ops::all_ops()) {
    for (const base::Diagnostic* diagnostic : op->diagnostics) {
      // Ops of one family share their diagnostics; the addresses of inline constants are one.
      if (std::find(seen.begin(), seen.end(), diagnostic) != seen.end()) continue;
      seen.push_back(diagnostic);
      list.append(describe(*diagnostic, true));
    }
  }
  return list;
}

}  // namespace

void register_registry(nb::module_& module) {
  module.def("registry", registry,
             "Every op as a dict: rule, node (TensorFlow's op), node_attributes, node_constants (attributes that become int32 operands),\n"
             "summary, spellings, operator, parameters, kernel (its loop shape, or none), exactness_rule and exactness_domain, numpy (an\n"
             "expression), examples, diagnostics (codes), seed_rules (pairs of id and code).");
  module.def("diagnostics", diagnostics,
             "Every diagnostic as a dict: code, outcome, text, suggestion, example, of_op (its example is one expression; otherwise it is\n"
             "the body of a function or a module).");
}

}  // namespace natif::bind
