// Transpose of a matrix: out[c, r] = x[r, c]. A copy of bits, in blocks that keep both sides' cache lines in use.
#pragma once

#include "kernels/operands.h"

namespace natif::kernels {
namespace {

// Four rows by four columns in registers.
[[gnu::always_inline]] inline void transpose_4x4(float* out, int64_t out_stride, const float* x, int64_t x_stride) {
  const F4 a = load<F4>(x), b = load<F4>(x + x_stride), c = load<F4>(x + 2 * x_stride), d = load<F4>(x + 3 * x_stride);
  const F4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const F4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(out, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store(out + out_stride, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store(out + 2 * out_stride, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store(out + 3 * out_stride, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

// A block of `rows` rows of x, whose transposes are columns of `out`: out.data points to the column of the block's first row.
template <class N>
inline void transpose_rows(Output out, int64_t rows, N columns, Full x) {
  constexpr int64_t block = 16;  // a cache line of floats
  const auto by_elements = [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    for (int64_t c = c0; c < c1; ++c)
      for (int64_t r = r0; r < r1; ++r) out.data[c * out.row_stride + r] = x.data[r * x.row_stride + c];
  };
  for (int64_t r0 = 0; r0 < rows; r0 += block) {
    const int64_t r1 = r0 + block < rows ? r0 + block : rows, whole_r = r0 + ((r1 - r0) & ~int64_t{3}), whole_c = columns & ~int64_t{3};
    for (int64_t c = 0; c < whole_c; c += 4)
      for (int64_t r = r0; r < whole_r; r += 4)
        transpose_4x4(out.data + c * out.row_stride + r, out.row_stride, x.data + r * x.row_stride + c, x.row_stride);
    by_elements(whole_r, r1, 0, whole_c);
    by_elements(r0, r1, whole_c, columns);
  }
}

}  // namespace
}  // namespace natif::kernels
