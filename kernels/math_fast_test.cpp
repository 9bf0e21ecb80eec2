// The promise of math_fast.h on every 997th float and around all of its formulas' seams, against double precision; special values; that
// neither the vector's width nor the place in it matters. math_fast_exhaustive.cpp takes every float.
#include "kernels/math_fast.h"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/math_fast_truth.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

using reference::bits_of;

class MathFast : public testing::Test {
 protected:
  void SetUp() override {
    if (!truth::is_supported()) GTEST_SKIP() << "the processor does not have " << truth::kLevel;
  }
};

std::string described(const char* name, const truth::Worst& worst) {
  return std::string(name) + " of " + std::to_string(worst.x) + ": " + std::to_string(worst.actual) + " instead of " +
         std::to_string(worst.expected);
}

// Where a formula changes, by function: where exp's whole number changes, mantissas of 3/4, the segments of tanh and its whole numbers, the
// ends of what is clamped, and the ends of the floats themselves.
std::vector<double> seams(const std::string& name) {
  std::vector<double> at = {FLT_MIN, 0.25, 0.5, 1, 2, FLT_MAX};
  const double ln2 = std::log(2.);
  if (name == "exp" || name == "sigmoid") {
    for (int n = -128; n <= 128; ++n) at.push_back(std::fabs(n + .5) * ln2);
    for (double end : {17.5, 87.3365, 88., 88.3762, 88.7228, 89.}) at.push_back(end);
  } else if (name == "log") {
    for (int n = -126; n <= 127; ++n)
      for (double mantissa : {.75, 1., 1.5}) at.push_back(std::ldexp(mantissa, n));
  } else {
    for (int n = 0; n <= 28; ++n) at.push_back((n + .5) * ln2 / 2);
    for (double step = 1; step <= 16; step += .125) at.push_back(std::fabs(step - 1.04) / 1.64), at.push_back((step - 1) / 1.646);
    for (double end : {9.0109, 9.1}) at.push_back(end);
  }
  return at;
}

TEST_F(MathFast, IsWithinTwoUlps) {
  const FlushDenormals flush;
  truth::for_each_function([](const char* name, auto fast, auto exact) {
    const truth::Worst everywhere = truth::worst_over(fast, exact, 0, uint64_t{1} << 32, 997);
    EXPECT_LE(everywhere.ulps, truth::kPromisedUlps) << described(name, everywhere);
    for (double seam : seams(name)) {
      const uint64_t bits = bits_of(static_cast<float>(seam));
      for (uint64_t sign : {0u, 0x80000000u}) {
        const truth::Worst near = truth::worst_over(fast, exact, (sign | bits) - 64, (sign | bits) + 64, 1);
        EXPECT_LE(near.ulps, truth::kPromisedUlps) << described(name, near);
      }
    }
  });
}

// Or no error could be found: the measure itself, on results that are wrong.
TEST_F(MathFast, ErrorsAreMeasuredInUnitsOfTheLastPlace) {
  EXPECT_EQ(truth::error_in_ulps(1.f, 1.), 0);
  EXPECT_EQ(truth::error_in_ulps(std::nextafterf(1.f, 2.f), 1.), 1);
  EXPECT_EQ(truth::error_in_ulps(1.f, 1 - 0x1p-24), 1);
  EXPECT_EQ(truth::error_in_ulps(-1.f, 1.), 0x1p24);
  EXPECT_EQ(truth::error_in_ulps(0.f, 1e-39), 0);
  EXPECT_EQ(truth::error_in_ulps(0.f, FLT_MIN), 0x1p23);
  EXPECT_EQ(truth::error_in_ulps(FLT_MIN, 0), INFINITY);
  EXPECT_EQ(truth::error_in_ulps(INFINITY, 0x1p128), 0);
  EXPECT_EQ(truth::error_in_ulps(-INFINITY, 0x1p128), INFINITY);
  EXPECT_EQ(truth::error_in_ulps(INFINITY, FLT_MAX), INFINITY);
  EXPECT_EQ(truth::error_in_ulps(FLT_MAX, INFINITY), INFINITY);
  EXPECT_EQ(truth::error_in_ulps(NAN, 1.), INFINITY);
  EXPECT_EQ(truth::error_in_ulps(1.f, NAN), INFINITY);
}

