// The two matrices of a product: where their terms lie.
#pragma once

#include "kernels/operands.h"

namespace natif::kernels {
namespace {

// The left matrix: row r, term k at data[r·row_stride + k·k_stride]. A transposed matrix swaps the strides.
template <class RowStride, class KStride = Size<1>>
struct Left {
  const float* data;
  RowStride row_stride;
  KStride k_stride = {};
};
template <class RowStride>
Left(const float*, RowStride) -> Left<RowStride>;
template <class RowStride, class KStride>
Left(const float*, RowStride, KStride) -> Left<RowStride, KStride>;

template <class Stride>
constexpr bool is_one = false;
template <>
constexpr bool is_one<Size<1>> = true;

// One tile's columns: Count vectors side by side, the last of them moved left to end at the matrix's last column. `width` is how many
// columns exist, for a tile of one partial vector; `place` is where the panel lies in a packed matrix.
template <Extent tile_extent, int Count>
struct TileColumns {
  static constexpr Extent extent = tile_extent;
  static constexpr int count = Count;
  int64_t first, last;
  int width;
  int64_t place;
  [[gnu::always_inline]] int64_t step(int v) const { return v + 1 < Count ? v * lanes<Vec> : last - first; }
  [[gnu::always_inline]] int64_t operator[](int v) const { return first + step(v); }
};

// The right matrix in row order: term k, column j at data[k·row_stride + j].
template <class RowStride>
struct Right {
  static constexpr bool is_packed = false;
  const float* data;
  RowStride row_stride;

  template <class Columns>
  [[gnu::always_inline]] const float* first_term(Columns columns, int64_t) const {
    return data + columns.first;
  }
  template <class Columns>
  [[gnu::always_inline]] RowStride stride(Columns) const {
    return row_stride;
  }
  template <class Columns>
  [[gnu::always_inline]] Vec load_vector(const float* row, Columns columns, int v) const {
    return At<Vec, Columns::extent>{0, 0, columns.width}.from(row + columns.step(v));
  }
};
template <class RowStride>
Right(const float*, RowStride) -> Right<RowStride>;

// The right matrix as pack_right (matmul.h) lays it out: panel after panel, each with its terms one after the other.
struct Packed {
  static constexpr bool is_packed = true;
  const float* data;

  template <class Columns>
  [[gnu::always_inline]] const float* first_term(Columns columns, int64_t k) const {
    return data + columns.place * k;
  }
  template <class Columns>
  [[gnu::always_inline]] Size<Columns::count * lanes<Vec>> stride(Columns) const {
    return {};
  }
  template <class Columns>
  [[gnu::always_inline]] Vec load_vector(const float* row, Columns, int v) const {
    return load<Vec>(row + v * lanes<Vec>);
  }
};

}  // namespace
}  // namespace natif::kernels
