// src/codegen/layout.h: where the row values of a kernel lie: those that leave it in its outputs, the others in buffers for a block of
// rows. Values share a buffer where they are not needed at one time, and what control flow hands on moves by itself where it can.
#pragma once

#include <vector>

#include "codegen/writer.h"
#include "passes/plan.h"

namespace natif::codegen {

/// What a move comes down to. A swap exchanges two buffers, where nothing needs the source any more.
struct Transfer {
  bool swaps;
  int to, from;     // buffers; `from` is -1 for a stage that writes to an output
  uint32_t source;  // that stage
};

struct Layout {
  explicit Layout(const passes::Kernel&);

  const passes::Kernel& kernel;
  bool has_row_stages = false;
  std::vector<int> buffer_of_stage;  // -1: none
  std::vector<int> buffer_of_variable;
  std::vector<passes::Size> buffers;             // the width of each
  std::vector<std::vector<Transfer>> transfers;  // by segment, in order
  std::vector<bool> joined;                      // a softmax that the argmax after it computes

  /// The buffer of a stage's result or a variable; -1 where a stage writes to an output.
  int buffer_of(const passes::Source&) const;
  bool swaps_buffers() const;
  /// Whether anything happens in a segment.
  bool runs(size_t segment) const { return !kernel.segments[segment].stages.empty() || !transfers[segment].empty(); }
  /// The kernel's rows as an expression over its sizes.
  Code total_rows() const;
  /// The rows of an invariant stage.
  Code rows_of(const passes::Stage&) const;
};

/// Whether anything but the stage itself reads a stage's result, from the stage `from` on or by a move.
bool is_read_after(const passes::Kernel&, uint32_t stage, size_t from);

}  // namespace natif::codegen