TEST_F(MathFast, WidthAndPlaceDoNotMatter) {
  const FlushDenormals flush;
  truth::for_each_function([](const char* name, auto fast, auto) {
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 99'991) {
      const float x = truth::from_bits(static_cast<uint32_t>(bits));
      float expected[lanes<Vec>];
      store(expected, fast(splat<Vec>(x)));
      if (std::isnan(expected[0])) continue;
      for (float place : expected) ASSERT_EQ(bits_of(place), bits_of(expected[0])) << name << " of " << x;
      ASSERT_EQ(bits_of(fast(splat<F4>(x))[3]), bits_of(expected[0])) << name << " of " << x;
      ASSERT_EQ(bits_of(fast(splat<VectorTraits<Vec>::Half>(x))[1]), bits_of(expected[0])) << name << " of " << x;
      ASSERT_EQ(bits_of(fast(Tail{x}).v), bits_of(expected[0])) << name << " of " << x;
    }
  });
}

TEST_F(MathFast, ResultsStayInRange) {
  const FlushDenormals flush;
  for (uint64_t bits = 0; bits <= 0x7f800000; bits += 1009) {
    const float x = truth::from_bits(static_cast<uint32_t>(bits));
    ASSERT_LE(fast_tanh(splat<Vec>(x))[0], 1.f) << x;
    ASSERT_LE(fast_sigmoid(splat<Vec>(x))[0], 1.f) << x;
  }
}

TEST_F(MathFast, SpecialValues) {
  const FlushDenormals flush;
  const float infinity = INFINITY, denormal = 1e-40f;
  const auto at = [](auto function, float x) { return function(splat<Vec>(x))[0]; };
  const auto e = [](Vec x) { return fast_exp(x); };
  const auto l = [](Vec x) { return fast_log(x); };
  const auto t = [](Vec x) { return fast_tanh(x); };
  const auto s = [](Vec x) { return fast_sigmoid(x); };
  EXPECT_EQ(at(e, infinity), infinity);
  EXPECT_EQ(at(e, 89.f), infinity);
  EXPECT_EQ(at(e, FLT_MAX), infinity);
  EXPECT_EQ(bits_of(at(e, -infinity)), 0u);
  EXPECT_EQ(bits_of(at(e, -FLT_MAX)), 0u);
  for (float zero : {0.f, -0.f, denormal, -denormal}) {
    EXPECT_EQ(at(e, zero), 1.f);
    EXPECT_EQ(at(l, zero), -infinity);
    EXPECT_EQ(at(s, zero), .5f);
  }
  EXPECT_EQ(at(l, infinity), infinity);
  EXPECT_EQ(bits_of(at(l, 1.f)), 0u);
  EXPECT_TRUE(std::isnan(at(l, -1.f)));
  EXPECT_TRUE(std::isnan(at(l, -FLT_MIN)));
  EXPECT_TRUE(std::isnan(at(l, -infinity)));
  EXPECT_EQ(at(t, infinity), 1.f);
  EXPECT_EQ(at(t, -infinity), -1.f);
  EXPECT_EQ(bits_of(at(t, 0.f)), 0u);
  EXPECT_EQ(bits_of(at(t, -0.f)), 0x80000000u);
  EXPECT_EQ(at(s, infinity), 1.f);
  EXPECT_EQ(bits_of(at(s, -infinity)), 0u);
  for (uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7fc001ffu, 0xffffffffu, 0x7f800001u}) {
    const float x = truth::from_bits(nan);
    EXPECT_TRUE(std::isnan(at(e, x))) << nan;
    EXPECT_TRUE(std::isnan(at(l, x))) << nan;
    EXPECT_TRUE(std::isnan(at(t, x))) << nan;
    EXPECT_TRUE(std::isnan(at(s, x))) << nan;
  }
}

}  // namespace
}  // namespace natif::kernels
