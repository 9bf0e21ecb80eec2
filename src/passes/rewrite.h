// src/passes/rewrite.h: what passes share when they change a graph.
#pragma once

#include <map>

#include "ir/graph.h"

namespace natif::passes {

using Replacements = std::map<ir::Value, ir::Value>;

/// Replaces operands everywhere in the region and the regions inside; chains of replacements are followed.
void replace_operands(ir::Region&, const Replacements&);

/// How often each value is an operand in the function.
std::vector<int> count_uses(const ir::Function&);

}  // namespace natif::passes
