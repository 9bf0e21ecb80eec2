// Softmax over the last axis as TensorFlow computes it where oneDNN is off (processors without AVX512-VNNI, or TF_ENABLE_ONEDNN_OPTS=0).
//
// Order of operations (tensorflow/core/kernels/softmax_op_functor.h over the Eigen in the wheel): e = exp(x − m) by math.h, with the flat
// tensor's tail; the sum as reduce.h adds a row; the rows' sums are inverted as one vector, groups of 8 rows by the packet reciprocal, the
// last rows mod 8 by division; the result is e · inverse. Eager computes a large tensor in pieces, each with a
// tail of its own: the bits are eager's when C is a multiple of 8, or rows · C is at most 7,000. Run under FlushDenormals. A row that
// contains a NaN or +inf, or only −inf, makes the function return false, as in softmax.h; what was written is then to be thrown away.
#pragma once

#include "kernels/pointwise.h"
#include "kernels/reduce.h"

namespace natif::kernels {
namespace {

// out = softmax(x) for a block of rows from `first_row` on among `total_rows`. `out` may not overlap x.
template <class C>
[[nodiscard]] inline bool softmax_rows_eigen(Output out, int64_t rows, C columns, Full x, int64_t first_row, int64_t total_rows) {
  const FlatTail tail = flat_tail(total_rows, columns, first_row, rows);
  bool known = true;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x.data + r * x.row_stride;
    const float top = reduce_run<Max>(from, 0, columns, Size<1>{});
    known = known && top - top == 0.f;  // not for NaN and infinities
    const FlatTail row_tail{tail.first == kNoTail.first ? tail.first : tail.first - r * columns, tail.odd};
    float* to = out.data + r * out.row_stride;
    const auto shifted_exp = [](auto value, auto largest) { return exp(sub(value, largest)); };
    map(Output{to, columns}, 1, columns, row_tail, shifted_exp, Full{from, columns}, Scalar{top});
    const float sum = reduce_run<Sum>(to, (first_row + r) * columns, columns, Size<1>{});
    const bool in_group = first_row + r < (total_rows & ~int64_t{7});
    const float inverse = in_group ? reciprocal(splat<F4>(sum))[0] : 1.f / sum;
    map(
        Output{to, columns}, 1, columns, kNoTail, [](auto e, auto scale) { return mul(e, scale); }, Full{to, columns}, Scalar{inverse});
  }
  return known;
}

}  // namespace
}  // namespace natif::kernels
