// The loops for all orders of a matrix product but that of chains (product_order.h): what a host offers to artifacts as
// natif_host.product_rows. They take a compiler half of the time that everything else in an artifact takes, and few products need them.
#pragma once

#include "kernels/matmul_avx2.h"
#include "kernels/matmul_lanes16.h"
#include "kernels/matvec.h"
#include "kernels/matvec_eigen.h"
#include "kernels/product_order.h"

namespace natif::kernels {
namespace {

[[maybe_unused]] inline void product_with_vector(const natif_product& p, Output out, int64_t first, int64_t rows, const float* left,
                                                 int64_t k_stride) {
  const bool adjacent = p.transpose_right && !p.transpose_left;
  const float* column = p.transpose_right ? p.by_columns : p.by_terms;
  if (p.m == 1 && p.transpose_right) {
    products_by_rows(out.data, 1, 0, p.n, p.n, p.k, p.by_columns, left, adjacent);
  } else if (p.m == 1) {
    products_by_columns(out.data, p.n, p.n, p.k, {left, k_stride}, p.by_terms, p.n);
  } else if (p.transpose_left) {
    products_by_columns(out.data, rows, p.m, p.k, {column, 1}, left, k_stride);
  } else {
    products_by_rows(out.data, out.row_stride, first, rows, p.m, p.k, left, column, adjacent);
  }
  if (p.transpose_left || p.transpose_right) return;
  // TensorFlow adds these to zeros (ExplicitVectorMatrixOptimization of its matmul_op_impl.h), so a sum of −0 becomes +0.
  for (int64_t r = 0; r < (p.m == 1 ? 1 : rows); ++r)
    for (int64_t c = 0; c < p.n; ++c) out.data[r * out.row_stride + c] = 0.f + out.data[r * out.row_stride + c];
}

// natif_product_rows.
[[maybe_unused]] inline void product_in_other_order(const natif_product* product, float* to, int64_t out_stride, int64_t first,
                                                    int64_t rows, const float* left, int64_t row_stride, int64_t k_stride) {
  const natif_product& p = *product;
  const Output out{to, out_stride};
  switch (static_cast<ProductOrder>(p.order)) {
    case ProductOrder::kRowDots:
      return matvec_rows(Output{out.data, 1}, p.n, Dynamic{p.k}, Left{p.by_columns, p.k}, Right{left, Size<1>{}}, kNoTail,
                         [](auto acc, auto) { return acc; });
    case ProductOrder::kLanes16:
      return matmul_lanes16(out, rows, p.k, p.n, left, row_stride, p.by_columns);
    case ProductOrder::kAvx2:
      return matmul_avx2(out, first, rows, p.m, p.row_block, left, {p.k, p.n, row_stride, k_stride, p.by_terms});
    case ProductOrder::kEigenVector:
      return product_with_vector(p, out, first, rows, left, k_stride);
    case ProductOrder::kChains:
    case ProductOrder::kUnknown:
      break;
  }
}

}  // namespace
}  // namespace natif::kernels
