// src/front/branches.cpp: `if`, conditional expressions and short circuits, and bringing together what several ways give.
#include "front/diagnostics.h"
#include "front/function_reader.h"

namespace natif::front {

using ir::NodeKind;
using ir::Type;
using ir::Value;

namespace {

bool same_item(const Item& a, const Item& b) {
  std::vector<Value> in_a, in_b;
  flatten(a, in_a);
  flatten(b, in_b);
  return same_shape(a, b) && in_a == in_b;
}

/// What is merged has a name of the program, or a description such as "the comparison".
bool is_identifier(const std::string& name) { return name.find_first_of(" `<") == std::string::npos; }

}  // namespace

bool FunctionReader::if_statement(const Syntax& node) {
  const std::optional<Value> test = condition(node.child("test"));
  return branch(
      test.value_or(0), [&] { return block(node.children("body")); }, [&] { return block(node.children("orelse")); },
      liveness_.after(node));
}

bool FunctionReader::branch(Value condition, const std::function<bool()>& then, const std::function<bool()>& otherwise, const Names& live) {
  const Environment before = environment_;
  Merge merged{.outer_values = builder_.function.values.size()};
  std::vector<ir::Region> regions(2);
  std::vector<Environment> exits;
  std::vector<size_t> falling;
  const auto read = [&](size_t index, const std::function<bool()>& body) {
    const GraphBuilder::Inside inside(builder_, regions[index]);
    if (!body()) return false;
    exits.push_back(environment_);
    falling.push_back(index);
    return true;
  };
  if (!read(0, then)) {
    // The other way is all that goes on, so it needs no region.
    environment_ = before;
    {
      const GraphBuilder::Inside inside(builder_, regions[1]);
      builder_.terminate(NodeKind::Yield, {});
    }
    builder_.append({.kind = NodeKind::If, .operands = {condition}, .regions = std::move(regions)});
    return otherwise();
  }
  environment_ = before;
  read(1, otherwise);
  environment_ = merge(exits, live, merged);
  for (size_t i = 0; i < falling.size(); ++i) {
    const GraphBuilder::Inside inside(builder_, regions[falling[i]]);
    builder_.terminate(NodeKind::Yield, merged.yields[i]);
  }
  builder_.append({.kind = NodeKind::If, .operands = {condition}, .results = merged.results, .regions = std::move(regions)});
  return true;
}

Item FunctionReader::choose(const Syntax& at, Value condition, const std::function<Item()>& then, const std::function<Item()>& otherwise,
                            std::string_view what) {
  const Environment before = environment_;
  Merge merged{.outer_values = builder_.function.values.size(), .yields = std::vector<std::vector<Value>>(2)};
  std::vector<ir::Region> regions(2);
  std::vector<Item> items(2);
  Names rebound;
  for (size_t i = 0; i < 2; ++i) {
    const GraphBuilder::Inside inside(builder_, regions[i]);
    items[i] = i == 0 ? then() : otherwise();
    for (const auto& [name, item] : environment_)
      if (const auto found = before.find(name); found == before.end() || !same_item(found->second, item)) rebound.insert(name);
    environment_ = before;
  }
  // What a walrus binds on one way only may be unbound, or another value, afterwards.
  for (const std::string& name : rebound) environment_[name] = Item::poison(diagnostics::maybe_unbound, name);
  Item item = merge(std::string(what), {&items[0], &items[1]}, merged);
  for (size_t i = 0; i < 2; ++i) {
    const GraphBuilder::Inside inside(builder_, regions[i]);
    builder_.terminate(NodeKind::Yield, merged.yields[i]);
  }
  builder_.append({.kind = NodeKind::If, .operands = {condition}, .results = merged.results, .regions = std::move(regions)});
  if (item.kind != Item::Kind::Poison) return item;
  return report(at, *item.problem, std::string(what), item.detail);
}

Item FunctionReader::merge(const std::string& name, const std::vector<const Item*>& items, Merge& merged) {
  const Item& first = *items[0];
  for (const Item* item : items)
    if (item->failed() || item->kind == Item::Kind::Poison) return *item;
  const auto differ = [&](const Item& other) {
    return Item::poison(diagnostics::types_differ, name + " is " + describe(first, builder_.function) + " on one way and " +
                                                       describe(other, builder_.function) + " on another");
  };
  for (const Item* item : items)
    if (!same_shape(first, *item)) return differ(*item);
  std::vector<std::vector<Value>> values(items.size());
  for (size_t i = 0; i < items.size(); ++i) flatten(*items[i], values[i]);
  std::vector<Value> common;
  for (size_t leaf = 0; leaf < values[0].size(); ++leaf) {
    bool identical = values[0][leaf] < merged.outer_values;
    Type type = builder_.type(values[0][leaf]);
    for (size_t i = 1; i < items.size(); ++i) {
      identical &= values[i][leaf] == values[0][leaf];
      if (!ir::joinable(type, builder_.type(values[i][leaf]))) return differ(*items[i]);
      type = ir::join(type, builder_.type(values[i][leaf]));
    }
    if (identical) {
      common.push_back(values[0][leaf]);
      continue;
    }
    common.push_back(builder_.function.new_value(type, is_identifier(name) ? name : std::string()));
    merged.results.push_back(common.back());
    for (size_t i = 0; i < items.size(); ++i) merged.yields[i].push_back(values[i][leaf]);
  }
  auto next = common.cbegin();
  return rebuild(first, next);
}

Environment FunctionReader::merge(const std::vector<Environment>& exits, const Names& live, Merge& merged) {
  merged.yields.resize(exits.size());
  Names names;
  for (const Environment& exit : exits)
    for (const auto& [name, item] : exit) names.insert(name);
  Environment environment;
  for (const std::string& name : names) {
    // Names in angle brackets are the reader's own.
    if (name.front() != '<' && !live.contains(name)) continue;
    std::vector<const Item*> items;
    for (const Environment& exit : exits)
      if (const auto found = exit.find(name); found != exit.end()) items.push_back(&found->second);
    environment[name] = items.size() == exits.size() ? merge(name, items, merged) : Item::poison(diagnostics::maybe_unbound, name);
  }
  return environment;
}

}  // namespace natif::front
