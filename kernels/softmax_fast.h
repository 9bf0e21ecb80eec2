// Softmax over the last axis of a block of rows, [rows, C] with C ≥ 1, alone or with the argmax of its rows, for numerics="fast": eager's
// errors, but not always its bits. Run under FlushDenormals.
//
// Any row is computed: one that contains a NaN or +inf, or only −inf, is all NaN, and its argmax is 0, as that of a row of NaN is in eager;
// a −inf among other values gives 0. `out` may be x's own block.
//
// e = exp(x − m) by the polynomial of softmax.h, m the row's largest value; the result is e · (1 / sum), added up, with AVX-512, in the
// order of softmax.h: each addition to a sum near 1 rounds by as much as all else does together, so that another order would often be
// further off than eager is.
//
// Rows of few columns are taken four at a time, since most of such a row's time goes to combining the lanes of one vector: four rows share
// those steps, and the division.
#pragma once

#include "kernels/four_vectors.h"
#include "kernels/math_fast.h"
#include "kernels/softmax.h"

namespace natif::kernels {
namespace {

// exp(x) for x ≤ 0 or NaN by oneDNN's polynomial, as softmax_half_exp of softmax.h, in fewer operations: exp(0) is 1.
template <Vector V>
[[gnu::always_inline]] inline V softmax_fast_exp(V x) {
  const V above = greater(splat<V>(-88.f), x);
  const V sum = multiply_add(above, splat_bits<V>(0x3FB8AA3B), splat<V>(kWholeNumbers)), n = sum - splat<V>(kWholeNumbers);
  const V r = multiply_add(-n, splat_bits<V>(0x3F317218), above);
  const V y = polynomial(r, splat<V>(0x1.0f9f9cp-7f), 0x1.573a1ap-5f, 0x1.555a8p-3f, 0x1.fffdc6p-2f, 0x1.fffff6p-1f, 1.f);
  return y * shifted_power_of_two(sum);
}

// `Rows` rows (4 or 1) of `Parts` vectors each, in registers. One vector may also hold adjacent rows of `Width` columns each, as one "row".
template <Vector V, int Rows, int Parts, int Width = lanes<V>>
struct FastSoftmax {
  static constexpr int held = lanes<V> / Width, rows = Rows * held;
  V v[Rows][Parts];

  template <class C>
  [[gnu::always_inline]] static int count(int part, C columns) {
    const int64_t left = columns - part * lanes<V>;
    return left < lanes<V> ? static_cast<int>(left) : lanes<V>;
  }
  // Whether the part's last lane is known to be a column.
  template <class C>
  [[gnu::always_inline]] static bool is_whole(int part, C columns) {
    return held > 1 || part + 1 < Parts || (C::is_static && count(part, columns) == lanes<V>);
  }

  template <class C>
  [[gnu::always_inline]] void load_rows(const float* p, int64_t stride, C columns) {
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < Parts; ++i) {
        const float* at = p + r * held * stride + i * lanes<V>;
        v[r][i] = is_whole(i, columns) ? load<V>(at) : load_partial<V>(at, count(i, columns), splat<V>(-__builtin_inff()));
      }
  }

  template <class C>
  [[gnu::always_inline]] void store_rows(float* p, int64_t stride, C columns) const {
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < Parts; ++i) {
        float* at = p + r * held * stride + i * lanes<V>;
        if (is_whole(i, columns)) {
          store(at, v[r][i]);
        } else {
          store_partial(at, v[r][i], count(i, columns));
        }
      }
  }

  // One value of each row, where `spread` finds them.
  template <class Combine>
  [[gnu::always_inline]] static V across(const V (&row)[Rows], Combine combine) {
    if constexpr (Rows == 4) {
      return FourVectors<V, Width>::combined(row, combine);
    } else {
      return across_lanes<Width>(row[0], combine);
    }
  }

  [[gnu::always_inline]] V largest() const {
    const auto larger = [](V a, V b) { return greater(a, b); };
    V top[Rows];
    for (int r = 0; r < Rows; ++r) {
      top[r] = v[r][0];
      for (int i = 1; i < Parts; ++i) top[r] = larger(top[r], v[r][i]);
    }
    return across(top, larger);
  }

  // With AVX-512 as softmax.h adds up to four chunks of 16.
  [[gnu::always_inline]] V sum(bool last_is_whole) const {
    V total[Rows];
    for (int r = 0; r < Rows; ++r) {
      V part[4] = {};
      for (int i = 0; i < Parts; ++i) part[i] = v[r][i];
      if (Parts > 2 && !last_is_whole) {
        part[0] = part[0] + part[Parts - 1];
        part[Parts - 1] = V{};
      }
      total[r] = Parts == 1 ? part[0] : Parts == 2 ? part[0] + part[1] : (part[0] + part[1]) + (part[2] + part[3]);
    }
    return across(total, [](V a, V b) { return a + b; });
  }

