// What math_fast.h promises, against double precision: for its unit test, which samples, and for the program that takes every float.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/math_fast.h"

namespace natif::kernels::truth {

constexpr double kPromisedUlps = 2;

// The vector level that this is compiled for, and whether the processor has it.
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
inline constexpr char kLevel[] = "x86-64-v4";
inline bool is_supported() { return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"); }
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr char kLevel[] = "x86-64-v3";
inline bool is_supported() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#elif defined(__x86_64__)
inline constexpr char kLevel[] = "x86-64-v2";
inline bool is_supported() { return __builtin_cpu_supports("sse4.2"); }
#else
inline constexpr char kLevel[] = "aarch64";
inline bool is_supported() { return true; }
#endif

inline float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// The error of a result in units of the last place of the true value: 0 where a special value is the promised one, infinite where it isn't.
inline double error_in_ulps(float actual, double expected) {
  const double never = std::numeric_limits<double>::infinity(), size = std::fabs(expected);
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : never;
  if (std::isinf(expected) || size == 0) return actual == expected ? 0 : never;
  if (actual == 0 && size < static_cast<double>(FLT_MIN)) return 0;  // flushed
  // By hand: ilogb and ldexp would take longer than all else.
  const int exponent = static_cast<int>(__builtin_bit_cast(uint64_t, size) >> 52) - 1023;
  if (std::isinf(actual)) return exponent > 127 && (actual > 0) == (expected > 0) ? 0 : never;
  const int of_float = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
  const double units = __builtin_bit_cast(double, static_cast<uint64_t>(1023 + 23 - of_float) << 52);
  const double error = std::fabs(actual - expected) * units;
  return std::isnan(error) ? never : error;
}

// The function of a float as the promise means it: denormal operands count as zero.
template <class F>
double of_float(F function, float x) {
  return function(std::fabs(x) < FLT_MIN ? std::copysign(0., static_cast<double>(x)) : static_cast<double>(x));
}

struct Worst {
  double ulps = 0;
  float x = 0, actual = 0;
  double expected = 0;

  void take(const Worst& other) {
    if (other.ulps > ulps) *this = other;
  }
};

// The largest error over the floats with bits first, first + stride, … below `end`. Run under FlushDenormals.
template <class Fast, class True>
Worst worst_over(Fast fast, True exact, uint64_t first, uint64_t end, uint64_t stride) {
  constexpr int width = lanes<Vec>;
  Worst worst;
  for (uint64_t bits = first; bits < end; bits += stride * width) {
    float x[width], actual[width];
    for (int i = 0; i < width; ++i) {
      const uint64_t at = bits + stride * static_cast<uint64_t>(i);
      x[i] = from_bits(static_cast<uint32_t>(at < end ? at : first));
    }
    store(actual, fast(load<Vec>(x)));
    for (int i = 0; i < width; ++i) {
      const double expected = of_float(exact, x[i]);
      worst.take({error_in_ulps(actual[i], expected), x[i], actual[i], expected});
    }
  }
  return worst;
}

// Calls visit(name, the fast function, the true one) for each function of math_fast.h.
template <class Visit>
void for_each_function(const Visit& visit) {
  visit("exp", [](auto x) { return fast_exp(x); }, [](double x) { return std::exp(x); });
  visit("log", [](auto x) { return fast_log(x); }, [](double x) { return std::log(x); });
  visit("tanh", [](auto x) { return fast_tanh(x); }, [](double x) { return std::tanh(x); });
  visit("sigmoid", [](auto x) { return fast_sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
}

}  // namespace natif::kernels::truth
