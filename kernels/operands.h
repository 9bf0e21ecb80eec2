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

// Stands for "this block holds no element of the flat tensor's tail".
constexpr int64_t kNoTail = INT64_MAX;

// Where, in elements counted from this block's own start, the last n mod 8 elements of the whole flat tensor begin; kNoTail if the block
// ends before them. `first_row` is the block's place among `total_rows` rows of `width` elements.
[[maybe_unused]] inline int64_t flat_tail(int64_t total_rows, int64_t width, int64_t first_row, int64_t rows) {
  const int64_t total = total_rows * width;
  const int64_t tail = (total & ~int64_t{7}) - first_row * width;
  return tail < rows * width && total % 8 ? tail : kNoTail;
}

enum class Extent { kWhole, kPartial };

// A place in a block: a vector's worth of columns from `column` on, of which the first `count` exist.
template <Element T, Extent extent = Extent::kWhole>
struct At {
  int64_t row, column;
  int count = 0;

  [[gnu::always_inline]] T from(const float* p) const {
    if constexpr (__is_same(T, Tail)) {
      return Tail{*p};
    } else if constexpr (extent == Extent::kPartial) {
      return load_partial<T>(p, count);
    } else {
      return load<T>(p);
    }
  }
  [[gnu::always_inline]] T operator()(Full a) const { return from(a.data + row * a.row_stride + column); }
  [[gnu::always_inline]] T operator()(Row a) const { return from(a.data + column); }
  [[gnu::always_inline]] T operator()(Column a) const { return constant<T>(a.data[row]); }
  [[gnu::always_inline]] T operator()(Scalar a) const { return constant<T>(a.value); }

  [[gnu::always_inline]] void put(float* p, T value) const {
    if constexpr (__is_same(T, Tail)) {
      *p = value.v;
    } else if constexpr (extent == Extent::kPartial) {
      store_partial(p, value, count);
    } else {
      store(p, value);
    }
  }
};

// Where a kernel writes its block of rows; `row_stride` counts elements.
struct Output {
  float* data;
  int64_t row_stride;
};

}  // namespace
}  // namespace natif::kernels
