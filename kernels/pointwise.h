// A pointwise function over a block of rows: out[r, c] = f(operand0[r, c], operand1[r, c], …).
//
// f is a generic lambda over elements, built from math.h: it is instantiated with vectors (packet formulas) and with Tail (the scalar
// formulas that eager uses for the last n mod 8 elements of the flat tensor). Operands are Full, Row, Column or Scalar; `out` may be the
// very block that a Full operand reads, but may not overlap one in any other way. Nothing past a row's end is read or written.
#pragma once

#include "kernels/operands.h"

namespace natif::kernels {
namespace {

// A block whose operands all have adjacent rows is one long row.
[[gnu::always_inline]] inline bool rows_adjoin(Full a, int64_t width) { return a.row_stride == width; }
[[gnu::always_inline]] inline bool rows_adjoin(Scalar, int64_t) { return true; }
[[gnu::always_inline]] inline bool rows_adjoin(Row, int64_t) { return false; }
[[gnu::always_inline]] inline bool rows_adjoin(Column, int64_t) { return false; }
[[gnu::always_inline]] inline bool rows_adjoin(Strided a, int64_t width) {
  return a.one_column ? a.row_stride == 0 : a.row_stride == width;
}
[[gnu::always_inline]] inline bool rows_adjoin(Gathered, int64_t) { return false; }

// One row of `width` elements, a vector at a time and part of one at its end.
template <class F, class... Operands>
[[gnu::always_inline]] inline void map_row(float* out, int64_t row, int64_t width, const F& f, const Operands&... operands) {
  constexpr int64_t step = lanes<Vec>;
  int64_t c = 0;
  for (; c + step <= width; c += step) store(out + c, f(At<Vec>{row, c}(operands)...));
  if (c < width) {
    const At<Vec, Extent::kPartial> at{row, c, static_cast<int>(width - c)};
    at.put(out + c, f(at(operands)...));
  }
}

// f's scalar form for the block's elements from `first` on, at most 7.
template <class F, class... Operands>
[[gnu::noinline]] void map_tail(float* values, int64_t first, int64_t end, int64_t width, FlatTail tail, const F& f, Operands... operands) {
  for (int64_t i = first; i < end; ++i) values[i - first] = f(At<Tail>{i / width, i % width, tail.odd && i == tail.first}(operands)...).v;
}

// `tail` is flat_tail(…) of this block, or kNoTail when f's scalar form equals its packet form.
template <class Width, class F, class... Operands>
inline void map(Output out, int64_t rows, Width width, FlatTail tail, const F& f, Operands... operands) {
  const int64_t first = tail.first < 0 ? 0 : tail.first, end = rows * width;
  float tail_values[7];  // computed before anything is written: `out` may be an operand
  if (first < end) map_tail(tail_values, first, end, width, tail, f, operands...);
  const bool flat = out.row_stride == width && (rows_adjoin(operands, width) && ...);
  const int64_t runs = flat ? 1 : rows, run = flat ? end : static_cast<int64_t>(width);
  for (int64_t r = 0; r < runs; ++r) map_row(out.data + r * out.row_stride, r, run, f, operands...);
  for (int64_t i = first; i < end; ++i) out.data[i / width * out.row_stride + i % width] = tail_values[i - first];
}

}  // namespace
}  // namespace natif::kernels
