// softmax.h against the rule restated with scalars: every register layout and the long rows, in place, with argmax; rows that it declines.
#include "kernels/softmax.h"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

template <class C>
void expect_the_rules_bits(C columns) {
  const FlushDenormals flush;
  for (int64_t rows : {1, 2, 3, 4, 5, 8, 9}) {
    for (float scale : {1.f, 30.f}) {
      const reference::Values x = reference::normal_values(rows * columns, 1, scale), expected = reference::softmax(x, rows, columns);
      const std::string name = std::to_string(rows) + " × " + std::to_string(columns);
      reference::Values out(x.size()), in_place = x, scratch = x;
      std::vector<int64_t> indices(rows);
      std::vector<int32_t> narrow(rows);
      ASSERT_TRUE(softmax_rows(Output{out.data(), columns}, rows, columns, Full{x.data(), columns}));
      reference::expect_same_bits(out, expected, name);
      ASSERT_TRUE(
          softmax_argmax_rows<true>(Output{in_place.data(), columns}, indices.data(), rows, columns, Full{in_place.data(), columns}));
      reference::expect_same_bits(in_place, expected, name + " in place");
      ASSERT_TRUE(softmax_argmax_rows<false>(Output{scratch.data(), columns}, narrow.data(), rows, columns, Full{scratch.data(), columns}));
      for (int64_t r = 0; r < rows; ++r) {
        EXPECT_EQ(indices[r], reference::argmax(expected.data() + r * columns, columns)) << name;
        EXPECT_EQ(narrow[r], indices[r]) << name;
      }
    }
  }
}

// Rows whose largest values lie so close that their probabilities may be equal, when the first wins, or just not.
template <class C>
void expect_the_first_of_near_values(C columns) {
  const FlushDenormals flush;
  constexpr int64_t rows = 24;
  for (const float largest : {0.75f, -3.5f, 40.f, 1e-6f}) {
    for (const float step : {0x1p-24f, 0x1p-22f, 0x1p-21f, 0x1p-20f, 0x1p-19f}) {
      reference::Values x = reference::normal_values(rows * columns, 5);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          x[r * columns + c] =
              (r + c) % 3 == 0 ? largest - std::fabs(x[r * columns + c]) : largest - step * static_cast<float>((r + 5 * c) % 4);
      const reference::Values expected = reference::softmax(x, rows, columns);
      std::vector<int64_t> indices(rows);
      reference::Values scratch = x;
      ASSERT_TRUE(softmax_argmax_rows<false>(Output{scratch.data(), columns}, indices.data(), rows, columns, Full{x.data(), columns}));
      for (int64_t r = 0; r < rows; ++r)
        ASSERT_EQ(indices[r], reference::argmax(expected.data() + r * columns, columns))
            << columns << " columns, row " << r << ", step " << step;
    }
  }
}

TEST(Softmax, NearlyEqualValues) {
  expect_the_first_of_near_values(Size<3>{});
  expect_the_first_of_near_values(Size<8>{});
  expect_the_first_of_near_values(Size<64>{});
  for (int64_t columns : {2, 8, 10, 16, 17, 40, 64, 70}) expect_the_first_of_near_values(Dynamic{columns});
}

TEST(Softmax, KnownWidths) {
  expect_the_rules_bits(Size<1>{});
  expect_the_rules_bits(Size<3>{});
  expect_the_rules_bits(Size<4>{});
  expect_the_rules_bits(Size<8>{});
  expect_the_rules_bits(Size<10>{});
  expect_the_rules_bits(Size<16>{});
  expect_the_rules_bits(Size<33>{});
  expect_the_rules_bits(Size<64>{});
  expect_the_rules_bits(Size<100>{});
}

TEST(Softmax, EveryOtherWidth) {
  for (int64_t columns = 1; columns < 140; ++columns) expect_the_rules_bits(Dynamic{columns});
  expect_the_rules_bits(Dynamic{1001});
}

TEST(Softmax, RowsMayLieApart) {
  const FlushDenormals flush;
  const reference::Values wide = reference::normal_values(5 * 11, 2);
  reference::Values x, out(5 * 9, 7.f);
  for (int r = 0; r < 5; ++r) x.insert(x.end(), wide.begin() + r * 11, wide.begin() + r * 11 + 8);
  const reference::Values expected = reference::softmax(x, 5, 8);
  ASSERT_TRUE(softmax_rows(Output{out.data(), 9}, 5, Size<8>{}, Full{wide.data(), 11}));
  for (int i = 0; i < 5 * 9; ++i) EXPECT_EQ(out[i], i % 9 < 8 ? expected[i / 9 * 8 + i % 9] : 7.f) << i;
}

TEST(Softmax, DeclinesWhatHasNoRule) {
  const FlushDenormals flush;
  for (int64_t columns : {1, 8, 10, 16, 40, 64, 200}) {
    for (float odd : {NAN, INFINITY, -INFINITY}) {
      reference::Values x = reference::normal_values(6 * columns, 3), out(x.size());
      x[3 * columns + columns / 2] = odd;
      const bool known = odd < 0 && columns > 1;
      EXPECT_EQ(softmax_rows(Output{out.data(), columns}, 6, Dynamic{columns}, Full{x.data(), columns}), known)
          << columns << " with " << odd;
      if (known) reference::expect_same_bits(out, reference::softmax(x, 6, columns), "a row with −inf");
    }
    reference::Values x(static_cast<size_t>(columns), -INFINITY), out(x.size());
    EXPECT_FALSE(softmax_rows(Output{out.data(), columns}, 1, Dynamic{columns}, Full{x.data(), columns})) << columns;
  }
}

}  // namespace
}  // namespace natif::kernels
