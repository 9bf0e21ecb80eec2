// Product of a block of rows, [rows, K]·[K, N] with M, N ≥ 2, in the order of oneDNN's AVX2 kernels: what TensorFlow runs on processors
// without AVX-512, with oneDNN on, and inside its Eigen contraction with oneDNN off.
//
// Order of operations, for K ≤ 256 (longer chains are cut): the rows are cut into blocks of 48 (what is left is one block up to 72, else
// two halves; 96 and 144 with oneDNN on and the right matrix transposed), each block into groups of six rows. Whole groups, and four or
// five rows over: one chain of fma an output, k ascending from 0; but in the last N mod 16 columns, where these are 1 to 8, one chain over
// even k and one over odd k of whole pairs, added, then an odd last term by fma. Three rows over: that in all columns. One or two rows
// over: the same in all columns, by multiplying and adding.
#pragma once

#include "kernels/operands.h"

namespace natif::kernels {
namespace {

enum class RowOrder : uint8_t { kGrouped, kPaired, kPairedPlain };

// Of row `row` of a matrix of `total` rows, and how many rows from it on, at most to the end of its block, have the same.
struct RowRun {
  RowOrder order;
  int64_t rows;
};

[[maybe_unused]] inline RowRun avx2_rows(int64_t row, int64_t total, int64_t block) {
  constexpr int64_t group = 6;
  int64_t first = 0, length;
  for (;; first += length) {
    const int64_t left = total - first;
    length = left >= 2 * block ? block : left > block + block / 2 ? (left + 1) / 2 : left;
    if (row < first + length) break;
  }
  const int64_t over = length % group, grouped = over > 3 ? first + length : first + length - over;
  if (row < grouped) return {RowOrder::kGrouped, grouped - row};
  return {over == 3 ? RowOrder::kPaired : RowOrder::kPairedPlain, first + length - row};
}

// Chains: R rows, or as many as there are by repeating the last, × C vectors of columns.
template <int R, int C, Extent extent>
[[gnu::always_inline]] inline void chain_tile(Output out, const float* left, int64_t row_stride, int64_t k_stride, const float* right,
                                              int64_t k, int64_t n, int64_t last, int width) {
  const At<Vec, extent> at{0, 0, width};
  Vec sums[R][C] = {};
  for (int64_t i = 0; i < k; ++i) {
    Vec b[C];
    for (int c = 0; c < C; ++c) b[c] = at.from(right + i * n + c * lanes<Vec>);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const Vec a = splat<Vec>(left[(r < last ? r : last) * row_stride + i * k_stride]);
      for (int c = 0; c < C; ++c) sums[r][c] = fma(a, b[c], sums[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) at.put(out.data + (r < last ? r : last) * out.row_stride + c * lanes<Vec>, sums[r][c]);
}

// The first `columns` columns of some rows.
[[gnu::noinline, maybe_unused]] void chain_rows(Output out, int64_t rows, int64_t k, int64_t n, int64_t columns, const float* left,
                                                int64_t row_stride, int64_t k_stride, const float* right) {
  constexpr int64_t width = lanes<Vec>, height = 6;
  for (int64_t r = 0; r < rows; r += height) {
    const Output to{out.data + r * out.row_stride, out.row_stride};
    const float* a = left + r * row_stride;
    const auto tiles = [&](auto tile, int64_t c) {
      tile(Output{to.data + c, to.row_stride}, a, row_stride, k_stride, right + c, k, n, rows - r - 1);
    };
    int64_t c = 0;
    for (; c + 2 * width <= columns; c += 2 * width) tiles([](auto... p) { chain_tile<height, 2, Extent::kWhole>(p..., 0); }, c);
    for (; c < columns; c += width) {
      const int here = columns - c < width ? static_cast<int>(columns - c) : static_cast<int>(width);
      tiles([here](auto... p) { chain_tile<height, 1, Extent::kPartial>(p..., here); }, c);
    }
  }
}

template <bool fused>
[[gnu::always_inline]] inline Vec add_product(Vec a, Vec b, Vec acc) {
  if constexpr (fused) {
    return fma(a, b, acc);
  } else {
    return acc + a * b;
  }
}

// One row × C vectors of columns, even and odd k apart.
template <int C, Extent extent, bool fused>
[[gnu::always_inline]] inline void paired_tile(float* out, const float* left, int64_t k_stride, const float* right, int64_t k, int64_t n,
                                               int width) {
  const At<Vec, extent> at{0, 0, width};
  Vec even[C] = {}, odd[C] = {};
  const int64_t pairs = k & ~int64_t{1};
  for (int64_t i = 0; i < pairs; i += 2) {
    const Vec a0 = splat<Vec>(left[i * k_stride]), a1 = splat<Vec>(left[(i + 1) * k_stride]);
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      even[c] = add_product<fused>(a0, at.from(right + i * n + c * lanes<Vec>), even[c]);
      odd[c] = add_product<fused>(a1, at.from(right + (i + 1) * n + c * lanes<Vec>), odd[c]);
    }
  }
  for (int c = 0; c < C; ++c) {
    Vec total = even[c] + odd[c];
    if (k > pairs) total = add_product<fused>(splat<Vec>(left[pairs * k_stride]), at.from(right + pairs * n + c * lanes<Vec>), total);
    at.put(out + c * lanes<Vec>, total);
  }
}

// Columns [from, n) of some rows.
template <bool fused>
[[gnu::noinline]] void paired_rows(Output out, int64_t rows, int64_t k, int64_t n, int64_t from, const float* left, int64_t row_stride,
                                   int64_t k_stride, const float* right) {
  constexpr int64_t width = lanes<Vec>;
  for (int64_t r = 0; r < rows; ++r) {
    const float* a = left + r * row_stride;
    float* to = out.data + r * out.row_stride;
    int64_t c = from;
    for (; c + 4 * width <= n; c += 4 * width) paired_tile<4, Extent::kWhole, fused>(to + c, a, k_stride, right + c, k, n, 0);
    for (; c + width <= n; c += width) paired_tile<1, Extent::kWhole, fused>(to + c, a, k_stride, right + c, k, n, 0);
    if (c < n) paired_tile<1, Extent::kPartial, fused>(to + c, a, k_stride, right + c, k, n, static_cast<int>(n - c));
  }
}

// out = left · right for rows from `first` on; the left matrix' row r, term k is left[r·row_stride + k·k_stride].
//  k ≤ 256, n ≥ 2, total_rows ≥ 2. `row_block` is 48 or 96.
[[gnu::noinline, maybe_unused]] void matmul_avx2(Output out, int64_t first, int64_t rows, int64_t total_rows, int64_t row_block, int64_t k,
                                                 int64_t n, const float* left, int64_t row_stride, int64_t k_stride, const float* right) {
  const int64_t last = n % 16, wide = last >= 1 && last <= 8 ? n - last : n;
  for (int64_t r = 0; r < rows;) {
    const RowRun run = avx2_rows(first + r, total_rows, row_block);
    const int64_t count = run.rows < rows - r ? run.rows : rows - r;
    const Output to{out.data + r * out.row_stride, out.row_stride};
    const float* a = left + r * row_stride;
    switch (run.order) {
      case RowOrder::kGrouped:
        chain_rows(to, count, k, n, wide, a, row_stride, k_stride, right);
        if (wide < n) paired_rows<true>(to, count, k, n, wide, a, row_stride, k_stride, right);
        break;
      case RowOrder::kPaired:
        paired_rows<true>(to, count, k, n, 0, a, row_stride, k_stride, right);
        break;
      case RowOrder::kPairedPlain:
        paired_rows<false>(to, count, k, n, 0, a, row_stride, k_stride, right);
        break;
    }
    r += count;
  }
}

}  // namespace
}  // namespace natif::kernels
