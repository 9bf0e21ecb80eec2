// src/passes/common_subexpressions.h: of equal nodes (same op, operands and attributes) in a region or the regions around it, the first one
// serves all. Ops are pure, so values and errors stay what they were.
#pragma once

#include <utility>
#include <vector>

#include "ir/graph.h"

namespace natif::passes {

/// Answers the claimed sites whose nodes went away, each with the site of the node that stands for it.
std::vector<std::pair<int, int>> share_common_subexpressions(ir::Function&);

}  // namespace natif::passes
