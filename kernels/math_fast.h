// exp, log, tanh and sigmoid within 2 ULP of the true value over the whole float32 domain, for numerics="fast": not eager's bits.
//
// Bounds hold for results that are normal numbers; denormal operands count as zero and denormal results are flushed (run under
// FlushDenormals). NaN gives NaN, infinities give the limits, log of a negative number gives NaN and log(±0) −inf, as in eager. A tail
// element takes the vector formula, so the two kinds agree. Polynomials of log and tanh: the Cephes mathematical library (S. Moshier),
// single precision; exp: Taylor's series to degree 7 on |r| ≤ ln(2)/2.
#pragma once

#include "kernels/math.h"

namespace natif::kernels {
namespace {

// Horner's scheme, highest coefficient first.
template <Vector V, class... Rest>
[[gnu::always_inline]] inline V polynomial(V x, V highest, Rest... rest) {
  ((highest = fma(highest, x, splat<V>(rest))), ...);
  return highest;
}

template <Vector V>
[[gnu::always_inline]] inline V fast_exp(V x) {
  const V bounded = greater(splat<V>(-104.f), lesser(splat<V>(89.f), x));  // NaN stays, as the second operand
  const V n = floor(fma(bounded, splat<V>(1.44269504088896341f), splat<V>(.5f)));
  V r = fma(n, splat<V>(-0.693359375f), bounded);
  r = fma(n, splat<V>(2.12194440e-4f), r);
  const V tail = polynomial(r, splat<V>(1.f / 5040), 1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, .5f);
  return scale_by_power_of_two(fma(r * r, tail, r) + splat<V>(1.f), n);
}

template <Vector V>
[[gnu::always_inline]] inline V fast_log(V a) {
  using I = IntOf<V>;
  const I bits = reinterpret_cast<I>(a);
  V m = reinterpret_cast<V>((bits & 0x007fffff) | 0x3f000000);  // [0.5, 1)
  const I low = m < splat<V>(0.707106781186547524f);
  const V e = __builtin_convertvector((bits >> 23) - 126 + low, V);
  m = (low ? m + m : m) - splat<V>(1.f);
  const V m2 = m * m;
  V y = polynomial(m, splat<V>(7.0376836292e-2f), -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                   -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  y = fma(e, splat<V>(-2.12194440e-4f), y * m * m2);
  y = fma(m2, splat<V>(-.5f), y) + m;
  y = fma(e, splat<V>(0.693359375f), y);
  const V infinity = splat<V>(__builtin_inff());
  y = a >= V{} ? y : splat<V>(__builtin_nanf(""));
  y = a == infinity ? infinity : y;
  return a == V{} ? -infinity : y;
}

template <Vector V>
[[gnu::always_inline]] inline V fast_tanh(V x) {
  using I = IntOf<V>;
  const V magnitude = abs(x), z = x * x;
  const V p = polynomial(z, splat<V>(-5.70498872745e-3f), 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f);
  const V near = fma(p * z, magnitude, magnitude);
  const V far = splat<V>(1.f) - splat<V>(2.f) / (fast_exp(magnitude + magnitude) + splat<V>(1.f));
  const V y = magnitude < splat<V>(.625f) ? near : far;
  return reinterpret_cast<V>(reinterpret_cast<I>(y) | (reinterpret_cast<I>(x) & INT32_MIN));
}

// With e = exp(−|x|): e / (1 + e) below zero, else 1 / (1 + e). The quotient is corrected for its own rounding and for that of 1 + e, which
// leaves little more than e's error.
template <Vector V>
[[gnu::always_inline]] inline V fast_sigmoid(V x) {
  const V one = splat<V>(1.f), e = fast_exp(-abs(x)), sum = one + e, lost = e - (sum - one);
  const V top = x < V{} ? e : one, inverse = one / sum, quotient = top * inverse;
  return fma(fma(-quotient, sum, top) - quotient * lost, inverse, quotient);
}

inline Tail fast_exp(Tail x) { return {fast_exp(splat<F4>(x.v))[0], x.leads_odd}; }
inline Tail fast_log(Tail x) { return {fast_log(splat<F4>(x.v))[0], x.leads_odd}; }
inline Tail fast_tanh(Tail x) { return {fast_tanh(splat<F4>(x.v))[0], x.leads_odd}; }
inline Tail fast_sigmoid(Tail x) { return {fast_sigmoid(splat<F4>(x.v))[0], x.leads_odd}; }

}  // namespace
}  // namespace natif::kernels
