// The primitives of vec.h at every width of the level: partial access stays within its bounds, fma rounds once, lanes go where they should.
#include "kernels/vec.h"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

template <class V>
class EveryWidth : public ::testing::Test {};

#if defined(__AVX512VL__) && defined(__AVX512DQ__)
using Widths = ::testing::Types<F4, F8, F16>;
#elif defined(__AVX2__) && defined(__FMA__)
using Widths = ::testing::Types<F4, F8>;
#else
using Widths = ::testing::Types<F4>;
#endif
TYPED_TEST_SUITE(EveryWidth, Widths);

TYPED_TEST(EveryWidth, PartialAccessTouchesOnlyItsLanes) {
  constexpr int width = lanes<TypeParam>;
  for (int n = 0; n <= width; ++n) {
    const reference::Values from = reference::normal_values(n, 1);  // exactly n: a sanitizer sees a read past the end
    reference::Values to(static_cast<size_t>(width), 7.f);
    const TypeParam v = load_partial<TypeParam>(from.data(), n, splat<TypeParam>(3.f));
    for (int i = 0; i < width; ++i) EXPECT_EQ(v[i], i < n ? from[i] : 3.f);
    store_partial(to.data(), v, n);
    for (int i = 0; i < width; ++i) EXPECT_EQ(to[i], i < n ? from[i] : 7.f);
  }
}

TYPED_TEST(EveryWidth, FmaRoundsOnce) {
  const float a = 1.f + 0x1p-12f;
  const TypeParam got = fma(splat<TypeParam>(a), splat<TypeParam>(a), splat<TypeParam>(-1.f));
  for (int i = 0; i < lanes<TypeParam>; ++i) EXPECT_EQ(got[i], std::fmaf(a, a, -1.f));
  EXPECT_NE(got[0], a * a - 1.f);
}

TYPED_TEST(EveryWidth, MinimumAndMaximumTakeTheSecondOperandOfEqualsAndOfNaN) {
  const TypeParam zero = splat<TypeParam>(0.f), minus = splat<TypeParam>(-0.f), nan = splat<TypeParam>(NAN), one = splat<TypeParam>(1.f);
  for (int i = 0; i < lanes<TypeParam>; ++i) {
    EXPECT_TRUE(std::signbit(greater(zero, minus)[i]));
    EXPECT_FALSE(std::signbit(lesser(minus, zero)[i]));
    EXPECT_EQ(greater(nan, one)[i], 1.f);
    EXPECT_TRUE(std::isnan(lesser(one, nan)[i]));
  }
}

TYPED_TEST(EveryWidth, FloorAndSquareRoot) {
  for (float x : {-1.5f, -0.f, 0.25f, 2.f, 1e9f}) EXPECT_EQ(floor(splat<TypeParam>(x))[0], std::floor(x)) << x;
  for (float x : {0.f, 2.f, 1e-30f, 3e38f}) EXPECT_EQ(square_root(splat<TypeParam>(x))[0], std::sqrt(x)) << x;
}

TYPED_TEST(EveryWidth, ScalingByPowersOfTwoOverflowsAndFlushes) {
  const FlushDenormals flush;
  const auto scaled = [](float x, float m) { return scale_by_power_of_two(splat<TypeParam>(x), splat<TypeParam>(m))[0]; };
  EXPECT_EQ(scaled(1.25f, 7.f), 160.f);
  EXPECT_EQ(scaled(1.25f, -126.f), 1.25f * 0x1p-126f);
  EXPECT_EQ(scaled(0.75f, -126.f), 0.f);
  EXPECT_EQ(scaled(1.f, 128.f), INFINITY);
  EXPECT_EQ(scaled(0.75f, 128.f), 0.75f * 0x1p127f * 2.f);
  EXPECT_TRUE(std::isnan(scaled(NAN, 1.f)));
}

TYPED_TEST(EveryWidth, LanesSwapAndCombine) {
  TypeParam v;
  for (int i = 0; i < lanes<TypeParam>; ++i) v[i] = static_cast<float>(i);
  const TypeParam swapped = swap_lanes<2>(v);
  for (int i = 0; i < lanes<TypeParam>; ++i) EXPECT_EQ(swapped[i], static_cast<float>(i ^ 2));
  const TypeParam sums = across_lanes<4>(v, [](TypeParam a, TypeParam b) { return a + b; });
  for (int i = 0; i < lanes<TypeParam>; ++i) EXPECT_EQ(sums[i], static_cast<float>(i / 4 * 16 + 6));
  EXPECT_EQ(lane_bits<TypeParam>(v > splat<TypeParam>(1.f)), ((1u << lanes<TypeParam>)-1) & ~3u);
}

TEST(FlushDenormals, LastsAsLongAsItsScope) {
  volatile float denormal = 1e-40f, one = 1.f;
  {
    const FlushDenormals flush;
    EXPECT_EQ(denormal * one, 0.f);
  }
  EXPECT_NE(denormal * one, 0.f);
}

}  // namespace
}  // namespace natif::kernels
