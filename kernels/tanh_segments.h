// tanh of a magnitude by a polynomial of its own for each of 32 segments (AVX-512) or 8 (AVX2) of [0, 9.1], the coefficients taken out of
// the table's rows by one permutation each. There is no division, and the last operation is one addition, whereas the rounding errors of a
// rational function add up to several ULP just where tanh nears 1.
//
// A segment is the last two bits of the exponent of u = kTanhSlope·|x| + kTanhStart with its first three (AVX2: its first) mantissa bits:
// narrow near 0, where tanh bends, wide where it is flat. The table's rows are a segment's centre c and the coefficients of |x| − c, the
// constant first: minimax polynomials by Lawson's algorithm in double precision, rounded to float32 one after the other from the constant
// on. c lies near the segment's middle, where tanh(c) is almost a float. The segment that begins with 0 has c = 0 and |x| + x²·p(|x|), for
// a small relative error. The approximations' errors: 0.4 ULP with 32 segments, 0.24 with 8.
#pragma once

#include "kernels/math.h"

#if defined(__AVX2__) && defined(__FMA__)

namespace natif::kernels {
namespace {

#if defined(__AVX512VL__) && defined(__AVX512DQ__)
constexpr float kTanhSlope = 1.64f, kTanhStart = 1.04f;
constexpr int kTanhSegmentShift = 20, kTanhSegments = 32, kTanhDegree = 4;
alignas(64) constexpr float kTanhTable[kTanhDegree + 2][kTanhSegments] = {
    {0x1.52ad72p-1f, 0x1.a0d2e8p-1f, 0x1.ef90cap-1f, 0x1.1e9a3p0f,  0x1.4559cep0f,  0x1.6cd8b2p0f,  0x1.93227p0f,
     0x1.ba3abep0f,  0x1.f5045ep0f,  0x1.21747ap1f,  0x1.490fa8p1f, 0x1.6fb674p1f,  0x1.96a9d6p1f,  0x1.be0dacp1f,
     0x1.e46b94p1f,  0x1.05f59ep2f,  0x1.230f1ep2f,  0x1.4a0aecp2f, 0x1.713d1ap2f,  0x1.982066p2f,  0x1.bec3a6p2f,
     0x1.e7f9d4p2f,  0x1.03ae5cp3f,  0x1.15424p3f,   0.f,           0x1.70614ap-4f, 0x1.5418c2p-3f, 0x1.f062e6p-3f,
     0x1.465ddap-2f, 0x1.946ef4p-2f, 0x1.e22fe8p-2f, 0x1.18323ep-1f},
    {0x1.28a032p-1f, 0x1.57fcd4p-1f, 0x1.7edd1cp-1f, 0x1.9d64b4p-1f, 0x1.b544f8p-1f,
     0x1.c8068ap-1f, 0x1.d5e6e2p-1f, 0x1.e0a47cp-1f, 0x1.ebf6dcp-1f, 0x1.f4ffe2p-1f,
     0x1.fa0bc8p-1f, 0x1.fcbc92p-1f, 0x1.fe38c6p-1f, 0x1.ff09cep-1f, 0x1.ff78c2p-1f,
     0x1.ffb706p-1f, 0x1.ffe29ap-1f, 0x1.fff74ep-1f, 0x1.fffd72p-1f, 0x1.ffff3ep-1f,
     0x1.ffffc6p-1f, 0x1.fffffp-1f,  0x1.fffffap-1f, 0x1.fffffep-1f, 0.f,
     0x1.6f63d8p-4f, 0x1.51012ap-3f, 0x1.e6e3ap-3f,  0x1.3bbf3ep-2f, 0x1.80a378p-2f,
     0x1.c172e2p-2f, 0x1.fe6cf8p-2f},
    {0x1.5426a8p-1f,  0x1.18e45ap-1f,  0x1.c36784p-2f,  0x1.647202p-2f, 0x1.151b82p-2f,  0x1.a75172p-3f,  0x1.42f07p-3f,   0x1.e65b0cp-4f,
     0x1.3a4bbp-4f,   0x1.5c3a48p-5f,  0x1.7ad516p-6f,  0x1.a06016p-7f, 0x1.c66d2cp-8f,  0x1.ebebp-9f,    0x1.0e56cp-9f,   0x1.23d18cp-10f,
     0x1.d62814p-12f, 0x1.162408p-13f, 0x1.46e218p-15f, 0x1.83e08p-17f, 0x1.cfd52cp-19f, 0x1.ffd6b2p-21f, 0x1.7ffb92p-22f, 0x1.000c28p-23f,
     0x1p0f,          0x1.fbe17ep-1f,  0x1.f222dep-1f,  0x1.e30fd6p-1f, 0x1.cf51f8p-1f,  0x1.b7c2a6p-1f,  0x1.9d5d7ap-1f,  0x1.80c936p-1f},
    {-0x1.8a2156p-2f,  -0x1.796f44p-2f,  -0x1.518d6ep-2f,  -0x1.1fcc34p-2f,  -0x1.d952a4p-3f,  -0x1.790a04p-3f,  -0x1.2862e6p-3f,
     -0x1.c891b4p-4f,  -0x1.2ep-4f,      -0x1.54c03cp-5f,  -0x1.766b52p-6f,  -0x1.9db8c6p-7f,  -0x1.c4d9b4p-8f,  -0x1.eafbd4p-9f,
     -0x1.0e1122p-9f,  -0x1.23a718p-10f, -0x1.d61e18p-12f, -0x1.1629eap-13f, -0x1.46e652p-15f, -0x1.83fa46p-17f, -0x1.d000b2p-19f,
     -0x1.ff4986p-21f, -0x1.80d1cp-22f,  -0x1.0072cp-23f,  0x1.c79b36p-19f,  -0x1.6c6eacp-4f,  -0x1.47e112p-3f,  -0x1.cb5eb6p-3f,
     -0x1.1db9f4p-2f,  -0x1.4a5e6p-2f,   -0x1.6add36p-2f,  -0x1.7f9a2p-2f},
    {0x1.22e92ep-10f, 0x1.076184p-4f,  0x1.965056p-4f,  0x1.c5422p-4f,   0x1.b67e94p-4f,  0x1.853c0cp-4f,  0x1.48bcbap-4f,
     0x1.0a966p-4f,   0x1.73f7bp-5f,   0x1.b49362p-6f,  0x1.e9fe66p-7f,  0x1.11c012p-7f,  0x1.2d78b2p-8f,  0x1.47ee0cp-9f,
     0x1.6967ap-10f,  0x1.86af7p-11f,  0x1.4099ep-12f,  0x1.7b8ffcp-14f, 0x1.be0f8cp-16f, 0x1.0888b4p-17f, 0x1.3c89aep-19f,
     0x1.5caa8cp-21f, 0x1.01e5bep-22f, 0x1.511bd4p-24f, -0x1.55bd96p-2f, -0x1.4a2efap-2f, -0x1.30f0f6p-2f, -0x1.0b4d26p-2f,
     -0x1.b95582p-3f, -0x1.522254p-3f, -0x1.d1567ep-4f, -0x1.059344p-4f},
    {0x1.048cacp-3f,   0x1.4534f4p-4f,   0x1.25f44ep-5f,   0x1.21da04p-8f,  -0x1.d78e02p-7f,  -0x1.7c5114p-6f,  -0x1.9fcfc8p-6f,
     -0x1.8762aep-6f,  -0x1.35e04ap-6f,  -0x1.8cd7a4p-7f,  -0x1.d5203ep-8f, -0x1.0ad05ap-8f,  -0x1.2920c6p-9f,  -0x1.47045ep-10f,
     -0x1.66506ep-11f, -0x1.86c844p-12f, -0x1.3ee3c2p-13f, -0x1.79798p-15f, -0x1.bda952p-17f, -0x1.06ae14p-18f, -0x1.37b372p-20f,
     -0x1.6eda64p-22f, -0x1.b705b6p-24f, -0x1.07764ep-25f, 0x1.b22b0ap-7f,  0x1.da7dbep-5f,   0x1.a3146cp-4f,   0x1.17aa2cp-3f,
     0x1.463a64p-3f,   0x1.5af78p-3f,    0x1.57bedep-3f,   0x1.3fc62ap-3f}};

[[gnu::always_inline]] inline F16 of_segment(const float* row, I16 segment) {
#if defined(__clang__)
  return __builtin_ia32_vpermi2varps512(load<F16>(row), segment, load<F16>(row + 16));
#else
  return __builtin_shuffle(load<F16>(row), load<F16>(row + 16), segment);
#endif
}
#else
constexpr float kTanhSlope = 1.646f, kTanhStart = 1.f;
constexpr int kTanhSegmentShift = 22, kTanhSegments = 8, kTanhDegree = 7;
alignas(32) constexpr float kTanhTable[kTanhDegree + 2][kTanhSegments] = {
    {0x1.d1bdbcp-1f, 0x1.84c3bep0f, 0x1.370656p1f, 0x1.d2165cp1f, 0x1.5e078ep2f, 0x1.f703fp2f, 0.f, 0x1.d2de14p-2f},
    {0x1.712244p-1f, 0x1.d12112p-1f, 0x1.f81f68p-1f, 0x1.ff4beep-1f, 0x1.fffb58p-1f, 0x1.fffff6p-1f, 0.f, 0x1.b4ffe4p-2f},
    {0x1.ebbc34p-2f, 0x1.65cdbp-3f, 0x1.f44554p-6f, 0x1.67e4a6p-9f, 0x1.29f0a4p-14f, 0x1.3ffe28p-21f, 0x1p0f, 0x1.a2c0ecp-1f},
    {-0x1.62865ep-2f, -0x1.450c5cp-3f, -0x1.ec8fe8p-6f, -0x1.676858p-9f, -0x1.2a9e7cp-14f, -0x1.40a8d8p-21f, -0x1.328e56p-23f,
     -0x1.656992p-2f},
    {0x1.6ebfacp-4f, 0x1.600cbcp-4f, 0x1.3e373p-6f, 0x1.dde312p-10f, 0x1.8e3c8cp-15f, 0x1.aaea64p-22f, -0x1.555306p-2f, -0x1.fa9086p-4f},
    {0x1.a14192p-5f, -0x1.9ca03p-6f, -0x1.2aa97ep-7f, -0x1.daac1ap-11f, -0x1.82eecp-16f, -0x1.9ff7f6p-23f, -0x1.791f34p-13f,
     0x1.5a5acep-3f},
    {-0x1.c98958p-5f, -0x1.f2a3f8p-10f, 0x1.a0c26p-9f, 0x1.77c41ap-12f, 0x1.35530cp-17f, 0x1.51cb84p-24f, 0x1.1474bap-3f, -0x1.a13e74p-7f},
    {0x1.caf68cp-7f, 0x1.bafdd4p-8f, -0x1.708214p-11f, -0x1.ffcc4cp-14f, -0x1.02688cp-18f, -0x1.14ed1ep-25f, -0x1.e0d7d8p-8f,
     -0x1.dc98f4p-5f},
    {0x1.1d708ap-7f, -0x1.eccdb2p-9f, 0x1.9289aap-17f, 0x1.13156ap-15f, 0x1.26de74p-20f, 0x1.28e082p-27f, -0x1.4ab496p-5f, 0x1.7ed10ep-6f}};

[[gnu::always_inline]] inline F8 of_segment(const float* row, I8 segment) { return __builtin_ia32_permvarsf256(load<F8>(row), segment); }
#endif

// For magnitudes; NaN stays NaN. The permutations take the segment's number modulo the number of segments.
[[gnu::always_inline]] inline Vec tanh_by_segments(Vec magnitude) {
  const Vec x = lesser(splat<Vec>(9.1f), magnitude);
  const IntOf<Vec> segment = reinterpret_cast<IntOf<Vec>>(fma(x, splat<Vec>(kTanhSlope), splat<Vec>(kTanhStart))) >> kTanhSegmentShift;
  const Vec from_centre = x - of_segment(kTanhTable[0], segment);
  Vec y = of_segment(kTanhTable[kTanhDegree + 1], segment);
  for (int k = kTanhDegree; k > 0; --k) y = fma(y, from_centre, of_segment(kTanhTable[k], segment));
  return y;
}

}  // namespace
}  // namespace natif::kernels

#endif
