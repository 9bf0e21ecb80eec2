// src/passes/dead_code.h: removes nodes whose results nobody uses and that can't raise: literals, numbers, sizes, and pointwise ops of one
// operand. An unused op that eager might refuse, for its shapes, stays.
#pragma once

#include "ir/graph.h"

namespace natif::passes {

void remove_dead_code(ir::Function&);

}  // namespace natif::passes
