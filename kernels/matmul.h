// Matrix product of a block of rows, [rows, K]·[K, N], with the pointwise operations that follow it applied while the sums are in
// registers.
//
// Order of operations (eager's own, oneDNN on with AVX-512): every output is one accumulator that starts at 0 and takes
// fma(a[i, k], b[k, j], acc) with k ascending. When the whole matrix has two rows or more and K > 384, the chain is cut into pieces whose
// sums are added in order: while k is left, ≥ 768 takes 384, > 384 takes ceil(left / 2), else the rest. One column (N = 1) under two rows
// or more has an order of its own, see matvec.h, unless the left matrix is transposed (its k_stride is not Size<1>): then the chain is
// never cut. The bits are the same at every vector level and for every block height.
//
// `epilogue(acc, at)` gives the value to store: acc is a vector or a Tail, `at(operand)` loads an operand at the same place. It is called
// more than once for some elements, so `out` may not overlap a matrix or an operand.
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

#if defined(__AVX512VL__) || defined(__aarch64__)
constexpr int kTileVectors = 4;  // 32 registers: 4 rows × 4 vectors of sums
#else
constexpr int kTileVectors = 2;  // 16 registers: 4 rows × 2 vectors
#endif
// 8 sums cover the latency of two fma units; fewer cost no less time.
constexpr int kLatencySums = 8;
template <int C>
constexpr int kTileRows = C * 2 > kTileVectors ? 4 : 8;

// Everything that all tiles of one product share.
template <class KSize, class NSize, class A, class B, class Epilogue>
struct Product {
  using K = KSize;
  using N = NSize;
  Output out;
  int64_t rows, total_rows;
  K k;
  N n;
  A a;
  B b;
  FlatTail tail;
  const Epilogue& epilogue;
};

// One tile's rows from `first` on. Of a block of fewer rows than a tile has, `steps` is what lies between its first row and its last: the
// tile repeats the last one, which costs less than a shorter tile's waiting for its own sums.
template <int Count, bool Clamped>
struct TileRows {
  static constexpr int count = Count;
  int64_t first, steps = Count - 1;
  [[gnu::always_inline]] int64_t step(int r) const { return Clamped && r > steps ? steps : r; }
  [[gnu::always_inline]] int64_t operator[](int r) const { return first + step(r); }
};

template <int R, int C>
struct TileSums {
  Vec v[R][C];

  // f(sum, row, vector) for all of them; element by element, so that the sums stay in registers.
  template <class F>
  [[gnu::always_inline]] void each(F f) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) f(v[r][c], r, c);
    }
  }
};

