// Softmax over the last axis of a block of rows, [rows, C] with C ≥ 1, alone or with the argmax of its rows.
//
// Order of operations (oneDNN's AVX-512 kernel, reproduced at every vector level): m is the row's largest value; e = exp(x − m) by oneDNN's
// own polynomial with fma; the sum of e runs over chunks of 16 lanes, chunk i into accumulator i mod 4 (fewer accumulators when C < 64),
// the partial last chunk into the first; accumulators are added in pairs, lanes by halves; the result is e · (1 / sum). Run under
// FlushDenormals.
//
// A row that contains a NaN or +inf, or only −inf, has no rule worth copying: the functions return false, and what they wrote is to be
// thrown away.
#pragma once

#include "kernels/argmax.h"

namespace natif::kernels {
namespace {

// Half of exp(x), for x ≤ 0. oneDNN computes y·2^(n−1)·2, whose first product is flushed when it is a denormal. Leaving out the doubling
// halves every e and the sum exactly and so cancels in e · (1 / sum); halving the polynomial's coefficients, exact too, stands for the −1.
template <Vector V>
[[gnu::always_inline]] inline V softmax_half_exp(V x) {
  const V n = floor(x * splat_bits<V>(0x3FB8AA3B) + splat<V>(.5f));
  const V r = fma(-n, splat_bits<V>(0x3F317218), x);
  V y = splat<V>(.5f) * splat_bits<V>(0x3C07CFCE);
  y = fma(y, r, splat<V>(.5f) * splat_bits<V>(0x3D2B9D0D));
  y = fma(y, r, splat<V>(.5f) * splat_bits<V>(0x3E2AAD40));
  y = fma(y, r, splat<V>(.5f) * splat_bits<V>(0x3EFFFEE3));
  y = fma(y, r, splat<V>(.5f) * splat_bits<V>(0x3F7FFFFB));
  y = fma(y, r, splat<V>(.5f) * splat_bits<V>(0x3F800000));
  return n < splat<V>(-125.5f) ? V{} : scale_by_power_of_two(y, n);
}

// A row in registers: Chunks chunks of Width columns (16, or 8 or 4 for a row no wider), each a few vectors, or part of one when a vector
// holds several rows.
template <class V, int Width, int Chunks>
struct RegisterRow {
  static constexpr int parts = Width > lanes<V> ? Width / lanes<V> : 1;
  static constexpr int rows = lanes<V> > Width ? lanes<V> / Width : 1;
  static constexpr int group = Width > lanes<V> ? lanes<V> : Width;
  V v[Chunks][parts];

  [[gnu::always_inline]] static int count(int chunk, int part, int64_t columns) {
    const int64_t left = columns - chunk * Width - part * lanes<V>;
    return left < 0 ? 0 : left > lanes<V> ? lanes<V> : static_cast<int>(left);
  }

  template <class C>
  [[gnu::always_inline]] void load_row(const float* p, C columns) {
    for (int c = 0; c < Chunks; ++c) {
      for (int i = 0; i < parts; ++i) {
        const float* at = p + c * Width + i * lanes<V>;
        const bool whole = rows > 1 || c + 1 < Chunks || (C::is_static && count(c, i, columns) == lanes<V>);
        v[c][i] = whole ? load<V>(at) : load_partial<V>(at, count(c, i, columns), splat<V>(-__builtin_inff()));
      }
    }
  }

  template <class C>
  [[gnu::always_inline]] void store_row(float* p, C columns) const {
    for (int c = 0; c < Chunks; ++c) {
      for (int i = 0; i < parts; ++i) {
        float* at = p + c * Width + i * lanes<V>;
        const bool whole = rows > 1 || c + 1 < Chunks || (C::is_static && count(c, i, columns) == lanes<V>);
        if (whole) {
          store(at, v[c][i]);
        } else {
          store_partial(at, v[c][i], count(c, i, columns));
        }
      }
    }
  }

  // Every lane of the result holds its row's combination of one chunk: parts by halves, then lanes by halves.
  template <class Combine>
  [[gnu::always_inline]] static V across_chunk(V (&chunk)[parts], Combine combine) {
    for (int half = parts / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) chunk[i] = combine(chunk[i], chunk[i + half]);
    return across_lanes<group>(chunk[0], combine);
  }

