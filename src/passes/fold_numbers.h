// src/passes/fold_numbers.h: arithmetic on literal Python numbers is done at once, with the functions that emitted code uses
// (kernels/scalar.h). What would raise stays for the call to raise. Nothing is folded on tensors: eager's bits depend on how its kernels
// compute.
#pragma once

#include "ir/graph.h"

namespace natif::passes {

void fold_numbers(ir::Function&);

}  // namespace natif::passes
