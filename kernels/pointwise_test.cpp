// pointwise.h and math.h: every kind of operand, tails of whole tensors split into blocks, results in place; the formulas' own bits are
// held against eager by kernels_tf_test.py.
#include "kernels/pointwise.h"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

// Distinguishes the two forms: a vector's elements are doubled, a tail's negated.
struct Form {
  template <Vector V>
  V operator()(V x) const {
    return x + x;
  }
  Tail operator()(Tail x) const { return neg(x); }
};

TEST(Map, TakesTheScalarFormInTheFlatTailOnly) {
  for (int64_t rows : {1, 2, 3, 5, 9}) {
    for (int64_t width : {1, 2, 3, 5, 7, 8, 9, 16, 33, 70}) {
      for (int64_t block : {1, 2, 4, 100}) {
        const reference::Values x = reference::normal_values(rows * width, 1);
        reference::Values out(x.size());
        for (int64_t first = 0; first < rows; first += block) {
          const int64_t count = rows - first < block ? rows - first : block;
          map(Output{out.data() + first * width, width}, count, Dynamic{width}, flat_tail(rows, width, first, count), Form{},
              Full{x.data() + first * width, width});
        }
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(out[i], i < x.size() / 8 * 8 ? x[i] + x[i] : -x[i]) << rows << " × " << width << " at " << i;
      }
    }
  }
}

TEST(Map, MarksTheFirstElementOfAnOddTail) {
  const auto mark = [](auto x) {
    if constexpr (Vector<decltype(x)>) {
      return x;
    } else {
      return Tail{x.leads_odd ? 1.f : 0.f};
    }
  };
  for (int64_t n = 1; n < 24; ++n) {
    reference::Values x(static_cast<size_t>(n), 5.f);
    map(Output{x.data(), n}, 1, Dynamic{n}, flat_tail(1, n, 0, 1), mark, Full{x.data(), n});
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(x[i], i < n / 8 * 8 ? 5.f : i == n / 8 * 8 && n % 2 == 1 ? 1.f : 0.f) << n << " at " << i;
  }
}

TEST(Map, ReadsEveryKindOfOperandAndMayWriteInPlace) {
  for (int64_t rows : {1, 4, 7}) {
    for (int64_t width : {1, 5, 16, 37, 64, 100}) {
      const int64_t stride = width + 3;
      reference::Values x = reference::normal_values(rows * stride, 1);
      const reference::Values before = x, row = reference::normal_values(width, 2), column = reference::normal_values(rows, 3);
      const auto f = [](auto a, auto b, auto c, auto d) { return add(mul(sub(a, b), c), d); };
      map(Output{x.data(), stride}, rows, Dynamic{width}, kNoTail, f, Full{x.data(), stride}, Row{row.data()}, Column{column.data()},
          Scalar{.5f});
      for (int64_t i = 0; i < rows * stride; ++i) {
        const int64_t r = i / stride, c = i % stride;
        const float difference = before[i] - row[c < width ? c : 0], product = difference * column[r];
        ASSERT_EQ(x[i], c < width ? product + .5f : before[i]) << r << ", " << c;
      }
    }
  }
}

TEST(Math, GroupsAndTailsTreatZerosAsEagerDoes) {
  const Vec zero = splat<Vec>(0.f), minus = splat<Vec>(-0.f);
  EXPECT_FALSE(std::signbit(relu(minus)[0]));
  EXPECT_TRUE(std::signbit(relu(Tail{-0.f}).v));
  EXPECT_TRUE(std::signbit(maximum(zero, minus)[0]));
  EXPECT_FALSE(std::signbit(maximum(Tail{0.f}, Tail{-0.f}).v));
  EXPECT_FALSE(std::signbit(minimum(minus, zero)[0]));
  EXPECT_TRUE(std::signbit(minimum(Tail{-0.f}, Tail{0.f}).v));
}

TEST(Math, NaNWinsFromEitherSide) {
  const float nan = NAN;
  EXPECT_TRUE(std::isnan(maximum(splat<Vec>(nan), splat<Vec>(1.f))[0]));
  EXPECT_TRUE(std::isnan(minimum(splat<Vec>(1.f), splat<Vec>(nan))[0]));
  EXPECT_TRUE(std::isnan(maximum(Tail{1.f}, Tail{nan}).v));
  EXPECT_TRUE(std::isnan(minimum(Tail{nan}, Tail{1.f}).v));
  EXPECT_TRUE(std::isnan(relu(splat<Vec>(nan))[0]));
}

TEST(Math, TranscendentalsAreWithinEagersOwnErrors) {
  const FlushDenormals flush;
  const auto expect_close = [](float actual, double expected, double ulps, float x) {
    EXPECT_LE(std::fabs(actual - expected), ulps * std::ldexp(1.0, std::ilogb(expected) - 23)) << x;
  };
  for (float x = -20.f; x < 20.f; x += 0.0371f) {
    const Vec v = splat<Vec>(x), positive = splat<Vec>(std::fabs(x) + .01f);
    expect_close(exp(v)[0], std::exp(double{x}), 1.4, x);
    expect_close(tanh(v)[0], std::tanh(double{x}), 5.2, x);
    expect_close(sigmoid(v)[0], 1 / (1 + std::exp(-double{x})), 5.9, x);
    expect_close(log(positive)[0], std::log(double{positive[0]}), 3.2, x);
    expect_close(rsqrt(positive)[0], 1 / std::sqrt(double{positive[0]}), 3, x);
    expect_close(reciprocal(positive)[0], 1 / double{positive[0]}, 3, x);
  }
}

}  // namespace
}  // namespace natif::kernels