  [[gnu::always_inline]] V largest() const {
    V top[parts];
    for (int i = 0; i < parts; ++i) {
      top[i] = v[0][i];
      for (int c = 1; c < Chunks; ++c) top[i] = greater(top[i], v[c][i]);
    }
    return across_chunk(top, [](V a, V b) { return greater(a, b); });
  }

  // The sum in oneDNN's order, for up to 4 chunks: each has its accumulator, save a partial last one, which joins the first.
  [[gnu::always_inline]] V sum(bool last_is_whole) const {
    V total[parts];
    for (int i = 0; i < parts; ++i) {
      V acc[4] = {};
      for (int c = 0; c < Chunks; ++c) acc[c] = v[c][i];
      if (Chunks > 1 && !last_is_whole) {
        acc[0] = acc[0] + acc[Chunks - 1];
        acc[Chunks - 1] = V{};
      }
      total[i] = Chunks == 1 ? acc[0] : Chunks == 2 ? acc[0] + acc[1] : (acc[0] + acc[1]) + (acc[2] + acc[3]);
    }
    return across_chunk(total, [](V a, V b) { return a + b; });
  }
};

// Softmax of the row or rows that `row` holds, in place. `check` becomes NaN if a value is one that the rule leaves out: x − m is then NaN,
// and as all other differences are ≤ 0, no sum of them can hide it.
template <class V, int Width, int Chunks>
[[gnu::always_inline]] inline void softmax_registers(RegisterRow<V, Width, Chunks>& row, bool last_is_whole, V& check) {
  const V top = row.largest();
  for (auto& chunk : row.v) {
    for (V& x : chunk) {
      x = x - top;
      check = check + x;
      x = softmax_half_exp(x);
    }
  }
  const V sum = row.sum(last_is_whole);
  // One division where all lanes hold the same sum: dividing a whole vector takes longer than all else here.
  const V scale = RegisterRow<V, Width, Chunks>::rows == 1 ? splat<V>(1.f / sum[0]) : splat<V>(1.f) / sum;
  for (auto& chunk : row.v)
    for (V& e : chunk) e = e * scale;
}

// The place of the first largest value of each row held; the values are finite.
template <class Index, class V, int Width, int Chunks>
[[gnu::always_inline]] inline void first_largest(const RegisterRow<V, Width, Chunks>& row, Index* out) {
  using R = RegisterRow<V, Width, Chunks>;
  const V top = row.largest();
  if constexpr (R::rows > 1) {
    const uint32_t bits = lane_bits<V>(row.v[0][0] == top);
    for (int r = 0; r < R::rows; ++r) out[r] = static_cast<Index>(__builtin_ctz(bits >> (r * Width) | 1u << 31));
  } else {
    uint64_t bits = 0;
    for (int c = 0; c < Chunks; ++c)
      for (int i = 0; i < R::parts; ++i) bits |= static_cast<uint64_t>(lane_bits<V>(row.v[c][i] == top)) << (c * Width + i * lanes<V>);
    *out = static_cast<Index>(__builtin_ctzll(bits | uint64_t{1} << 63));
  }
}

// The largest value's place where a row has no other within 2^-20 of it: the probabilities, which are not wanted, then need no computing. e
// is 1 at the largest value and at most 1 − 2^-21 at the others, as the exponential's relative error is below 2^-22; so their products with
// 1 / sum, which are rounded to 2^-24, are smaller. False where some row of the unit has a near second; `check` as in softmax_registers.
template <class Index, class V, int Width, int Chunks>
[[gnu::always_inline]] inline bool clear_largest(const RegisterRow<V, Width, Chunks>& row, V& check, Index* out) {
  using R = RegisterRow<V, Width, Chunks>;
  const V top = row.largest(), near = splat<V>(-0x1p-20f);
  uint64_t bits = 0;
  for (int c = 0; c < Chunks; ++c) {
    for (int i = 0; i < R::parts; ++i) {
      const V difference = row.v[c][i] - top;
      check = check + difference;
      bits |= static_cast<uint64_t>(lane_bits<V>(difference > near)) << (c * Width + i * lanes<V>);
    }
  }
  constexpr uint64_t one_row = R::rows == 1 ? ~uint64_t{0} : (uint64_t{1} << Width) - 1;
  for (int r = 0; r < R::rows; ++r) {
    const uint64_t mine = bits >> (r * Width) & one_row;
    if ((mine & (mine - 1)) != 0) return false;
    out[r] = static_cast<Index>(__builtin_ctzll(mine | uint64_t{1} << 63));
  }
  return true;
}

constexpr int64_t kRegisterColumns = 64;

// A row that does not stay in registers: three passes, e kept in `out` between them. `out` may be `x`.
[[maybe_unused]] inline void softmax_long_row(float* out, const float* x, int64_t columns, Vec& check) {
  constexpr int64_t width = 16, step = lanes<Vec>;
  constexpr int parts = width / step;
  const Vec lowest = splat<Vec>(-__builtin_inff());
  const auto load_at = [&](const float* p, int64_t c) {
    return c + step <= columns ? load<Vec>(p + c) : load_partial<Vec>(p + c, static_cast<int>(columns - c), lowest);
  };
  Vec top[4] = {lowest, lowest, lowest, lowest};
  int64_t c = 0;
  for (; c + 4 * step <= columns; c += 4 * step)
    for (int i = 0; i < 4; ++i) top[i] = greater(top[i], load<Vec>(x + c + i * step));
  for (; c < columns; c += step) top[0] = greater(top[0], load_at(x, c));
  const Vec row_top =
      across_lanes<step>(greater(greater(top[0], top[1]), greater(top[2], top[3])), [](Vec a, Vec b) { return greater(a, b); });

  Vec acc[4][parts] = {};
  const auto exp_chunk = [&](int64_t from, Vec(&sums)[parts]) {
    for (int i = 0; i < parts; ++i) {
      const int64_t at = from + i * step;
      if (at >= columns) return;
      const Vec difference = load_at(x, at) - row_top;
      check = check + difference;
      const Vec e = softmax_half_exp(difference);
      if (at + step <= columns) {
        store(out + at, e);
      } else {
        store_partial(out + at, e, static_cast<int>(columns - at));
      }
      sums[i] = sums[i] + e;
    }
  };
  for (c = 0; c + 4 * width <= columns; c += 4 * width)
    for (int chunk = 0; chunk < 4; ++chunk) exp_chunk(c + chunk * width, acc[chunk]);
  for (int chunk = 0; c < columns; c += width, ++chunk) exp_chunk(c, acc[c + width <= columns ? chunk : 0]);

  Vec total[parts];
  for (int i = 0; i < parts; ++i) total[i] = (acc[0][i] + acc[1][i]) + (acc[2][i] + acc[3][i]);
  for (int half = parts / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) total[i] = total[i] + total[i + half];
  const Vec scale = splat<Vec>(1.f) / across_lanes<step>(total[0], [](Vec a, Vec b) { return a + b; });
  for (c = 0; c + step <= columns; c += step) store(out + c, load<Vec>(out + c) * scale);
  if (c < columns) store_partial(out + c, load_partial<Vec>(out + c, static_cast<int>(columns - c)) * scale, static_cast<int>(columns - c));
}

// The widest vector of at most Width lanes, and not wider than the level's.
template <int Width>
constexpr auto vector_within() {
  if constexpr (lanes<Vec> <= Width) {
    return Vec{};
  } else if constexpr (lanes<Vec> / 2 <= Width) {
    return typename VectorTraits<Vec>::Half{};
  } else {
    return F4{};
  }
}

// The rows that fill whole units; returns how many rows that were.
template <class V, int Width, int Chunks, bool keep, class Index, class C>
[[gnu::always_inline]] inline int64_t softmax_register_rows(Output out, Index* indices, int64_t from, int64_t rows, C columns, Full x,
                                                            bool& finite) {
  using Unit = RegisterRow<V, Width, Chunks>;
  const bool last_is_whole = columns == Chunks * Width;
  V check = {};
  int64_t r = from;
  for (; r + Unit::rows <= rows; r += Unit::rows) {
    Unit unit;
    unit.load_row(x.data + r * x.row_stride, columns);
    if constexpr (!keep && !__is_same(Index, void)) {
      if (clear_largest(unit, check, indices + r)) [[likely]]
        continue;
    }
    softmax_registers(unit, last_is_whole, check);
    if constexpr (keep) unit.store_row(out.data + r * out.row_stride, columns);
    if constexpr (!__is_same(Index, void)) first_largest(unit, indices + r);
  }
  finite = finite && lane_bits<V>(check != check) == 0;
  return r;
}

template <class Index>
inline void softmax_long_rows(Output out, Index* indices, int64_t rows, int64_t columns, Full x, bool& finite) {
  Vec check = {};
  for (int64_t r = 0; r < rows; ++r) {
    float* row = out.data + r * out.row_stride;
    softmax_long_row(row, x.data + r * x.row_stride, columns, check);
    if constexpr (!__is_same(Index, void)) {
      argmax_rows(indices + r, 1, columns, Full{row, columns});
    }
  }
  finite = finite && lane_bits<Vec>(check != check) == 0;
}

template <bool keep, class Index, class C>
[[gnu::always_inline]] inline bool softmax_dispatch(Output out, Index* indices, int64_t rows, C columns, Full x) {
  bool finite = true;
  if constexpr (C::is_static && C{} <= 16) {
    constexpr int width = C{} <= 4 ? 4 : C{} <= 8 ? 8 : 16;
    int64_t done = 0;
    if constexpr (C{} == width && width < lanes<Vec>) {  // adjacent rows share a vector
      if (x.row_stride == width && (!keep || out.row_stride == width))
        done = softmax_register_rows<Vec, width, 1, keep>(out, indices, 0, rows, columns, x, finite);
    }
    softmax_register_rows<decltype(vector_within<width>()), width, 1, keep>(out, indices, done, rows, columns, x, finite);
  } else if constexpr (C::is_static && C{} <= kRegisterColumns) {
    softmax_register_rows<Vec, 16, (C{} + 15) / 16, keep>(out, indices, 0, rows, columns, x, finite);
  } else if constexpr (C::is_static) {
    softmax_long_rows(out, indices, rows, columns, x, finite);
  } else {
    switch ((columns - 1) / 16) {
      case 0: {
        int64_t done = 0;
        if constexpr (lanes<Vec> == 16) {  // a usual width, which fills half a vector
          if (columns == 8 && x.row_stride == 8 && (!keep || out.row_stride == 8))
            done = softmax_register_rows<Vec, 8, 1, keep>(out, indices, 0, rows, Size<8>{}, x, finite);
        }
        softmax_register_rows<Vec, 16, 1, keep>(out, indices, done, rows, columns, x, finite);
        break;
      }
      case 1:
        softmax_register_rows<Vec, 16, 2, keep>(out, indices, 0, rows, columns, x, finite);
        break;
      case 2:
        softmax_register_rows<Vec, 16, 3, keep>(out, indices, 0, rows, columns, x, finite);
        break;
      case 3:
        softmax_register_rows<Vec, 16, 4, keep>(out, indices, 0, rows, columns, x, finite);
        break;
      default:
        softmax_long_rows(out, indices, rows, columns, x, finite);
    }
  }
  return finite;
}

// out = softmax(x) row by row; false when a row is one that the rule leaves out. `out` may be x's own block.
template <class C>
[[nodiscard]] inline bool softmax_rows(Output out, int64_t rows, C columns, Full x) {
  return softmax_dispatch<true, void>(out, nullptr, rows, columns, x);
}

// The same, and indices[r] = argmax of row r of the result. With `keep` false the result itself is not wanted: `out` is then scratch memory
// of the same shape (x's own block will do), left in an unspecified state.
template <bool keep, class Index, class C>
[[nodiscard]] inline bool softmax_argmax_rows(Output out, Index* indices, int64_t rows, C columns, Full x) {
  return softmax_dispatch<keep>(out, indices, rows, columns, x);
}

}  // namespace
}  // namespace natif::kernels
