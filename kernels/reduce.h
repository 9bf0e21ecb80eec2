// Sum, mean, product, maximum and minimum of a matrix [rows, n], along its last axis or down its first.
//
// Order of operations (the Eigen that ships in the wheel: unsupported/Eigen/CXX11/src/Tensor/TensorReduction.h). Along the last axis:
// blocks of 32 in four accumulators of 8 lanes, combined in order, then single groups of 8 into the first, then lanes by halves; the n mod
// 8 elements left are reduced one by one and combined last. A row of more than 8,192 is halved at a multiple of 8 (counted in the flat
// tensor) until its parts are that short, except for maximum and minimum. Down the first axis: from 16 rows on, whole groups of 8 columns
// use four accumulators over the rows, combined in order, then the rows left over; the columns left over, and all columns of fewer rows,
// take the rows one by one. A mean is the sum divided by the count.
//
// One element reduced alone keeps its bits, denormals too. NaN in any place gives NaN. Of equal zeros, maximum and minimum keep the later;
// a denormal counts as zero and becomes one, except as the only element after the groups of 8. Run under FlushDenormals. A single row or
// vector of many elements may be split by threads in eager, see the domain that the operation states.
#pragma once

#include "kernels/lanes8.h"
#include "kernels/operands.h"

namespace natif::kernels {
namespace {

// A reduction: `packet` takes the accumulator first, `scalar` second, as eager does; the two differ where zeros are equal.
struct Sum {
  static constexpr float start = 0.f;
  static constexpr bool halves_long_rows = true;
  template <Vector V>
  [[gnu::always_inline]] static V packet(V acc, V x) {
    return acc + x;
  }
  [[gnu::always_inline]] static float scalar(float x, float acc) { return x + acc; }
  // `scalar` where x is the only element after the groups of 8. It counts from the start value, as several do: −0 and −0 give +0.
  [[gnu::always_inline]] static float scalar_alone(float x, float acc) { return (start + x) + acc; }
  template <class T>
  [[gnu::always_inline]] static T finish(T total, T) {
    return total;
  }
};

struct Mean : Sum {
  template <class T>
  [[gnu::always_inline]] static T finish(T total, T count) {
    return total / count;
  }
};

struct Prod : Sum {
  static constexpr float start = 1.f;
  static constexpr bool halves_long_rows = false;
  template <Vector V>
  [[gnu::always_inline]] static V packet(V acc, V x) {
    return acc * x;
  }
  [[gnu::always_inline]] static float scalar(float x, float acc) { return x * acc; }
  [[gnu::always_inline]] static float scalar_alone(float x, float acc) { return x * acc; }
};

struct Max : Sum {
  static constexpr float start = -__builtin_inff();
  static constexpr bool halves_long_rows = false;
  template <Vector V>
  [[gnu::always_inline]] static V packet(V acc, V x) {
    return maximum(acc, x);
  }
  [[gnu::always_inline]] static float scalar(float x, float acc) { return maximum(Tail{x}, Tail{acc}).v; }
  [[gnu::always_inline]] static float scalar_alone(float x, float acc) {
    return select(x < acc || (acc != acc && x == x), Tail{acc}, Tail{x}).v;
  }
};

struct Min : Max {
  static constexpr float start = __builtin_inff();
  template <Vector V>
  [[gnu::always_inline]] static V packet(V acc, V x) {
    return minimum(acc, x);
  }
  [[gnu::always_inline]] static float scalar(float x, float acc) { return minimum(Tail{x}, Tail{acc}).v; }
  [[gnu::always_inline]] static float scalar_alone(float x, float acc) {
    return select(x > acc || (acc != acc && x == x), Tail{acc}, Tail{x}).v;
  }
};

constexpr int64_t kLongestReduction = 8192;

// n elements, `stride` apart, as one piece.
template <class Reduction, class Stride>
[[gnu::always_inline]] inline float reduce_piece(const float* x, int64_t n, Stride stride) {
  const auto combine = [](auto acc, auto v) { return Reduction::packet(acc, v); };
  float rest = Reduction::start;
  for (int64_t i = n & ~int64_t{7}; i < n; ++i) rest = Reduction::scalar(x[i * stride], rest);
  if (n < 8) return Reduction::halves_long_rows ? Reduction::scalar(rest, Reduction::start) : rest;  // a flushed −0 becomes +0
  Lanes8 acc = Lanes8::all(Reduction::start);
  int64_t i = 0;
  if (n >= 32) {
    Lanes8 acc1 = acc, acc2 = acc, acc3 = acc;
    for (; i + 32 <= n; i += 32) {
      acc = Lanes8::each(acc, Lanes8::load_from(x + i * stride, stride), combine);
      acc1 = Lanes8::each(acc1, Lanes8::load_from(x + (i + 8) * stride, stride), combine);
      acc2 = Lanes8::each(acc2, Lanes8::load_from(x + (i + 16) * stride, stride), combine);
      acc3 = Lanes8::each(acc3, Lanes8::load_from(x + (i + 24) * stride, stride), combine);
    }
    acc = Lanes8::each(Lanes8::each(Lanes8::each(acc, acc1, combine), acc2, combine), acc3, combine);
  }
  for (; i + 8 <= n; i += 8) acc = Lanes8::each(acc, Lanes8::load_from(x + i * stride, stride), combine);
  const float lanes = acc.by_halves(combine);
  return n % 8 == 1 ? Reduction::scalar_alone(x[(n - 1) * stride], lanes) : Reduction::scalar(rest, lanes);
}

// `index` is the first element's place in the flat tensor, which decides where a long row is halved.
template <class Reduction, class Stride>
inline float reduce_run(const float* x, int64_t index, int64_t n, Stride stride) {
  if (!Reduction::halves_long_rows || n <= kLongestReduction) return reduce_piece<Reduction>(x, n, stride);
  const int64_t split = ((index + (n + 1) / 2 + 7) & ~int64_t{7}) - index;
  const float left = Reduction::scalar(reduce_run<Reduction>(x, index, split, stride), Reduction::start);
  return Reduction::scalar(reduce_run<Reduction>(x + split * stride, index + split, n - split, stride), left);
}

// out[r] = the reduction of row r. `first_row` is the block's place in the whole matrix.
template <class Reduction, class N>
inline void reduce_last(float* out, int64_t rows, N n, Full x, int64_t first_row) {
  if (n == 1) {
    for (int64_t r = 0; r < rows; ++r) memcpy(out + r, x.data + r * x.row_stride, sizeof(float));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const float total = reduce_run<Reduction>(x.data + r * x.row_stride, (first_row + r) * n, n, Size<1>{});
    out[r] = Reduction::finish(total, static_cast<float>(static_cast<int64_t>(n)));
  }
}

// `count` columns from x on (a whole vector unless partial), rows one by one or in four accumulators.
template <class Reduction, Extent extent>
[[gnu::always_inline]] inline void reduce_columns(float* out, const float* x, int64_t rows, int64_t row_stride, bool four, int count) {
  const At<Vec, extent> at{0, 0, count};
  Vec acc = splat<Vec>(Reduction::start);
  int64_t r = 0;
  if (four) {
    Vec acc1 = acc, acc2 = acc, acc3 = acc;
    for (; r + 4 <= rows; r += 4) {
      const float* p = x + r * row_stride;
      acc = Reduction::packet(acc, at.from(p));
      acc1 = Reduction::packet(acc1, at.from(p + row_stride));
      acc2 = Reduction::packet(acc2, at.from(p + 2 * row_stride));
      acc3 = Reduction::packet(acc3, at.from(p + 3 * row_stride));
    }
    acc = Reduction::packet(Reduction::packet(Reduction::packet(acc, acc1), acc2), acc3);
  }
  for (; r < rows; ++r) acc = Reduction::packet(acc, at.from(x + r * row_stride));
  at.put(out, Reduction::finish(acc, splat<Vec>(static_cast<float>(rows))));
}

// out[c] = the reduction of column c, of a whole matrix.
template <class Reduction, class N>
inline void reduce_first(float* out, int64_t rows, N n, Full x) {
  if (rows == 1) {
    memcpy(out, x.data, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  if (n == 1) {
    out[0] = Reduction::finish(reduce_run<Reduction>(x.data, 0, rows, x.row_stride), static_cast<float>(rows));
    return;
  }
  const bool four = rows >= 16;
  const int64_t grouped = four ? n & ~int64_t{7} : static_cast<int64_t>(n);
  int64_t c = 0;
  for (; c + lanes<Vec> <= grouped; c += lanes<Vec>)
    reduce_columns<Reduction, Extent::kWhole>(out + c, x.data + c, rows, x.row_stride, four, 0);
  if (c < grouped)
    reduce_columns<Reduction, Extent::kPartial>(out + c, x.data + c, rows, x.row_stride, four, static_cast<int>(grouped - c));
  for (c = grouped; c < n; c += lanes<Vec>) {
    const int64_t left = n - c;
    reduce_columns<Reduction, Extent::kPartial>(out + c, x.data + c, rows, x.row_stride, false,
                                                left < lanes<Vec> ? static_cast<int>(left) : lanes<Vec>);
  }
}

}  // namespace
}  // namespace natif::kernels
