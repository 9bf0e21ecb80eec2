// Products with one row or one column as TensorFlow computes them where oneDNN is off: Eigen's own vector products (the wheel's
// Eigen/src/Core/GeneralProduct.h and products/GeneralMatrixVector.h), which multiply and then add, without fma.
//
// Order of operations, of an output with k terms among `total` outputs:
//   k + total + 1 < 20, or total = 1   one by one from the first product; where both vectors are adjacent in memory under transpose_b
//                                      alone, and k ≥ 8, in packets of 8 lanes (one accumulator, or up to four when k + 2 ≥ 20)
//   terms in the matrix' columns       k < 128: one by one from 0; else in blocks of 16 terms (of 4 where the matrix' rows are 32,000
//                                      bytes or more apart), each from 0 and then added
//   terms in the matrix' rows          8 lanes, added by halves, then the terms left one by one; the last of an odd number of outputs adds
//                                      a group of four of these, lanes by halves, first
// Run under FlushDenormals. Eager splits large products over threads, between outputs; see product_order.h for the sizes where that changes
// nothing.
#pragma once

#include "kernels/lanes8.h"
#include "kernels/operands.h"

namespace natif::kernels {
namespace {

// Terms at a distance, of either operand.
struct Terms {
  const float* data;
  int64_t stride;
  float operator[](int64_t i) const { return data[i * stride]; }
};

[[maybe_unused]] constexpr bool is_small_for_eigen(int64_t k, int64_t total) { return k + total + 1 < 20; }

[[maybe_unused]] inline float dot_in_sequence(Terms a, Terms b, int64_t k) {
  float total = a[0] * b[0];
  for (int64_t i = 1; i < k; ++i) total = total + a[i] * b[i];
  return total;
}

// Up to four accumulators that start with products; the later are added to those before, from the back.
[[maybe_unused]] inline float dot_in_packets(const float* a, const float* b, int64_t k, int64_t most) {
  const int64_t packets = k / 8, used = packets < most ? packets : most;
  if (packets == 0) return dot_in_sequence({a, 1}, {b, 1}, k);
  const auto sum = [](auto x, auto y) { return x + y; };
  Lanes8 acc[4] = {};
  for (int64_t p = 0; p < packets; ++p) {
    const Lanes8 product = Lanes8::each(Lanes8::load_from(a + p * 8, Size<1>{}), Lanes8::load_from(b + p * 8, Size<1>{}),
                                        [](auto x, auto y) { return x * y; });
    acc[p % used] = p < used ? product : Lanes8::each(acc[p % used], product, sum);
  }
  if (used == 4) acc[2] = Lanes8::each(acc[2], acc[3], sum);
  if (used >= 3) acc[1] = Lanes8::each(acc[1], acc[2], sum);
  if (used >= 2) acc[0] = Lanes8::each(acc[0], acc[1], sum);
  float total = acc[0].by_halves(sum);
  for (int64_t i = packets * 8; i < k; ++i) total = total + a[i] * b[i];
  return total;
}

// One row of the matrix times x, terms adjacent.
[[maybe_unused]] inline float dot_of_row(const float* row, const float* x, int64_t k, bool closes_odd) {
  const auto sum = [](auto a, auto b) { return a + b; };
  Lanes8 acc = Lanes8::all(0.f);
  int64_t at = 0;
  for (; at + 8 <= k; at += 8)
    acc = Lanes8::each(
        acc,
        Lanes8::each(Lanes8::load_from(row + at, Size<1>{}), Lanes8::load_from(x + at, Size<1>{}), [](auto a, auto b) { return a * b; }),
        sum);
  float total = acc.by_halves(sum);
  if (closes_odd) {
    float group = 0.f;
    if (k - at >= 4) {
      const F4 products = load<F4>(row + at) * load<F4>(x + at) + F4{};
      group = (products[0] + products[2]) + (products[1] + products[3]);
      at += 4;
    }
    total = total + group;
  }
  for (; at < k; ++at) total = total + row[at] * x[at];
  return 0.f + total;
}

// out[r·out_stride] = row first + r of the matrix · x, for `rows` of `total` rows of adjacent terms; `matrix` is row `first`. `adjacent`:
// eager sees both operands' terms as adjacent, which it does under transpose_b alone.
[[gnu::noinline, maybe_unused]] void products_by_rows(float* out, int64_t out_stride, int64_t first, int64_t rows, int64_t total, int64_t k,
                                                      const float* matrix, const float* x, bool adjacent) {
  const bool small = is_small_for_eigen(k, total);
  for (int64_t r = 0; r < rows; ++r, matrix += k) {
    float& to = out[r * out_stride];
    if (!small && total > 1) {
      to = dot_of_row(matrix, x, k, total % 2 == 1 && first + r == total - 1);
      continue;
    }
    const float dot = adjacent ? dot_in_packets(matrix, x, k, small ? 1 : 4) : dot_in_sequence({matrix, 1}, {x, 1}, k);
    to = small ? dot : 0.f + dot;
  }
}

// C vectors of columns, the terms [0, k) in blocks.
template <int C, Extent extent>
[[gnu::always_inline]] inline void column_sums(float* out, int64_t out_column, int64_t width, int64_t k, int64_t block, bool from_product,
                                               Terms x, const float* matrix, int64_t stride) {
  const At<Vec, extent> at{0, 0, static_cast<int>(width)};
  Vec total[C] = {};
  for (int64_t done = 0; done < k; done += block) {
    const int64_t end = done + block < k ? done + block : k;
    Vec sums[C] = {};
    int64_t i = done;
    if (from_product) {
      for (int c = 0; c < C; ++c) sums[c] = at.from(matrix + i * stride + c * lanes<Vec>) * splat<Vec>(x[i]);
      ++i;
    }
    for (; i < end; ++i) {
      const Vec value = splat<Vec>(x[i]);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sums[c] = sums[c] + at.from(matrix + i * stride + c * lanes<Vec>) * value;
    }
    for (int c = 0; c < C; ++c) total[c] = from_product ? sums[c] : total[c] + sums[c];
  }
  for (int c = 0; c < C; ++c) at.put(out + out_column + c * lanes<Vec>, total[c]);
}

// out[j] = Σ over k of x[k] · matrix[k·stride + j], for `outputs` of `total` outputs. `matrix` begins at the first of them.
[[gnu::noinline, maybe_unused]] void products_by_columns(float* out, int64_t outputs, int64_t total, int64_t k, Terms x,
                                                         const float* matrix, int64_t stride) {
  if (total == 1 && !is_small_for_eigen(k, total)) {
    *out = 0.f + dot_in_sequence({matrix, stride}, x, k);
    return;
  }
  const bool small = is_small_for_eigen(k, total);
  const int64_t block = k < 128 ? k : stride * 4 < 32000 ? 16 : 4;
  constexpr int64_t width = lanes<Vec>;
  int64_t j = 0;
  for (; j + 4 * width <= outputs; j += 4 * width) column_sums<4, Extent::kWhole>(out, j, 0, k, block, small, x, matrix + j, stride);
  for (; j < outputs; j += width) {
    const int64_t left = outputs - j < width ? outputs - j : width;
    column_sums<1, Extent::kPartial>(out, j, left, k, block, small, x, matrix + j, stride);
  }
}

}  // namespace
}  // namespace natif::kernels
