// Sum, mean, product, maximum and minimum of a whole tensor over any of its axes.
//
// Order of operations (TensorFlow's ReductionHelper over the Eigen in the wheel): axes of length 1 are left out, and adjacent axes that are
// all reduced or all kept are one run. What is left is a row or rows (reduce_last), or
//   reduced, kept           columns: reduce_first
//   kept, reduced, kept     columns of each matrix; four accumulators where a whole group of 8, counted in the flat result, lies in one row
//   reduced, kept, reduced  one accumulator an output: the last run outside, the first inside
// Other tensors have more runs, which eager transposes first. Run under FlushDenormals.
#pragma once

#include "kernels/reduce.h"

namespace natif::kernels {
namespace {

// A tensor as runs of axes that are reduced and kept by turns.
struct ReductionRuns {
  int64_t lengths[8];
  int count = 0;
  bool first_reduced = false;
};

// Bit i of `axes`: axis i is reduced.
[[maybe_unused]] inline ReductionRuns reduction_runs(const int64_t* dims, int rank, uint32_t axes) {
  ReductionRuns runs;
  bool last = false;
  for (int i = 0; i < rank; ++i) {
    const bool reduced = (axes >> i & 1) != 0;
    if (dims[i] == 1) continue;
    if (runs.count > 0 && reduced == last) {
      runs.lengths[runs.count - 1] *= dims[i];
    } else {
      if (runs.count == 0) runs.first_reduced = reduced;
      runs.lengths[runs.count++] = dims[i];
    }
    last = reduced;
  }
  return runs;
}

// Above the first, several of eager's threads share a reduction of all elements, which makes its order theirs; above the second they are
// faster than one.
constexpr int64_t kSharedReduction = 100'000, kLargeReduction = 1'000'000;

// One row of a kept-reduced-kept result, whose first element is `flat` in the flat result of `total`: x is [rows, n].
template <class Reduction>
inline void reduce_matrix_columns(float* out, const float* x, int64_t rows, int64_t n, int64_t flat, int64_t total) {
  const int64_t grouped_end = total & ~int64_t{7}, end = flat + n < grouped_end ? flat + n : grouped_end;
  int64_t from = (-flat & 7) < n ? -flat & 7 : n, to = from;
  if (rows >= 16 && flat + from < end) to = from + ((end - flat - from) & ~int64_t{7});
  const auto columns = [&](int64_t begin, int64_t finish, bool four) {
    for (int64_t c = begin; c < finish; c += lanes<Vec>) {
      const int64_t left = finish - c;
      reduce_columns<Reduction, Extent::kPartial>(out + c, x + c, rows, n, four, left < lanes<Vec> ? static_cast<int>(left) : lanes<Vec>);
    }
  };
  columns(0, from, false);
  columns(from, to, true);
  columns(to, n, false);
}

// x is [d0, d1, d2]; out is [d1].
template <class Reduction>
inline void reduce_ends(float* out, const float* x, int64_t d0, int64_t d1, int64_t d2) {
  for (int64_t k = 0; k < d1; ++k) {
    float total = Reduction::start;
    for (int64_t j = 0; j < d2; ++j)
      for (int64_t i = 0; i < d0; ++i) total = Reduction::scalar(x[(i * d1 + k) * d2 + j], total);
    out[k] = Reduction::finish(total, static_cast<float>(d0 * d2));
  }
}

// False where the order is not known, or the tensor is TensorFlow's to reduce; nothing has been written then. No axis has length 0.
template <class Reduction>
[[nodiscard]] inline bool reduce_axes(float* out, const int64_t* dims, int rank, uint32_t axes, const float* x) {
  const ReductionRuns runs = reduction_runs(dims, rank, axes);
  const int64_t *n = runs.lengths, count = runs.count;
  int64_t size = 1;
  for (int i = 0; i < count; ++i) size *= n[i];
  if (size > kLargeReduction) return false;
  if (count == 0 || (count == 1 && !runs.first_reduced)) {
    memcpy(out, x, static_cast<size_t>(count == 0 ? 1 : n[0]) * sizeof(float));
    return true;
  }
  if (count == 1) {
    if (n[0] > kSharedReduction) return false;
    reduce_last<Reduction>(out, 1, Dynamic{n[0]}, Full{x, n[0]}, 0);
  } else if (count == 2 && runs.first_reduced) {
    reduce_matrix_columns<Reduction>(out, x, n[0], n[1], 0, n[1]);
  } else if (count == 2) {
    reduce_last<Reduction>(out, n[0], Dynamic{n[1]}, Full{x, n[1]}, 0);
  } else if (count == 3 && runs.first_reduced) {
    reduce_ends<Reduction>(out, x, n[0], n[1], n[2]);
  } else if (count == 3) {
    for (int64_t i = 0; i < n[0]; ++i)
      reduce_matrix_columns<Reduction>(out + i * n[2], x + i * n[1] * n[2], n[1], n[2], i * n[2], n[0] * n[2]);
  } else {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace natif::kernels
