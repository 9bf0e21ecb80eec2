// src/passes/rewrite.cpp: see rewrite.h.
#include "passes/rewrite.h"

namespace natif::passes {

void replace_operands(ir::Region& region, const Replacements& replacements) {
  if (replacements.empty()) return;
  ir::for_each_node(region, [&](ir::Node& node) {
    for (ir::Value& operand : node.operands)
      for (auto found = replacements.find(operand); found != replacements.end(); found = replacements.find(operand))
        operand = found->second;
  });
}

std::vector<int> count_uses(const ir::Function& function) {
  std::vector<int> uses(function.values.size());
  ir::for_each_node(function.body, [&](const ir::Node& node) {
    for (ir::Value operand : node.operands) ++uses[operand];
  });
  return uses;
}

}  // namespace natif::passes
