// Product of a block of rows with one column, [rows, K]·[K, 1] → [rows, 1], for a whole matrix of two rows or more.
//
// Order of operations (eager's own, oneDNN on): 8 lanes run over k in steps of 16 as long as whole steps last, the first 8 terms as
// products, the others by fma; their lanes are added as ((0+1)+(4+5))+((2+3)+(6+7)); the terms left over form pieces of 8, 4, 2 and 1
// products, added up in themselves without fma and then to the sum, in that order, which starts at +0. Any one row of a matrix gives the
// same bits.
#pragma once

#include "kernels/factors.h"
#include "kernels/lanes8.h"

namespace natif::kernels {
namespace {

// One row's product with the column.
template <class AStride, class BStride>
[[gnu::always_inline]] inline float dot(const float* a, AStride a_stride, const float* b, BStride b_stride, int64_t k) {
  float total = 0.f;  // a sum of zeros is +0, whatever their signs
  int64_t at = 0;
  const auto product = [&](int64_t i) { return a[(at + i) * a_stride] * b[(at + i) * b_stride]; };
  const auto products_of_8 = [&](int64_t i) {
    return Lanes8::each(Lanes8::load_from(a + i * a_stride, a_stride), Lanes8::load_from(b + i * b_stride, b_stride),
                        [](auto x, auto y) { return x * y; });
  };
  if (k >= 16) {
    Lanes8 acc = products_of_8(0);
    for (at = 8; at < (k & ~int64_t{15}); at += 8) {
      const Lanes8 left = Lanes8::load_from(a + at * a_stride, a_stride), right = Lanes8::load_from(b + at * b_stride, b_stride);
      for (int i = 0; i < Lanes8::parts; ++i) acc.v[i] = fma(left.v[i], right.v[i], acc.v[i]);
    }
    total = total + acc.sum_of_pairs();
  }
  if (k - at >= 8) {
    total = total + products_of_8(at).sum_of_pairs();
    at += 8;
  }
  if (k - at >= 4) {
    total = total + ((product(0) + product(1)) + (product(2) + product(3)));
    at += 4;
  }
  if (k - at >= 2) {
    total = total + (product(0) + product(1));
    at += 2;
  }
  if (k - at >= 1) total = total + product(0);
  return total;
}

// out[r] = epilogue(row r · column), in order of rows; `b` is the column as a matrix [K, 1]. As matmul_rows otherwise.
template <class K, class A, class B, class Epilogue>
inline void matvec_rows(Output out, int64_t rows, K k, A a, B b, FlatTail tail, const Epilogue& epilogue) {
  const TileColumns<Extent::kPartial, 1> column{0, 0, 1, 0};
  for (int64_t r = 0; r < rows; ++r) {
    const float acc = dot(a.data + r * a.row_stride, a.k_stride, b.data, b.stride(column), k);
    float* to = out.data + r * out.row_stride;
    if (r >= tail.first) {
      const At<Tail> at{r, 0, tail.odd && r == tail.first};
      *to = epilogue(Tail{acc, at.leads_odd}, at).v;
    } else {
      const At<F4, Extent::kPartial> at{r, 0, 1};
      at.put(to, epilogue(splat<F4>(acc), at));
    }
  }
}

}  // namespace
}  // namespace natif::kernels
