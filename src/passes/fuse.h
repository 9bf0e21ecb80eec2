// src/passes/fuse.h: outlines groups of ops into Kernel nodes. A group grows along the data flow of a stretch of nodes as long as the
// planner (plan.h) can make one kernel of it; where it can't, the next group begins and the planner's reason is kept. Loops and branches
// join a group as a whole or not at all; one that joins none ends the stretch, and what is in it has kernels of its own. The ops stay in
// the Kernel node's region, as they were: they run where the kernel declines.
#pragma once

#include <vector>

#include "passes/pipeline.h"

namespace natif::passes {

/// Fills `kernels` and `splits`.
void fuse(CompiledFunction&);

}  // namespace natif::passes
