// matmul.h and matvec.h against the rule restated with scalars: sizes around tiles, panels and pieces, known and not; packed, transposed,
// tails.
#include "kernels/matmul.h"

#include "gtest/gtest.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

constexpr auto kPlain = [](auto acc, auto) { return acc; };

struct Case {
  int64_t m, k, n;
  reference::Values a = reference::normal_values(m * k, 1), b = reference::normal_values(k * n, 2), expected = reference::Values(m * n);
  Case(int64_t rows, int64_t terms, int64_t columns) : m(rows), k(terms), n(columns) {
    if (n == 1 && m > 1) {
      for (int64_t r = 0; r < m; ++r) expected[r] = reference::dot(a.data() + r * k, b.data(), k);
    } else {
      expected = reference::matmul(a, b, m, k, n);
    }
  }
  std::string name() const { return std::to_string(m) + " × " + std::to_string(k) + " × " + std::to_string(n); }
};

TEST(Matmul, GivesTheRulesBitsInBlocksOfAnyHeight) {
  for (int64_t m : {1, 2, 3, 5, 8, 9, 17}) {
    for (int64_t k : {1, 8, 31, 100, 385, 800}) {
      for (int64_t n : {1, 2, 3, 8, 10, 16, 17, 33, 64, 65, 100, 130}) {
        const Case c(m, k, n);
        for (int64_t block : {1, 3, 16}) {
          reference::Values out(c.expected.size());
          for (int64_t first = 0; first < m; first += block)
            matmul_rows(Output{out.data() + first * n, n}, m - first < block ? m - first : block, m, Dynamic{k}, Dynamic{n},
                        Left{c.a.data() + first * k, k}, Right{c.b.data(), n}, kNoTail, kPlain);
          reference::expect_same_bits(out, c.expected, c.name());
        }
        reference::Values packed(static_cast<size_t>(packed_size(k, n))), out(c.expected.size());
        pack_right(packed.data(), Dynamic{k}, Dynamic{n}, Right{c.b.data(), n});
        matmul_rows(Output{out.data(), n}, m, m, Dynamic{k}, Dynamic{n}, Left{c.a.data(), k}, Packed{packed.data()}, kNoTail, kPlain);
        reference::expect_same_bits(out, c.expected, c.name() + ", packed");
      }
    }
  }
}

template <int64_t k, int64_t n>
void expect_known_sizes_agree() {
  for (int64_t m = 1; m < 20; ++m) {
    const Case c(m, k, n);
    reference::Values out(c.expected.size()), packed(static_cast<size_t>(packed_size(k, n)));
    matmul_rows(Output{out.data(), n}, m, m, Size<k>{}, Size<n>{}, Left{c.a.data(), Size<k>{}}, Right{c.b.data(), Size<n>{}}, kNoTail,
                kPlain);
    reference::expect_same_bits(out, c.expected, c.name());
    pack_right(packed.data(), Size<k>{}, Size<n>{}, Right{c.b.data(), Size<n>{}});
    matmul_rows(Output{out.data(), n}, m, m, Size<k>{}, Size<n>{}, Left{c.a.data(), Size<k>{}}, Packed{packed.data()}, kNoTail, kPlain);
    reference::expect_same_bits(out, c.expected, c.name() + ", packed");
  }
}

TEST(Matmul, KnownSizesGiveTheSameBits) {
  expect_known_sizes_agree<32, 64>();
  expect_known_sizes_agree<64, 8>();
  expect_known_sizes_agree<40, 10>();
  expect_known_sizes_agree<7, 1>();
  expect_known_sizes_agree<3, 80>();
  expect_known_sizes_agree<500, 33>();
  expect_known_sizes_agree<5, 150>();
}

TEST(Matmul, ATransposedLeftMatrixDiffersInOneColumnOnly) {
  for (int64_t n : {1, 2, 20}) {
    const int64_t m = 9, k = 400;
    const Case c(m, k, n);
    reference::Values transposed(c.a.size()), out(c.expected.size());
    for (int64_t r = 0; r < m; ++r)
      for (int64_t t = 0; t < k; ++t) transposed[t * m + r] = c.a[r * k + t];
    matmul_rows(Output{out.data(), n}, m, m, Dynamic{k}, Dynamic{n}, Left{transposed.data(), Size<1>{}, m}, Right{c.b.data(), n}, kNoTail,
                kPlain);
    reference::Values expected = c.expected;
    if (n == 1) {
      for (int64_t r = 0; r < m; ++r) {
        const reference::Values row(c.a.begin() + r * k, c.a.begin() + (r + 1) * k);
        expected[r] = reference::matmul(row, c.b, 1, k, 1)[0];
      }
    }
    reference::expect_same_bits(out, expected, c.name());
  }
}

TEST(Matmul, TheEpilogueTakesItsScalarFormInTheFlatTail) {
  for (int64_t m : {1, 2, 3, 7, 11}) {
    for (int64_t n : {1, 2, 3, 5, 9, 17, 35, 67}) {
      const Case c(m, 12, n);
      reference::Values out(c.expected.size());
      const auto form = [](auto acc, auto) {
        if constexpr (Vector<decltype(acc)>) {
          return acc + acc;
        } else {
          return neg(acc);
        }
      };
      for (int64_t first = 0; first < m; first += 4) {
        const int64_t rows = m - first < 4 ? m - first : 4;
        matmul_rows(Output{out.data() + first * n, n}, rows, m, Dynamic{12}, Dynamic{n}, Left{c.a.data() + first * 12, Size<12>{}},
                    Right{c.b.data(), n}, flat_tail(m, n, first, rows), form);
      }
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], i < out.size() / 8 * 8 ? c.expected[i] + c.expected[i] : -c.expected[i]) << c.name() << " at " << i;
    }
  }
}

TEST(Matmul, TheEpilogueReadsOperandsInItsPlace) {
  const int64_t m = 13, k = 20, n = 37;
  const Case c(m, k, n);
  const reference::Values whole = reference::normal_values(m * n, 3), row = reference::normal_values(n, 4),
                          column = reference::normal_values(m, 5);
  reference::Values out(c.expected.size());
  const auto epilogue = [&](auto acc, auto at) {
    return add(mul(add(acc, at(Row{row.data()})), at(Column{column.data()})), sub(at(Full{whole.data(), n}), at(Scalar{2.f})));
  };
  matmul_rows(Output{out.data(), n}, m, m, Dynamic{k}, Dynamic{n}, Left{c.a.data(), k}, Right{c.b.data(), n}, kNoTail, epilogue);
  for (int64_t i = 0; i < m * n; ++i) {
    const float sum = c.expected[i] + row[i % n], product = sum * column[i / n], difference = whole[i] - 2.f;
    ASSERT_EQ(out[i], product + difference) << i;
  }
}

}  // namespace
}  // namespace natif::kernels
