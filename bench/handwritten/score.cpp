// The hand-written scoring kernel: depth-first over blocks of eight rows with the intermediates on the stack, and eager's order of
// operations throughout. Each output of a matmul is one FMA chain over ascending k from zero, the bias added afterwards; the softmax is
// that of oneDNN's AVX-512 kernel (its exponential's polynomial, e · (1 / sum), eight lanes added by halves); argmax takes the first of
// equal maxima. To be compiled with -ffp-contract=off.
#include "score.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>

#include <algorithm>
#include <bit>

namespace natif::bench {
namespace {

constexpr int kBlock = 8, kLanes = 16, kVectors = kHidden / kLanes, kPairs = kBlock / 2;
constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
using Vector = __m512;

Vector from_bits(uint32_t bits) { return _mm512_set1_ps(std::bit_cast<float>(bits)); }

void standardise(const float* x, const float* mean, const float* scale, int rows, float* z) {
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < kFeatures; k += kLanes) {
      const Vector centred = _mm512_sub_ps(_mm512_loadu_ps(x + r * kFeatures + k), _mm512_loadu_ps(mean + k));
      _mm512_store_ps(z + r * kFeatures + k, _mm512_div_ps(centred, _mm512_loadu_ps(scale + k)));
    }
  }
}

// h = relu(z · w + bias) for Rows rows, all of their accumulators in registers.
template <int Rows>
void hidden_layer(const float* z, const float* w, const float* bias, float* h) {
  Vector sum[Rows][kVectors];
  for (auto& row : sum) {
    for (Vector& v : row) v = _mm512_setzero_ps();
  }
  for (int k = 0; k < kFeatures; ++k) {
    Vector weight[kVectors];
    for (int v = 0; v < kVectors; ++v) weight[v] = _mm512_loadu_ps(w + k * kHidden + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const Vector a = _mm512_set1_ps(z[r * kFeatures + k]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_fmadd_ps(a, weight[v], sum[r][v]);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const Vector biased = _mm512_add_ps(sum[r][v], _mm512_loadu_ps(bias + v * kLanes));
      _mm512_storeu_ps(h + r * kHidden + v * kLanes, _mm512_max_ps(biased, _mm512_setzero_ps()));
    }
  }
}

// logits[p] holds h · w + bias of rows 2p and 2p + 1, eight lanes each; the four pairs run side by side to hide the FMA's latency.
void class_layer(const float* h, const float* w, const float* bias, Vector logits[kPairs]) {
  const Vector both_biases = _mm512_broadcast_f32x8(_mm256_loadu_ps(bias));
  for (int p = 0; p < kPairs; ++p) logits[p] = _mm512_setzero_ps();
  for (int k = 0; k < kHidden; ++k) {
    const Vector weight = _mm512_broadcast_f32x8(_mm256_loadu_ps(w + k * kClasses));
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      const float *even = h + 2 * p * kHidden, *odd = even + kHidden;
      const Vector a = _mm512_mask_blend_ps(0xFF00, _mm512_set1_ps(even[k]), _mm512_set1_ps(odd[k]));
      logits[p] = _mm512_fmadd_ps(a, weight, logits[p]);
    }
  }
  for (int p = 0; p < kPairs; ++p) logits[p] = _mm512_add_ps(logits[p], both_biases);
}

