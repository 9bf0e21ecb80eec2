// How a kernel reads the operands of a pointwise function: whole blocks, one row or one column broadcast, or one number.
//
// `At` is a place in a block of rows: it loads any operand there as the kind of element that the kernel is computing (a vector, the first
// lanes of a vector, or one tail element). Epilogues receive it: `[&](auto acc, auto at) { return relu(add(acc, at(bias))); }`.
#pragma once

#include "kernels/math.h"

namespace natif::kernels {
namespace {

// A size known when compiling, or one known when running; both convert to int64_t.
template <int64_t N>
struct Size {
  static constexpr bool is_static = true;
  static constexpr int64_t value = N;
  constexpr operator int64_t() const { return N; }
};
struct Dynamic {
  static constexpr bool is_static = false;
  int64_t n;
  constexpr operator int64_t() const { return n; }
};

// Values of a whole block [rows, width]; the elements of a row are adjacent, `row_stride` counts elements.
struct Full {
  const float* data;
  int64_t row_stride;
};
// One row [width], the same for every row of the block.
struct Row {
  const float* data;
};
// One value for each row [rows, 1].
struct Column {
  const float* data;
};
// One value for all.
struct Scalar {
  float value;
};
// Any of these, as the sizes turn out at run time: row r begins at data[r·row_stride] (0: one row for all); `one_column`: a row is one
// value.
struct Strided {
  const float* data;
  int64_t row_stride;
  bool one_column;
};
// Rows at any places: row r begins at data[offsets[r]]. For broadcasting over axes in front.
struct Gathered {
  const float* data;
  const int64_t* offsets;
  bool one_column;
};

// Where, in elements counted from a block's own start, the last n mod 8 elements of the whole flat tensor begin (before the block's start
// if `first` is negative), and whether they are odd in number.
struct FlatTail {
  int64_t first;
  bool odd;
};

// The block holds no element of the tail, or the function's scalar form equals its packet form.
constexpr FlatTail kNoTail{INT64_MAX, false};

// For a block of `rows` rows from `first_row` on among `total_rows` rows of `width` elements. `width` may be a Size: when it is a multiple
// of 8 there is no tail, and the compiler sees it.
[[gnu::always_inline]] inline FlatTail flat_tail(int64_t total_rows, int64_t width, int64_t first_row, int64_t rows) {
  if (width % 8 == 0) return kNoTail;
  const int64_t total = total_rows * width, first = (total & ~int64_t{7}) - first_row * width;
  return total % 8 != 0 && first < rows * width ? FlatTail{first, total % 2 != 0} : kNoTail;
}

enum class Extent { kWhole, kPartial };

// A place in a block: a vector's worth of columns from `column` on, of which the first `count` exist.
template <Element T, Extent extent = Extent::kWhole>
struct At {
  int64_t row, column;
  int count = 0;

  [[gnu::always_inline]] T from(const float* p) const {
    if constexpr (extent == Extent::kPartial) {
      return load_partial<T>(p, count);
    } else {
      return load<T>(p);
    }
  }
  [[gnu::always_inline]] void put(float* p, T value) const {
    if constexpr (extent == Extent::kPartial) {
      store_partial(p, value, count);
    } else {
      store(p, value);
    }
  }
  [[gnu::always_inline]] T operator()(Full a) const { return from(a.data + row * a.row_stride + column); }
  [[gnu::always_inline]] T operator()(Row a) const { return from(a.data + column); }
  [[gnu::always_inline]] T operator()(Column a) const { return splat<T>(a.data[row]); }
  [[gnu::always_inline]] T operator()(Scalar a) const { return splat<T>(a.value); }
  [[gnu::always_inline]] T operator()(Strided a) const { return from_row(a.data + row * a.row_stride, a.one_column); }
  [[gnu::always_inline]] T operator()(Gathered a) const { return from_row(a.data + a.offsets[row], a.one_column); }

 private:
  [[gnu::always_inline]] T from_row(const float* p, bool one_column) const { return one_column ? splat<T>(*p) : from(p + column); }
};

// One element of the flat tail; `leads_odd` as in Tail.
template <>
struct At<Tail, Extent::kWhole> {
  int64_t row, column;
  bool leads_odd;

  Tail operator()(Full a) const { return {a.data[row * a.row_stride + column], leads_odd}; }
  Tail operator()(Row a) const { return {a.data[column], leads_odd}; }
  Tail operator()(Column a) const { return {a.data[row], leads_odd}; }
  Tail operator()(Scalar a) const { return {a.value, leads_odd}; }
  Tail operator()(Strided a) const { return {a.data[row * a.row_stride + (a.one_column ? 0 : column)], leads_odd}; }
  Tail operator()(Gathered a) const { return {a.data[a.offsets[row] + (a.one_column ? 0 : column)], leads_odd}; }
};

// Where a kernel writes its block of rows; `row_stride` counts elements.
struct Output {
  float* data;
  int64_t row_stride;
};

}  // namespace
}  // namespace natif::kernels