template <class P, class Rows, class Columns, class Sums>
[[gnu::always_inline]] inline void accumulate(Sums& sums, const P& p, Rows rows, Columns columns, int64_t from, int64_t to) {
  const auto right_stride = p.b.stride(columns);
  const float* left = p.a.data + rows.first * p.a.row_stride + from * p.a.k_stride;
  const float* right = p.b.first_term(columns, p.k) + from * right_stride;
  sums.each([](Vec& sum, int, int) { sum = Vec{}; });
  for (int64_t k = from; k < to; ++k, left += p.a.k_stride, right += right_stride) {
    Vec b[Columns::count];
#pragma GCC unroll 8
    for (int v = 0; v < Columns::count; ++v) {
      b[v] = p.b.load_vector(right, columns, v);
      if constexpr (Rows::count > 1) b[v] = held(b[v]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows::count; ++r) {
      const Vec a = splat<Vec>(left[rows.step(r) * p.a.row_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < Columns::count; ++v) sums.v[r][v] = fma(a, b[v], sums.v[r][v]);
    }
  }
}

// What is done with a tile's sums: the epilogue at their places, or the form that it has for all rows of some columns.
template <class Epilogue, class Columns>
[[gnu::always_inline]] inline auto epilogue_of_tile(const Epilogue& epilogue, Columns columns) {
  if constexpr (requires { epilogue.of_tile(columns); }) {
    return epilogue.of_tile(columns);
  } else {
    return [&epilogue](Vec sum, auto at, int) __attribute__((always_inline)) { return epilogue(sum, at); };
  }
}

// A tile's sums laid down in memory, for the rare tile that reaches into the flat tail.
struct TileCopy {
  const float* sums;
  int rows, vectors;
  int64_t first_row, last_row, first_column, last_column;
};

// The epilogue's scalar form for those of a tile's elements that lie in the flat tail.
template <class P>
[[gnu::noinline]] void patch_tail(const P& p, TileCopy tile) {
  constexpr int width = lanes<Vec>;
  for (int i = 0; i < tile.rows * tile.vectors * width; ++i) {
    const int64_t nth_row = tile.first_row + i / width / tile.vectors, row = nth_row < tile.last_row ? nth_row : tile.last_row;
    const int v = i / width % tile.vectors;
    const int64_t column = (v + 1 < tile.vectors ? tile.first_column + v * width : tile.last_column) + i % width;
    const At<Tail> at{row, column, p.tail.odd && row * p.n + column == p.tail.first};
    if (column < p.n && row * p.n + column >= p.tail.first)
      p.out.data[row * p.out.row_stride + column] = p.epilogue(Tail{tile.sums[i], at.leads_odd}, at).v;
  }
}

template <class P, class Rows, class Columns>
[[gnu::always_inline]] inline void tile(const P& p, Rows rows, Columns columns) {
  constexpr int width = lanes<Vec>;
  TileSums<Rows::count, Columns::count> sums;
  float memory[Rows::count * Columns::count * width], *copy = memory;
  asm("" : "+r"(copy));  // else the compiler keeps the copy in registers, which spills those of the sums
  const auto lay_down = [&] { sums.each([&](Vec& sum, int r, int v) { store(copy + (r * Columns::count + v) * width, sum); }); };
  if constexpr (P::K::is_static && typename P::K{} <= kLongestPiece) {
    accumulate(sums, p, rows, columns, 0, p.k);
  } else {
    for (int64_t done = 0;;) {
      const int64_t end = done + piece_length(p.k - done, p.total_rows);
      accumulate(sums, p, rows, columns, done, end);
      if (done > 0) sums.each([&](Vec& sum, int r, int v) { sum = load<Vec>(copy + (r * Columns::count + v) * width) + sum; });
      if (end == p.k) [[likely]]
        break;
      lay_down();
      done = end;
    }
  }
  const auto epilogue = epilogue_of_tile(p.epilogue, columns);
#pragma GCC unroll 16
  for (int r = 0; r < Rows::count; ++r) {
    float* out = p.out.data + rows[r] * p.out.row_stride + columns.first;
    asm("" : "+r"(out));  // else each of the row's vectors gets an address of its own
#pragma GCC unroll 8
    for (int v = 0; v < Columns::count; ++v) {
      const At<Vec, Columns::extent> at{rows[r], columns[v], columns.width};
      at.put(out + columns.step(v), epilogue(sums.v[r][v], at, v));
    }
  }
  if ((rows[Rows::count - 1] + 1) * p.n > p.tail.first) [[unlikely]] {
    lay_down();
    patch_tail(p, TileCopy{copy, Rows::count, Columns::count, rows.first, rows[Rows::count - 1], columns.first, columns.last});
  }
}

// All rows of one panel of columns: tiles of R rows, of which the last ends at the last row and may take some rows a second time; so that
// a block of few rows has tiles too that the processor overlaps.
template <class P, class Columns>
[[gnu::always_inline]] inline void panel(const P& p, Columns columns) {
  constexpr int R = kTileRows<Columns::count>;
  if (p.rows == 1) return tile(p, TileRows<1, false>{0}, columns);
  const int64_t steps = p.rows < R ? p.rows - 1 : R - 1, last = p.rows - 1 - steps;
  for (int64_t row = 0; row < p.rows; row += R) tile(p, TileRows<R, true>{row < last ? row : last, steps}, columns);
}

// C vectors of columns from `first` on, ending at the last column at most; n ≥ lanes<Vec>.
template <int C>
[[gnu::always_inline]] inline TileColumns<Extent::kWhole, C> wide_columns(int64_t first, int64_t n) {
  const int64_t last = first + (C - 1) * lanes<Vec>, end = n - lanes<Vec>;
  return {first, last < end ? last : end, 0, first};
}

// Calls f(columns) for each panel of a matrix of n columns. N known: panels of equal width, or of two widths that differ by one vector;
// otherwise panels of the full width and of one vector.
template <class N, class F>
[[gnu::always_inline]] inline void each_panel(N n, F f) {
  constexpr int64_t width = lanes<Vec>, most = kTileVectors;
  if constexpr (N::is_static && N{} < width) {
    // Not a narrower vector: 256-bit instructions beside 512-bit ones run at half speed.
    f(TileColumns<Extent::kPartial, 1>{0, 0, static_cast<int>(n), 0});
  } else if constexpr (N::is_static) {
    constexpr int64_t vectors = (N{} + width - 1) / width, panels = (vectors + most - 1) / most, each = (vectors + panels - 1) / panels;
    constexpr int64_t wider = vectors - panels * (each - 1);
    for (int64_t p = 0; p < wider; ++p) f(wide_columns<each>(p * each * width, n));
    if constexpr (wider < panels) {
      for (int64_t p = 0; p < panels - wider; ++p) f(wide_columns<each - 1>((wider * each + p * (each - 1)) * width, n));
    }
  } else {
    int64_t first = 0;
    for (; first + (most - 1) * width < n; first += most * width) f(wide_columns<most>(first, n));
    for (; first < n; first += width) {
      const int64_t at = first + width <= n ? first : n < width ? 0 : n - width;
      f(TileColumns<Extent::kPartial, 1>{at, at, n < width ? static_cast<int>(n) : static_cast<int>(width), first});
    }
  }
}

// One row: as many sums as cover the latency, from longer runs of the right matrix's rows. Returns the first column that is left.
template <class P>
[[gnu::always_inline]] inline int64_t single_row(const P& p) {
  constexpr int64_t width = kLatencySums * lanes<Vec>;
  int64_t first = 0;
  for (; first + width <= p.n; first += width) tile(p, TileRows<1, false>{0}, wide_columns<kLatencySums>(first, p.n));
  return first;
}

// The product over a block of `rows` rows of a matrix that has `total_rows`. `k` and `n` are Size<…> or Dynamic; `b` is Right or Packed;
// `tail` is flat_tail(…) of the block of results, or kNoTail when the epilogue's scalar form equals its packet form.
template <class K, class N, class A, class B, class Epilogue>
inline void matmul_rows(Output out, int64_t rows, int64_t total_rows, K k, N n, A a, B b, FlatTail tail, const Epilogue& epilogue) {
  constexpr bool may_be_one = !N::is_static || N{} == 1;
  if constexpr (may_be_one) {
    if (n == 1) {
      if constexpr (is_one<decltype(a.k_stride)>) {
        if (total_rows > 1) return matvec_rows(out, rows, k, a, b, tail, epilogue);
      }
      total_rows = 1;  // a chain in one piece
    }
  }
  const Product<K, N, A, B, Epilogue> p{out, rows, total_rows, k, n, a, b, tail, epilogue};
  int64_t done = 0;
  if constexpr (!B::is_packed && (!N::is_static || N{} >= kLatencySums * lanes<Vec>)) {
    if (rows == 1) done = single_row(p);
  }
  each_panel(n, [&](auto columns) __attribute__((always_inline)) {
    if (columns.place + columns.count * lanes < Vec >> done) panel(p, columns);
  });
}

// How many floats pack_right writes.
[[maybe_unused]] constexpr int64_t packed_size(int64_t k, int64_t n) { return k * ((n + lanes<Vec> - 1) / lanes<Vec> * lanes<Vec>); }

// Copies the right matrix into panels as matmul_rows goes through them, which pays where it is wide (its rows a multiple of a page apart)
// and used for many rows, or for many calls. `n` is a Size or Dynamic as in the call of matmul_rows.
template <class K, class N, class RowStride>
inline void pack_right(float* packed, K k, N n, Right<RowStride> b) {
  const auto copy = [&](auto columns) {
    const Packed to{packed};
    float* row = packed + (to.first_term(columns, k) - packed);
    for (int64_t i = 0; i < k; ++i, row += to.stride(columns)) {
      for (int v = 0; v < columns.count; ++v)
        store(row + v * lanes<Vec>, b.load_vector(b.first_term(columns, k) + i * b.row_stride, columns, v));
    }
  };
  each_panel(n, copy);
}

}  // namespace
}  // namespace natif::kernels
