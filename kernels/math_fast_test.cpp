// The 2 ULP of math_fast.h, against double precision: every 997th float of the whole domain and every 31st or 7th around the formulas'
// seams.
#include "kernels/math_fast.h"

#include <cfloat>
#include <cmath>

#include "gtest/gtest.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

// Distance in units of the last place of the true value, taken as a float.
double ulps(float actual, double expected) {
  const int exponent = std::ilogb(expected);
  return std::fabs(actual - expected) / std::ldexp(1.0, exponent - 23);
}

template <class F>
double worst_over(F function, double (*truth)(double), uint32_t from, uint32_t to, uint32_t step) {
  const FlushDenormals flush;
  double worst = 0;
  for (uint64_t bits = from; bits < to; bits += step) {
    const float x = reference::from_bits(static_cast<uint32_t>(bits));
    const double expected = truth(x);
    if (!(std::fabs(expected) >= FLT_MIN && std::fabs(expected) <= FLT_MAX) || std::fabs(x) < FLT_MIN) continue;
    const float actual = function(splat<Vec>(x))[lanes<Vec> - 1];
    EXPECT_EQ(reference::bits_of(function(Tail{x}).v), reference::bits_of(actual)) << x;
    worst = std::fmax(worst, ulps(actual, expected));
  }
  return worst;
}

template <class F>
void expect_within_two_ulps(F function, double (*truth)(double)) {
  EXPECT_LE(worst_over(function, truth, 0x00800000, 0x7f800000, 997), 2.0);  // positive
  EXPECT_LE(worst_over(function, truth, 0x80800000, 0xff800000, 997), 2.0);  // negative
  EXPECT_LE(worst_over(function, truth, 0x3f000000, 0x3f800000, 31), 2.0);   // [0.5, 1)
  EXPECT_LE(worst_over(function, truth, 0xbf800000, 0xc1a00000, 31), 2.0);   // (−20, −1]
  EXPECT_LE(worst_over(function, truth, 0x42aa0000, 0x42b20000, 7), 2.0);    // [85, 89)
  EXPECT_LE(worst_over(function, truth, 0xc2aa0000, 0xc2b20000, 7), 2.0);    // (−89, −85]
}

double true_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(MathFast, ExpIsWithinTwoUlps) {
  expect_within_two_ulps([](auto x) { return fast_exp(x); }, [](double x) { return std::exp(x); });
}
TEST(MathFast, LogIsWithinTwoUlps) {
  expect_within_two_ulps([](auto x) { return fast_log(x); }, [](double x) { return std::log(x); });
}
TEST(MathFast, TanhIsWithinTwoUlps) {
  expect_within_two_ulps([](auto x) { return fast_tanh(x); }, [](double x) { return std::tanh(x); });
}
TEST(MathFast, SigmoidIsWithinTwoUlps) {
  expect_within_two_ulps([](auto x) { return fast_sigmoid(x); }, true_sigmoid);
}

TEST(MathFast, SpecialValues) {
  const FlushDenormals flush;
  const float infinity = INFINITY;
  const auto at = [](auto function, float x) { return function(splat<Vec>(x))[0]; };
  const auto e = [](Vec x) { return fast_exp(x); };
  const auto l = [](Vec x) { return fast_log(x); };
  const auto t = [](Vec x) { return fast_tanh(x); };
  const auto s = [](Vec x) { return fast_sigmoid(x); };
  EXPECT_EQ(at(e, infinity), infinity);
  EXPECT_EQ(at(e, 89.f), infinity);
  EXPECT_EQ(at(e, -infinity), 0.f);
  EXPECT_EQ(at(e, 0.f), 1.f);
  EXPECT_EQ(at(l, infinity), infinity);
  EXPECT_EQ(at(l, 0.f), -infinity);
  EXPECT_EQ(at(l, -0.f), -infinity);
  EXPECT_EQ(at(l, 1.f), 0.f);
  EXPECT_TRUE(std::isnan(at(l, -1.f)));
  EXPECT_TRUE(std::isnan(at(l, -infinity)));
  EXPECT_EQ(at(t, infinity), 1.f);
  EXPECT_EQ(at(t, -infinity), -1.f);
  EXPECT_EQ(reference::bits_of(at(t, -0.f)), 0x80000000u);
  EXPECT_EQ(at(s, infinity), 1.f);
  EXPECT_EQ(at(s, -infinity), 0.f);
  for (float nan : {NAN, -NAN}) {
    EXPECT_TRUE(std::isnan(at(e, nan)));
    EXPECT_TRUE(std::isnan(at(l, nan)));
    EXPECT_TRUE(std::isnan(at(t, nan)));
    EXPECT_TRUE(std::isnan(at(s, nan)));
  }
}

}  // namespace
}  // namespace natif::kernels
