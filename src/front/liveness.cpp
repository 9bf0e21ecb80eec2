// src/front/liveness.cpp: the usual backward analysis, on the syntax tree; a loop is repeated until nothing more becomes live.
#include "front/liveness.h"

#include <algorithm>

#include "base/error.h"
#include "front/literals.h"

namespace natif::front {

namespace {

void add(Names& names, const Names& more) { names.insert(more.begin(), more.end()); }

void remove(Names& names, const Names& gone) {
  for (const std::string& name : gone) names.erase(name);
}

/// The names that a target surely binds: `a` of `a, b = …`, not the `x` of `x[0] = …`.
void bound_by(const Syntax& target, Names& names) {
  if (target.is("Name")) names.insert(target.text("id"));
  if (target.is("Starred")) bound_by(target.child("value"), names);
  if (target.is("Tuple") || target.is("List"))
    for (const Syntax& element : target.children("elts")) bound_by(element, names);
}

}  // namespace

Names names_read(const Syntax& node) {
  Names names;
  walk(node, [&](const Syntax& at) {
    if (at.is("Name") && at.child("ctx").is("Load")) names.insert(at.text("id"));
  });
  return names;
}

Names names_assigned(const Syntax& node) {
  Names names;
  walk(node, [&](const Syntax& at) {
    if (at.is("Name") && !at.child("ctx").is("Load")) names.insert(at.text("id"));
    if (at.is("FunctionDef") || at.is("AsyncFunctionDef") || at.is("ClassDef")) names.insert(at.text("name"));
    if (at.is("ExceptHandler") && !at.text("name").empty()) names.insert(at.text("name"));
    if (at.is("Import") || at.is("ImportFrom"))
      for (const Syntax& alias : at.children("names")) {
        const std::string as = alias.text("asname"), name = alias.text("name");
        names.insert(as.empty() ? name.substr(0, name.find('.')) : as);
      }
  });
  return names;
}

Names names_assigned(const std::vector<Syntax>& statements) {
  Names names;
  for (const Syntax& statement : statements) add(names, names_assigned(statement));
  return names;
}

bool always_true(const Syntax& test) {
  const std::optional<ops::Literal> literal = read_literal(test);
  if (!literal) return false;
  const bool* flag = std::get_if<bool>(&*literal);
  const int64_t* number = std::get_if<int64_t>(&*literal);
  return (flag && *flag) || (number && *number != 0);
}

Liveness::Liveness(const Syntax& function) { before(function.children("body"), {}, {}); }

const Names& Liveness::at(const std::map<const void*, Names>& table, const Syntax& statement) {
  const auto found = table.find(statement.identity());
  base::require(found != table.end(), "a statement that liveness did not visit");
  return found->second;
}

Names Liveness::before(const std::vector<Syntax>& statements, Names live, const Targets& targets) {
  for (size_t i = statements.size(); i-- > 0;) live = before(statements[i], std::move(live), targets);
  return live;
}

Names Liveness::before(const Syntax& statement, Names live, const Targets& targets) {
  if (statement.is("Break")) return targets.at_break;
  if (statement.is("Continue")) return targets.at_continue;
  if (statement.is("Return")) return statement.child("value") ? names_read(statement.child("value")) : Names{};
  if (statement.is("While") || statement.is("For")) return before_loop(statement, live, targets);
  if (statement.is("If")) {
    after_[statement.identity()] = live;
    Names names = before(statement.children("body"), live, targets);
    add(names, before(statement.children("orelse"), std::move(live), targets));
    add(names, names_read(statement.child("test")));
    return names;
  }
  constexpr std::string_view others[] = {"With", "AsyncWith", "Try", "TryStar", "Match", "AsyncFor", "ClassDef"};
  if (std::ranges::find(others, statement.kind()) != std::end(others)) visit_inside(statement, live, targets);
  Names bound;
  if (statement.is("Assign"))
    for (const Syntax& target : statement.children("targets")) bound_by(target, bound);
  if (statement.is("AnnAssign") && statement.child("value")) bound_by(statement.child("target"), bound);
  if (statement.is("Delete"))
    for (const Syntax& target : statement.children("targets")) bound_by(target, bound);
  remove(live, bound);
  add(live, names_read(statement));
  if (statement.is("AugAssign")) add(live, names_assigned(statement.child("target")));
  return live;
}

void Liveness::visit_inside(const Syntax& statement, const Names& after, const Targets& targets) {
  Names live = after;
  add(live, names_read(statement));
  for (const Syntax& inner : children_of(statement)) {
    if (inner.is_statement()) {
      before(inner, live, targets);
    } else if (inner.is("ExceptHandler") || inner.is("match_case")) {
      visit_inside(inner, after, targets);
    }
  }
}

Names Liveness::before_loop(const Syntax& loop, const Names& after, const Targets& outer) {
  const bool counted = loop.is("For");
  after_[loop.identity()] = after;
  const Names exhausted = before(loop.children("orelse"), after, outer);
  Names head;
  if (!counted) head = names_read(loop.child("test"));
  if (counted || !always_true(loop.child("test"))) add(head, exhausted);
  Names targets;
  if (counted) bound_by(loop.child("target"), targets);
  for (bool grew = true; grew;) {
    Names body = before(loop.children("body"), head, {after, head});
    remove(body, targets);
    const size_t size = head.size();
    add(head, body);
    grew = head.size() != size;
  }
  head_[loop.identity()] = after_test_[loop.identity()] = head;
  Names& exit = exit_[loop.identity()] = exhausted;
  add(exit, after);
  if (counted) add(head, names_read(loop.child("iter")));
  return head;
}

}  // namespace natif::front
