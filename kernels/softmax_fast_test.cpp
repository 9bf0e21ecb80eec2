// softmax_fast.h against double precision: every layout of rows in registers and long rows, in place, with argmax; rows with NaN and
// infinities.
#include "kernels/softmax_fast.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gtest/gtest.h"
#include "kernels/math_fast_truth.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

using reference::Values;

class SoftmaxFast : public testing::Test {
 protected:
  void SetUp() override {
    if (!truth::is_supported()) GTEST_SKIP() << "the processor does not have " << truth::kLevel;
  }
};

std::vector<double> true_softmax(const float* x, int64_t columns) {
  const double top = *std::max_element(x, x + columns);
  std::vector<double> out;
  for (int64_t c = 0; c < columns; ++c) out.push_back(std::exp(x[c] - top));
  const double sum = std::accumulate(out.begin(), out.end(), 0.);
  for (double& e : out) e /= sum;
  return out;
}

// Four units of the last place of the row's largest value: as far off as eager's softmax is from the truth.
void expect_near(const float* actual, const float* x, int64_t columns, const std::string& what) {
  const std::vector<double> expected = true_softmax(x, columns);
  const double top = *std::max_element(expected.begin(), expected.end());
  for (int64_t c = 0; c < columns; ++c) ASSERT_NEAR(actual[c], expected[c], std::ldexp(4., std::ilogb(top) - 23)) << what << " at " << c;
}

template <class C>
void expect_softmax(C columns) {
  const FlushDenormals flush;
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 16, 19}) {
    for (float scale : {1.f, 30.f}) {
      const Values x = reference::normal_values(rows * columns, 1, scale);
      const std::string name = std::to_string(rows) + " × " + std::to_string(columns);
      Values out(x.size()), in_place = x, scratch = x;
      std::vector<int64_t> indices(rows);
      std::vector<int32_t> narrow(rows);
      fast_softmax_rows(Output{out.data(), columns}, rows, columns, Full{x.data(), columns});
      for (int64_t r = 0; r < rows; ++r) expect_near(out.data() + r * columns, x.data() + r * columns, columns, name);
      fast_softmax_argmax_rows<true>(Output{in_place.data(), columns}, indices.data(), rows, columns, Full{in_place.data(), columns});
      reference::expect_same_bits(in_place, out, name + " in place");
      fast_softmax_argmax_rows<false>(Output{scratch.data(), columns}, narrow.data(), rows, columns, Full{scratch.data(), columns});
      for (int64_t r = 0; r < rows; ++r) {
        EXPECT_EQ(indices[r], reference::argmax(out.data() + r * columns, columns)) << name;
        EXPECT_EQ(narrow[r], indices[r]) << name;
      }
    }
  }
}

TEST_F(SoftmaxFast, KnownWidths) {
  expect_softmax(Size<1>{});
  expect_softmax(Size<3>{});
  expect_softmax(Size<4>{});
  expect_softmax(Size<7>{});
  expect_softmax(Size<8>{});
  expect_softmax(Size<10>{});
  expect_softmax(Size<16>{});
  expect_softmax(Size<33>{});
  expect_softmax(Size<64>{});
  expect_softmax(Size<100>{});
}

TEST_F(SoftmaxFast, EveryOtherWidth) {
  for (int64_t columns = 1; columns < 140; ++columns) expect_softmax(Dynamic{columns});
  expect_softmax(Dynamic{1001});
}

// Rows whose largest values lie so close that their probabilities may be equal, when the first wins, or just not.
TEST_F(SoftmaxFast, NearlyEqualValues) {
  const FlushDenormals flush;
  constexpr int64_t rows = 24;
  for (int64_t columns : {2, 3, 4, 8, 10, 16, 17, 40, 64, 70}) {
    for (const float largest : {0.75f, -3.5f, 40.f, 1e-6f}) {
      for (const float step : {0x1p-24f, 0x1p-22f, 0x1p-21f, 0x1p-20f, 0x1p-19f}) {
        Values x = reference::normal_values(rows * columns, 5), p(x.size());
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c)
            x[r * columns + c] =
                (r + c) % 3 == 0 ? largest - std::fabs(x[r * columns + c]) : largest - step * static_cast<float>((r + 5 * c) % 4);
        std::vector<int64_t> indices(rows);
        fast_softmax_rows(Output{p.data(), columns}, rows, Dynamic{columns}, Full{x.data(), columns});
        fast_softmax_argmax_rows<false>(Output{x.data(), columns}, indices.data(), rows, Dynamic{columns}, Full{x.data(), columns});
        for (int64_t r = 0; r < rows; ++r)
          ASSERT_EQ(indices[r], reference::argmax(p.data() + r * columns, columns))
              << columns << " columns, row " << r << ", step " << step;
      }
    }
  }
}

