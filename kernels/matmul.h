// Matrix product of a block of rows, [rows, K]·[K, N], with the pointwise operations that follow it applied while the sums are in
// registers.
//
// Order of operations (eager's own, oneDNN on with AVX-512): every output is one accumulator that starts at 0 and takes fma(a[i, k], b[k,
// j], acc) with k ascending. When the whole matrix has two rows or more and K > 384, the chain is cut into pieces whose sums are added in
// order: while k is left, ≥ 768 takes 384, > 384 takes ceil(left / 2), else the rest. One column (N = 1) under two rows or more has an
// order of its own, see matvec.h. The bits are the same at every vector level and for every block height.
//
// `epilogue(acc, at)` gives the value to store: acc is a vector or a Tail, `at(operand)` loads an operand at the same place. It is called
// more than once for some elements, so `out` may not overlap `a`, `b` or an operand.
#pragma once

#include "kernels/matvec.h"

namespace natif::kernels {
namespace {

constexpr int64_t kLongestPiece = 384;

// The length of the next piece of an output's chain, `left` terms before its end.
[[gnu::always_inline]] inline int64_t piece_length(int64_t left, int64_t total_rows) {
  if (total_rows == 1 || left <= kLongestPiece) return left;
  return left >= 2 * kLongestPiece ? kLongestPiece : (left + 1) / 2;
}

// The rows of one tile. `last` is the block's last row: a tile of more rows than are left repeats it, which costs less than a shorter
// tile's waiting for its own sums.
template <int Count, bool Clamped>
struct TileRows {
  static constexpr int count = Count;
  int64_t first, last;
  [[gnu::always_inline]] int64_t operator[](int r) const { return Clamped && first + r > last ? last : first + r; }
};

// The columns of one tile: Count vectors side by side, the last of them moved left to end at the matrix's last column. `width` is how many
// columns exist, for a tile of one partial vector.
template <class V, Extent extent, int Count>
struct TileColumns {
  static constexpr int count = Count;
  int64_t first, last;
  int width = 0;
  [[gnu::always_inline]] int64_t operator[](int v) const { return v + 1 < Count ? first + v * lanes<V> : last; }
};

template <class V, int Rows, int Columns>
struct TileSums {
  V v[Rows][Columns] = {};
};

template <class V, Extent extent, int R, bool Clamped, int C, class A, class B>
[[gnu::always_inline]] inline void accumulate(TileSums<V, R, C>& sums, A a, B b, TileRows<R, Clamped> rows,
                                              TileColumns<V, extent, C> columns, int64_t from, int64_t to) {
  const float* left = a.data + rows.first * a.row_stride + from * a.k_stride;
  const float* right = b.data + from * b.row_stride;
  for (int64_t k = from; k < to; ++k, left += a.k_stride, right += b.row_stride) {
    V b_k[C];
#pragma GCC unroll 8
    for (int v = 0; v < C; ++v) b_k[v] = At<V, extent>{0, 0, columns.width}.from(right + columns[v]);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const V a_k = splat<V>(left[(rows[r] - rows.first) * a.row_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < C; ++v) sums.v[r][v] = fma(a_k, b_k[v], sums.v[r][v]);
    }
  }
}

// The epilogue's scalar form for those of a tile's elements that lie in the flat tail.
template <class V, Extent extent, int R, bool Clamped, int C, class Epilogue>
[[gnu::noinline]] void patch_tail(Output out, const TileSums<V, R, C>& sums, TileRows<R, Clamped> rows, TileColumns<V, extent, C> columns,
                                  int64_t n, FlatTail tail, const Epilogue& epilogue) {
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < C; ++v) {
      float acc[lanes<V>];
      store(acc, sums.v[r][v]);
      for (int i = 0; i < lanes<V> && columns[v] + i < n; ++i) {
        const int64_t row = rows[r], column = columns[v] + i, element = row * n + column;
        const At<Tail> at{row, column, tail.odd && element == tail.first};
        if (element >= tail.first) out.data[row * out.row_stride + column] = epilogue(Tail{acc[i], at.leads_odd}, at).v;
      }
    }
  }
}

template <class V, Extent extent, int R, bool Clamped, int C, class K, class A, class B, class Epilogue>
[[gnu::always_inline]] inline void tile(Output out, int64_t total_rows, K k, int64_t n, A a, B b, TileRows<R, Clamped> rows,
                                        TileColumns<V, extent, C> columns, FlatTail tail, const Epilogue& epilogue) {
  TileSums<V, R, C> sums;
  if constexpr (K::is_static && K{} <= kLongestPiece) {
    accumulate(sums, a, b, rows, columns, 0, k);
  } else {
    int64_t done = piece_length(k, total_rows);
    accumulate(sums, a, b, rows, columns, 0, done);
    while (done < k) {
      const TileSums<V, R, C> before = sums;
      const int64_t end = done + piece_length(k - done, total_rows);
      sums = {};
      accumulate(sums, a, b, rows, columns, done, end);
      for (int r = 0; r < R; ++r)
        for (int v = 0; v < C; ++v) sums.v[r][v] = before.v[r][v] + sums.v[r][v];
      done = end;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < C; ++v) {
      const At<V, extent> at{rows[r], columns[v], columns.width};
      at.put(out.data + at.row * out.row_stride + at.column, epilogue(sums.v[r][v], at));
    }
  }
  if ((rows[R - 1] + 1) * n > tail.first) [[unlikely]]
    patch_tail(out, sums, rows, columns, n, tail, epilogue);
}

#if defined(__AVX512VL__) || defined(__aarch64__)
constexpr int kTileVectors = 4;  // 32 registers: 4 rows × 4 vectors of sums
#else
constexpr int kTileVectors = 2;  // 16 registers: 4 rows × 2 vectors
#endif
// 8 sums cover the latency of two fma units; fewer cost no less time.
constexpr int kLatencySums = 8;
template <int C>
constexpr int kTileRows = C * 2 > kTileVectors ? 4 : 8;

