// src/codegen/values.cpp: see values.h.
#include "codegen/values.h"

namespace natif::codegen {

Code name_of(const ir::Function& function, ir::Value value) { return identifier("v", value, function.values[value].name); }

Code number_type(const ir::Type& type) {
  switch (type.kind) {
    case ir::Type::Kind::Int:
      return "int64_t";
    case ir::Type::Kind::Float:
      return "double";
    case ir::Type::Kind::Bool:
      return "bool";
    case ir::Type::Kind::Tensor:
      break;
  }
  return "natif_tensor";
}

std::set<ir::Value> values_read(const ir::Function& function) {
  using ir::NodeKind;
  bool any = false;
  std::set<ir::Value> read;
  const auto add = [&](const std::vector<ir::Value>& values) { read.insert(values.begin(), values.end()); };
  ir::for_each_node(function.body, [&](const ir::Node& node) {
    if (node.kind != NodeKind::Kernel && node.kind != NodeKind::Dimension) return;
    any = true;
    add(node.operands);
  });
  if (!any) return read;
  // A value that moves through control flow may be read under another name: it counts as read.
  ir::for_each_node(function.body, [&](const ir::Node& node) {
    const bool moves = node.kind == NodeKind::Yield || node.kind == NodeKind::Continue || node.kind == NodeKind::Break;
    if (moves || node.kind == NodeKind::For || node.kind == NodeKind::Loop) add(node.operands);
  });
  return read;
}

std::vector<std::vector<ir::Value>> last_uses(const ir::Region& region) {
  std::map<ir::Value, size_t> last;
  for (size_t i = 0; i < region.nodes.size(); ++i) {
    const ir::Node& node = region.nodes[i];
    for (ir::Value value : node.results) last[value] = i;
    for (ir::Value value : node.operands) last[value] = i;
    for (const ir::Region& inner : node.regions)
      ir::for_each_node(inner, [&](const ir::Node& nested) {
        for (ir::Value value : nested.operands) last[value] = i;
      });
  }
  std::vector<std::vector<ir::Value>> at(region.nodes.size());
  for (const auto& [value, i] : last) at[i].push_back(value);
  return at;
}

bool runs_ops(const ir::Region& region) {
  bool found = false;
  ir::for_each_node(region,
                    [&](const ir::Node& node) { found = found || node.kind == ir::NodeKind::Op || node.kind == ir::NodeKind::Kernel; });
  return found;
}

}  // namespace natif::codegen
