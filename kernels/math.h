// Pointwise float32 functions with eager's bits: one overload set for vectors and for tail elements.
//
// Eager's kernels (the wheel's Eigen, compiled for AVX without FMA) compute whole groups of 8 elements of the flat tensor with packet
// formulas and the last n mod 8 with scalar ones; some functions give different bits in the two. A vector of any width takes the packet
// formula, since that is a fixed sequence of separately rounded operations on each element; `Tail` marks an element of the last n mod 8 and
// takes the scalar formula. A generic lambda `[](auto x0, auto x1) { return relu(add(x0, x1)); }` is instantiated with both.
//
// All bits equal eager's for every input, denormals, infinities, zeros' signs and NaN payloads included, when run under FlushDenormals; one
// exception: which payload an operation on two NaNs keeps. Formulas and constants are those of the Eigen headers that ship in the wheel
// (Core/arch/Default/GenericPacketMathFunctions.h, Core/functors/UnaryFunctors.h, Core/MathFunctionsImpl.h). Tails of exp, log and sigmoid
// call the C library's expf and logf, as the wheel does: link it dynamically and compile with -fno-builtin-expf -fno-builtin-logf.
#pragma once

#include "kernels/vec.h"

// Declared here, as the C library does: <math.h> would bring in the whole of <cmath>.
extern "C" float expf(float) noexcept;
extern "C" float logf(float) noexcept;

