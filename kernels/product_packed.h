// Products with a bound right matrix, whose sizes are known when compiling: the matrix is laid out once as the tiles read it (pack_right),
// in memory that the host keeps with the function.
#pragma once

#include "kernels/product_right.h"
#include "kernels/product_rows.h"

namespace natif::kernels {
namespace {

// pack_right of the [K, N] matrix, turned first where it lies transposed: then the memory holds the turned matrix, too, behind the packed
// one.
template <int64_t K, int64_t N, bool transposed>
void fill_packed(void* memory, const void* matrix) {
  float* const packed = static_cast<float*>(memory);
  const float* by_terms = static_cast<const float*>(matrix);
  if constexpr (transposed) {
    float* const turned = packed + packed_size(K, N);
    transpose_rows(Output{turned, N}, N, Dynamic{K}, Full{by_terms, K});
    by_terms = turned;
  }
  pack_right(packed, Size<K>{}, Size<N>{}, Right{by_terms, Size<N>{}});
}

// As place_right. `parameter` is the bound one, `slot` this product's number in its function.
template <int64_t K, int64_t N, bool transposed>
natif_status place_packed(const Session& session, Scratch* memory, int32_t parameter, int32_t slot, OrderedProduct& product,
                          const float* right) {
  if (product.order != ProductOrder::kChains) return place_right(session, memory, product, right);
  if (!session.host->keep) return NATIF_DECLINED;
  constexpr int64_t floats = packed_size(K, N) + (transposed ? K * N : 0);
  product.right.packed = static_cast<const float*>(
      session.host->keep(session.call, parameter, slot, floats * sizeof(float), fill_packed<K, N, transposed>, right));
  return product.right.packed ? NATIF_OK : NATIF_DECLINED;
}

// As product_rows.
template <class K, class N, class A, class Epilogue>
inline void packed_product_rows(const OrderedProduct& p, Output out, int64_t first, int64_t rows, K k, N n, A a, FlatTail tail,
                                const Epilogue& epilogue) {
  if (p.order == ProductOrder::kChains) [[likely]]
    return matmul_rows(out, rows, p.shape.m, k, n, a, Packed{p.right.packed}, tail, epilogue);
  sums_in_other_order(p, out, first, rows, a.data, a.row_stride, a.k_stride);
  apply_epilogue(out, rows, n, tail, epilogue);
}

}  // namespace
}  // namespace natif::kernels
