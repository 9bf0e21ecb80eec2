// A matrix product in any of the orders that eager follows, for a block of rows: as matmul_rows for the usual one, otherwise the sums first
// and the epilogue over them.
#pragma once

#include "kernels/matmul.h"
#include "kernels/matmul_avx2.h"
#include "kernels/matmul_lanes16.h"
#include "kernels/matvec_eigen.h"
#include "kernels/product_order.h"

namespace natif::kernels {
namespace {

// A block of `rows` rows from `first` on; `left` is the place of its first row.
[[gnu::noinline, maybe_unused]] void products_with_vector(const OrderedProduct& p, Output out, int64_t first, int64_t rows,
                                                          const float* left, int64_t k_stride) {
  const ProductShape& s = p.shape;
  const bool adjacent = s.transpose_right && !s.transpose_left;
  if (s.m == 1 && s.transpose_right) return products_by_rows(out.data, 1, 0, s.n, s.n, s.k, p.right.by_columns, left, adjacent);
  if (s.m == 1) return products_by_columns(out.data, s.n, s.n, s.k, {left, k_stride}, p.right.by_terms, s.n);
  const float* column = s.transpose_right ? p.right.by_columns : p.right.by_terms;
  if (s.transpose_left) return products_by_columns(out.data, rows, s.m, s.k, {column, 1}, left, k_stride);
  products_by_rows(out.data, out.row_stride, first, rows, s.m, s.k, left, column, adjacent);
}

// The sums of a block in another order than that of chains. The left matrix' row r, term k is left[r·row_stride + k·k_stride].
[[gnu::noinline, maybe_unused]] void product_in_other_order(const OrderedProduct& p, Output out, int64_t first, int64_t rows,
                                                            const float* left, int64_t row_stride, int64_t k_stride) {
  const ProductShape& s = p.shape;
  switch (p.order) {
    case ProductOrder::kRowDots:
      return matvec_rows(Output{out.data, 1}, s.n, s.k, Left{p.right.by_columns, s.k}, Right{left, Size<1>{}}, kNoTail,
                         [](auto acc, auto) { return acc; });
    case ProductOrder::kLanes16:
      return matmul_lanes16(out, rows, s.k, s.n, left, row_stride, p.right.by_columns);
    case ProductOrder::kAvx2:
      return matmul_avx2(out, first, rows, s.m, p.row_block, left, {s.k, s.n, row_stride, k_stride, p.right.by_terms});
    case ProductOrder::kEigenVector:
      return products_with_vector(p, out, first, rows, left, k_stride);
    case ProductOrder::kChains:
    case ProductOrder::kUnknown:
      break;
  }
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
  product_in_other_order(p, out, first, rows, a.data, a.row_stride, a.k_stride);
  apply_epilogue(out, rows, n, tail, epilogue);
}

}  // namespace
}  // namespace natif::kernels
