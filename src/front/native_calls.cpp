// src/front/native_calls.cpp: calls of other native functions of the module. Their graphs are copied to the place of the call.
#include <algorithm>

#include "front/diagnostics.h"
#include "front/function_reader.h"
#include "front/literals.h"

namespace natif::front {

using ir::NodeKind;
using ir::Type;
using ir::Value;

namespace {

/// Whether a return stands in a loop of the region.
bool returns_in_loop(const ir::Region& region, bool in_loop = false) {
  return std::ranges::any_of(region.nodes, [&](const ir::Node& node) {
    if (node.kind == NodeKind::Return) return in_loop;
    const bool loop = in_loop || node.kind == NodeKind::For || node.kind == NodeKind::Loop;
    return std::ranges::any_of(node.regions, [&](const ir::Region& inner) { return returns_in_loop(inner, loop); });
  });
}

size_t count_returns(const ir::Region& region) {
  size_t count = 0;
  ir::for_each_node(region, [&](const ir::Node& node) { count += node.kind == NodeKind::Return; });
  return count;
}

/// Copies regions of one function into another.
struct Copier {
  const ir::Function& from;
  ir::Function& to;
  int site;
  std::map<Value, Value> values;

  Value copy(Value value) {
    const auto [at, inserted] = values.try_emplace(value, 0);
    if (inserted) at->second = to.new_value(from.type(value), from.values[value].name);
    return at->second;
  }

  std::vector<Value> copy(const std::vector<Value>& originals) {
    std::vector<Value> copies;
    for (Value value : originals) copies.push_back(copy(value));
    return copies;
  }

  ir::Node copy(const ir::Node& node) {
    ir::Node made = node;
    made.operands = copy(node.operands);
    made.results = copy(node.results);
    made.site = site;
    for (size_t i = 0; i < node.regions.size(); ++i) made.regions[i] = copy(node.regions[i]);
    return made;
  }

