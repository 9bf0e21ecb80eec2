// Product of a block of rows with a right matrix that is stored transposed, [rows, K]·[N, K]ᵀ: oneDNN's AVX-512 kernel for few rows, which
// TensorFlow runs for 2 to 15 rows under transpose_b alone.
//
// Order of operations: an output has 16 lanes that start at 0; lane k mod 16 takes fma(b[j, k], a[i, k], lane) with k ascending; lanes are
// added by halves (l and l + 8, l + 4, l + 2, l + 1). Chains are never cut. The bits are the same at every vector level.
#pragma once

#include "kernels/operands.h"

namespace natif::kernels {
namespace {

struct Lanes16 {
  static constexpr int parts = 16 / lanes<Vec>;
  Vec v[parts] = {};

  [[gnu::always_inline]] void add(const float* a, const float* b) {
    for (int i = 0; i < parts; ++i) v[i] = fma(load<Vec>(b + i * lanes<Vec>), load<Vec>(a + i * lanes<Vec>), v[i]);
  }
  // The first `count` lanes; the others keep their bits.
  [[gnu::always_inline]] void add_first(const float* a, const float* b, int64_t count) {
    for (int i = 0; i < parts && i * lanes<Vec> < count; ++i) {
      const int64_t left = count - i * lanes<Vec>;
      const int here = left < lanes<Vec> ? static_cast<int>(left) : lanes<Vec>;
      const Vec next = fma(load_partial<Vec>(b + i * lanes<Vec>, here), load_partial<Vec>(a + i * lanes<Vec>, here), v[i]);
      v[i] = VectorTraits<Vec>::iota() < here ? next : v[i];
    }
  }
  [[gnu::always_inline]] float sum() {
    for (int half = parts / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) v[i] = v[i] + v[i + half];
    return across_lanes<lanes<Vec>>(v[0], [](Vec a, Vec b) { return a + b; })[0];
  }
};

// One row × C columns from `column` on.
template <int C>
[[gnu::always_inline]] inline void lanes16_tile(float* out, int64_t k, const float* a, const float* right, int64_t column) {
  const float* b[C];
  for (int c = 0; c < C; ++c) b[c] = right + (column + c) * k;
  Lanes16 sums[C];
  const int64_t whole = k & ~int64_t{15};
  for (int64_t i = 0; i < whole; i += 16)
    for (int c = 0; c < C; ++c) sums[c].add(a + i, b[c] + i);
  for (int c = 0; c < C; ++c) {
    if (whole < k) sums[c].add_first(a + whole, b[c] + whole, k - whole);
    out[column + c] = sums[c].sum();
  }
}

// `left` is [rows, k], its rows `row_stride` apart; `right` is [n, k].
[[gnu::noinline, maybe_unused]] void matmul_lanes16(Output out, int64_t rows, int64_t k, int64_t n, const float* left, int64_t row_stride,
                                                    const float* right) {
  for (int64_t row = 0; row < rows; ++row) {
    float* to = out.data + row * out.row_stride;
    int64_t column = 0;
    for (; column + 4 <= n; column += 4) lanes16_tile<4>(to, k, left + row * row_stride, right, column);
    for (; column < n; ++column) lanes16_tile<1>(to, k, left + row * row_stride, right, column);
  }
}

}  // namespace
}  // namespace natif::kernels
