// src/codegen/stage.h: prints the stages of a kernel: the loops of kernels/ with their operands, and the function that runs them over a
// block of rows. In a flat kernel every element is a row of one column.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/layout.h"
#include "passes/plan.h"

namespace natif::codegen {

/// Whether the kernel's launch takes ProductRules, and after them SoftmaxRules. Under numerics="fast" a softmax follows no order.
bool has_product(const passes::Kernel&);
bool has_ordered_softmax(const passes::Kernel&);

std::set<std::string> headers_of(const passes::Kernel&, const passes::Stage&);

/// Where the right matrix of a Contraction lies, set before the rows run.
void print_right(Writer&, const passes::Kernel&, const Layout&, size_t stage);

/// void name_rows(void* context, int64_t begin, int64_t end, void* memory)
void print_rows(Writer&, const passes::Kernel&, const Layout&, const Code& name);

/// The same for the kernel's general form: operands are read at offsets that are worked out for each block of rows.
void print_general_rows(Writer&, const passes::Kernel&, const Layout&, const Code& name);

/// One stage; an invariant one is printed where the context is at hand as `k`, one of row values inside the loop over blocks.
void print_stage(Writer&, const passes::Kernel&, const Layout&, size_t stage);

}  // namespace natif::codegen
