// src/codegen/control.cpp: see control.h.
#include "codegen/control.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/scalars.h"
#include "codegen/values.h"

namespace natif::codegen {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;

ControlWriter::ControlWriter(Writer& w, Tables& tables, const ir::Function& function) : w_(w), tables_(tables), function_(function) {
  ir::for_each_node(function_.body, [&](const Node& node) {
    if (node.kind == NodeKind::Literal) literals_[node.results[0]] = &node;
  });
}

Code ControlWriter::name(Value value) const { return name_of(function_, value); }

void ControlWriter::print_region(const Region& region, const Targets& targets) {
  for (const Node& node : region.nodes) print_node(node, targets);
}

void ControlWriter::print_node(const Node& node, const Targets& targets) {
  switch (node.kind) {
    case NodeKind::Literal:
      return print_literal(w_, function_, node);
    case NodeKind::Scalar:
      return print_scalar(w_, function_, node, leave_at_fault(node));
    case NodeKind::If:
      return print_if(node, targets);
    case NodeKind::For:
      return print_for(node);
    case NodeKind::Loop:
      return print_loop(node);
    case NodeKind::Yield:
      return assign(targets.yielded, node.operands);
    case NodeKind::Continue:
      assign(targets.carried, node.operands);
      w_.line("continue;");
      return;
    case NodeKind::Break:
      assign(targets.loop_results, node.operands);
      w_.line("break;");
      return;
    case NodeKind::Op:
    case NodeKind::ToTensor:
    case NodeKind::Dimension:
    case NodeKind::Kernel:
    case NodeKind::Return:
      return print_other(node);
  }
}

void ControlWriter::declare_all(const std::vector<Value>& values) {
  for (Value value : values)
    if (holds(value)) declare(value);
}

void ControlWriter::print_if(const Node& node, Targets targets) {
  declare_all(node.results);
  targets.yielded = node.results;
  w_.line("if ($) {", name(node.operands[0]));
  print_region(node.regions[0], targets);
  const Region& otherwise = node.regions[1];
  if (otherwise.nodes.size() > 1 || !otherwise.nodes[0].operands.empty() || otherwise.nodes[0].kind != NodeKind::Yield) {
    w_.close(" else {");
    print_region(otherwise, targets);
  }
  w_.close();
}

// Declares a loop's arguments with their initial values.
ControlWriter::Targets ControlWriter::begin_loop(const Node& node, size_t first_argument, size_t first_operand) {
  const Region& body = node.regions[0];
  declare_all(node.results);
  Targets targets;
  targets.loop_results = node.results;
  targets.carried.assign(body.arguments.begin() + static_cast<std::ptrdiff_t>(first_argument), body.arguments.end());
  w_.line("{");
  for (size_t i = 0; i < targets.carried.size(); ++i) {
    if (!holds(targets.carried[i])) continue;
    declare(targets.carried[i]);
    copy(targets.carried[i], node.operands[first_operand + i]);
  }
  return targets;
}

void ControlWriter::print_for(const Node& node) {
  const Region& body = node.regions[0];
  const Code start = name(node.operands[0]), stop = name(node.operands[1]), step = name(node.operands[2]);
  const Code count = identifier("count", body.arguments[0]), index = identifier("index", body.arguments[0]);
  if (!literals_.contains(node.operands[2])) w_.line("if ($ == 0) $", step, leave_at_step_0(node));
  const Targets targets = begin_loop(node, 1, 3);
  w_.line("const uint64_t $ = scalar::range_length($, $, $);", count, start, stop, step);
  w_.line("for (uint64_t $ = 0;; ++$) {", index, index);
  w_.line("if ($ == $) {", index, count);
  assign(node.results, targets.carried);
  w_.line("break;");
  w_.close();
  w_.line("const int64_t $ = static_cast<int64_t>(static_cast<uint64_t>($) + $ * static_cast<uint64_t>($));", name(body.arguments[0]),
          start, index, step);
  print_poll(body);
  print_region(body, targets);
  w_.close();
  w_.close();
}

void ControlWriter::print_loop(const Node& node) {
  const Region& body = node.regions[0];
  const Targets targets = begin_loop(node, 0, 0);
  w_.line("for (;;) {");
  print_poll(body);
  print_region(body, targets);
  w_.close();
  w_.close();
}

void ControlWriter::assign(const std::vector<Value>& to, const std::vector<Value>& from) {
  base::require(to.size() == from.size(), "control flow that hands on another number of values than is expected");
  std::vector<size_t> changed;
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] != from[i] && holds(to[i])) changed.push_back(i);
  const auto is_overwritten = [&](size_t i) { return std::find(to.begin(), to.end(), from[i]) != to.end(); };
  if (changed.size() > 1 && std::any_of(changed.begin(), changed.end(), is_overwritten)) return assign_crossing(to, from, changed);
  for (size_t i : changed) copy(to[i], from[i]);
}

void ControlWriter::assign_crossing(const std::vector<Value>& to, const std::vector<Value>& from, const std::vector<size_t>& moves) {
  for (size_t i : moves) keep(identifier("next", to[i]), from[i]);
  for (size_t i : moves) move(to[i], identifier("next", to[i]));
}

}  // namespace natif::codegen
