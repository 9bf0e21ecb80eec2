// A matrix product in any of the orders that eager follows, for a block of rows: as matmul_rows for the usual one, otherwise the sums
// first, by the product's other_rows, and the epilogue over them.
#pragma once

#include "kernels/matmul.h"
#include "kernels/product_order.h"

namespace natif::kernels {
namespace {

// The sums of a block in another order than that of chains. The left matrix' row r, term k is left[r·row_stride + k·k_stride].
[[maybe_unused]] inline void sums_in_other_order(const OrderedProduct& p, Output out, int64_t first, int64_t rows, const float* left,
                                                 int64_t row_stride, int64_t k_stride) {
  const natif_product product = abi_product(p);
  p.other_rows(&product, out.data, out.row_stride, first, rows, left, row_stride, k_stride);
}

// The epilogue over sums that lie in `out`.
template <class N, class Epilogue>
inline void apply_epilogue(Output out, int64_t rows, N n, FlatTail tail, const Epilogue& epilogue) {
  float sums[7];  // of the tail, which the loop below gives the packet form
  const int64_t first = tail.first < 0 ? 0 : tail.first, end = rows * n;
  const auto place = [&](int64_t i) -> float& { return out.data[i / n * out.row_stride + i % n]; };
  for (int64_t i = first; i < end; ++i) sums[i - first] = place(i);
  constexpr int64_t step = lanes<Vec>;
  for (int64_t r = 0; r < rows; ++r) {
    float* row = out.data + r * out.row_stride;
    int64_t c = 0;
    for (; c + step <= n; c += step) store(row + c, epilogue(load<Vec>(row + c), At<Vec>{r, c}));
    if (c < n) {
      const At<Vec, Extent::kPartial> at{r, c, static_cast<int>(n - c)};
      at.put(row + c, epilogue(at.from(row + c), at));
    }
  }
  for (int64_t i = first; i < end; ++i) {
    const At<Tail> at{i / n, i % n, tail.odd && i == tail.first};
    place(i) = epilogue(Tail{sums[i - first], at.leads_odd}, at).v;
  }
}

// As matmul_rows, in the product's order.
template <class K, class N, class A, class Epilogue>
inline void product_rows(const OrderedProduct& p, Output out, int64_t first, int64_t rows, K k, N n, A a, FlatTail tail,
                         const Epilogue& epilogue) {
  if (p.order == ProductOrder::kChains) [[likely]]
    return matmul_rows(out, rows, p.shape.m, k, n, a, Right{p.right.by_terms, n}, tail, epilogue);
  sums_in_other_order(p, out, first, rows, a.data, a.row_stride, a.k_stride);
  apply_epilogue(out, rows, n, tail, epilogue);
}

}  // namespace
}  // namespace natif::kernels
