// Which order of operations eager follows in one matrix product, by its sizes and by the rules that hold on this machine. The orders are
// those of matmul.h (kChains), matvec.h (kRowDots), matmul_lanes16.h, matmul_avx2.h and matvec_eigen.h.
//
// The sizes are those at which eager's kernels change, and those for which its order depends neither on its thread count nor on the sizes
// of the caches; docs/numerics.md says how they were found. Where the order is not known the kernel declines, and TensorFlow's op runs.
#pragma once

#include <stdint.h>

#include "runtime/abi.h"

namespace natif::kernels {
namespace {

// Which of the rules for products hold: by oneDNN with AVX-512 or AVX2, and where oneDNN is off, products with a vector and others.
struct ProductRules {
  bool onednn = false, onednn_avx2 = false, eigen_vector = false, eigen = false, eigen_avx2 = false;
};

// From the bits of natif_call.rules, whose places the artifact's table decides.
[[maybe_unused]] constexpr ProductRules product_rules(uint64_t rules, int onednn, int onednn_avx2, int eigen_vector, int eigen,
                                                      int eigen_avx2) {
  const auto holds = [rules](int bit) { return (rules >> bit & 1) != 0; };
  return {holds(onednn), holds(onednn_avx2), holds(eigen_vector), holds(eigen), holds(eigen_avx2)};
}

// [m, k]·[k, n] as multiplied; the flags say which operand lies transposed in memory.
struct ProductShape {
  int64_t m, k, n;
  bool transpose_left, transpose_right;
};

enum class ProductOrder : uint8_t { kUnknown, kChains, kRowDots, kLanes16, kAvx2, kEigenVector };

// One row or one column.
[[maybe_unused]] inline ProductOrder order_of_vector_product(const ProductRules& rules, const ProductShape& s) {
  if (rules.onednn || rules.onednn_avx2) {
    if (s.transpose_right && !s.transpose_left && s.m >= 2 && s.m <= 15 && rules.onednn) return ProductOrder::kLanes16;
    if (s.m == 1 && s.transpose_right) return ProductOrder::kRowDots;
    const bool is_chain = s.m == 1 || s.transpose_left;
    // Threads share a long chain where the matrices do not fit the second cache, which has 1 MiB or more.
    const bool fits = 4 * (s.m * s.n + s.k * (s.m + s.n)) < 1'059'000;
    return !is_chain || s.k < 256 || fits ? ProductOrder::kChains : ProductOrder::kUnknown;
  }
  // Above 16,384 terms threads share the outputs in multiples of 64; few outputs left over would be computed otherwise.
  const int64_t outputs = s.m == 1 ? s.n : s.m;
  const bool ends_alike = outputs * s.k <= 16'384 || outputs <= 64 || outputs % 64 == 0 || outputs % 64 >= 20;
  return rules.eigen_vector && s.k >= 2 && ends_alike ? ProductOrder::kEigenVector : ProductOrder::kUnknown;
}

// Eigen cuts columns into blocks of a multiple of 48, and a block of one column has an order of its own; threads may share the terms of
// products with much work.
[[maybe_unused]] inline bool is_one_eigen_chain(const ProductShape& s, int64_t longest) {
  return s.k >= 2 && s.k <= longest && s.n % 48 != 1 && (s.k <= 64 || s.m * s.k * s.n <= 500'000);
}

[[maybe_unused]] inline ProductOrder order_of_product(const ProductRules& rules, const ProductShape& s) {
  if (s.m == 1 || s.n == 1) return order_of_vector_product(rules, s);
  if (rules.onednn) {
    if (s.transpose_right && !s.transpose_left && s.m <= 15) return ProductOrder::kLanes16;
    // Longer chains are cut otherwise where oneDNN packs the matrices first.
    const bool stays_in_place =
        !s.transpose_right && s.n % 1024 != 0 && static_cast<double>(s.m + s.n) >= 0.002 * static_cast<double>(s.m * s.n);
    return s.k <= 768 || stays_in_place ? ProductOrder::kChains : ProductOrder::kUnknown;
  }
  if (rules.onednn_avx2) {
    // Large results of short chains are cut otherwise, seen from 278,000 elements on with M and N of 330 or more; the limits leave room.
    const bool is_cut_alike = s.m <= 200 || s.n <= 200 || s.m * s.n <= 250'000;
    const bool known = s.k <= (s.transpose_left ? 96 : 256) && s.m * s.k * s.n <= 4'000'000 && is_cut_alike;
    return known ? ProductOrder::kAvx2 : ProductOrder::kUnknown;
  }
  if (rules.eigen) return is_one_eigen_chain(s, 320) ? ProductOrder::kChains : ProductOrder::kUnknown;
  // Where Eigen cuts the rows, at a multiple of 24, depends on the caches.
  const bool rows_alike = s.m <= 24 || s.m % 24 == 0 || (s.m <= 72 && s.m % 24 != 1);
  return rules.eigen_avx2 && rows_alike && is_one_eigen_chain(s, 256) ? ProductOrder::kAvx2 : ProductOrder::kUnknown;
}

// The right matrix [k, n] row by row, as it lies under transpose_right, [n, k], and as pack_right (matmul.h) lays it out; the order needs
// one of them.
struct ProductRight {
  const float *by_terms, *by_columns, *packed = nullptr;
};

// Whether `by_terms` is needed: where the matrix lies transposed, it has to be turned first.
[[maybe_unused]] constexpr bool reads_by_terms(ProductOrder order) {
  return order == ProductOrder::kChains || order == ProductOrder::kAvx2;
}

// What all blocks of one product share.
struct OrderedProduct {
  ProductOrder order;
  int64_t row_block;  // of kAvx2
  ProductShape shape;
  ProductRight right;
  natif_product_rows other_rows;  // for any order but kChains, whose loops alone are compiled where the product is
};

[[maybe_unused]] inline natif_product abi_product(const OrderedProduct& p) {
  const ProductShape& s = p.shape;
  return {
      static_cast<int32_t>(p.order), s.transpose_left, s.transpose_right, p.row_block, s.m, s.k, s.n, p.right.by_terms, p.right.by_columns};
}

[[maybe_unused]] inline OrderedProduct ordered_product(const ProductRules& rules, const ProductShape& shape) {
  const bool tall = rules.onednn_avx2 && shape.transpose_right;
  return {order_of_product(rules, shape), tall ? 96 : 48, shape, {}, nullptr};
}

// A batch of matrices times one [k, n] matrix: chains in pieces of 512 terms, however many rows and columns. All rows of the batch are rows
// of one product, whose shape says 1 row: its chains are in one piece.
[[maybe_unused]] inline OrderedProduct ordered_batch_product(int64_t k, int64_t n, bool transpose_right) {
  return {k <= 512 ? ProductOrder::kChains : ProductOrder::kUnknown, 0, {1, k, n, false, transpose_right}, {}, nullptr};
}

// Batches of more than one axis for which TensorFlow 2.21 gives wrong numbers and writes outside its memory: several matrices, but one only
// along the innermost batch axis, times one matrix.
[[maybe_unused]] constexpr bool is_miscomputed_batch(int64_t innermost, int64_t matrices) { return innermost == 1 && matrices > 1; }

}  // namespace
}  // namespace natif::kernels
