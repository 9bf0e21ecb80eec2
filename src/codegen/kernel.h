// src/codegen/kernel.h: prints kernels from their plans: a function that checks the run-time sizes, allocates the results and splits the
// rows, and one that computes a block of rows, stage by stage, by the loops of kernels/.
#pragma once

#include <set>
#include <span>
#include <string>

#include "codegen/tables.h"
#include "codegen/writer.h"
#include "passes/pipeline.h"

namespace natif::codegen {

/// The headers of kernels/ that the functions' kernels include, without the folder and the ending.
std::set<std::string> kernel_headers(std::span<const passes::CompiledFunction>);

/// natif_status name(session, inputs…, numbers…, outputs…): NATIF_DECLINED where the run-time sizes do not fit the plan.
void print_kernel(Writer&, Tables&, const passes::CompiledFunction&, size_t kernel, const Code& name);

}  // namespace natif::codegen