  struct Spread {
    V of[Rows];
  };
  [[gnu::always_inline]] static Spread spread(V values) {
    if constexpr (Rows == 4) {
      using Four = FourVectors<V, Width>;
      return {Four::template of_vector<0>(values), Four::template of_vector<1>(values), Four::template of_vector<2>(values),
              Four::template of_vector<3>(values)};
    } else {
      return {values};
    }
  }

  // Softmax of the rows, in place; what the largest value of each became.
  [[gnu::always_inline]] Spread compute(bool last_is_whole) {
    const Spread top = spread(largest());
    for (int r = 0; r < Rows; ++r)
      for (V& x : v[r]) x = softmax_fast_exp(x - top.of[r]);
    const V total = sum(last_is_whole);
    const Spread scale = spread(rows == 1 ? splat<V>(1.f / total[0]) : splat<V>(1.f) / total);
    for (int r = 0; r < Rows; ++r)
      for (V& e : v[r]) e = e * scale.of[r];
    return scale;
  }

  // The place of the first largest value of each row: exp(0) is 1, so that it equals the scale; none does in a row of NaN.
  template <class Index>
  [[gnu::always_inline]] void first_largest(const Spread& scale, Index* out) const {
    constexpr uint64_t one_row = held == 1 ? ~uint64_t{0} : (uint64_t{1} << Width) - 1;
    for (int r = 0; r < Rows; ++r) {
      uint64_t bits = 0;
      for (int i = 0; i < Parts; ++i) bits |= static_cast<uint64_t>(lane_bits<V>(v[r][i] == scale.of[r])) << (i * lanes<V>);
      for (int k = 0; k < held; ++k) {
        const uint64_t own = bits >> (k * Width) & one_row;
        out[r * held + k] = own ? static_cast<Index>(__builtin_ctzll(own)) : 0;
      }
    }
  }
};

// The rows from `from` on that fill whole groups; returns the first row that is left.
template <class Group, class Index, class C>
[[gnu::always_inline]] inline int64_t fast_softmax_groups(Output out, Index* indices, int64_t from, int64_t rows, C columns, Full x) {
  int64_t r = from;
  for (; r + Group::rows <= rows; r += Group::rows) {
    Group group;
    group.load_rows(x.data + r * x.row_stride, x.row_stride, columns);
    [[maybe_unused]] const auto scale = group.compute(columns % lanes<Vec> == 0);
    group.store_rows(out.data + r * out.row_stride, out.row_stride, columns);
    if constexpr (!__is_same(Index, void)) group.first_largest(scale, indices + r);
  }
  return r;
}

// A row of any length in three passes; `out` keeps e between them. Vector i adds to sum i mod 4, a partial last one to the first: the sums'
// numbers are constants, so that they stay in registers.
template <class C>
inline void fast_softmax_row(float* out, const float* x, C columns) {
  constexpr int64_t step = lanes<Vec>;
  const Vec lowest = splat<Vec>(-__builtin_inff());
  const auto each = [&](const float* from, auto visit) __attribute__((always_inline)) {
    int64_t c = 0;
    const auto whole = [&](auto i) __attribute__((always_inline)) {
      visit(i, c, load<Vec>(from + c), static_cast<int>(step));
      c += step;
    };
    while (c + 4 * step <= columns) whole(Size<0>{}), whole(Size<1>{}), whole(Size<2>{}), whole(Size<3>{});
    if (c + step <= columns) whole(Size<0>{});
    if (c + step <= columns) whole(Size<1>{});
    if (c + step <= columns) whole(Size<2>{});
    if (c < columns) visit(Size<0>{}, c, load_partial<Vec>(from + c, static_cast<int>(columns - c), lowest), static_cast<int>(columns - c));
  };
  const auto put = [&](int64_t c, Vec value, int count) __attribute__((always_inline)) {
    if (count == step) {
      store(out + c, value);
    } else {
      store_partial(out + c, value, count);
    }
  };
  const auto larger = [](Vec a, Vec b) { return greater(a, b); };
  Vec top[4] = {lowest, lowest, lowest, lowest}, sum[4] = {};
  each(x, [&](auto i, int64_t, Vec v, int) __attribute__((always_inline)) { top[i] = greater(top[i], v); });
  const Vec row_top = across_lanes<step>(larger(larger(top[0], top[1]), larger(top[2], top[3])), larger);
  each(x, [&](auto i, int64_t c, Vec v, int count) __attribute__((always_inline)) {
    const Vec e = softmax_fast_exp(v - row_top);
    put(c, e, count);
    sum[i] = sum[i] + e;
  });
  const Vec scale = splat<Vec>(1.f / across_lanes<step>((sum[0] + sum[1]) + (sum[2] + sum[3]), [](Vec a, Vec b) { return a + b; })[0]);
  each(out, [&](auto, int64_t c, Vec e, int count) __attribute__((always_inline)) { put(c, e * scale, count); });
}

