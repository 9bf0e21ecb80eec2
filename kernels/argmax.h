// Argmax of a block of rows, [rows, C] → [rows], or down the first axis, [rows, C] → [C]; Index is int64_t or int32_t.
//
// Eager's rule: start at index 0 and the lowest finite value; only a strictly greater value replaces. So NaN never wins, a row of NaN or
// −inf gives 0, and of equal values the first is taken. Run under FlushDenormals: denormals compare as zeros.
#pragma once

#include "kernels/operands.h"

namespace natif::kernels {
namespace {

constexpr float kLowestFinite = -3.402823466e+38f;

// The rule's running value: replaced by a strictly greater one only.
template <Vector V>
[[gnu::always_inline]] inline V keep_greater(V best, V x) {
  return x > best ? x : best;
}

// The row's largest value above the lowest finite one, in every lane; the lowest finite one if there is none.
[[gnu::always_inline]] inline Vec row_largest(const float* row, int64_t columns) {
  constexpr int64_t step = lanes<Vec>;
  const Vec lowest = splat<Vec>(kLowestFinite);
  Vec best[4] = {lowest, lowest, lowest, lowest};
  int64_t c = 0;
  for (; c + 4 * step <= columns; c += 4 * step)
    for (int i = 0; i < 4; ++i) best[i] = keep_greater(best[i], load<Vec>(row + c + i * step));
  for (; c + step <= columns; c += step) best[0] = keep_greater(best[0], load<Vec>(row + c));
  if (c < columns) best[1] = keep_greater(best[1], load_partial<Vec>(row + c, static_cast<int>(columns - c), lowest));
  const Vec all = keep_greater(keep_greater(best[0], best[1]), keep_greater(best[2], best[3]));
  return across_lanes<step>(all, [](Vec a, Vec b) { return keep_greater(a, b); });
}

template <class Index>
[[gnu::always_inline]] inline Index argmax_row(const float* row, int64_t columns) {
  constexpr int64_t step = lanes<Vec>;
  const Vec best = row_largest(row, columns);
  if (!(best[0] > kLowestFinite)) return 0;
  int64_t c = 0;
  for (; c + step <= columns; c += step) {
    const uint32_t found = lane_bits<Vec>(load<Vec>(row + c) == best);
    if (found) return static_cast<Index>(c + __builtin_ctz(found));
  }
  const Vec rest = load_partial<Vec>(row + c, static_cast<int>(columns - c), splat<Vec>(kLowestFinite));
  return static_cast<Index>(c + __builtin_ctz(lane_bits<Vec>(rest == best)));
}

// indices[r] = argmax of row r.
template <class Index, class C>
inline void argmax_rows(Index* indices, int64_t rows, C columns, Full x) {
  for (int64_t r = 0; r < rows; ++r) indices[r] = argmax_row<Index>(x.data + r * x.row_stride, columns);
}

// indices[c] = argmax of column c, of a whole matrix [rows, columns]; rows < 2³¹.
template <class Index, class C>
inline void argmax_columns(Index* indices, int64_t rows, C columns, Full x) {
  using I = IntOf<Vec>;
  for (int64_t c = 0; c < columns; c += lanes<Vec>) {
    const int64_t left = columns - c;
    const At<Vec, Extent::kPartial> at{0, 0, left < lanes<Vec> ? static_cast<int>(left) : lanes<Vec>};
    Vec best = splat<Vec>(kLowestFinite);
    I place = {};
    for (int64_t r = 0; r < rows; ++r) {
      const Vec v = at.from(x.data + r * x.row_stride + c);
      const I better = v > best;
      best = better ? v : best;
      place = better ? I{} + static_cast<int32_t>(r) : place;
    }
    for (int i = 0; i < at.count; ++i) indices[c + i] = static_cast<Index>(place[i]);
  }
}

}  // namespace
}  // namespace natif::kernels