// oneDNN's exponential (eltwise injector): x = n·ln2 + r, a polynomial of degree five in r, scaled by 2^(n-1) and then 2.
Vector softmax_exp(Vector x) {
  const Vector low = from_bits(0xC2AEAC50), high = from_bits(0x42B17218), log2e = from_bits(0x3FB8AA3B), ln2 = from_bits(0x3F317218);
  const __mmask16 underflow = _mm512_cmp_ps_mask(x, low, _CMP_LT_OS);
  x = _mm512_max_ps(_mm512_min_ps(x, high), low);
  const Vector shifted = _mm512_add_ps(_mm512_mul_ps(x, log2e), _mm512_set1_ps(0.5f));
  const Vector n = _mm512_roundscale_ps(shifted, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const Vector r = _mm512_fnmadd_ps(n, ln2, x);
  Vector y = from_bits(0x3C07CFCE);
  for (const uint32_t c : {0x3D2B9D0Du, 0x3E2AAD40u, 0x3EFFFEE3u, 0x3F7FFFFBu, 0x3F800000u}) y = _mm512_fmadd_ps(y, r, from_bits(c));
  const __m512i exponent = _mm512_cvtps_epi32(_mm512_sub_ps(n, _mm512_set1_ps(1.0f)));
  const Vector half_scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(exponent, _mm512_set1_epi32(127)), 23));
  const Vector value = _mm512_mul_ps(_mm512_mul_ps(y, half_scale), _mm512_set1_ps(2.0f));
  return _mm512_mask_blend_ps(underflow, value, _mm512_setzero_ps());
}

// Combines the eight lanes of each half by halves; every lane of a half ends with that half's result.
template <class Combine>
Vector across_half(Vector v, Combine combine) {
  v = combine(v, _mm512_shuffle_f32x4(v, v, 0xB1));
  v = combine(v, _mm512_permute_ps(v, 0x4E));
  return combine(v, _mm512_permute_ps(v, 0xB1));
}

Vector softmax(Vector logits) {
  const Vector top = across_half(logits, [](Vector a, Vector b) { return _mm512_max_ps(a, b); });
  const Vector e = softmax_exp(_mm512_sub_ps(logits, top));
  const Vector sum = across_half(e, [](Vector a, Vector b) { return _mm512_add_ps(a, b); });
  return _mm512_mul_ps(e, _mm512_div_ps(_mm512_set1_ps(1.0f), sum));
}

// Softmax and argmax of a pair of rows; only the first is stored where `both` is false.
void classify(Vector logits, bool both, int64_t* classes, float* probabilities) {
  const Vector p = softmax(logits);
  const Vector best = across_half(p, [](Vector a, Vector b) { return _mm512_max_ps(a, b); });
  const unsigned is_best = _mm512_cmp_ps_mask(p, best, _CMP_EQ_OQ);
  classes[0] = std::countr_zero(is_best);
  if (both) classes[1] = std::countr_zero(is_best >> kClasses);
  if (probabilities == nullptr) return;
  _mm256_storeu_ps(probabilities, _mm512_castps512_ps256(p));
  if (both) _mm256_storeu_ps(probabilities + kClasses, _mm512_extractf32x8_ps(p, 1));
}

void score(const float* x, const float* mean, const float* scale, const float* w1, const float* b1, const float* w2, const float* b2,
           int64_t* classes, float* probabilities, int64_t rows) {
  const unsigned caller_state = _mm_getcsr();
  _mm_setcsr(caller_state | kFlushToZero | kDenormalsAreZero);  // as TensorFlow's kernels run
  alignas(64) float z[kBlock * kFeatures], h[kBlock * kHidden] = {};
  Vector logits[kPairs];
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int block = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
    standardise(x + first * kFeatures, mean, scale, block, z);
    int r = 0;
    for (; r + 4 <= block; r += 4) hidden_layer<4>(z + r * kFeatures, w1, b1, h + r * kHidden);
    for (; r < block; ++r) hidden_layer<1>(z + r * kFeatures, w1, b1, h + r * kHidden);
    class_layer(h, w2, b2, logits);
    for (int p = 0; 2 * p < block; ++p) {
      const int64_t row = first + 2 * p;
      classify(logits[p], 2 * p + 1 < block, classes + row, probabilities == nullptr ? nullptr : probabilities + row * kClasses);
    }
  }
  _mm_setcsr(caller_state);
}

}  // namespace

ScoreFunction score_function() { return score; }

}  // namespace natif::bench

#else

namespace natif::bench {

ScoreFunction score_function() { return nullptr; }

}  // namespace natif::bench

#endif
