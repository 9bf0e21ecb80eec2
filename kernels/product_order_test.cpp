// The products' orders against the rules restated with scalars, and which order is taken at the sizes where eager's changes.
#include "kernels/product_order.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "kernels/product_other_orders.h"
#include "kernels/product_rows.h"
#include "kernels/reference.h"
#include "kernels/transpose.h"

namespace natif::kernels {
namespace {

constexpr auto kPlain = [](auto acc, auto) { return acc; };
constexpr ProductRules kOneDnn{.onednn = true}, kAvx2Rules{.onednn_avx2 = true}, kEigen{.eigen_vector = true, .eigen = true},
    kEigenAvx2{.eigen_vector = true, .eigen_avx2 = true};

ProductOrder order(const ProductRules& rules, int64_t m, int64_t k, int64_t n, bool transpose_left = false, bool transpose_right = false) {
  return order_of_product(rules, {m, k, n, transpose_left, transpose_right});
}

struct Case {
  int64_t m, k, n;
  bool transpose_left, transpose_right;
  reference::Values a = reference::normal_values(m * k, 1), b = reference::normal_values(k * n, 2);

  float left(int64_t i, int64_t t) const { return transpose_left ? a[t * m + i] : a[i * k + t]; }
  float right(int64_t t, int64_t j) const { return transpose_right ? b[j * k + t] : b[t * n + j]; }
  std::string name() const {
    return std::to_string(m) + " × " + std::to_string(k) + " × " + std::to_string(n) + (transpose_left ? ", aᵀ" : "") +
           (transpose_right ? ", bᵀ" : "");
  }

