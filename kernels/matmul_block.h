// The matrix product of a block of rows for sizes that are known when running only, without an epilogue: one function for all such products
// of an artifact, in few forms, since every form of matmul.h's tiles costs the compiler a tenth of a second. The pointwise operations that
// follow pass over the block while it is in the first cache. Order of operations as in matmul.h and, for one column, matvec.h.
#pragma once

#include "kernels/matmul.h"

namespace natif::kernels {
namespace {

// Adds the terms [from, to) to sums of R rows × C vectors; `width` columns of the last vector exist where the extent is partial.
template <int R, int C, Extent extent>
[[gnu::always_inline]] inline void add_terms(Vec (&sums)[R][C], const float* const (&left)[R], int64_t k_stride, const float* right,
                                             int64_t n, int64_t from, int64_t to, const int64_t (&columns)[C], int width) {
  const float* row = right + from * n;
  for (int64_t k = from; k < to; ++k, row += n) {
    Vec b[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) b[c] = At<Vec, extent>{0, 0, width}.from(row + columns[c]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec a = splat<Vec>(left[r][k * k_stride]);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) sums[r][c] = fma(a, b[c], sums[r][c]);
    }
  }
}

// The operands of one product.
struct BlockProduct {
  Output out;
  int64_t rows, total_rows, k, n;
  const float* left;
  int64_t row_stride, k_stride;
  const float* right;
};

// R rows from `row` on × C vectors of columns; rows past the last repeat it.
template <int R, int C, Extent extent>
[[gnu::always_inline]] inline void block_tile(const BlockProduct& p, int64_t row, const int64_t (&columns)[C], int width) {
  float* out[R];
  const float* left[R];
  for (int r = 0; r < R; ++r) {
    const int64_t at = row + r < p.rows ? row + r : p.rows - 1;
    out[r] = p.out.data + at * p.out.row_stride;
    left[r] = p.left + at * p.row_stride;
  }
  Vec total[R][C] = {};
  for (int64_t done = 0; done < p.k;) {
    const int64_t end = done + piece_length(p.k - done, p.total_rows);
    Vec sums[R][C] = {};
    add_terms<R, C, extent>(sums, left, p.k_stride, p.right, p.n, done, end, columns, width);
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) total[r][c] = done == 0 ? sums[r][c] : total[r][c] + sums[r][c];
    done = end;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) At<Vec, extent>{0, 0, width}.put(out[r] + columns[c], total[r][c]);
  }
}

// All rows of C vectors of columns, the last of which is moved left to end at the last column.
template <int R, int C, Extent extent>
void block_panel(const BlockProduct& p, int64_t first_column, int width) {
  int64_t columns[C];
  for (int c = 0; c < C; ++c) {
    const int64_t column = first_column + c * lanes<Vec>, last = p.n - lanes<Vec>;
    columns[c] = extent == Extent::kPartial || column < last ? column : last;
  }
  for (int64_t row = 0; row < p.rows; row += R) {
    if (p.rows - row == 1) return block_tile<1, C, extent>(p, row, columns, width);
    block_tile<R, C, extent>(p, row, columns, width);
  }
}

// out = left · right for `rows` rows of a matrix that has `total_rows`; row r, term k of the left one at left[r·row_stride + k·k_stride],
// the right one [k, n] row-major; k ≥ 1, n ≥ 1. `out` may overlap neither.
[[gnu::noinline, maybe_unused]] void matmul_block(Output out, int64_t rows, int64_t total_rows, int64_t k, int64_t n, const float* left,
                                                  int64_t row_stride, int64_t k_stride, const float* right) {
  constexpr int64_t width = lanes<Vec>;
  BlockProduct p{out, rows, total_rows, k, n, left, row_stride, k_stride, right};
  if (n == 1) {
    const auto sum = [](auto acc, auto) { return acc; };
    if (total_rows > 1 && k_stride == 1) return matvec_rows(out, rows, k, Left{left, row_stride}, Right{right, Size<1>{}}, kNoTail, sum);
    p.total_rows = 1;  // a chain in one piece
  }
  if (n < width) return block_panel<8, 1, Extent::kPartial>(p, 0, static_cast<int>(n));
  int64_t first = 0;
  if constexpr (kTileVectors == 4) {
    for (; n - first > 2 * width; first += 4 * width) block_panel<4, 4, Extent::kWhole>(p, first, 0);
  }
  for (; n - first > width; first += 2 * width) block_panel<4, 2, Extent::kWhole>(p, first, 0);
  if (n > first) block_panel<8, 1, Extent::kWhole>(p, first, 0);
}

}  // namespace
}  // namespace natif::kernels
