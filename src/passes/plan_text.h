// src/passes/plan_text.h: the plan of a function for a person: what runs as one kernel, why a kernel ends where it does, in which lane
// every op runs and what makes its bits eager's, and how much memory and arithmetic a row takes.
#pragma once

#include <string>

#include "passes/pipeline.h"

namespace natif::passes {

std::string plan_text(const CompiledFunction&);

}  // namespace natif::passes
