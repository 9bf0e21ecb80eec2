// The matrix product for sizes that are known when running only, as one function for all products of an artifact: its tiles take the
// compiler half a second, so no epilogue but a bias makes them anew; the pointwise operations that follow pass over the block while it is
// in the first cache.
#pragma once

#include "kernels/matmul.h"

namespace natif::kernels {
namespace {

// A block of `rows` rows of [total_rows, k]·[k, n], as matmul_rows, plus the vector `bias` [n] unless null; the right matrix is row-major.
template <class KStride>
[[gnu::noinline]] void matmul_block(Output out, int64_t rows, int64_t total_rows, int64_t k, int64_t n, const float* left,
                                    int64_t row_stride, KStride k_stride, const float* right, const float* bias) {
  const auto add_bias = [bias](auto sum, auto at) { return bias ? add(sum, at(Row{bias})) : sum; };
  matmul_rows(out, rows, total_rows, Dynamic{k}, Dynamic{n}, Left{left, row_stride, k_stride}, Right{right, n}, kNoTail, add_bias);
}

}  // namespace
}  // namespace natif::kernels