  reference::Values run(const ProductRules& rules, int64_t block) const {
    OrderedProduct p = ordered_product(rules, {m, k, n, transpose_left, transpose_right});
    EXPECT_NE(p.order, ProductOrder::kUnknown) << name();
    reference::Values turned(b.size()), out(static_cast<size_t>(m * n));
    if (transpose_right) transpose_rows(Output{turned.data(), n}, n, Dynamic{k}, Full{b.data(), k});
    p.other_rows = product_in_other_order;
    p.right = {transpose_right ? turned.data() : b.data(), transpose_right ? b.data() : nullptr};
    for (int64_t first = 0; first < m; first += block) {
      const int64_t rows = m - first < block ? m - first : block;
      const Output to{out.data() + first * n, n};
      if (transpose_left) {
        product_rows(p, to, first, rows, Dynamic{k}, Dynamic{n}, Left{a.data() + first, Size<1>{}, Dynamic{m}}, kNoTail, kPlain);
      } else {
        product_rows(p, to, first, rows, Dynamic{k}, Dynamic{n}, Left{a.data() + first * k, k}, kNoTail, kPlain);
      }
    }
    return out;
  }
};

// f(i, j) for every output.
template <class F>
reference::Values by_outputs(const Case& c, const F& f) {
  reference::Values out;
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) out.push_back(f(i, j));
  return out;
}

TEST(ProductOrder, FewRowsTimesATransposedMatrixTakeSixteenLanes) {
  for (int64_t m : {2, 3, 15}) {
    for (int64_t k : {1, 15, 16, 17, 40, 100}) {
      for (int64_t n : {1, 2, 5, 9}) {
        const Case c{m, k, n, false, true};
        ASSERT_EQ(order(kOneDnn, m, k, n, false, true), ProductOrder::kLanes16);
        const auto expected = by_outputs(c, [&](int64_t i, int64_t j) {
          float lanes[16] = {};
          for (int64_t t = 0; t < k; ++t) lanes[t % 16] = std::fmaf(c.right(t, j), c.left(i, t), lanes[t % 16]);
          for (int half = 8; half > 0; half /= 2)
            for (int l = 0; l < half; ++l) lanes[l] = lanes[l] + lanes[l + half];
          return lanes[0];
        });
        reference::expect_same_bits(c.run(kOneDnn, 4), expected, c.name());
      }
    }
  }
}

float paired(const Case& c, int64_t i, int64_t j, bool fused) {
  const auto add = [&](float acc, int64_t t) {
    return fused ? std::fmaf(c.left(i, t), c.right(t, j), acc) : acc + c.left(i, t) * c.right(t, j);
  };
  float even = 0.f, odd = 0.f;
  const int64_t pairs = c.k / 2 * 2;
  for (int64_t t = 0; t < pairs; t += 2) {
    even = add(even, t);
    odd = add(odd, t + 1);
  }
  const float total = even + odd;
  return pairs < c.k ? add(total, pairs) : total;
}

TEST(ProductOrder, Avx2TakesGroupsOfSixRowsInBlocksOfFortyEight) {
  for (int64_t m : {2, 3, 4, 5, 6, 7, 9, 50, 72, 75, 100}) {
    for (int64_t k : {1, 2, 7, 30}) {
      for (int64_t n : {2, 8, 9, 16, 17, 40}) {
        const Case c{m, k, n, false, false};
        const auto expected = by_outputs(c, [&](int64_t i, int64_t j) {
          // Blocks: 48 while 96 or more are left, then one up to 72, else two halves.
          int64_t first = 0, length = 0;
          for (;; first += length) {
            const int64_t left = m - first;
            length = left >= 96 ? 48 : left > 72 ? (left + 1) / 2 : left;
            if (i < first + length) break;
          }
          const int64_t over = length % 6, place = i - first;
          const bool left_over = place >= length - over;
          if (left_over && (over == 1 || over == 2)) return paired(c, i, j, false);
          if ((left_over && over == 3) || (j >= n - n % 16 && n % 16 <= 8)) return paired(c, i, j, true);
          float acc = 0.f;
          for (int64_t t = 0; t < k; ++t) acc = std::fmaf(c.left(i, t), c.right(t, j), acc);
          return acc;
        });
        for (int64_t block : {1, 16, 200}) reference::expect_same_bits(c.run(kAvx2Rules, block), expected, c.name());
      }
    }
  }
}

TEST(ProductOrder, EigensVectorProductsNeverFuse) {
  for (int64_t k : {2, 7, 17, 64, 127, 128, 200}) {
    for (int64_t n : {2, 5, 33, 64}) {
      const Case c{1, k, n, false, false};
      const bool small = k + n + 1 < 20;
      const auto expected = by_outputs(c, [&](int64_t, int64_t j) {
        float total = 0.f;
        const int64_t block = k < 128 ? k : 16;
        for (int64_t done = 0; done < k; done += block) {
          float part = small ? c.left(0, 0) * c.right(0, j) : 0.f;
          for (int64_t t = done + (small ? 1 : 0); t < std::min(done + block, k); ++t) part = part + c.left(0, t) * c.right(t, j);
          total = small ? part : total + part;
        }
        return total;
      });
      reference::expect_same_bits(c.run(kEigen, 1), expected, c.name());
    }
  }
  for (int64_t m : {5, 6, 33}) {
    for (int64_t k : {16, 21, 29, 60}) {
      const Case c{m, k, 1, false, false};
      const auto expected = by_outputs(c, [&](int64_t i, int64_t) {
        float lanes[8] = {};
        int64_t at = k / 8 * 8;
        for (int64_t t = 0; t < at; ++t) lanes[t % 8] = lanes[t % 8] + c.left(i, t) * c.right(t, 0);
        float total = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
        if (m % 2 == 1 && i == m - 1 && k - at >= 4) {
          float p[4];
          for (int l = 0; l < 4; ++l) p[l] = c.left(i, at + l) * c.right(at + l, 0);
          total = total + ((p[0] + p[2]) + (p[1] + p[3]));
          at += 4;
        }
        for (; at < k; ++at) total = total + c.left(i, at) * c.right(at, 0);
        return total;
      });
      for (int64_t block : {2, 7, 40}) reference::expect_same_bits(c.run(kEigen, block), expected, c.name());
    }
  }
}

TEST(ProductOrder, ChangesWhereEagersKernelsDo) {
  using O = ProductOrder;
  EXPECT_EQ(order({}, 4, 4, 4), O::kUnknown);
  EXPECT_EQ(order({}, 1, 4, 4), O::kUnknown);
  EXPECT_EQ(order(kOneDnn, 15, 8, 8, false, true), O::kLanes16);
  EXPECT_EQ(order(kOneDnn, 16, 8, 8, false, true), O::kChains);
  EXPECT_EQ(order(kOneDnn, 15, 8, 8, true, true), O::kChains);
  EXPECT_EQ(order(kOneDnn, 1, 8, 8, false, true), O::kRowDots);
  EXPECT_EQ(order(kOneDnn, 1, 512, 512), O::kChains);
  EXPECT_EQ(order(kOneDnn, 1, 512, 1024), O::kUnknown) << "threads may share the chain";
  EXPECT_EQ(order(kOneDnn, 128, 1000, 64), O::kChains);
  EXPECT_EQ(order(kOneDnn, 128, 1000, 64, false, true), O::kUnknown) << "may be packed";
  EXPECT_EQ(order(kOneDnn, 600, 1000, 600), O::kChains);
  EXPECT_EQ(order(kOneDnn, 1200, 1000, 1100), O::kUnknown) << "may be packed";
  EXPECT_EQ(order(kAvx2Rules, 16, 256, 64), O::kAvx2);
  EXPECT_EQ(order(kAvx2Rules, 16, 257, 64), O::kUnknown);
  EXPECT_EQ(order(kAvx2Rules, 16, 97, 64, true), O::kUnknown);
  EXPECT_EQ(order(kAvx2Rules, 500, 5, 500), O::kAvx2);
  EXPECT_EQ(order(kAvx2Rules, 501, 5, 665), O::kUnknown) << "a large result of short chains";
  EXPECT_EQ(order(kAvx2Rules, 200, 5, 3000), O::kAvx2);
  EXPECT_EQ(order(kAvx2Rules, 1, 32, 64), O::kChains);
  EXPECT_EQ(order(kEigen, 1, 32, 64), O::kEigenVector);
  EXPECT_EQ(order(kEigen, 1, 300, 65), O::kUnknown) << "one output left over for a thread";
  EXPECT_EQ(order(kEigen, 1, 300, 84), O::kEigenVector);
  EXPECT_EQ(order(kEigen, 16, 320, 64), O::kChains);
  EXPECT_EQ(order(kEigen, 16, 321, 64), O::kUnknown);
  EXPECT_EQ(order(kEigen, 16, 64, 49), O::kUnknown) << "a block of one column";
  EXPECT_EQ(order(kEigen, 1024, 32, 64), O::kChains);
  EXPECT_EQ(order(kEigen, 1024, 128, 64), O::kUnknown) << "threads may share the terms";
  EXPECT_EQ(order(kEigenAvx2, 16, 64, 10), O::kAvx2);
  EXPECT_EQ(order(kEigenAvx2, 73, 64, 10), O::kUnknown) << "where the rows are cut depends on the caches";
  EXPECT_EQ(order(kEigenAvx2, 49, 64, 10), O::kUnknown);
  EXPECT_EQ(order(kEigenAvx2, 120, 64, 10), O::kAvx2);
}

TEST(ProductOrder, EpiloguesPassOverTheSumsWithTheirTail) {
  const int64_t m = 5, k = 9, n = 7;
  const Case c{m, k, n, false, true};
  OrderedProduct p = ordered_product(kOneDnn, {m, k, n, false, true});
  p.other_rows = product_in_other_order;
  p.right = {nullptr, c.b.data()};
  const auto relu_of_negated = [](auto sum, auto) { return relu(neg(sum)); };
  reference::Values out(m * n), sums = c.run(kOneDnn, m);
  for (int64_t first = 0; first < m; first += 2) {
    const int64_t rows = std::min<int64_t>(2, m - first);
    product_rows(p, Output{out.data() + first * n, n}, first, rows, Dynamic{k}, Dynamic{n}, Left{c.a.data() + first * k, k},
                 flat_tail(m, n, first, rows), relu_of_negated);
  }
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(out[i], -sums[i] > 0 ? -sums[i] : 0.f) << i;
}

}  // namespace
}  // namespace natif::kernels
