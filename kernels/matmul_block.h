// The matrix product for sizes that are known when running only, as one function for all products of an artifact: its tiles take the
// compiler half a second, so the usual epilogues, a bias and relu, are chosen when running, and no other makes the tiles anew: the
// pointwise operations that follow pass over the block while it is in the first cache.
#pragma once

#include "kernels/matmul.h"

namespace natif::kernels {
namespace {

// What is done with each sum while it is in a register: the vector `bias` [n] is added unless null, then comes relu if it is asked for,
// whose tail is `tail`: flat_tail(…) of the block, or kNoTail without relu.
struct BlockEpilogue {
  const float* bias;
  bool relu;
  FlatTail tail;

  template <class T, class Place>
  [[gnu::always_inline]] T operator()(T sum, Place at) const {
    if (bias) sum = add(sum, at(Row{bias}));
    return relu ? kernels::relu(sum) : sum;
  }

  // The same without a branch: x + −0 is x, whatever x's sign; and of an x not above −∞, −∞ is left.
  template <int C>
  struct OfTile {
    Vec bias[C], least;
    template <class Place>
    [[gnu::always_inline]] Vec operator()(Vec sum, Place, int v) const {
      const Vec biased = add(sum, bias[v]);
      return biased <= least ? least : biased;
    }
  };
  template <class Columns>
  [[gnu::always_inline]] auto of_tile(Columns columns) const {
    OfTile<Columns::count> tile;
#pragma GCC unroll 8
    for (int v = 0; v < Columns::count; ++v)
      tile.bias[v] = bias ? At<Vec, Columns::extent>{0, columns[v], columns.width}(Row{bias}) : splat<Vec>(-0.f);
    tile.least = splat<Vec>(relu ? 0.f : -__builtin_inff());
    return tile;
  }
};

// A block of `rows` rows of [total_rows, k]·[k, n], as matmul_rows; the right matrix is row-major.
template <class KStride>
[[gnu::noinline]] void matmul_block(Output out, int64_t rows, int64_t total_rows, int64_t k, int64_t n, const float* left,
                                    int64_t row_stride, KStride k_stride, const float* right, BlockEpilogue epilogue) {
  matmul_rows(out, rows, total_rows, Dynamic{k}, Dynamic{n}, Left{left, row_stride, k_stride}, Right{right, n}, epilogue.tail, epilogue);
}

}  // namespace
}  // namespace natif::kernels
