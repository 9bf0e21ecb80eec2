// src/passes/fuse.h: outlines groups of ops into Kernel nodes. A group grows along the data flow of a stretch of nodes without control
// flow, as long as the planner (plan.h) can make one kernel of it; where it can't, the next group begins and the planner's reason is kept.
// The ops stay in the Kernel node's region: they run where the kernel declines.
#pragma once

#include <vector>

#include "passes/pipeline.h"

namespace natif::passes {

/// Fills `kernels` and `splits`.
void fuse(CompiledFunction&);

}  // namespace natif::passes
