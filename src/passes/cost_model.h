// src/passes/cost_model.h: how much work a row of a kernel is, as a formula over its sizes. The unit is a picosecond of one core; what the
// estimate decides at run time (whether rows are split over threads) is in kernels/cost.h. Measured through native functions of 65,536
// elements in the second cache, on one core of a Xeon with AVX-512 at 2.5 GHz: an addition 110 ps an element with its loads and store, each
// further one 7; a division 220, sqrt 260, tanh 400, exp 430, log 460, sigmoid 530; a softmax 510 in rows of 64 and 1,330 in rows of 10, a
// sum 110 and 590, an argmax 170 and 730, a transpose 340; a product's multiply-add 13 to 16.
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

/// The bound parameter that the right matrix of a Contraction is, where it pays to lay it out anew, once: where its rows have
/// 512 columns or more (256·512 and 512·512: 1.1 times as fast, 512·1024: 2.0; nothing is gained up to 256 columns), or where it lies
/// transposed and would be turned at each call.
std::optional<uint32_t> packed_parameter(const Kernel&, const Stage&);

/// The work of an expression's functions for one element, without its loads and its store.
int64_t work_of_functions(const ir::Expression&);

/// What one pointwise loop does for an element at most; a longer expression goes through several loops, with blocks of intermediates in the
/// cache. The functions' constants then stay in registers: 20 times (tanh, multiply, subtract) in one loop took 3 times as long as in loops
/// of two tanh each, and 500 times occupied the C++ compiler for minutes. Above sigmoid and tanh together, where a cut only costs.
constexpr int64_t most_work_of_a_loop = 800;

/// Floating-point operations of one row of a stage, for the reader: a function of the C library counts as one.
std::vector<WorkTerm> operations_of(const Stage&);

}  // namespace natif::passes
