// Vectors of float for every level the kernels are built for: x86-64-v2 (4 lanes), v3 (8), v4 (16) and AArch64 (4), from one source.
//
// The types are the compiler's vector extensions, so arithmetic, comparisons and selects are plain operators; only what those lack (fma,
// square root, floor, partial loads and stores, scaling by powers of two, lane masks) is written here, once for each instruction set.
// Narrower vectors stay available at every level: F4 always, F8 from v3, F16 at v4; `Vec` is the widest.
//
// Everything in kernels/ lives in unnamed namespaces: translation units compiled for several levels, each with its own meaning of `Vec`,
// link into one library without one's code standing in for another's. The vendor's intrinsics header is left out on purpose: it alone takes
// 0.3 s to parse, half of the time a generated file may take to compile.
//
// Compile with -ffp-contract=off (a multiplication and an addition fuse only where `fma` is written) and -fno-math-errno.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace natif::kernels {
namespace {

typedef float F4 __attribute__((vector_size(16)));
typedef int32_t I4 __attribute__((vector_size(16)));
#if defined(__AVX2__) && defined(__FMA__)
typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));
#endif
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
typedef float F16 __attribute__((vector_size(64)));
typedef int32_t I16 __attribute__((vector_size(64)));
using Vec = F16;
#elif defined(__AVX2__) && defined(__FMA__)
using Vec = F8;
#else
using Vec = F4;
#endif

template <class V>
constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(float));

template <class V>
struct VectorTraits {
  static constexpr bool is_vector = false;
};

template <>
struct VectorTraits<F4> {
  static constexpr bool is_vector = true;
  using Int = I4;
  using Half = F4;
  [[gnu::always_inline]] static F4 splat(float x) { return F4{x, x, x, x}; }
  [[gnu::always_inline]] static I4 iota() { return I4{0, 1, 2, 3}; }
};

#if defined(__AVX2__) && defined(__FMA__)
template <>
struct VectorTraits<F8> {
  static constexpr bool is_vector = true;
  using Int = I8;
  using Half = F4;
  [[gnu::always_inline]] static F8 splat(float x) { return F8{x, x, x, x, x, x, x, x}; }
  [[gnu::always_inline]] static I8 iota() { return I8{0, 1, 2, 3, 4, 5, 6, 7}; }
};
#endif

