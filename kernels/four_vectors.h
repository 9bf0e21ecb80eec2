// The lanes of four vectors combined within each at once, for rows that lie in one vector each or share one: most of the time that a narrow
// row takes goes to such steps, and four of them cost little more than one.
#pragma once

#include "kernels/vec.h"

namespace natif::kernels {
namespace {

// A row is `Width` lanes. Halves of the lanes of two vectors, put together and combined, hold both vectors' partial results: `combined`
// does so until one vector holds all rows' results, in an order that `of_vector` knows. `of_vector` spreads the results of one vector's
// rows over their lanes.
template <Vector V, int Width>
struct FourVectors;

template <>
struct FourVectors<F4, 4> {
  template <class Combine>
  [[gnu::always_inline]] static F4 combined(const F4 (&v)[4], Combine combine) {
    const F4 ab = combine(__builtin_shufflevector(v[0], v[1], 0, 1, 4, 5), __builtin_shufflevector(v[0], v[1], 2, 3, 6, 7));
    const F4 cd = combine(__builtin_shufflevector(v[2], v[3], 0, 1, 4, 5), __builtin_shufflevector(v[2], v[3], 2, 3, 6, 7));
    return combine(__builtin_shufflevector(ab, cd, 0, 2, 4, 6), __builtin_shufflevector(ab, cd, 1, 3, 5, 7));
  }
  template <int index>
  [[gnu::always_inline]] static F4 of_vector(F4 v) {
    return __builtin_shufflevector(v, v, index, index, index, index);
  }
};

#if defined(__AVX2__) && defined(__FMA__)
template <>
struct FourVectors<F8, 8> {
  template <class Combine>
  [[gnu::always_inline]] static F8 combined(const F8 (&v)[4], Combine combine) {
    const auto halves = [&](F8 a, F8 b) {
      return combine(__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11), __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15));
    };
    const F8 ab = halves(v[0], v[1]), cd = halves(v[2], v[3]);
    const F8 all =
        combine(__builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13), __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15));
    return combine(all, swap_lanes<1>(all));
  }
  template <int index>
  [[gnu::always_inline]] static F8 of_vector(F8 v) {
    constexpr int lane = (index & 1) * 4 + (index & 2);
    return __builtin_shufflevector(v, v, lane, lane, lane, lane, lane, lane, lane, lane);
  }
};
#endif

#if defined(__AVX512VL__) && defined(__AVX512DQ__)
template <>
struct FourVectors<F16, 16> {
  template <class Combine>
  [[gnu::always_inline]] static F16 combined(const F16 (&v)[4], Combine combine) {
    const auto halves = [&](F16 a, F16 b) {
      return combine(__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                     __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));
    };
    const F16 ab = halves(v[0], v[1]), cd = halves(v[2], v[3]);
    const F16 all = combine(__builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),
                            __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31));
    return across_lanes<4>(all, combine);
  }
  template <int index>
  [[gnu::always_inline]] static F16 of_vector(F16 v) {
    constexpr int a = index * 4, b = a + 1, c = a + 2, d = a + 3;
    return __builtin_shufflevector(v, v, a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d);
  }
};

template <>
struct FourVectors<F16, 8> {
  template <class Combine>
  [[gnu::always_inline]] static F16 combined(const F16 (&v)[4], Combine combine) {
    const auto halves = [&](F16 a, F16 b) {
      return combine(__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),
                     __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31));
    };
    const F16 ab = halves(v[0], v[1]), cd = halves(v[2], v[3]);
    const F16 all = combine(__builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                            __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31));
    return combine(all, swap_lanes<1>(all));
  }
  template <int index>
  [[gnu::always_inline]] static F16 of_vector(F16 v) {
    constexpr int a = (index & 1) * 8 + (index & 2), b = a + 4;
    return __builtin_shufflevector(v, v, a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b);
  }
};
#endif

}  // namespace
}  // namespace natif::kernels
