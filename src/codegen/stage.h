// src/codegen/stage.h: prints the stages of a kernel: the loops of kernels/ with their operands, and the function that runs them over a
// block of rows. In a flat kernel every element is a row of one column.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/writer.h"
#include "passes/plan.h"

namespace natif::codegen {

/// Where the stages of a kernel write: results that leave the kernel into its outputs, the others into buffers for a block of rows, which
/// stages share when one's result is no longer needed.
struct Layout {
  explicit Layout(const passes::Kernel&);

  const passes::Kernel& kernel;
  bool has_row_stages = false;
  std::vector<int> buffer_of_stage;   // -1: none
  std::vector<passes::Size> buffers;  // the width of each
  std::vector<bool> joined;           // a softmax that the argmax after it computes

  /// The kernel's rows as an expression over its sizes.
  Code total_rows() const;
  /// The rows of an invariant stage.
  Code rows_of(const passes::Stage&) const;
};

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