#if defined(__AVX512VL__) && defined(__AVX512DQ__)
template <>
struct VectorTraits<F16> {
  static constexpr bool is_vector = true;
  using Int = I16;
  using Half = F8;
  [[gnu::always_inline]] static F16 splat(float x) { return F16{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
  [[gnu::always_inline]] static I16 iota() { return I16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
};
#endif

template <class V>
concept Vector = VectorTraits<V>::is_vector;

template <Vector V>
using IntOf = typename VectorTraits<V>::Int;

template <Vector V>
[[gnu::always_inline]] inline V splat(float x) {
  return VectorTraits<V>::splat(x);
}

template <Vector V>
[[gnu::always_inline]] inline V splat_bits(uint32_t bits) {
  return splat<V>(__builtin_bit_cast(float, bits));
}

// ---- memory: any alignment
// -----------------------------------------------------------------------------------------------------------------

template <Vector V>
[[gnu::always_inline]] inline V load(const float* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}

template <Vector V>
[[gnu::always_inline]] inline void store(float* p, V v) {
  memcpy(p, &v, sizeof v);
}

#if defined(__AVX2__) && defined(__FMA__)
[[gnu::always_inline]] inline F4 load_first(const float* p, int n, F4 others) {
  const I4 mask = VectorTraits<F4>::iota() < n;
  return mask ? __builtin_ia32_maskloadps(reinterpret_cast<const F4*>(p), mask) : others;
}
[[gnu::always_inline]] inline void store_first(float* p, F4 v, int n) {
  __builtin_ia32_maskstoreps(reinterpret_cast<F4*>(p), VectorTraits<F4>::iota() < n, v);
}
[[gnu::always_inline]] inline F8 load_first(const float* p, int n, F8 others) {
  const I8 mask = VectorTraits<F8>::iota() < n;
  return mask ? __builtin_ia32_maskloadps256(reinterpret_cast<const F8*>(p), mask) : others;
}
[[gnu::always_inline]] inline void store_first(float* p, F8 v, int n) {
  __builtin_ia32_maskstoreps256(reinterpret_cast<F8*>(p), VectorTraits<F8>::iota() < n, v);
}
#else
[[gnu::always_inline]] inline F4 load_first(const float* p, int n, F4 others) {
  switch (n) {
    case 0:
      return others;
    case 1:
      return F4{p[0], others[1], others[2], others[3]};
    case 2:
      return F4{p[0], p[1], others[2], others[3]};
    case 3:
      return F4{p[0], p[1], p[2], others[3]};
    default:
      return load<F4>(p);
  }
}
[[gnu::always_inline]] inline void store_first(float* p, F4 v, int n) {
  if (n >= 4) return store(p, v);
  for (int i = 0; i < n; ++i) p[i] = v[i];
}
#endif

#if defined(__AVX512VL__) && defined(__AVX512DQ__)
[[gnu::always_inline]] inline F16 load_first(const float* p, int n, F16 others) {
  return __builtin_ia32_loadups512_mask(p, others, static_cast<uint16_t>((1u << n) - 1));
}
[[gnu::always_inline]] inline void store_first(float* p, F16 v, int n) {
  __builtin_ia32_storeups512_mask(p, v, static_cast<uint16_t>((1u << n) - 1));
}
#endif

// The first n lanes (0 ≤ n ≤ lanes) from memory, the others from `others`; nothing past the n is read.
template <Vector V>
[[gnu::always_inline]] inline V load_partial(const float* p, int n, V others = V{}) {
  return load_first(p, n, others);
}

// Stores the first n lanes (0 ≤ n ≤ lanes); nothing past them is written.
template <Vector V>
[[gnu::always_inline]] inline void store_partial(float* p, V v, int n) {
  store_first(p, v, n);
}

// Holds a loaded value in a register: where registers are scarce the compiler would load it again for each use, and a load that straddles
// two cache lines costs double.
template <Vector V>
[[gnu::always_inline]] inline V held(V v) {
#if defined(__aarch64__)
  asm("" : "+w"(v));
#elif defined(__AVX512VL__)
  asm("" : "+v"(v));
#else
  asm("" : "+x"(v));
#endif
  return v;
}

// ---- arithmetic that the operators lack
// -----------------------------------------------------------------------------------------------------

// a·b + c rounded once: the instruction where there is one, otherwise the C library's exact and slow fmaf on each lane.
template <Vector V>
[[gnu::always_inline]] inline V fma(V a, V b, V c) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_vfmaddps512_mask(a, b, c, static_cast<uint16_t>(-1), 4);
#endif
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (lanes<V> == 8) return __builtin_ia32_vfmaddps256(a, b, c);
  if constexpr (lanes<V> == 4) return __builtin_ia32_vfmaddps(a, b, c);
#endif
  V out;
  for (int i = 0; i < lanes<V>; ++i) out[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return out;
}

template <Vector V>
[[gnu::always_inline]] inline V square_root(V a) {
  V out;
  for (int i = 0; i < lanes<V>; ++i) out[i] = __builtin_sqrtf(a[i]);
  return out;
}

template <Vector V>
[[gnu::always_inline]] inline V floor(V a) {
  constexpr int down = 9;  // toward −∞, no inexact exception
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_rndscaleps_mask(a, down, a, static_cast<uint16_t>(-1), 4);
#endif
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (lanes<V> == 8) return __builtin_ia32_roundps256(a, down);
#endif
#if defined(__SSE4_1__)
  if constexpr (lanes<V> == 4) return __builtin_ia32_roundps(a, down);
#endif
  (void)down;
  V out;
  for (int i = 0; i < lanes<V>; ++i) out[i] = __builtin_floorf(a[i]);
  return out;
}

// minps and maxps: b unless a < b (a > b), so b when either is NaN and when both are zero. The builtins, since a select that the compiler
// turns into compare and blend would keep a denormal that the instruction flushes.
template <Vector V>
[[gnu::always_inline]] inline V lesser(V a, V b) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__clang__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_minps512(a, b, 4);
#elif defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_minps512_mask(a, b, a, static_cast<uint16_t>(-1), 4);
#endif
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (lanes<V> == 8) return __builtin_ia32_minps256(a, b);
#endif
#if defined(__x86_64__)
  if constexpr (lanes<V> == 4) return __builtin_ia32_minps(a, b);
#endif
  return a < b ? a : b;
}

template <Vector V>
[[gnu::always_inline]] inline V greater(V a, V b) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__clang__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_maxps512(a, b, 4);
#elif defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_maxps512_mask(a, b, a, static_cast<uint16_t>(-1), 4);
#endif
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (lanes<V> == 8) return __builtin_ia32_maxps256(a, b);
#endif
#if defined(__x86_64__)
  if constexpr (lanes<V> == 4) return __builtin_ia32_maxps(a, b);
#endif
  return a > b ? a : b;
}

template <Vector V>
[[gnu::always_inline]] inline IntOf<V> to_int(V a) {
  return __builtin_convertvector(a, IntOf<V>);
}

template <Vector V>
[[gnu::always_inline]] inline V power_of_two(IntOf<V> exponent) {  // −127 ≤ exponent ≤ 128: 0 and inf at the ends
  return reinterpret_cast<V>((exponent + 127) << 23);
}

// a · 2^m rounded once, for whole m; overflow, underflow (flushed with FTZ) and NaN as one multiplication would give them, were 2^m a
// float.
template <Vector V>
[[gnu::always_inline]] inline V scale_by_power_of_two(V a, V m) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) return __builtin_ia32_scalefps512_mask(a, m, a, static_cast<uint16_t>(-1), 4);
  if constexpr (lanes<V> == 8) return __builtin_ia32_scalefps256_mask(a, m, a, static_cast<uint8_t>(-1));
  if constexpr (lanes<V> == 4) return __builtin_ia32_scalefps128_mask(a, m, a, static_cast<uint8_t>(-1));
