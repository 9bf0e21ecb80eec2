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

// The sums of one vector of columns, R rows, or as many as there are by repeating the last. Few forms: each costs the compiler time.
template <int R, class Sum>
[[gnu::always_inline]] inline void avx2_tile(Output out, const float* left, int64_t row_stride, int64_t last, int width, const Sum& sum) {
  const At<Vec, Extent::kPartial> at{0, 0, width};
  const float* rows[R];
  for (int r = 0; r < R; ++r) rows[r] = left + (r < last ? r : last) * row_stride;
  Vec sums[R] = {};
  sum(rows, at, sums);
  for (int r = 0; r < R; ++r) at.put(out.data + (r < last ? r : last) * out.row_stride, sums[r]);
}

// The matrices of one product.
struct Avx2Factors {
  int64_t k, n;
  int64_t row_stride, k_stride;
  const float* right;
};

// Columns [from, to) of `rows` rows, R at a time; sum(factors, right, rows, at, sums) adds up one tile.
template <int R, class Sum>
[[gnu::always_inline]] inline void avx2_columns(Output out, int64_t rows, const float* left, const Avx2Factors& f, int64_t from, int64_t to,
                                                const Sum& sum) {
  for (int64_t r = 0; r < rows; r += R) {
    for (int64_t c = from; c < to; c += lanes<Vec>) {
      const int width = to - c < lanes<Vec> ? static_cast<int>(to - c) : lanes<Vec>;
      avx2_tile<R>(Output{out.data + r * out.row_stride + c, out.row_stride}, left + r * f.row_stride, f.row_stride, rows - r - 1, width,
                   [&](auto& at_rows, auto at, auto& sums) { sum(f.right + c, at_rows, at, sums); });
    }
  }
}

[[gnu::noinline, maybe_unused]] void chain_rows(Output out, int64_t rows, const float* left, const Avx2Factors& f, int64_t columns) {
  avx2_columns<6>(out, rows, left, f, 0, columns, [&](const float* right, auto& at_rows, auto at, auto& sums) {
    for (int64_t k = 0; k < f.k; ++k, right += f.n) {
      const Vec b = at.from(right);
#pragma GCC unroll 6
      for (int r = 0; r < 6; ++r) sums[r] = fma(splat<Vec>(at_rows[r][k * f.k_stride]), b, sums[r]);
    }
  });
}

// Even and odd k apart.
template <bool fused>
[[gnu::noinline]] void paired_rows(Output out, int64_t rows, const float* left, const Avx2Factors& f, int64_t from) {
  const auto add = [](Vec a, Vec b, Vec acc) { return fused ? fma(a, b, acc) : acc + a * b; };
  avx2_columns<2>(out, rows, left, f, from, f.n, [&](const float* right, auto& at_rows, auto at, auto& even) {
    Vec odd[2] = {};
    for (int64_t k = 0; k + 1 < f.k; k += 2) {
      const Vec b0 = at.from(right + k * f.n), b1 = at.from(right + (k + 1) * f.n);
      for (int r = 0; r < 2; ++r) {
        even[r] = add(splat<Vec>(at_rows[r][k * f.k_stride]), b0, even[r]);
        odd[r] = add(splat<Vec>(at_rows[r][(k + 1) * f.k_stride]), b1, odd[r]);
      }
    }
    for (int r = 0; r < 2; ++r) {
      even[r] = even[r] + odd[r];
      const int64_t last = f.k - 1;
      if (f.k % 2 == 1) even[r] = add(splat<Vec>(at_rows[r][last * f.k_stride]), at.from(right + last * f.n), even[r]);
    }
  });
}

// out = left · right for rows from `first` on; the left matrix' row r, term k is left[r·row_stride + k·k_stride]. k ≤ 256, n ≥ 2,
// total_rows ≥ 2. `row_block` is 48 or 96.
[[gnu::noinline, maybe_unused]] void matmul_avx2(Output out, int64_t first, int64_t rows, int64_t total_rows, int64_t row_block,
                                                 const float* left, const Avx2Factors& factors) {
  const int64_t last = factors.n % 16, wide = last >= 1 && last <= 8 ? factors.n - last : factors.n;
  for (int64_t r = 0; r < rows;) {
    const RowRun run = avx2_rows(first + r, total_rows, row_block);
    const int64_t count = run.rows < rows - r ? run.rows : rows - r;
    const Output to{out.data + r * out.row_stride, out.row_stride};
    const float* a = left + r * factors.row_stride;
    if (run.order == RowOrder::kGrouped) chain_rows(to, count, a, factors, wide);
    if (run.order == RowOrder::kPairedPlain) {
      paired_rows<false>(to, count, a, factors, 0);
    } else {
      paired_rows<true>(to, count, a, factors, run.order == RowOrder::kGrouped ? wide : 0);
    }
    r += count;
  }
}

}  // namespace
}  // namespace natif::kernels