// The vectors that a row takes, or 0 where four rows of them do not stay in registers.
constexpr int kMostParts = lanes<Vec> == 16 ? 4 : 2;
template <class C>
[[gnu::always_inline]] constexpr int parts_in_registers(C columns) {
  const int64_t parts = (columns + lanes<Vec> - 1) / lanes<Vec>;
  return parts <= kMostParts ? static_cast<int>(parts) : 0;
}

// Rows whose columns fill at most `Parts` vectors.
template <class V, int Parts, class Index, class C>
inline void fast_softmax_short_rows(Output out, Index* indices, int64_t rows, C columns, Full x) {
  int64_t done = 0;
  if constexpr (C::is_static && Parts == 1 && lanes<V> < lanes<Vec> && C{} == lanes<V>) {
    if (x.row_stride == columns && out.row_stride == columns)
      done = fast_softmax_groups<FastSoftmax<Vec, lanes<V> == 8 ? 4 : 1, 1, lanes<V>>>(out, indices, 0, rows, columns, x);
  }
  done = fast_softmax_groups<FastSoftmax<V, 4, Parts>>(out, indices, done, rows, columns, x);
  fast_softmax_groups<FastSoftmax<V, 1, Parts>>(out, indices, done, rows, columns, x);
}

template <class Index, class C>
inline void fast_softmax_long_rows(Output out, Index* indices, int64_t rows, C columns, Full x) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = out.data + r * out.row_stride;
    fast_softmax_row(row, x.data + r * x.row_stride, columns);
    if constexpr (!__is_same(Index, void)) argmax_rows(indices + r, 1, columns, Full{row, columns});
  }
}

template <class Index, class C>
[[gnu::always_inline]] inline void fast_softmax_dispatch(Output out, Index* indices, int64_t rows, C columns, Full x) {
  using Half = typename VectorTraits<Vec>::Half;
  if constexpr (C::is_static) {
    constexpr int parts = parts_in_registers(C{});
    if constexpr (C{} <= 4) {
      fast_softmax_short_rows<F4, 1>(out, indices, rows, columns, x);
    } else if constexpr (C{} <= lanes<Half>) {
      fast_softmax_short_rows<Half, 1>(out, indices, rows, columns, x);
    } else if constexpr (parts > 0) {
      fast_softmax_short_rows<Vec, parts>(out, indices, rows, columns, x);
    } else {
      fast_softmax_long_rows(out, indices, rows, columns, x);
    }
  } else {
    switch (parts_in_registers(columns)) {
      case 1:
        if (lanes<Half> < lanes<Vec> && columns <= lanes<Half>) {
          if (columns == lanes<Half>) return fast_softmax_short_rows<Half, 1>(out, indices, rows, Size<lanes<Half>>{}, x);
          return fast_softmax_short_rows<Half, 1>(out, indices, rows, columns, x);
        }
        return fast_softmax_short_rows<Vec, 1>(out, indices, rows, columns, x);
      case 2:
        return fast_softmax_short_rows<Vec, 2>(out, indices, rows, columns, x);
      case 3:
        if constexpr (kMostParts >= 3) return fast_softmax_short_rows<Vec, 3>(out, indices, rows, columns, x);
        break;
      case 4:
        if constexpr (kMostParts >= 4) return fast_softmax_short_rows<Vec, 4>(out, indices, rows, columns, x);
        break;
      default:
        break;
    }
    fast_softmax_long_rows(out, indices, rows, columns, x);
  }
}

// out = softmax(x) row by row.
template <class C>
inline void fast_softmax_rows(Output out, int64_t rows, C columns, Full x) {
  fast_softmax_dispatch<void>(out, nullptr, rows, columns, x);
}

// The same, and indices[r] = argmax of row r of the result. With `keep` false the result itself is not wanted: `out` is then scratch memory
// of the same shape (x's own block will do), left in an unspecified state.
template <bool keep, class Index, class C>
inline void fast_softmax_argmax_rows(Output out, Index* indices, int64_t rows, C columns, Full x) {
  if constexpr (keep) {
    fast_softmax_dispatch(out, indices, rows, columns, x);
  } else {
    // softmax.h mostly finds the largest value without exponentials, and writes nothing.
    if (columns <= kRegisterColumns && softmax_argmax_rows<false>(out, indices, rows, columns, x)) [[likely]]
      return;
    fast_softmax_long_rows(out, indices, rows, columns, x);
  }
}

}  // namespace
}  // namespace natif::kernels
