// The rules of order restated with scalars, element by element, for the tests to hold the kernels against.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace natif::kernels::reference {

using Values = std::vector<float>;

inline uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline void expect_same_bits(const Values& actual, const Values& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(bits_of(actual[i]), bits_of(expected[i])) << what << " at " << i << ": " << actual[i] << " instead of " << expected[i];
}

inline Values normal_values(int64_t count, uint32_t seed, float scale = 1.f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw(0.f, scale);
  Values out(static_cast<size_t>(count));
  for (float& x : out) x = draw(engine);
  return out;
}

// [m, k]·[k, n] with n ≥ 2 or m = 1.
inline Values matmul(const Values& a, const Values& b, int64_t m, int64_t k, int64_t n) {
  Values out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float total = 0.f;
      for (int64_t done = 0; done < k;) {
        const int64_t left = k - done;
        const int64_t step = m == 1 || left <= 384 ? left : left >= 768 ? 384 : (left + 1) / 2;
        float acc = 0.f;
        for (int64_t t = done; t < done + step; ++t) acc = std::fmaf(a[i * k + t], b[t * n + j], acc);
        total = done == 0 ? acc : total + acc;
        done += step;
      }
      out[i * n + j] = total;
    }
  }
  return out;
}

// One row of [m, k]·[k, 1] with m ≥ 2.
inline float dot(const float* a, const float* b, int64_t k) {
  const auto pairs = [](const float* v) { return ((v[0] + v[1]) + (v[4] + v[5])) + ((v[2] + v[3]) + (v[6] + v[7])); };
  Values parts;
  int64_t at = 0;
  if (k >= 16) {
    float lanes[8];
    for (; at < k / 16 * 16; ++at) lanes[at % 8] = at < 8 ? a[at] * b[at] : std::fmaf(a[at], b[at], lanes[at % 8]);
    parts.push_back(pairs(lanes));
  }
  const auto product = [&](int64_t i) { return a[at + i] * b[at + i]; };
  if (k - at >= 8) {
    float lanes[8];
    for (int i = 0; i < 8; ++i) lanes[i] = product(i);
    parts.push_back(pairs(lanes));
    at += 8;
  }
  if (k - at >= 4) {
    parts.push_back((product(0) + product(1)) + (product(2) + product(3)));
    at += 4;
  }
  if (k - at >= 2) {
    parts.push_back(product(0) + product(1));
    at += 2;
  }
  if (k - at >= 1) parts.push_back(product(0));
  float total = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) total = total + parts[i];
  return total;
}

// n elements `stride` apart, along the last axis; combine(accumulator, element), n ≤ 8,192.
template <class Combine>
float reduce_last(const float* x, int64_t n, int64_t stride, float start, Combine combine) {
  float rest = start;
  for (int64_t i = n / 8 * 8; i < n; ++i) rest = combine(rest, x[i * stride]);
  float lanes[4][8];
  for (auto& lane : lanes)
    for (float& v : lane) v = start;
  const int64_t blocks = n / 32 * 32;
  for (int64_t i = 0; i < blocks; ++i) lanes[i % 32 / 8][i % 8] = combine(lanes[i % 32 / 8][i % 8], x[i * stride]);
  if (blocks > 0) {
    for (int lane = 0; lane < 8; ++lane)
      for (int i = 1; i < 4; ++i) lanes[0][lane] = combine(lanes[0][lane], lanes[i][lane]);
  }
  for (int64_t i = blocks; i < n / 8 * 8; ++i) lanes[0][i % 8] = combine(lanes[0][i % 8], x[i * stride]);
  for (int half = 4; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[0][i] = combine(lanes[0][i], lanes[0][i + half]);
  return combine(lanes[0][0], rest);
}

// Column c of [m, n], n ≥ 2.
template <class Combine>
float reduce_first(const float* x, int64_t m, int64_t n, int64_t c, float start, Combine combine) {
  float lanes[4] = {start, start, start, start};
  int64_t r = 0;
  if (m >= 16 && c < n / 8 * 8) {
    for (; r < m / 4 * 4; ++r) lanes[r % 4] = combine(lanes[r % 4], x[r * n + c]);
    for (int i = 1; i < 4; ++i) lanes[0] = combine(lanes[0], lanes[i]);
  }
  for (; r < m; ++r) lanes[0] = combine(lanes[0], x[r * n + c]);
  return lanes[0];
}

// oneDNN's exponential, x ≤ 0, with the flushing written out.
inline float softmax_exp(float x) {
  if (x < from_bits(0xC2AEAC50)) return 0.f;
  const float product = x * from_bits(0x3FB8AA3B);
  const float n = std::floor(product + .5f);
  const float r = std::fmaf(-n, from_bits(0x3F317218), x);
  float y = from_bits(0x3C07CFCE);
  for (uint32_t c : {0x3D2B9D0Du, 0x3E2AAD40u, 0x3EFFFEE3u, 0x3F7FFFFBu, 0x3F800000u}) y = std::fmaf(y, r, from_bits(c));
  const float scaled = std::ldexp(y, static_cast<int>(n) - 1);
  return std::fabs(scaled) < from_bits(0x00800000) ? 0.f : 2.f * scaled;
}

inline Values softmax(const Values& x, int64_t rows, int64_t columns) {
  Values out(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x.data() + r * columns;
    float top = row[0];
    for (int64_t c = 1; c < columns; ++c) top = row[c] > top ? row[c] : top;
    const int64_t full = columns / 16, used = full < 1 ? 1 : full > 4 ? 4 : full;
    float acc[4][16] = {};
    Values e(static_cast<size_t>(columns));
    for (int64_t c = 0; c < columns; ++c) {
      e[c] = softmax_exp(row[c] - top);
      float& lane = acc[c / 16 < full ? c / 16 % used : 0][c % 16];
      lane = lane + e[c];
    }
    float lanes[16];
    for (int i = 0; i < 16; ++i) lanes[i] = (acc[0][i] + acc[1][i]) + (acc[2][i] + acc[3][i]);
    for (int half = 8; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lanes[i] = lanes[i] + lanes[i + half];
    const float scale = 1.f / lanes[0];
    for (int64_t c = 0; c < columns; ++c) out[r * columns + c] = e[c] * scale;
  }
  return out;
}

inline int64_t argmax(const float* row, int64_t columns, int64_t stride = 1) {
  int64_t best = 0;
  float top = -3.402823466e+38f;
  for (int64_t c = 0; c < columns; ++c) {
    if (row[c * stride] > top) {
      top = row[c * stride];
      best = c;
    }
  }
  return best;
}

}  // namespace natif::kernels::reference
