// src/front/signature.cpp: parameters, their defaults and the result's annotation, and what a function is once it has been read.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "front/diagnostics.h"
#include "front/function_reader.h"
#include "front/literals.h"

namespace natif::front {

using ir::Type;

namespace {

/// Whether the function's own body, not that of a function in it, yields or awaits.
bool yields(const Syntax& node) {
  if (node.is("Yield") || node.is("YieldFrom") || node.is("Await") || node.is("AsyncFor") || node.is("AsyncWith")) return true;
  if (node.is("FunctionDef") || node.is("AsyncFunctionDef") || node.is("ClassDef") || node.has_own_names()) return false;
  return std::ranges::any_of(children_of(node), yields);
}

}  // namespace

FunctionReader::FunctionReader(const Definition& definition, const ModuleScope& scope, Callee callee)
    : definition_(definition), scope_(scope), callee_(std::move(callee)), liveness_(definition.syntax) {
  locals_ = names_assigned(definition.syntax.children("body"));
}

ClaimedFunction FunctionReader::read() {
  const Syntax& def = definition_.syntax;
  ClaimedFunction claimed{.name = definition_.name, .span = def.span()};
  const GraphBuilder::Inside inside(builder_, builder_.function.body);
  const GraphBuilder::At at(builder_, def.span());
  read_signature();
  bool falls = false;
  if (def.is("AsyncFunctionDef") || std::ranges::any_of(def.children("body"), yields)) {
    report(def, diagnostics::coroutine, definition_.name, definition_.name);
  } else {
    falls = block(def.children("body"));
  }
  finish(claimed, falls);
  return claimed;
}

void FunctionReader::read_signature() {
  const Syntax signature = definition_.syntax.child("args");
  std::vector<Syntax> positional = signature.children("posonlyargs");
  for (const Syntax& parameter : signature.children("args")) positional.push_back(parameter);
  const std::vector<Syntax> defaults = signature.children("defaults");
  for (size_t i = 0; i < positional.size(); ++i) {
    const size_t from_end = positional.size() - i;
    read_parameter(positional[i], from_end <= defaults.size() ? defaults[defaults.size() - from_end] : Syntax());
  }
  const std::vector<Syntax> keyword_only = signature.children("kwonlyargs"), keyword_defaults = signature.children("kw_defaults");
  for (size_t i = 0; i < keyword_only.size(); ++i) read_parameter(keyword_only[i], keyword_defaults[i]);
  share_sizes();
  for (const char* variadic : {"vararg", "kwarg"}) {
    const Syntax parameter = signature.child(variadic);
    if (!parameter) continue;
    const std::string name = parameter.text("arg");
    report(parameter, diagnostics::variadic_parameter, name, name);
    locals_.insert(name);
    environment_[name] = Item{};
  }
  std::string reason;
  const Syntax annotation = definition_.syntax.child("returns");
  if (!annotation) return;
  annotated_ = read_result_annotation(annotation, scope_, reason);
  if (!annotated_) {
    report(annotation, diagnostics::result_annotation, "->", reason);
    opaque_ = true;
  } else {
    marked_ |= std::ranges::any_of(annotated_->types, [](const Type& type) { return type.is_tensor(); });
  }
}

void FunctionReader::read_parameter(const Syntax& parameter, const Syntax& default_value) {
  const std::string name = parameter.text("arg");
  locals_.insert(name);
  environment_[name] = Item{};
  const Syntax annotation = parameter.child("annotation");
  std::string reason = "has no annotation";
  std::vector<std::string> size_names;
  std::optional<Type> type = annotation ? read_annotation(annotation, scope_, reason, &size_names) : std::nullopt;
  if (!type) {
    report(parameter, diagnostics::parameter_annotation, name, name + " " + reason);
    return;
  }
  marked_ |= type->is_tensor();
  fix_sizes(name, *type);
  if (default_value) read_default(parameter, default_value, *type);
  const ir::Value value = builder_.function.new_value(*type, name);
  for (size_t axis = 0; axis < size_names.size(); ++axis)
    if (!size_names[axis].empty()) named_sizes_[size_names[axis]].push_back({builder_.function.parameters.size(), axis});
  builder_.function.parameters.push_back({.name = name, .value = value, .bound = sizes_.contains(name)});
  environment_[name] = Item::of(value);
}

// Sizes of one name are the same: all fixed where bound tensors fix one, else numbered for the host to compare.
void FunctionReader::share_sizes() {
  ir::Function& graph = builder_.function;
  int64_t number = ir::free_size;
  for (const auto& [name, axes] : named_sizes_) {
    if (axes.size() < 2) continue;
    const auto size = [&](const NamedAxis& at) -> int64_t& {
      return graph.values[graph.parameters[at.parameter].value].type.dims[at.axis];
    };
    const auto fixed = std::ranges::find_if(axes, [&](const NamedAxis& at) { return size(at) != ir::free_size; });
    if (fixed == axes.end()) --number;
    for (const NamedAxis& at : axes) {
      ir::Parameter& parameter = graph.parameters[at.parameter];
      if (fixed == axes.end()) {
        if (parameter.sizes.empty()) parameter.sizes = graph.type(parameter.value).dims;
        parameter.sizes[at.axis] = number;
        continue;
      }
      if (size(at) != ir::free_size && size(at) != size(*fixed))
        throw base::UserError("natif: " + definition_.name + " can't be specialised for two sizes called " + name);
      size(at) = size(*fixed);
      if (!parameter.sizes.empty()) parameter.sizes[at.axis] = size(*fixed);
    }
  }
}

void FunctionReader::fix_sizes(const std::string& parameter, Type& type) const {
  const auto found = sizes_.find(parameter);
  if (found == sizes_.end()) return;
  const Type given = Type::tensor(type.dtype, found->second);
  if (!ir::fits(given, type)) {
    throw base::UserError("natif: " + definition_.name + " can't be specialised for " + parameter + " of the sizes " + ir::to_text(given) +
                          ": it is annotated as " + ir::to_text(type));
  }
  type = given;
}

void FunctionReader::read_default(const Syntax& parameter, const Syntax& default_value, const Type& type) {
  // Another expression is evaluated by Python when the def runs, and checked as an argument is.
  const std::optional<ops::Literal> literal = read_literal(default_value);
  if (!literal) return;
  const std::optional<Type> given = number_type(*literal);
  const bool fits =
      given && type.is_number() && (given->kind == type.kind || type.kind == Type::Kind::Float || given->kind == Type::Kind::Bool);
  const std::string name = parameter.text("arg");
  if (!fits) report(default_value, diagnostics::default_value, name, name + " is not " + ir::describe(type));
}

void FunctionReader::finish(ClaimedFunction& claimed, bool falls) {
  if (falls && !opaque_) report(definition_.syntax, diagnostics::no_result, definition_.name, definition_.name);
  sort_sites();
  ir::Function& graph = builder_.function;
  graph.name = definition_.name;
  graph.span = definition_.syntax.span();
  for (const auto& [name, value] : hidden_) graph.parameters.push_back({.name = name, .value = value, .hidden = true});
  if (results_) {
    graph.results = results_->types;
    graph.tuple = results_->tuple;
  }
  claimed.marked = marked_;
  claimed.native = std::ranges::all_of(sites_, [](const base::Site& site) { return site.outcome == base::Outcome::Claimed; });
  claimed.sites = std::move(sites_);
  for (auto& [name, guard] : guards_) claimed.guards.push_back(std::move(guard));
  if (claimed.native) claimed.graph = std::move(graph);
}

void FunctionReader::sort_sites() {
  std::vector<size_t> order(sites_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto place = [&](size_t i) {
    const base::Span& span = sites_[i].span;
    return std::tuple(span.line, span.column, span.end_line, span.end_column);
  };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return place(a) < place(b); });
  std::vector<base::Site> sorted;
  std::vector<int> moved(sites_.size());
  for (size_t i = 0; i < order.size(); ++i) {
    moved[order[i]] = static_cast<int>(i);
    sorted.push_back(std::move(sites_[order[i]]));
  }
  sites_ = std::move(sorted);
  ir::for_each_node(builder_.function.body, [&](ir::Node& node) {
    if (node.site >= 0) node.site = moved[static_cast<size_t>(node.site)];
  });
}

}  // namespace natif::front
