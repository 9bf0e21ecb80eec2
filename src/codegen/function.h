// src/codegen/function.h: prints the entry of one native function: structured control flow, Python numbers, TensorFlow ops through the
// host, and calls of its kernels.
#pragma once

#include "codegen/tables.h"
#include "codegen/writer.h"
#include "passes/pipeline.h"

namespace natif::codegen {

/// The C++ name of function number `index` of the module; its kernels' names begin with it.
Code entry_name(size_t index, const ir::Function&);
Code kernel_name(const Code& entry, size_t kernel);

/// Prints the entry, without its kernels.
void print_entry(Writer&, Tables&, const passes::CompiledFunction&, const Code& entry);

}  // namespace natif::codegen