TEST_F(SoftmaxFast, RowsMayLieApart) {
  const FlushDenormals flush;
  const Values wide = reference::normal_values(5 * 11, 2);
  Values out(5 * 9, 7.f);
  fast_softmax_rows(Output{out.data(), 9}, 5, Size<8>{}, Full{wide.data(), 11});
  for (int r = 0; r < 5; ++r) {
    expect_near(out.data() + r * 9, wide.data() + r * 11, 8, "apart");
    EXPECT_EQ(out[r * 9 + 8], 7.f);
  }
}

// A whole row of NaN for a NaN, +inf or nothing but −inf, and index 0; the rows around it are as ever.
template <class C>
void expect_special_rows(C columns) {
  const FlushDenormals flush;
  constexpr int64_t rows = 9;
  for (int64_t odd_row : {0, 3, 5, 8}) {
    for (int64_t place : {int64_t{0}, columns / 2, columns - 1}) {
      for (float odd : {NAN, -NAN, INFINITY, -INFINITY}) {
        Values x = reference::normal_values(rows * columns, 3);
        const Values usual = x;
        x[odd_row * columns + place] = odd;
        Values out(x.size()), expected(x.size());
        std::vector<int64_t> indices(rows);
        fast_softmax_rows(Output{expected.data(), columns}, rows, columns, Full{usual.data(), columns});
        fast_softmax_argmax_rows<true>(Output{out.data(), columns}, indices.data(), rows, columns, Full{x.data(), columns});
        const std::string name = std::to_string(columns) + " with " + std::to_string(odd);
        std::vector<int64_t> alone(rows);
        Values scratch = x;
        fast_softmax_argmax_rows<false>(Output{scratch.data(), columns}, alone.data(), rows, columns, Full{scratch.data(), columns});
        EXPECT_EQ(alone, indices) << name;
        for (int64_t r = 0; r < rows; ++r) {
          const float *row = out.data() + r * columns, *as_ever = expected.data() + r * columns;
          if (r != odd_row) {
            reference::expect_same_bits(Values(row, row + columns), Values(as_ever, as_ever + columns), name);
          } else if (odd == -INFINITY && columns > 1) {
            EXPECT_EQ(row[place], 0.f) << name;
            expect_near(row, x.data() + r * columns, columns, name);
          } else {
            for (int64_t c = 0; c < columns; ++c) ASSERT_TRUE(std::isnan(row[c])) << name << " at " << c;
            EXPECT_EQ(indices[r], 0) << name;
          }
        }
      }
    }
  }
}

TEST_F(SoftmaxFast, SpecialRows) {
  expect_special_rows(Size<1>{});
  expect_special_rows(Size<4>{});
  expect_special_rows(Size<8>{});
  expect_special_rows(Size<10>{});
  expect_special_rows(Size<16>{});
  expect_special_rows(Size<40>{});
  for (int64_t columns : {1, 5, 8, 16, 40, 64, 200}) expect_special_rows(Dynamic{columns});
  const FlushDenormals flush;
  for (int64_t columns : {1, 8, 10, 64, 200}) {
    const Values x(static_cast<size_t>(columns), -INFINITY);
    Values out(x.size());
    int64_t index = -1;
    fast_softmax_argmax_rows<true>(Output{out.data(), columns}, &index, 1, Dynamic{columns}, Full{x.data(), columns});
    for (float p : out) EXPECT_TRUE(std::isnan(p)) << columns;
    EXPECT_EQ(index, 0);
  }
}

}  // namespace
}  // namespace natif::kernels