// All rows of one panel of columns: tiles of R rows; one row left over takes a tile of its own, more take one that repeats the last row.
template <int R, class V, Extent extent, int C, class K, class A, class B, class Epilogue>
[[gnu::always_inline]] inline void panel(Output out, int64_t rows, int64_t total_rows, K k, int64_t n, A a, B b,
                                         TileColumns<V, extent, C> columns, FlatTail tail, const Epilogue& epilogue) {
  const auto one_tile = [&](auto at) __attribute__((always_inline)) { tile(out, total_rows, k, n, a, b, at, columns, tail, epilogue); };
  int64_t row = 0;
  for (; row + R <= rows; row += R) one_tile(TileRows<R, false>{row, rows - 1});
  const int64_t left = rows - row;
  if (left == 1) {
    one_tile(TileRows<1, false>{row, rows - 1});
  } else if (R * C > kLatencySums && left > 0 && left <= R / 2) {
    one_tile(TileRows<R / 2, true>{row, rows - 1});
  } else if (left > 0) {
    one_tile(TileRows<R, true>{row, rows - 1});
  }
}

// C vectors of columns from `first` on, ending at the last column at most; n ≥ lanes<Vec>.
template <int C, class K, class A, class B, class Epilogue>
[[gnu::always_inline]] inline void wide_panel(Output out, int64_t rows, int64_t total_rows, K k, int64_t n, A a, B b, int64_t first,
                                              FlatTail tail, const Epilogue& epilogue) {
  const int64_t last = first + (C - 1) * lanes<Vec>, end = n - lanes<Vec>;
  panel<kTileRows<C>>(out, rows, total_rows, k, n, a, b, TileColumns<Vec, Extent::kWhole, C>{first, last < end ? last : end}, tail,
                      epilogue);
}

template <class Stride>
constexpr bool is_one = false;
template <>
constexpr bool is_one<Size<1>> = true;

// N known, at least a vector wide: panels of equal width, or of two widths that differ by one vector.
template <class K, class N, class A, class B, class Epilogue>
[[gnu::always_inline]] inline void static_panels(Output out, int64_t rows, int64_t total_rows, K k, N n, A a, B b, FlatTail tail,
                                                 const Epilogue& epilogue) {
  constexpr int64_t width = lanes<Vec>, vectors = (N{} + width - 1) / width, panels = (vectors + kTileVectors - 1) / kTileVectors;
  constexpr int64_t each = (vectors + panels - 1) / panels, wider = vectors - panels * (each - 1);
  for (int64_t p = 0; p < wider; ++p) wide_panel<each>(out, rows, total_rows, k, n, a, b, p * each * width, tail, epilogue);
  if constexpr (wider < panels) {
    for (int64_t p = 0; p < panels - wider; ++p)
      wide_panel<each - 1>(out, rows, total_rows, k, n, a, b, (wider * each + p * (each - 1)) * width, tail, epilogue);
  }
}

// N known when running, at least a vector wide: panels of the full width, and one of what is left.
template <class K, class A, class B, class Epilogue>
[[gnu::always_inline]] inline void dynamic_panels(Output out, int64_t rows, int64_t total_rows, K k, int64_t n, A a, B b, FlatTail tail,
                                                  const Epilogue& epilogue) {
  constexpr int64_t width = lanes<Vec>, most = kTileVectors;
  int64_t first = 0;
  for (; first + (most - 1) * width < n; first += most * width) wide_panel<most>(out, rows, total_rows, k, n, a, b, first, tail, epilogue);
  if constexpr (most == 4) {
    if (n - first > 2 * width) return wide_panel<3>(out, rows, total_rows, k, n, a, b, first, tail, epilogue);
    if (n - first > width) return wide_panel<2>(out, rows, total_rows, k, n, a, b, first, tail, epilogue);
  }
  if (n > first) wide_panel<1>(out, rows, total_rows, k, n, a, b, first, tail, epilogue);
}

// The product over a block of `rows` rows of a matrix that has `total_rows`. `k` and `n` are Size<…> or Dynamic; `tail` is flat_tail(…) of
// the block of results, or kNoTail when the epilogue's scalar form equals its packet form.
template <class K, class N, class A, class B, class Epilogue>
inline void matmul_rows(Output out, int64_t rows, int64_t total_rows, K k, N n, A a, B b, FlatTail tail, const Epilogue& epilogue) {
  constexpr bool may_be_one = !N::is_static || N{} == 1, may_be_narrow = !N::is_static || N{} < lanes<Vec>;
  if constexpr (may_be_one) {
    if (n == 1) {
      if constexpr (is_one<decltype(a.k_stride)>) {
        if (total_rows > 1) return matvec_rows(out, rows, k, a, b, tail, epilogue);
      }
      total_rows = 1;  // a chain in one piece
    }
  }
  if constexpr (may_be_narrow) {
    // Not a narrower vector: 256-bit instructions beside 512-bit ones run at half speed.
    const TileColumns<Vec, Extent::kPartial, 1> columns{0, 0, static_cast<int>(n)};
    if (n < lanes<Vec>) return panel<kTileRows<1>>(out, rows, total_rows, k, n, a, b, columns, tail, epilogue);
  }
  if constexpr (!N::is_static) {
    dynamic_panels(out, rows, total_rows, k, n, a, b, tail, epilogue);
  } else if constexpr (!may_be_narrow) {
    static_panels(out, rows, total_rows, k, n, a, b, tail, epilogue);
  }
}

}  // namespace
}  // namespace natif::kernels
