// src/codegen/schedule.h: prints how the launch of a kernel with control flow records its schedule (kernels/schedule.h): the control flow
// of the kernel's region with its Python numbers alone.
#pragma once

#include "codegen/layout.h"
#include "codegen/tables.h"
#include "codegen/writer.h"
#include "ir/graph.h"

namespace natif::codegen {

/// Prints the recording into a Schedule `schedule`; `region` is that of the Kernel node. Numbers that are left behind go into `left0`,
/// `left1`, …; the numbers of Kernel::steering are variables under their own names. What Python would raise is left to the ops, one by one,
/// whose own errors may come first.
void print_schedule(Writer&, Tables&, const ir::Function&, const ir::Region& region, const Layout&);

}  // namespace natif::codegen
