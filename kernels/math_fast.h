// exp, log, tanh and sigmoid within 2 ULP of the true value over the whole float32 domain, for numerics="fast": not eager's bits.
//
// Contract: denormal operands count as zero, results below the smallest normal number are flushed or exact (run under FlushDenormals). NaN
// gives NaN; infinities give the limits; exp overflows to inf and underflows to 0; log of a negative number is NaN, log(±0) −inf;
// tanh(−0) is −0: all as in eager. The result depends neither on the vector's width nor on the place in it, and a tail element takes the
// vector formula; it does depend on the level, as multiply_add rounds once or twice.
//
// Largest errors over all 2³² floats in ULP of the true value, measured by math_fast_exhaustive.cpp (`make test-exhaustive`):
//
//             x86-64-v4  x86-64-v3  x86-64-v2
//   exp          0.9013     0.9013     1.1760
//   log          1.1368     1.1368     1.2795
//   tanh         1.0879     1.0271     1.9451
//   sigmoid      1.6465     1.6465     1.9762
#pragma once

#include "kernels/math.h"
#include "kernels/tanh_segments.h"

namespace natif::kernels {
namespace {

// a·b + c, by FMA where the processor has it.
template <Vector V>
[[gnu::always_inline]] inline V multiply_add(V a, V b, V c) {
#if defined(__FMA__) || defined(__aarch64__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Horner's scheme, highest coefficient first.
template <Vector V, class... Rest>
[[gnu::always_inline]] inline V polynomial(V x, V highest, Rest... rest) {
  ((highest = multiply_add(highest, x, splat<V>(rest))), ...);
  return highest;
}

// ---- powers of two ----

// Added to a number of less than 2²² in magnitude, it leaves the nearest whole number n in the sum's lowest bits, plus the exponent's bias:
// shifted to the exponent's place, they are 2^n for −127 ≤ n ≤ 128 (0 and inf at the ends).
constexpr float kWholeNumbers = 0x1.8p23f + 127.f;

template <Vector V>
[[gnu::always_inline]] inline V shifted_power_of_two(V sum) {
  return reinterpret_cast<V>(reinterpret_cast<IntOf<V>>(sum) << 23);
}

// e^x = mantissa · 2^n, n = sum − kWholeNumbers, the mantissa in [0.7, 1.42].
template <Vector V>
struct ExpParts {
  V mantissa, sum;
};

// For |x| < 2¹⁶. x = n·ln 2 + r, ln 2 in two constants of which the first has 9 bits, so that n times it is exact (Cody and Waite). On
// |r| ≤ 0.3475, e^r is 1 + r + r²·p(r), p the minimax polynomial of degree 4 with float32 coefficients by Lawson's algorithm, rounded one
// after the other from the lowest on: 0.075 · 2⁻²⁴ of error.
template <Vector V>
[[gnu::always_inline]] inline ExpParts<V> exp_parts(V x) {
  const V sum = multiply_add(x, splat<V>(1.44269504088896341f), splat<V>(kWholeNumbers)), n = sum - splat<V>(kWholeNumbers);
  V r = multiply_add(n, splat<V>(-0.693359375f), x);
  r = multiply_add(n, splat<V>(2.12194440e-4f), r);
  return {polynomial(r, splat<V>(0x1.696fecp-10f), 0x1.1239f2p-7f, 0x1.555a0cp-5f, 0x1.555492p-3f, 0x1.fffffap-2f, 1.f, 1.f), sum};
}

// For x up to 88, where 2^n is a float; 0 from n = −127 down to x = −88.3.
template <Vector V>
[[gnu::always_inline]] inline V exp_below_overflow(V x) {
  const ExpParts<V> e = exp_parts(x);
  return e.mantissa * shifted_power_of_two(e.sum);
}

// `lesser` and `greater` keep a NaN that is their second operand.
template <Vector V>
[[gnu::always_inline]] inline V between(float low, V x, float high) {
  return greater(splat<V>(low), lesser(splat<V>(high), x));
}

template <Vector V>
[[gnu::always_inline]] inline V fast_exp(V x) {
  const ExpParts<V> e = exp_parts(between(-88.f, x, 89.f));
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  return scale_by_power_of_two(e.mantissa, e.sum - splat<V>(kWholeNumbers));
#else
  // n = 128 belongs to finite results with a mantissa below 1: 2^127 first, then once more as much.
  const V most = lesser(splat<V>(kWholeNumbers + 127.f), e.sum), y = e.mantissa * shifted_power_of_two(most);
  return multiply_add(y, e.sum - most, y);
#endif
}

// ---- log ----

// ln x = ln m + e·ln 2 with m in [0.75, 1.5): ln(1 + r) is r + r²·p(r), p of degree 7, found as exp's: 0.47 · 2⁻²⁴ of relative error.
template <Vector V>
[[gnu::always_inline]] inline V log_of_parts(V m, V e) {
  const V r = m - splat<V>(1.f);
  const V p = polynomial(r, splat<V>(0x1.bb8ea4p-5f), -0x1.ee41fep-4f, 0x1.32d654p-3f, -0x1.588598p-3f, 0x1.99221cp-3f, -0x1.ffddde0p-3f,
                         0x1.5555e4p-2f, -0x1.000014p-1f);
  return multiply_add(e, splat<V>(0.693147180559945309f), multiply_add(r * r, p, r));
}

template <Vector V>
[[gnu::always_inline]] inline V fast_log(V a) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) {  // the instructions' own special values are the logarithm's
    constexpr int nan_if_negative_and_from_three_quarters = 0b1011;
    const V m = __builtin_ia32_getmantps512_mask(a, nan_if_negative_and_from_three_quarters, a, static_cast<uint16_t>(-1), 4);
    const V e = __builtin_ia32_getexpps512_mask(a, a, static_cast<uint16_t>(-1), 4);  // of a mantissa in [1, 2)
    return log_of_parts(m, m < splat<V>(1.f) ? e + splat<V>(1.f) : e);
  }
#endif
  using I = IntOf<V>;
  typedef uint32_t Bits __attribute__((vector_size(sizeof(V))));  // of negative numbers, too, whose difference to 0.75 wraps around
  const Bits bits = reinterpret_cast<Bits>(a), above = bits - 0x3f400000u;
  const V m = reinterpret_cast<V>(bits - (above & 0xff800000u)), e = __builtin_convertvector(reinterpret_cast<I>(above) >> 23, V);
  const V infinity = splat<V>(__builtin_inff());
  V y = log_of_parts(m, e);
  y = reinterpret_cast<V>(reinterpret_cast<I>(y) | ~(a >= V{}));  // negative or NaN: all bits set
  y = a == infinity ? infinity : y;
  return a == V{} ? -infinity : y;
}

// ---- tanh and sigmoid ----

// `magnitude` without a sign.
template <Vector V>
[[gnu::always_inline]] inline V with_sign_of(V magnitude, V x) {
  using I = IntOf<V>;
  return reinterpret_cast<V>(reinterpret_cast<I>(magnitude) | (reinterpret_cast<I>(x) & INT32_MIN));
}

// tanh |x| = a / (2 − a) with a = 1 − e^(−2|x|) = c − h: c = 1 − 2^n and h = 2^n·(e^(−2r) − 1) with |r| ≤ ln(2)/4, both exact. a itself is
// rounded, which alone would take more than 2 ULP; the quotient is corrected by what c − h leaves over. e^(−2r) − 1 is r times a polynomial
// of degree 5, found as exp's: 0.23 · 2⁻²⁴ of relative error.
template <Vector V>
[[gnu::always_inline]] inline V tanh_by_exp(V x) {
  const V magnitude = lesser(splat<V>(9.1f), abs(x));
  const V sum = multiply_add(magnitude, splat<V>(-2.88539008f), splat<V>(kWholeNumbers)), n = sum - splat<V>(kWholeNumbers);
  const V r = multiply_add(n, splat<V>(0.34657359027997264f), magnitude), power = shifted_power_of_two(sum);
  const V c = splat<V>(1.f) - power;
  const V h = power * (r * polynomial(r, splat<V>(0x1.6b9ce6p-4f), -0x1.12256cp-2f, 0x1.5556f2p-1f, -0x1.5554b4p+0f, 0x1.fffffep+0f, -2.f));
  const V a = c - h, inverse = splat<V>(1.f) / (splat<V>(2.f) - a), quotient = a * inverse;
  const V left = multiply_add(quotient, a, multiply_add(splat<V>(-2.f), quotient, c) - h);
  return with_sign_of(multiply_add(left, inverse, quotient), x);
}

template <Vector V>
[[gnu::always_inline]] inline V fast_tanh(V x) {
#if defined(__AVX2__) && defined(__FMA__)
  Vec wide = {};
  memcpy(&wide, &x, sizeof x);
  wide = with_sign_of(tanh_by_segments(abs(wide)), wide);
  memcpy(&x, &wide, sizeof x);
  return x;
#else
  return tanh_by_exp(x);
#endif
}

// With e = e^x and q = e / (1 + e): q, but e − e·q below zero, where the rounding of 1 + e would otherwise weigh as much as e's.
template <Vector V>
[[gnu::always_inline]] inline V fast_sigmoid(V x) {
  const V e = exp_below_overflow(between(-88.f, x, 17.5f)), quotient = e / (splat<V>(1.f) + e);
  return x < V{} ? multiply_add(-e, quotient, e) : quotient;
}

inline Tail fast_exp(Tail x) { return {fast_exp(splat<F4>(x.v))[0], x.leads_odd}; }
inline Tail fast_log(Tail x) { return {fast_log(splat<F4>(x.v))[0], x.leads_odd}; }
inline Tail fast_tanh(Tail x) { return {fast_tanh(splat<F4>(x.v))[0], x.leads_odd}; }
inline Tail fast_sigmoid(Tail x) { return {fast_sigmoid(splat<F4>(x.v))[0], x.leads_odd}; }

}  // namespace
}  // namespace natif::kernels
