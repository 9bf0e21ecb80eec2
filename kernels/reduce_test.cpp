// reduce.h, argmax.h and transpose.h against the rules restated with scalars.
#include "kernels/reduce.h"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/argmax.h"
#include "kernels/reference.h"
#include "kernels/transpose.h"

namespace natif::kernels {
namespace {

const std::vector<int64_t> kRows = {2, 3, 8, 15, 16, 17, 35}, kColumns = {2, 7, 8, 9, 16, 17, 31, 32, 33, 40, 63, 72, 100, 257};

template <class Reduction, class Combine>
void expect_the_rules_bits(Combine combine, bool mean = false) {
  const FlushDenormals flush;
  for (int64_t m : kRows) {
    for (int64_t n : kColumns) {
      const reference::Values x = reference::normal_values(m * n, 1);
      const std::string name = std::to_string(m) + " × " + std::to_string(n);
      reference::Values rows(m), columns(n), expected_rows(m), expected_columns(n);
      for (int64_t first = 0; first < m; first += 4)
        reduce_last<Reduction>(rows.data() + first, m - first < 4 ? m - first : 4, Dynamic{n}, Full{x.data() + first * n, n}, first);
      reduce_first<Reduction>(columns.data(), m, Dynamic{n}, Full{x.data(), n});
      for (int64_t r = 0; r < m; ++r) {
        const float total = reference::reduce_last(x.data() + r * n, n, 1, Reduction::start, combine);
        expected_rows[r] = mean ? total / static_cast<float>(n) : total;
      }
      for (int64_t c = 0; c < n; ++c) {
        const float total = reference::reduce_first(x.data(), m, n, c, Reduction::start, combine);
        expected_columns[c] = mean ? total / static_cast<float>(m) : total;
      }
      reference::expect_same_bits(rows, expected_rows, name + ", last axis");
      reference::expect_same_bits(columns, expected_columns, name + ", first axis");
    }
  }
}

TEST(Reduce, Sum) {
  expect_the_rules_bits<Sum>([](float a, float b) { return a + b; });
}
TEST(Reduce, Mean) {
  expect_the_rules_bits<Mean>([](float a, float b) { return a + b; }, true);
}
TEST(Reduce, Product) {
  expect_the_rules_bits<Prod>([](float a, float b) { return a * b; });
}
TEST(Reduce, Maximum) {
  expect_the_rules_bits<Max>([](float a, float b) { return a > b ? a : b; });
}
TEST(Reduce, Minimum) {
  expect_the_rules_bits<Min>([](float a, float b) { return a < b ? a : b; });
}

TEST(Reduce, SumsOfTinyElementsKeepTheSignOfZero) {
  const FlushDenormals flush;
  for (int64_t n : {2, 3, 7, 8, 9, 15, 17, 33, 41}) {
    const int64_t rows = 500;
    reference::Values x = reference::normal_values(rows * n, 3), out(rows), expected(rows);
    for (float& v : x) v *= 1e-19f;  // in two steps: 1e-38 itself would be flushed
    for (float& v : x) v *= 1e-19f;
    reduce_last<Sum>(out.data(), rows, Dynamic{n}, Full{x.data(), n}, 0);
    for (int64_t r = 0; r < rows; ++r)
      expected[r] = reference::reduce_last(x.data() + r * n, n, 1, 0.f, [](float a, float b) { return a + b; });
    reference::expect_same_bits(out, expected, std::to_string(n));
  }
}

TEST(Reduce, NaNWinsAnywhere) {
  for (int64_t n : {2, 8, 9, 33, 70}) {
    for (int64_t place = 0; place < n; ++place) {
      reference::Values x = reference::normal_values(n, 1);
      x[place] = NAN;
      float out[2];
      reduce_last<Max>(out, 1, Dynamic{n}, Full{x.data(), n}, 0);
      reduce_last<Min>(out + 1, 1, Dynamic{n}, Full{x.data(), n}, 0);
      EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << n << " at " << place;
    }
  }
}

TEST(Reduce, OneElementKeepsItsBits) {
  const FlushDenormals flush;
  const reference::Values x = {-0.f, 1e-40f, 2.f};
  reference::Values out(3);
  reduce_last<Mean>(out.data(), 3, Dynamic{1}, Full{x.data(), 1}, 0);
  reference::expect_same_bits(out, x, "last axis");
  reduce_first<Sum>(out.data(), 1, Dynamic{3}, Full{x.data(), 3});
  reference::expect_same_bits(out, x, "first axis");
}

TEST(Reduce, LongRowsAreHalvedAtAMultipleOfEight) {
  const int64_t n = 8203;
  const reference::Values x = reference::normal_values(2 * n, 1);
  reference::Values out(2);
  reduce_last<Sum>(out.data(), 2, Dynamic{n}, Full{x.data(), n}, 0);
  for (int64_t r = 0; r < 2; ++r) {
    const int64_t split = (r * n + (n + 1) / 2 + 7) / 8 * 8 - r * n;
    const auto sum = [](float a, float b) { return a + b; };
    EXPECT_EQ(out[r], reference::reduce_last(x.data() + r * n, split, 1, 0.f, sum) +
                          reference::reduce_last(x.data() + r * n + split, n - split, 1, 0.f, sum));
  }
}

TEST(Argmax, TakesTheFirstOfEqualsAndNeverNaN) {
  const FlushDenormals flush;
  const reference::Values odd = {0.f, -0.f, 1.f, 2.f, 2.f, INFINITY, -INFINITY, NAN, -3.402823466e+38f};
  std::mt19937 engine(1);
  for (int64_t m : {1, 2, 7, 33}) {
    for (int64_t n : {1, 2, 8, 15, 16, 17, 31, 64, 100}) {
      for (size_t kinds : {odd.size(), size_t{5}}) {
        reference::Values x(static_cast<size_t>(m * n));
        for (float& v : x) v = odd[engine() % kinds];
        std::vector<int64_t> rows(m);
        std::vector<int32_t> columns(n);
        argmax_rows(rows.data(), m, Dynamic{n}, Full{x.data(), n});
        argmax_columns(columns.data(), m, Dynamic{n}, Full{x.data(), n});
        for (int64_t r = 0; r < m; ++r) EXPECT_EQ(rows[r], reference::argmax(x.data() + r * n, n));
        for (int64_t c = 0; c < n; ++c) EXPECT_EQ(columns[c], reference::argmax(x.data() + c, m, n));
      }
    }
  }
}

TEST(Argmax, ARowOfNothingAboveTheLowestGivesZero) {
  const reference::Values x = {-INFINITY, -3.402823466e+38f, NAN, -INFINITY};
  int64_t index = 9;
  argmax_rows(&index, 1, Dynamic{4}, Full{x.data(), 4});
  EXPECT_EQ(index, 0);
}

TEST(Transpose, MovesEveryElement) {
  for (int64_t m : {1, 3, 4, 5, 16, 17, 37}) {
    for (int64_t n : {1, 2, 4, 7, 19, 40}) {
      const reference::Values x = reference::normal_values(m * n, 1);
      reference::Values out(x.size());
      for (int64_t first = 0; first < m; first += 10)
        transpose_rows(Output{out.data() + first, m}, m - first < 10 ? m - first : 10, Dynamic{n}, Full{x.data() + first * n, n});
      for (int64_t i = 0; i < m * n; ++i) ASSERT_EQ(out[i % n * m + i / n], x[i]) << m << " × " << n << " at " << i;
    }
  }
}

}  // namespace
}  // namespace natif::kernels
