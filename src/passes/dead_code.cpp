// src/passes/dead_code.cpp: see dead_code.h.
#include "passes/dead_code.h"

#include <algorithm>

#include "ops/registry.h"
#include "passes/rewrite.h"

namespace natif::passes {

namespace {

// Numbers of one operation that Python might refuse (a division by zero, an int past 64 bits) have to stay.
bool never_raises(const ir::Node& node, const ir::Function& function) {
  using ir::ScalarOp;
  switch (node.kind) {
    case ir::NodeKind::Literal:
    case ir::NodeKind::Dimension:
      return true;
    case ir::NodeKind::Op:
      return node.operands.size() == 1 && ops::find_node(node.op).native.shape == ops::LoopShape::Pointwise;
    case ir::NodeKind::Scalar:
      break;
    default:
      return false;
  }
  const bool on_float = function.type(node.operands[0]).kind == ir::Type::Kind::Float;
  switch (node.scalar) {
    case ScalarOp::Add:
    case ScalarOp::Subtract:
    case ScalarOp::Multiply:
    case ScalarOp::Negate:
    case ScalarOp::Absolute:
      return on_float;
    case ScalarOp::ToInt:
      return !on_float;
    case ScalarOp::Divide:
    case ScalarOp::FloorDivide:
    case ScalarOp::Modulo:
    case ScalarOp::Power:
    case ScalarOp::ShiftLeft:
    case ScalarOp::ShiftRight:
      return false;
    default:
      return true;
  }
}

bool sweep(ir::Region& region, const ir::Function& function, std::vector<int>& uses) {
  bool changed = false;
  for (size_t i = region.nodes.size(); i-- > 0;) {
    ir::Node& node = region.nodes[i];
    for (ir::Region& inner : node.regions) changed = sweep(inner, function, uses) || changed;
    const bool unused = std::all_of(node.results.begin(), node.results.end(), [&](ir::Value result) { return uses[result] == 0; });
    if (!unused || !never_raises(node, function)) continue;
    for (ir::Value operand : node.operands) --uses[operand];
    region.nodes.erase(region.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    changed = true;
  }
  return changed;
}

}  // namespace

void remove_dead_code(ir::Function& function) {
  std::vector<int> uses = count_uses(function);
  while (sweep(function.body, function, uses)) {
  }
}

}  // namespace natif::passes
