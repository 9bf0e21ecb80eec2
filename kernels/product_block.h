// A matrix product of sizes that are known when running only, in any of the orders that eager follows: see matmul_block.h and
// product_rows.h.
#pragma once

#include "kernels/matmul_block.h"
#include "kernels/product_rows.h"

namespace natif::kernels {
namespace {

// A block of `rows` rows from `first` on.
template <class KStride>
inline void product_block(const OrderedProduct& p, Output out, int64_t first, int64_t rows, const float* left, int64_t row_stride,
                          KStride k_stride, BlockEpilogue epilogue) {
  const ProductShape& s = p.shape;
  if (p.order == ProductOrder::kChains)
    return matmul_block(out, rows, s.m, s.k, s.n, left, row_stride, k_stride, p.right.by_terms, epilogue);
  sums_in_other_order(p, out, first, rows, left, row_stride, k_stride);
  if (epilogue.bias || epilogue.relu) apply_epilogue(out, rows, Dynamic{s.n}, epilogue.tail, epilogue);
}

}  // namespace
}  // namespace natif::kernels