  ir::Region copy(const ir::Region& region) {
    ir::Region made{copy(region.arguments), {}};
    for (const ir::Node& node : region.nodes) made.nodes.push_back(copy(node));
    return made;
  }
};

}  // namespace

Item FunctionReader::native_call(const Syntax& node, const std::string& target, const Syntax& def) {
  const CalleeFacts facts = callee_(def);
  if (!facts.native) return refuse_call(node, diagnostics::call_not_covered, target, target);
  if (!facts.claim) return refuse_call(node, diagnostics::recursive_call, target, target);
  if (!facts.claim->native) return refuse_call(node, diagnostics::callee_is_python, target, target);
  if (returns_in_loop(facts.claim->graph.body)) return refuse_call(node, diagnostics::callee_returns_in_loop, target, target);
  const std::optional<std::vector<Value>> arguments = bind_native(node, target, def, *facts.claim);
  if (!arguments) return {};
  const GraphBuilder::At at(builder_, node.span(), claim_site(node, target, "natif/call"));
  guards_[target] = {target, std::nullopt};
  for (const Guard& guard : facts.claim->guards) guards_[guard.name] = guard;
  return inline_graph(*facts.claim, *arguments);
}

std::optional<std::vector<Value>> FunctionReader::bind_native(const Syntax& node, const std::string& target, const Syntax& def,
                                                              const ClaimedFunction& callee) {
  const Syntax signature = def.child("args");
  std::vector<std::string> names;
  const size_t positional_only = signature.children("posonlyargs").size();
  for (const char* group : {"posonlyargs", "args"})
    for (const Syntax& parameter : signature.children(group)) names.push_back(parameter.text("arg"));
  const size_t positional_count = names.size();
  for (const Syntax& parameter : signature.children("kwonlyargs")) names.push_back(parameter.text("arg"));

  std::vector<std::optional<Item>> items(names.size());
  std::string wrong;
  bool failed = false;
  const auto give = [&](size_t index, const Syntax& argument) {
    if (items[index]) wrong = target + " with " + names[index] + " given twice";
    items[index] = expression(argument);
    failed |= items[index]->failed();
  };
  const std::vector<Syntax> positional = node.children("args");
  if (positional.size() > positional_count)
    wrong = target + " with " + std::to_string(positional.size()) + " arguments instead of " + std::to_string(positional_count);
  for (size_t i = 0; i < positional.size() && wrong.empty(); ++i) {
    if (positional[i].is("Starred")) wrong = target + " with *";
    if (wrong.empty()) give(i, positional[i]);
  }
  for (const Syntax& keyword : node.children("keywords")) {
    const std::string name = keyword.text("arg");
    const auto found = std::ranges::find(names.begin() + static_cast<std::ptrdiff_t>(positional_only), names.end(), name);
    if (found == names.end() || name.empty()) {
      wrong = target + " with " + (name.empty() ? "**" : "the unknown keyword " + name);
    } else if (wrong.empty()) {
      give(static_cast<size_t>(found - names.begin()), keyword.child("value"));
    }
  }
  if (wrong.empty()) wrong = give_defaults(target, signature, names, items);
  if (!wrong.empty()) {
    report(node, diagnostics::native_call_arguments, target, wrong);
    return std::nullopt;
  }
  if (failed) return std::nullopt;
  std::vector<Value> values;
  for (size_t i = 0; i < names.size(); ++i) {
    const ir::Parameter& parameter = callee.graph.parameters.at(i);
    const std::optional<Value> value = convert_argument(node, target, parameter.name, callee.graph.type(parameter.value), *items[i]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::string FunctionReader::give_defaults(const std::string& target, const Syntax& signature, const std::vector<std::string>& names,
                                          std::vector<std::optional<Item>>& items) {
  const std::vector<Syntax> defaults = signature.children("defaults"), keyword_only = signature.children("kw_defaults");
  const size_t positional_count = names.size() - keyword_only.size();
  for (size_t i = 0; i < names.size(); ++i) {
    if (items[i]) continue;
    Syntax value;
    if (i >= positional_count) {
      value = keyword_only[i - positional_count];
    } else if (i + defaults.size() >= positional_count) {
      value = defaults[i + defaults.size() - positional_count];
    }
    const std::optional<ops::Literal> literal = value ? read_literal(value) : std::nullopt;
    if (!value) return target + " without its argument " + names[i];
    if (!literal || !number_type(*literal)) return target + " with the default of " + names[i] + ", which is no literal number";
    items[i] = Item::of(builder_.literal(*literal));
  }
  return {};
}

std::optional<Value> FunctionReader::convert_argument(const Syntax& at, const std::string& target, const std::string& name,
                                                      const Type& type, const Item& item) {
  if (is_number(item) && type.is_number()) {
    const Type::Kind given = builder_.type(item.value).kind;
    if (given == type.kind) return item.value;
    // As at the boundary: an int or bool becomes a float, a bool an int.
    if (type.kind == Type::Kind::Float) return builder_.as_float(item.value);
    if (type.kind == Type::Kind::Int && given == Type::Kind::Bool) return builder_.as_int(item.value);
  }
  if (item.is_value() && ir::fits(builder_.type(item.value), type)) return item.value;
  const std::string sizes = item.is_value() && ir::joinable(builder_.type(item.value), type) ? " of sizes " + ir::to_text(type) : "";
  report(at, diagnostics::native_call_types, target,
         target + " with " + describe(item, builder_.function) + " as " + name + ", which is " + ir::describe(type) + sizes);
  return std::nullopt;
}

Item FunctionReader::inline_graph(const ClaimedFunction& callee, const std::vector<Value>& arguments) {
  const ir::Function& graph = callee.graph;
  Copier copier{graph, builder_.function, sites_.empty() ? -1 : static_cast<int>(sites_.size()) - 1, {}};
  size_t given = 0;
  for (const ir::Parameter& parameter : graph.parameters) {
    const Value value = parameter.hidden ? hidden_input(parameter.name, graph.type(parameter.value)).value : arguments.at(given++);
    copier.values.emplace(parameter.value, value);
  }
  ir::Region body = copier.copy(graph.body);
  std::vector<Value> results;
  if (count_returns(graph.body) == 1 && body.nodes.back().kind == NodeKind::Return) {
    results = body.nodes.back().operands;
    body.nodes.pop_back();
    for (ir::Node& node : body.nodes) builder_.append_as_is(std::move(node));
  } else {
    // Each return leaves a loop that runs once.
    ir::for_each_node(body, [](ir::Node& node) {
      if (node.kind == NodeKind::Return) node.kind = NodeKind::Break;
    });
    for (const Type& type : graph.results) results.push_back(builder_.function.new_value(type));
    ir::Node once{.kind = NodeKind::Loop, .results = results};
    once.regions.push_back(std::move(body));
    builder_.append(std::move(once));
  }
  std::vector<Item> items;
  for (Value value : results) items.push_back(Item::of(value));
  return graph.tuple ? Item::sequence(std::move(items), false) : items.at(0);
}

}  // namespace natif::front
