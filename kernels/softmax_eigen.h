// Softmax over the last axis as TensorFlow computes it where oneDNN is off (processors without AVX512-VNNI, or TF_ENABLE_ONEDNN_OPTS=0).
//
// Order of operations (tensorflow/core/kernels/softmax_op_functor.h over the Eigen in the wheel): e = exp(x − m) by math.h, with the flat
// tensor's tail; the sum as reduce.h adds a row; the rows' sums are inverted as one vector, groups of 8 rows by the packet reciprocal, the
// last rows mod 8 by division; the result is e · inverse. Eager computes a large tensor in pieces, each with a
// tail of its own: the bits are eager's when C is a multiple of 8, or rows · C is at most 6,956. Run under FlushDenormals. A row that
// contains a NaN or +inf, or only −inf, makes the function return false, as in softmax.h; what was written is then to be thrown away.
#pragma once

#include "kernels/lanes8.h"
#include "kernels/operands.h"

namespace natif::kernels {
namespace {

// As reduce_last<Sum> adds up a row of at most 8,192, in little code.
[[gnu::noinline, maybe_unused]] float sum_of_row(const float* x, int64_t n) {
  const auto add = [](auto a, auto b) { return a + b; };
  Lanes8 acc[4] = {Lanes8::all(0.f), Lanes8::all(0.f), Lanes8::all(0.f), Lanes8::all(0.f)};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32)
    for (int q = 0; q < 4; ++q) acc[q] = Lanes8::each(acc[q], Lanes8::load_from(x + i + q * 8, Size<1>{}), add);
  for (int q = 1; q < 4; ++q) acc[0] = Lanes8::each(acc[0], acc[q], add);
  for (; i + 8 <= n; i += 8) acc[0] = Lanes8::each(acc[0], Lanes8::load_from(x + i, Size<1>{}), add);
  float rest = 0.f;
  for (; i < n; ++i) rest = rest + x[i];
  return rest + acc[0].by_halves(add);
}

// out = softmax(x) for a block of rows from `first_row` on among `total_rows`. `out` may be x's own block.
[[nodiscard, gnu::noinline, maybe_unused]] bool softmax_rows_eigen(Output out, int64_t rows, int64_t columns, Full x, int64_t first_row,
                                                                   int64_t total_rows) {
  constexpr int64_t step = lanes<Vec>;
  const FlatTail tail = flat_tail(total_rows, columns, first_row, rows);
  const Vec lowest = splat<Vec>(-__builtin_inff());
  const auto count_at = [columns](int64_t c) { return columns - c < step ? static_cast<int>(columns - c) : static_cast<int>(step); };
  Vec check = {};  // becomes NaN with any value that the rule leaves out: its difference from the largest is
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x.data + r * x.row_stride;
    float* to = out.data + r * out.row_stride;
    Vec top = lowest;
    for (int64_t c = 0; c < columns; c += step) top = greater(top, load_partial<Vec>(from + c, count_at(c), lowest));
    top = across_lanes<step>(top, [](Vec a, Vec b) { return greater(a, b); });
    const int64_t place = tail.first - r * columns, tail_column = place < 0 ? 0 : place < columns ? place : columns;
    float rest[7];
    for (int64_t c = tail_column; c < columns; ++c) rest[c - tail_column] = exp(Tail{from[c] - top[0]}).v;
    for (int64_t c = 0; c < columns; c += step) {
      const Vec difference = load_partial<Vec>(from + c, count_at(c), top) - top;
      check = check + difference;
      store_partial(to + c, exp(difference), count_at(c));
    }
    for (int64_t c = tail_column; c < columns; ++c) to[c] = rest[c - tail_column];
    const float sum = sum_of_row(to, columns);
    const bool in_group = first_row + r < (total_rows & ~int64_t{7});
    const Vec inverse = splat<Vec>(in_group ? reciprocal(splat<F4>(sum))[0] : 1.f / sum);
    for (int64_t c = 0; c < columns; c += step) store_partial(to + c, load_partial<Vec>(to + c, count_at(c)) * inverse, count_at(c));
  }
  return lane_bits<Vec>(check != check) == 0;
}

}  // namespace
}  // namespace natif::kernels
