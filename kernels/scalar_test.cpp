// kernels/scalar_test.cpp: arithmetic of Python's numbers against values that CPython 3.11 gives.
#include "kernels/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace natif::kernels::scalar {
namespace {

constexpr int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();
constexpr double inf = std::numeric_limits<double>::infinity(), denormal = std::numeric_limits<double>::denorm_min();
const double nan = std::nan("");

int64_t bits(double x) {
  int64_t pattern;
  std::memcpy(&pattern, &x, sizeof x);
  return std::isnan(x) ? 1 : pattern;
}

template <class T>
struct Outcome {
  Fault fault;
  T value{};

  bool operator==(const Outcome& other) const {
    if (fault != Fault::None || other.fault != Fault::None) return fault == other.fault;
    if constexpr (std::is_same_v<T, double>) return bits(value) == bits(other.value);
    return value == other.value;
  }
};

Outcome<int64_t> is(int64_t value) { return {Fault::None, value}; }
Outcome<double> is(double value) { return {Fault::None, value}; }

template <class A, class B>
auto run(Fault (*function)(A, A, B&), A a, A b) {
  Outcome<B> outcome{};
  outcome.fault = function(a, b, outcome.value);
  return outcome;
}

using IntFunction = Fault (*)(int64_t, int64_t, int64_t&);
using QuotientFunction = Fault (*)(int64_t, int64_t, double&);
using FloatFunction = Fault (*)(double, double, double&);

Outcome<int64_t> ints(IntFunction function, int64_t a, int64_t b) { return run(function, a, b); }
Outcome<double> quotient(int64_t a, int64_t b) { return run(QuotientFunction{divide}, a, b); }
Outcome<double> floats(FloatFunction function, double a, double b) { return run(function, a, b); }

const Outcome<int64_t> int_range{Fault::IntRange};

TEST(Scalar, IntsStayWithin64Bits) {
  EXPECT_EQ(ints(add, highest, 1), int_range);
  EXPECT_EQ(ints(add, highest, lowest), is(int64_t{-1}));
  EXPECT_EQ(ints(subtract, lowest, 1), int_range);
  EXPECT_EQ(ints(multiply, int64_t{1} << 32, int64_t{1} << 31), int_range);
  EXPECT_EQ(ints(multiply, int64_t{1} << 32, -(int64_t{1} << 31)), is(lowest));
  int64_t result;
  EXPECT_EQ(negate(lowest, result), Fault::IntRange);
  EXPECT_EQ(absolute(lowest, result), Fault::IntRange);
  EXPECT_EQ(absolute(int64_t{-7}, result), Fault::None);
  EXPECT_EQ(result, 7);
}

TEST(Scalar, IntDivisionRoundsDown) {
  EXPECT_EQ(ints(floor_divide, -7, 2), is(int64_t{-4}));
  EXPECT_EQ(ints(floor_divide, 7, -2), is(int64_t{-4}));
  EXPECT_EQ(ints(modulo, -7, 2), is(int64_t{1}));
  EXPECT_EQ(ints(modulo, 7, -2), is(int64_t{-1}));
  EXPECT_EQ(ints(modulo, lowest, -1), is(int64_t{0}));
  EXPECT_EQ(ints(floor_divide, lowest, -1), int_range);
  EXPECT_EQ(ints(floor_divide, 1, 0).fault, Fault::IntFloorDivision);
  EXPECT_EQ(ints(modulo, 1, 0).fault, Fault::IntModulo);
}

TEST(Scalar, QuotientOfIntsIsCorrectlyRounded) {
  EXPECT_EQ(quotient(1, 3), is(1.0 / 3.0));
  EXPECT_EQ(quotient(0, -3), is(-0.0));
  EXPECT_EQ(quotient(1, 0).fault, Fault::IntDivision);
  // Rounding the operands to doubles first would give 11.071937874627048.
  EXPECT_EQ(quotient(-2534726376970409589, 228932496340961456), is(-11.07193787462705));
  EXPECT_EQ(quotient(9007199254740993, 1), is(9007199254740992.0));
  EXPECT_EQ(quotient(9007199254740993, 3), is(3002399751580331.0));
  EXPECT_EQ(quotient(lowest, -1), is(0x1p63));
  EXPECT_EQ(quotient(highest, lowest), is(-1.0));
  EXPECT_EQ(quotient(1, highest), is(0x1p-63));
}

TEST(Scalar, IntPowerAndShifts) {
  EXPECT_EQ(ints(power, -2, 63), is(lowest));
  EXPECT_EQ(ints(power, 2, 63), int_range);
  EXPECT_EQ(ints(power, 3, 39), is(int64_t{4052555153018976267}));
  EXPECT_EQ(ints(power, -1, highest), is(int64_t{-1}));
  EXPECT_EQ(ints(power, 0, 0), is(int64_t{1}));
  EXPECT_EQ(ints(power, 2, -1).fault, Fault::LeaveToPython);
  EXPECT_EQ(ints(power, 0, -1).fault, Fault::ZeroToNegativePower);
  EXPECT_EQ(ints(shift_left, -1, 63), is(lowest));
  EXPECT_EQ(ints(shift_left, 1, 63), int_range);
  EXPECT_EQ(ints(shift_left, 0, 1000), is(int64_t{0}));
  EXPECT_EQ(ints(shift_left, 1, 64), int_range);
  EXPECT_EQ(ints(shift_right, -5, 1), is(int64_t{-3}));
  EXPECT_EQ(ints(shift_right, -5, 1000), is(int64_t{-1}));
  EXPECT_EQ(ints(shift_right, 1, -1).fault, Fault::NegativeShift);
}

TEST(Scalar, FloatDivision) {
  EXPECT_EQ(floats(divide, 1, 0).fault, Fault::FloatDivision);
  EXPECT_EQ(floats(floor_divide, 1, -0.0).fault, Fault::FloatFloorDivision);
  EXPECT_EQ(floats(modulo, 1, 0).fault, Fault::FloatModulo);
  EXPECT_EQ(floats(floor_divide, 1.0, 0.1), is(9.0));
  EXPECT_EQ(floats(modulo, 1.0, 0.1), is(0.09999999999999995));
  EXPECT_EQ(floats(floor_divide, -7.5, 2), is(-4.0));
  EXPECT_EQ(floats(modulo, -7.5, 2), is(0.5));
  EXPECT_EQ(floats(modulo, -4.0, 2), is(0.0));
  EXPECT_EQ(floats(modulo, 4.0, -2), is(-0.0));
  EXPECT_EQ(floats(floor_divide, -0.0, 5), is(-0.0));
  EXPECT_EQ(floats(floor_divide, -1, inf), is(-1.0));
  EXPECT_EQ(floats(modulo, -1, inf), is(inf));
  EXPECT_EQ(floats(floor_divide, inf, 2), is(nan));
  EXPECT_EQ(floats(modulo, denormal, 1), is(denormal));
}

TEST(Scalar, FloatPower) {
  EXPECT_EQ(floats(power, nan, 0), is(1.0));
  EXPECT_EQ(floats(power, 1, nan), is(1.0));
  EXPECT_EQ(floats(power, -1, inf), is(1.0));
  EXPECT_EQ(floats(power, 0.5, -inf), is(inf));
  EXPECT_EQ(floats(power, -inf, -3), is(-0.0));
  EXPECT_EQ(floats(power, -0.0, 3), is(-0.0));
  EXPECT_EQ(floats(power, -2, 3), is(-8.0));
  EXPECT_EQ(floats(power, 0, -1).fault, Fault::ZeroToNegativePower);
  EXPECT_EQ(floats(power, -8, 0.5).fault, Fault::LeaveToPython);
  EXPECT_EQ(floats(power, 2, 10000).fault, Fault::FloatPowerRange);
  EXPECT_EQ(floats(power, 2, -1074), is(denormal));
  EXPECT_EQ(floats(power, 2, -1080), is(0.0));
}

TEST(Scalar, MinimumAndMaximumKeepTheFirstOfEquals) {
  EXPECT_EQ(bits(minimum(0.0, -0.0)), bits(0.0));
  EXPECT_EQ(bits(maximum(-0.0, 0.0)), bits(-0.0));
  EXPECT_TRUE(std::isnan(minimum(nan, 1.0)));
  EXPECT_EQ(minimum(1.0, nan), 1.0);
}

TEST(Scalar, IntsAndFloatsCompareExactly) {
  constexpr int64_t above = (int64_t{1} << 53) + 1;
  EXPECT_TRUE(greater(above, 0x1p53));
  EXPECT_FALSE(equal(above, 0x1p53));
  EXPECT_TRUE(less(highest, 0x1p63));
  EXPECT_TRUE(equal(lowest, -0x1p63));
  EXPECT_TRUE(less(-0.5, int64_t{0}));
  EXPECT_TRUE(greater_equal(0.5, int64_t{0}));
  EXPECT_TRUE(not_equal(int64_t{0}, nan));
  EXPECT_FALSE(less_equal(int64_t{0}, nan));
  EXPECT_FALSE(greater_equal(int64_t{0}, nan));
  EXPECT_TRUE(less(int64_t{1} << 62, inf));
}

TEST(Scalar, Conversions) {
  int64_t result;
  EXPECT_EQ(to_int(-2.9, result), Fault::None);
  EXPECT_EQ(result, -2);
  EXPECT_EQ(to_int(nan, result), Fault::NanToInt);
  EXPECT_EQ(to_int(-inf, result), Fault::InfinityToInt);
  EXPECT_EQ(to_int(0x1p63, result), Fault::IntRange);
  EXPECT_EQ(to_int(-0x1p63, result), Fault::None);
  EXPECT_TRUE(to_bool(nan));
  EXPECT_FALSE(to_bool(-0.0));
  // By way of a double: 2**53 + 2**29 + 1 becomes a tie there, which rounds to even.
  EXPECT_EQ(to_float32(int64_t{9007199791611905}), 0x1p53f);
}

TEST(Scalar, RangeLength) {
  EXPECT_EQ(range_length(0, 10, 3), 4u);
  EXPECT_EQ(range_length(10, 0, -3), 4u);
  EXPECT_EQ(range_length(0, 0, 1), 0u);
  EXPECT_EQ(range_length(5, 0, 1), 0u);
  EXPECT_EQ(range_length(lowest, highest, 1), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(range_length(highest, lowest, lowest), 2u);
}

TEST(Scalar, FaultsHavePythonsTexts) {
  EXPECT_STREQ(facts_of(Fault::IntModulo).text, "integer modulo by zero");
  EXPECT_STREQ(facts_of(Fault::FloatPowerRange).text, "(34, 'Numerical result out of range')");
  EXPECT_STREQ(facts_of(Fault::InfinityToInt).text, "cannot convert float infinity to integer");
  EXPECT_EQ(facts_of(Fault::LeaveToPython).error, 0);
}

}  // namespace
}  // namespace natif::kernels::scalar
