// src/passes/cost_model.h: how much work a row of a kernel is, as a formula over its sizes. The unit is a picosecond of one core; what the
// estimate decides at run time (whether rows are split over threads) is in kernels/cost.h. Measured on a Xeon with AVX-512, 16 lanes, data
// in the first cache: a multiply-add 22 ps, an addition 25, a division 60, exp 120, log 230, tanh 220, sigmoid 200 an element.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/plan.h"

namespace natif::passes {

/// picoseconds · the product of the sizes.
struct WorkTerm {
  int64_t picoseconds;
  std::vector<Size> sizes;
};

/// The work of one row of a stage.
std::vector<WorkTerm> work_of(const Stage&);

/// The bound parameter that the right matrix of a Contraction is, where it pays to lay it out anew, once: where its rows are a page apart
/// or more (256·512: 1.1 times as fast, 512·1024: 2.0; none is up to 256 columns), or where it lies transposed and would be turned at each
/// call.
std::optional<uint32_t> packed_parameter(const Kernel&, const Stage&);

/// Floating-point operations of one row of a stage, for the reader: a function of the C library counts as one.
std::vector<WorkTerm> operations_of(const Stage&);

}  // namespace natif::passes
