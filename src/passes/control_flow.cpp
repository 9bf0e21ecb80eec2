// src/passes/control_flow.cpp: see control_flow.h.
#include "passes/control_flow.h"

#include <algorithm>

namespace natif::passes {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;

void add_made(const Node& node, std::set<Value>& made) {
  made.insert(node.results.begin(), node.results.end());
  for (const Region& region : node.regions) {
    made.insert(region.arguments.begin(), region.arguments.end());
    for (const Node& inner : region.nodes) add_made(inner, made);
  }
}

void add_operands(const Node& node, std::vector<Value>& operands) {
  operands.insert(operands.end(), node.operands.begin(), node.operands.end());
  for (const Region& region : node.regions)
    for (const Node& inner : region.nodes) add_operands(inner, operands);
}

std::string obstacle_in(const Region& region, bool in_loop) {
  for (const Node& node : region.nodes) {
    if (node.kind == NodeKind::Return) return "the function returns from inside of it";
    if (!in_loop && (node.kind == NodeKind::Break || node.kind == NodeKind::Continue)) return "it leaves the loop around it";
    const bool is_loop = node.kind == NodeKind::For || node.kind == NodeKind::Loop;
    for (const Region& inner : node.regions)
      if (std::string found = obstacle_in(inner, in_loop || is_loop); !found.empty()) return found;
  }
  return "";
}

}  // namespace

bool owns_regions(const Node& node) { return !node.regions.empty(); }

bool handles_tensors(const Node& node, const ir::Function& function) {
  const auto is_tensor = [&](Value value) { return function.type(value).is_tensor(); };
  bool found = std::any_of(node.results.begin(), node.results.end(), is_tensor);
  for (const Region& region : node.regions)
    ir::for_each_node(region, [&](const Node& inner) { found = found || inner.kind == NodeKind::Op || inner.kind == NodeKind::Kernel; });
  return found;
}

std::vector<Value> values_read(const Node& node) {
  const std::set<Value> made = values_made(node);
  std::vector<Value> operands, read;
  add_operands(node, operands);
  for (Value operand : operands)
    if (!made.contains(operand) && std::find(read.begin(), read.end(), operand) == read.end()) read.push_back(operand);
  return read;
}

std::set<Value> values_made(const Node& node) {
  std::set<Value> made;
  add_made(node, made);
  return made;
}

std::string obstacle_in(const Node& node) {
  const bool is_loop = node.kind == NodeKind::For || node.kind == NodeKind::Loop;
  for (const Region& region : node.regions)
    if (std::string found = obstacle_in(region, is_loop); !found.empty()) return found;
  return "";
}

std::string statement_name(const Node& node) { return node.kind == NodeKind::For ? "for" : node.kind == NodeKind::Loop ? "while" : "if"; }

bool has_place(const Node& node) { return node.kind == NodeKind::Op || owns_regions(node) || ir::is_terminator(node.kind); }

}  // namespace natif::passes