#endif
  const IntOf<V> whole = to_int(lesser(splat<V>(252.f), greater(splat<V>(-252.f), m)));
  const IntOf<V> half = whole >> 1;
  return a * power_of_two<V>(half) * power_of_two<V>(whole - half);
}

// ---- lanes
// ----------------------------------------------------------------------------------------------------------------------------------

// One bit a lane, lane 0 lowest, from a comparison's result.
template <Vector V>
[[gnu::always_inline]] inline uint32_t lane_bits(IntOf<V> mask) {
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
  if constexpr (lanes<V> == 16) return static_cast<uint16_t>(__builtin_ia32_cvtd2mask512(mask));
#endif
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (lanes<V> == 8) return static_cast<uint32_t>(__builtin_ia32_movmskps256(reinterpret_cast<V>(mask)));
#endif
#if defined(__SSE4_1__)
  if constexpr (lanes<V> == 4) return static_cast<uint32_t>(__builtin_ia32_movmskps(reinterpret_cast<V>(mask)));
#endif
  uint32_t bits = 0;
  for (int i = 0; i < lanes<V>; ++i) bits |= (static_cast<uint32_t>(mask[i]) >> 31) << i;
  return bits;
}

// Lane i of the result is lane i XOR Distance of v.
template <int Distance, Vector V>
[[gnu::always_inline]] inline V swap_lanes(V v) {
  if constexpr (lanes<V> == 4) {
    if constexpr (Distance == 1) return __builtin_shufflevector(v, v, 1, 0, 3, 2);
    if constexpr (Distance == 2) return __builtin_shufflevector(v, v, 2, 3, 0, 1);
  } else if constexpr (lanes<V> == 8) {
    if constexpr (Distance == 1) return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
    if constexpr (Distance == 2) return __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
    if constexpr (Distance == 4) return __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  } else {
    if constexpr (Distance == 1) return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    if constexpr (Distance == 2) return __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    if constexpr (Distance == 4) return __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    if constexpr (Distance == 8) return __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

// Combines the lanes of each group of `Group` by halves: distance Group/2 first, then Group/4, … 1; every lane ends with its group's
// result.
template <int Group, Vector V, class Combine>
[[gnu::always_inline]] inline V across_lanes(V v, Combine combine) {
  if constexpr (Group > 1) {
    v = combine(v, swap_lanes<Group / 2>(v));
    return across_lanes<Group / 2>(v, combine);
  } else {
    return v;
  }
}

// ---- floating-point state
// ---------------------------------------------------------------------------------------------------------------------

// This thread's floating-point state: what becomes of denormals, and how results are rounded.
struct FloatControl {
#if defined(__x86_64__)
  using State = uint32_t;
  static constexpr State kFlush = 0x8040;     // MXCSR: flush to zero, denormals are zero
  static constexpr State kRounding = 0x6000;  // MXCSR: 0 is to nearest
  static State read() { return __builtin_ia32_stmxcsr(); }
  static void write(State state) { __builtin_ia32_ldmxcsr(state); }
#elif defined(__aarch64__)
  using State = uint64_t;
  static constexpr State kFlush = uint64_t{1} << 24;     // FPCR.FZ
  static constexpr State kRounding = uint64_t{3} << 22;  // FPCR.RMode: 0 is to nearest
  static State read() {
    State state;
    asm volatile("mrs %0, fpcr" : "=r"(state));
    return state;
  }
  static void write(State state) { asm volatile("msr fpcr, %0" : : "r"(state) : "memory"); }
#endif
};

// While it lives, this thread's arithmetic takes denormal operands as zero, flushes denormal results and rounds to nearest, as that of
// TensorFlow's kernels does whatever the caller has set.
class FlushDenormals {
 public:
  FlushDenormals() : saved_(FloatControl::read()) { FloatControl::write((saved_ & ~FloatControl::kRounding) | FloatControl::kFlush); }
  ~FlushDenormals() { FloatControl::write(saved_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  FloatControl::State saved_;
};

}  // namespace
}  // namespace natif::kernels