namespace natif::kernels {
namespace {

// An element in the last n mod 8 of the flat tensor. Eager's scalar loops take two elements at a time, after a first one if their number is
// odd; `leads_odd` marks that one, which relu treats differently.
struct Tail {
  float v;
  bool leads_odd = false;
};

template <class T>
concept Element = Vector<T> || __is_same(T, Tail);

// A constant operand of the same kind as the element it meets: constant<decltype(x)>(0.5f).
template <Element T>
[[gnu::always_inline]] inline T constant(float value) {
  if constexpr (Vector<T>) {
    return splat<T>(value);
  } else {
    return T{value};
  }
}

// The same value, of which the compiler knows nothing. It would take x - 0, x * 1 and x / 1 for x itself, but a denormal x is flushed.
[[gnu::always_inline]] inline float opaque(float value) {
#if defined(__x86_64__)
  asm("" : "+x"(value));
#else
  asm("" : "+w"(value));
#endif
  return value;
}

// ---- one formula for both
// ---------------------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline Tail operator+(Tail a, Tail b) { return {a.v + b.v, a.leads_odd || b.leads_odd}; }
[[gnu::always_inline]] inline Tail operator-(Tail a, Tail b) { return {a.v - b.v, a.leads_odd || b.leads_odd}; }
[[gnu::always_inline]] inline Tail operator*(Tail a, Tail b) { return {a.v * b.v, a.leads_odd || b.leads_odd}; }
[[gnu::always_inline]] inline Tail operator/(Tail a, Tail b) { return {a.v / b.v, a.leads_odd || b.leads_odd}; }

// Integer operations on a tail's bits, so that no compiler turns a select into a minimum or maximum, which would flush denormals.
[[gnu::always_inline]] inline Tail select(bool condition, Tail a, Tail b) {
  const uint32_t mask = -static_cast<uint32_t>(condition);
  const uint32_t bits = (__builtin_bit_cast(uint32_t, a.v) & mask) | (__builtin_bit_cast(uint32_t, b.v) & ~mask);
  return {__builtin_bit_cast(float, bits), a.leads_odd || b.leads_odd};
}

// Lane 0 of the vector formula: for functions whose tail must be the vector instruction's own result.
template <class Formula>
[[gnu::always_inline]] inline Tail through_vector(Formula formula, Tail a, Tail b) {
  return {formula(splat<F4>(a.v), splat<F4>(b.v))[0], a.leads_odd || b.leads_odd};
}

[[gnu::always_inline]] inline Tail lesser(Tail a, Tail b) {
  return through_vector([](F4 x, F4 y) { return lesser(x, y); }, a, b);
}
[[gnu::always_inline]] inline Tail greater(Tail a, Tail b) {
  return through_vector([](F4 x, F4 y) { return greater(x, y); }, a, b);
}

template <Element T>
[[gnu::always_inline]] inline T add(T a, T b) {
  return a + b;
}
template <Element T>
[[gnu::always_inline]] inline T sub(T a, T b) {
  return a - b;
}
template <Element T>
[[gnu::always_inline]] inline T mul(T a, T b) {
  return a * b;
}
template <Element T>
[[gnu::always_inline]] inline T div(T a, T b) {
  return a / b;
}
template <Element T>
[[gnu::always_inline]] inline T square(T a) {
  return a * a;
}

// ---- sign and order
// ---------------------------------------------------------------------------------------------------------------------------

template <Vector V>
[[gnu::always_inline]] inline V neg(V a) {
  return reinterpret_cast<V>(reinterpret_cast<IntOf<V>>(a) ^ INT32_MIN);
}
[[gnu::always_inline]] inline Tail neg(Tail a) {
  return {__builtin_bit_cast(float, __builtin_bit_cast(uint32_t, a.v) ^ 0x80000000u), a.leads_odd};
}

template <Vector V>
[[gnu::always_inline]] inline V abs(V a) {
  return reinterpret_cast<V>(reinterpret_cast<IntOf<V>>(a) & INT32_MAX);
}
[[gnu::always_inline]] inline Tail abs(Tail a) {
  return {__builtin_bit_cast(float, __builtin_bit_cast(uint32_t, a.v) & 0x7fffffffu), a.leads_odd};
}

// NaN from either side wins, the first operand's if both are; of two equal zeros a group takes the second operand, a tail the first.
template <Vector V>
[[gnu::always_inline]] inline V maximum(V a, V b) {
  return a == a ? greater(a, b) : a;
}
template <Vector V>
[[gnu::always_inline]] inline V minimum(V a, V b) {
  return a == a ? lesser(a, b) : a;
}
[[gnu::always_inline]] inline Tail maximum(Tail a, Tail b) { return select(b.v == b.v || a.v != a.v, greater(b, a), b); }
[[gnu::always_inline]] inline Tail minimum(Tail a, Tail b) { return select(b.v == b.v || a.v != a.v, lesser(b, a), b); }

// A group gives +0 for −0 and for denormals. A tail keeps −0 and the sign of denormals, and denormals themselves where it leads an odd one.
template <Vector V>
[[gnu::always_inline]] inline V relu(V a) {
  return a <= V{} ? V{} : a;
}
[[gnu::always_inline]] inline Tail relu(Tail a) { return a.leads_odd ? select(a.v < 0.f, Tail{0.f}, a) : greater(Tail{0.f}, a); }

template <Vector V>
[[gnu::always_inline]] inline V sqrt(V a) {
  return square_root(a);
}
[[gnu::always_inline]] inline Tail sqrt(Tail a) { return {__builtin_sqrtf(a.v), a.leads_odd}; }

// ---- transcendentals
// --------------------------------------------------------------------------------------------------------------------------

// x = m·ln 2 + r with whole m and |r| ≤ ln(2)/2.
template <Vector V>
struct ReducedByLn2 {
  V m, r;
};

template <Vector V>
[[gnu::always_inline]] inline ReducedByLn2<V> reduce_by_ln2(V x) {
  const V m = floor(x * splat<V>(1.44269504088896341f) + splat<V>(.5f));
  const V r = m * splat<V>(-0.693359375f) + x;
  return {m, m * splat<V>(2.12194440e-4f) + r};
}

template <Vector V>
[[gnu::always_inline]] inline V exp(V x) {
  const auto [m, r] = reduce_by_ln2(lesser(splat<V>(88.723f), x));
  const V r2 = r * r;
  V even = r2 * splat<V>(1.37449637986719608306884765625e-3f) + splat<V>(4.166965186595916748046875e-2f);
  const V odd = r2 * splat<V>(8.36894474923610687255859375e-3f) + splat<V>(0.16666518151760101318359375f);
  even = r2 * even + splat<V>(0.49999988079071044921875f);
  const V y = r2 * (r * odd + even) + (r + splat<V>(1.f));
  return x < splat<V>(-104.f) ? V{} : greater(x, scale_by_power_of_two(y, m));
}
[[gnu::noinline]] inline Tail exp(Tail x) { return {expf(x.v), x.leads_odd}; }

template <Vector V>
[[gnu::always_inline]] inline V sigmoid(V x) {
  const auto [m, r] = reduce_by_ln2(lesser(splat<V>(16.6355324f), x) * splat<V>(.5f));
  const V r2 = r * r;
  const V even = r2 * splat<V>(4.1898667812347412109375e-2f) + splat<V>(0.49999141693115234375f);
  const V odd = r2 * splat<V>(8.33471305668354034423828125e-3f) + splat<V>(0.16666877269744873046875f);
  V e = scale_by_power_of_two(r2 * (r * odd + even) + (r + splat<V>(1.f)), m);
  e = e * e;
  return x < splat<V>(-104.f) ? V{} : e / (splat<V>(1.f) + e);
}
[[gnu::noinline]] inline Tail sigmoid(Tail x) {
  const float e = expf(16.6355324f < x.v ? 16.6355324f : x.v);
  return {e / (1.f + e), x.leads_odd};
}

template <Element T>
[[gnu::always_inline]] inline T tanh(T a) {
  const T x = greater(constant<T>(-7.90738964080810547f), lesser(constant<T>(7.90738964080810547f), a));
  const T x2 = x * x;
  const T x3 = x2 * x;
  T p = constant<T>(1.394553628e-8f);
  p = p * x2 + constant<T>(2.102733560e-5f);
  p = p * x2 + constant<T>(3.520756727e-3f);
  p = p * x2 + constant<T>(1.340216100e-1f);
  T q = constant<T>(8.015776984e-7f);
  q = q * x2 + constant<T>(3.326951409e-4f);
  q = q * x2 + constant<T>(2.597254514e-2f);
  q = q * x2 + constant<T>(4.673548340e-1f);
  q = q * x2 + constant<T>(1.f);
  return (x3 * p + x) / q;
}

template <Vector V>
[[gnu::always_inline]] inline V log(V a) {
  using I = IntOf<V>;
  // Denormals count as zero (log gives −inf), so a is split as a normal number: mantissa in [0.5, 1), exponent to match.
  const I bits = reinterpret_cast<I>(a);
  V m = reinterpret_cast<V>((bits & ~0x7f800000) | 0x3f000000);
  V e = __builtin_convertvector(((bits & INT32_MAX) >> 23) - 126, V);
  const I low = m < splat<V>(0.707106781186547524f);
  const V doubled = reinterpret_cast<V>(reinterpret_cast<I>(m) & low);
  m = (m - splat<V>(1.f)) + doubled;
  e = e - reinterpret_cast<V>(reinterpret_cast<I>(splat<V>(1.f)) & low);
  V p = splat<V>(0.18256296349849254f) * m + splat<V>(1.0000000190281063f);
  p = p * m + splat<V>(1.0000000190281136f);
  p = m * p;
  V q = splat<V>(0.049616247954120038f) * m + splat<V>(0.59923249590823520f);
  q = q * m + splat<V>(1.4999999999999927f);
  q = q * m + splat<V>(1.f);
  V y = e * splat<V>(0.693147180559945309f) + p / q;
  const V infinity = splat<V>(__builtin_inff());
  y = a == infinity ? infinity : y;
  const I invalid = ~(a >= V{});  // negative or NaN: all bits set
  y = reinterpret_cast<V>(reinterpret_cast<I>(y) | invalid);
  return a == V{} ? -infinity : y;
}
[[gnu::noinline]] inline Tail log(Tail x) { return {logf(x.v), x.leads_odd}; }

// ---- reciprocals
// ------------------------------------------------------------------------------------------------------------------------------

// The processor's 12-bit estimates, on which the packet formulas stand: their bits are eager's on the same processor only. They are those
// of vrcpps and vrsqrtps on every x86 level, not of AVX-512's own estimates.
#if defined(__x86_64__)
[[gnu::always_inline]] inline F4 estimate_reciprocal(F4 a) { return __builtin_ia32_rcpps(a); }
[[gnu::always_inline]] inline F4 estimate_rsqrt(F4 a) { return __builtin_ia32_rsqrtps(a); }
#else
[[gnu::always_inline]] inline F4 estimate_reciprocal(F4 a) { return splat<F4>(1.f) / a; }
[[gnu::always_inline]] inline F4 estimate_rsqrt(F4 a) { return splat<F4>(1.f) / square_root(a); }
#endif
#if defined(__AVX2__) && defined(__FMA__)
[[gnu::always_inline]] inline F8 estimate_reciprocal(F8 a) { return __builtin_ia32_rcpps256(a); }
[[gnu::always_inline]] inline F8 estimate_rsqrt(F8 a) { return __builtin_ia32_rsqrtps256(a); }
#endif
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
template <class Estimate>
[[gnu::always_inline]] inline F16 by_halves(F16 a, Estimate estimate) {
  const F8 low = estimate(__builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7));
  const F8 high = estimate(__builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15));
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
[[gnu::always_inline]] inline F16 estimate_reciprocal(F16 a) {
  return by_halves(a, [](F8 half) { return estimate_reciprocal(half); });
}
[[gnu::always_inline]] inline F16 estimate_rsqrt(F16 a) {
  return by_halves(a, [](F8 half) { return estimate_rsqrt(half); });
}
#endif

template <Vector V>
[[gnu::always_inline]] inline V reciprocal(V a) {
  const V x = estimate_reciprocal(a);
  const V left = splat<V>(1.f) - a * x;
  return left == left ? x * left + x : x;
}
[[gnu::always_inline]] inline Tail reciprocal(Tail a) { return {1.f / a.v, a.leads_odd}; }

template <Vector V>
[[gnu::always_inline]] inline V rsqrt(V a) {
  const V x = estimate_rsqrt(a);
  const V refined = (x * splat<V>(-.5f)) * ((a * x) * x + splat<V>(-1.f)) + x;
  return refined == refined ? refined : x;
}
[[gnu::always_inline]] inline Tail rsqrt(Tail a) { return {1.f / __builtin_sqrtf(a.v), a.leads_odd}; }

}  // namespace
}  // namespace natif::kernels
