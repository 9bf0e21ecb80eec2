// src/front/loops.cpp: `while` and `for … in range(…)`. A loop is read with the types that its carried names have before it; where an
// iteration gives freer sizes it is taken back and read again with those, until nothing changes.
#include <algorithm>

#include "front/diagnostics.h"
#include "front/function_reader.h"

namespace natif::front {

using ir::NodeKind;
using ir::Type;
using ir::Value;

namespace {

/// The name under which a loop that ends only by a return gives its results.
constexpr const char* return_name = "<return>";

/// Whether a `break` in or below this node leaves the loop around it.
bool breaks(const Syntax& node) {
  if (node.is("Break")) return true;
  if (node.is("FunctionDef") || node.is("AsyncFunctionDef") || node.is("ClassDef")) return false;
  const bool loop = node.is("For") || node.is("While") || node.is("AsyncFor");
  return std::ranges::any_of(loop ? node.children("orelse") : children_of(node), [](const Syntax& child) { return breaks(child); });
}

bool breaks(const std::vector<Syntax>& statements) {
  return std::ranges::any_of(statements, [](const Syntax& statement) { return breaks(statement); });
}

/// Gives the breaks of the loop whose region this is their operands, in the order in which they were read.
void fill_breaks(ir::Region& region, const std::vector<std::vector<Value>>& operands, size_t& next) {
  for (ir::Node& node : region.nodes) {
    if (node.kind == NodeKind::Break) node.operands = operands.at(next++);
    if (node.kind == NodeKind::If)
      for (ir::Region& inner : node.regions) fill_breaks(inner, operands, next);
  }
}

}  // namespace

FunctionReader::Mark FunctionReader::mark() const { return {builder_.function.values.size(), sites_.size(), results_, environment_}; }

void FunctionReader::rewind(const Mark& mark) {
  builder_.rewind(mark.values);
  std::erase_if(hidden_, [&](const auto& entry) { return entry.second >= mark.values; });
  sites_.resize(mark.sites);
  results_ = mark.results;
  environment_ = mark.environment;
}

void FunctionReader::start_carrying(Loop& loop, const Names& assigned, const Names& live) {
  loop.carried.clear();
  loop.head.clear();
  for (const std::string& name : assigned) {
    if (!live.contains(name)) continue;
    const auto found = environment_.find(name);
    const auto refused = loop.refused.find(name);
    if (refused != loop.refused.end()) {
      loop.head[name] = refused->second;
    } else if (found == environment_.end()) {
      loop.head[name] = Item::poison(diagnostics::maybe_unbound, name);
    } else {
      loop.head[name] = found->second;
      if (!found->second.failed() && found->second.kind != Item::Kind::Poison) loop.carried.push_back(name);
    }
  }
  if (loop.counted && !loop.completed.empty()) {
    loop.head[loop.completed] = environment_.at(loop.completed);
    loop.carried.push_back(loop.completed);
  }
}

std::vector<Value> FunctionReader::carried_values(Loop& loop) {
  std::vector<Value> values;
  for (const std::string& name : loop.carried) flatten(loop.head.at(name), values);
  return values;
}

void FunctionReader::enter(Loop& loop, ir::Region& region) {
  const std::vector<Value> initial = carried_values(loop);
  if (loop.types.size() != initial.size()) {
    loop.types.clear();
    for (Value value : initial) loop.types.push_back(builder_.type(value));
  }
  std::vector<Value> arguments;
  for (const Type& type : loop.types) arguments.push_back(builder_.function.new_value(type));
  region.arguments.insert(region.arguments.end(), arguments.begin(), arguments.end());
  auto next = arguments.cbegin();
  for (const std::string& name : loop.carried) {
    Item& item = loop.head.at(name);
    item = rebuild(item, next);
    if (item.is_value() && name.front() != '<') builder_.function.values[item.value].name = name;
  }
}

bool FunctionReader::leave_iteration(Loop& loop, NodeKind kind) {
  std::vector<Value> operands;
  size_t leaf = 0;
  for (const std::string& name : loop.carried) {
    const Item& head = loop.head.at(name);
    const auto found = environment_.find(name);
    const Item now = found == environment_.end() ? Item::poison(diagnostics::maybe_unbound, name) : found->second;
    const auto refuse = [&](Item item) {
      loop.refused.insert_or_assign(name, std::move(item));
      loop.changed = true;
    };
    std::vector<Value> before, after;
    flatten(head, before);
    const size_t first = leaf;
    leaf += before.size();
    if (now.failed() || now.kind == Item::Kind::Poison) {
      refuse(now);
      continue;
    }
    flatten(now, after);
    bool same = same_shape(head, now);
    for (size_t i = 0; same && i < after.size(); ++i) same = ir::joinable(loop.types[first + i], builder_.type(after[i]));
    if (!same) {
      refuse(Item::poison(diagnostics::loop_changes_type, name + " is " + describe(head, builder_.function) + " before the loop and " +
                                                              describe(now, builder_.function) + " after an iteration"));
      continue;
    }
    for (size_t i = 0; i < after.size(); ++i) {
      Type& type = loop.types[first + i];
      if (ir::fits(builder_.type(after[i]), type)) continue;
      type = ir::join(type, builder_.type(after[i]));
      loop.changed = true;
    }
    operands.insert(operands.end(), after.begin(), after.end());
  }
  builder_.terminate(kind, std::move(operands));
  return false;
}

bool FunctionReader::break_or_continue(NodeKind kind) {
  Loop& loop = *loops_.back();
  if (kind == NodeKind::Continue) return leave_iteration(loop, kind);
  if (!loop.completed.empty()) environment_[loop.completed] = Item::of(builder_.literal(false));
  return leave_loop(loop);
}

bool FunctionReader::leave_loop(Loop& loop) {
  loop.breaks.push_back(environment_);
  if (loop.counted) return leave_iteration(loop, NodeKind::Break);
  builder_.terminate(NodeKind::Break, {});  // fill_breaks gives the operands
  return false;
}

std::string FunctionReader::completion_flag(const Syntax& loop) const {
  const bool needed = !loop.children("orelse").empty() && breaks(loop.children("body"));
  return needed ? "<completed " + std::to_string(loop.span().line) + ":" + std::to_string(loop.span().column) + ">" : std::string();
}

bool FunctionReader::else_clause(const Syntax& node, const std::string& completed) {
  const std::vector<Syntax> statements = node.children("orelse");
  if (completed.empty()) return block(statements);
  const Item flag = environment_.at(completed);
  environment_.erase(completed);
  if (!flag.is_value()) return true;
  return branch(flag.value, [&] { return block(statements); }, [] { return true; }, liveness_.after(node));
}

bool FunctionReader::while_statement(const Syntax& node) {
  const std::vector<Syntax> body = node.children("body");
  const Names assigned = names_assigned(node);
  const bool forever = always_true(node.child("test"));
  Loop loop{.endless = forever && !breaks(body), .completed = completion_flag(node)};
  const Mark start = mark();
  ir::Region region;
  std::vector<Value> initial;
  do {
    rewind(start);
    region = {};
    loop.changed = false;
    loop.breaks.clear();
    start_carrying(loop, assigned, liveness_.at_head(node));
    initial = carried_values(loop);
    enter(loop, region);
    read_iteration(node, loop, region, assigned, forever);
    // A break that nothing reaches does not end the loop.
    if (forever && !loop.endless && loop.breaks.empty()) loop.endless = loop.changed = true;
  } while (loop.changed);

  Merge merged{.outer_values = start.values};
  environment_ = merge(loop.breaks, liveness_.at_exit(node), merged);
  size_t next = 0;
  fill_breaks(region, merged.yields, next);
  ir::Node made{.kind = NodeKind::Loop, .operands = std::move(initial), .results = merged.results};
  made.regions.push_back(std::move(region));
  builder_.append(std::move(made));
  if (loop.endless) return endless_exit(node);
  return forever ? true : else_clause(node, loop.completed);
}

void FunctionReader::read_iteration(const Syntax& node, Loop& loop, ir::Region& region, const Names& assigned, bool forever) {
  const GraphBuilder::Inside inside(builder_, region);
  for (const std::string& name : assigned) environment_.erase(name);
  for (const auto& [name, item] : loop.head) environment_[name] = item;
  loops_.push_back(&loop);
  if (!forever) {
    const std::optional<Value> test = condition(node.child("test"));
    const auto leave = [&] {
      if (!loop.completed.empty()) environment_[loop.completed] = Item::of(builder_.literal(true));
      return leave_loop(loop);
    };
    branch(test.value_or(0), [] { return true; }, leave, liveness_.after_test(node));
  }
  if (block(node.children("body"))) leave_iteration(loop, NodeKind::Continue);
  loops_.pop_back();
}

bool FunctionReader::endless_exit(const Syntax& node) {
  const auto found = environment_.find(return_name);
  if (found == environment_.end()) {
    report(node, diagnostics::statement, "while", "while True, which neither its own break nor its own return leaves,");
    return false;
  }
  const Item results = found->second;
  environment_.erase(return_name);
  std::vector<Value> values;
  flatten(results, values);
  emit_return(std::move(values));
  return false;
}

bool FunctionReader::for_statement(const Syntax& node) {
  bool surely_runs = false;
  const std::optional<std::vector<Value>> range = range_operands(node, surely_runs);
  if (!range) return refused_for(node);
  const std::string target = node.child("target").text("id");
  const Names assigned = names_assigned(node);
  // The results are the carried values, so what is read after a break has to be carried too.
  Names live = liveness_.at_head(node);
  live.insert(liveness_.at_exit(node).begin(), liveness_.at_exit(node).end());
  Loop loop{.counted = true, .completed = completion_flag(node)};
  if (!loop.completed.empty()) environment_[loop.completed] = Item::of(builder_.literal(true));
  // After at least one iteration the target is bound; what it is bound to before is never seen.
  if (surely_runs) environment_[target] = Item::of((*range)[0]);
  const Mark start = mark();
  ir::Region region;
  std::vector<Value> operands;
  do {
    rewind(start);
    region = {};
    loop.changed = false;
    loop.breaks.clear();
    start_carrying(loop, assigned, live);
    operands = *range;
    const std::vector<Value> initial = carried_values(loop);
    operands.insert(operands.end(), initial.begin(), initial.end());
    const Value index = builder_.function.new_value(Type::integer(), target);
    region.arguments = {index};
    enter(loop, region);
    const GraphBuilder::Inside inside(builder_, region);
    for (const std::string& name : assigned) environment_.erase(name);
    for (const auto& [name, item] : loop.head) environment_[name] = item;
    environment_[target] = Item::of(index);
    loops_.push_back(&loop);
    if (block(node.children("body"))) leave_iteration(loop, NodeKind::Continue);
    loops_.pop_back();
  } while (loop.changed);

  environment_ = start.environment;
  for (const std::string& name : assigned) environment_.erase(name);
  std::vector<Value> results;
  for (const Type& type : loop.types) results.push_back(builder_.function.new_value(type));
  auto next = results.cbegin();
  for (auto& [name, item] : loop.head) environment_[name] = std::ranges::count(loop.carried, name) ? Item{} : item;
  for (const std::string& name : loop.carried) environment_[name] = rebuild(loop.head.at(name), next);
  ir::Node made{.kind = NodeKind::For, .operands = std::move(operands), .results = results};
  made.regions.push_back(std::move(region));
  builder_.append(std::move(made));
  return else_clause(node, loop.completed);
}

std::optional<std::vector<Value>> FunctionReader::range_operands(const Syntax& node, bool& surely_runs) {
  const Syntax call = node.child("iter");
  const bool range = call.is("Call") && call.child("func").is("Name") && call.child("func").text("id") == "range" && is_builtin("range");
  if (!range || !node.child("target").is("Name")) {
    const Item item = range ? Item{} : expression(call);
    if (range) report(node.child("target"), diagnostics::iterable, "for", "range(…) into something else than one name");
    if (!item.failed()) report(call, diagnostics::iterable, "for", describe(item, builder_.function));
    return std::nullopt;
  }
  std::vector<Value> given;
  std::string wrong;
  for (const Syntax& argument : call.children("args")) {
    const Item item = argument.is("Starred") ? Item::of(ops::Literal(ops::None{})) : expression(argument);
    if (item.failed()) return std::nullopt;
    if (is_number(item) && builder_.type(item.value).kind != Type::Kind::Float) {
      given.push_back(builder_.as_int(item.value));
    } else if (wrong.empty()) {
      wrong = argument.is("Starred") ? "*" : describe(item, builder_.function);
    }
  }
  if (!call.children("keywords").empty()) wrong = "a keyword";
  if (wrong.empty() && (given.empty() || given.size() > 3)) wrong = std::to_string(given.size());
  if (!wrong.empty()) {
    report(call, diagnostics::range_arguments, "range", wrong);
    return std::nullopt;
  }
  claim_site(call, "range", "python/range");
  const GraphBuilder::At at(builder_, call.span());
  if (given.size() == 1) given.insert(given.begin(), builder_.literal(int64_t{0}));
  if (given.size() == 2) given.push_back(builder_.literal(int64_t{1}));
  int64_t bounds[3];
  surely_runs = true;
  for (size_t i = 0; i < 3; ++i) {
    const ops::Literal* literal = builder_.known(given[i]);
    const int64_t* number = literal ? std::get_if<int64_t>(literal) : nullptr;
    surely_runs &= number != nullptr;
    bounds[i] = number ? *number : 0;
  }
  surely_runs &= bounds[2] > 0 ? bounds[0] < bounds[1] : bounds[2] < 0 && bounds[0] > bounds[1];
  return given;
}

bool FunctionReader::refused_for(const Syntax& node) {
  Loop loop{.counted = true};
  ir::Region region;
  const Names assigned = names_assigned(node);
  for (const std::string& name : assigned) environment_[name] = Item{};
  {
    const GraphBuilder::Inside inside(builder_, region);
    loops_.push_back(&loop);
    block(node.children("body"));
    loops_.pop_back();
    for (const std::string& name : assigned) environment_[name] = Item{};
    block(node.children("orelse"));
  }
  for (const std::string& name : assigned) environment_[name] = Item{};
  return true;
}

}  // namespace natif::front
