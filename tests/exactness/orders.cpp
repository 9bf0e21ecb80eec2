// The orders of operations that NumPy cannot state in reasonable time, for arithmetic.py: chains and dot products, Eigen's vector products,
// reductions, and the formulas that start from the CPU's own estimates. Everything runs with denormals flushed, as TensorFlow's kernels do.
// Compile with -ffp-contract=off: an fma stands only where it is written.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

class FlushDenormals {
 public:
  FlushDenormals() { _mm_setcsr(before_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  unsigned before_ = _mm_getcsr();
};

// ---- dot products of Eigen: no fma ------------------------------------------------------------------------------------------------

float add_8_lanes(const float* v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }
float add_4_lanes(const float* v) { return (v[0] + v[2]) + (v[1] + v[3]); }

struct Vector {
  const float* data;
  int64_t stride;
  float operator[](int64_t i) const { return data[i * stride]; }
};

// From the first product on.
float dot_in_sequence(Vector a, Vector b, int64_t k) {
  float total = a[0] * b[0];
  for (int64_t i = 1; i < k; ++i) total = total + a[i] * b[i];
  return total;
}

// Up to `most` accumulators of 8 lanes that start with products; the later ones are added to those before from the back, the lanes by
// halves, the tail one by one.
float dot_in_packets(Vector a, Vector b, int64_t k, int64_t most) {
  const int64_t packets = k / 8, used = std::min(packets, most);
  if (packets == 0) return dot_in_sequence(a, b, k);
  float acc[4][8];
  for (int64_t p = 0; p < packets; ++p) {
    for (int l = 0; l < 8; ++l) {
      const float product = a[p * 8 + l] * b[p * 8 + l];
      float& to = acc[p % used][l];
      to = p < used ? product : to + product;
    }
  }
  if (used == 4)
    for (int l = 0; l < 8; ++l) acc[2][l] = acc[2][l] + acc[3][l];
  for (int64_t q = std::min<int64_t>(used, 3) - 1; q > 0; --q)
    for (int l = 0; l < 8; ++l) acc[q - 1][l] = acc[q - 1][l] + acc[q][l];
  float total = add_8_lanes(acc[0]);
  for (int64_t i = packets * 8; i < k; ++i) total = total + a[i] * b[i];
  return total;
}

// A matrix whose rows are the terms of each output, times a vector: 8 lanes an output, the tail after them. The last of an odd number of
// rows takes four terms of the tail as lanes of their own.
void products_by_rows(const float* matrix, Vector x, float* out, int64_t rows, int64_t k) {
  for (int64_t r = 0; r < rows; ++r, matrix += k) {
    float lanes[8] = {};
    int64_t at = 0;
    for (; at + 8 <= k; at += 8)
      for (int l = 0; l < 8; ++l) lanes[l] = lanes[l] + matrix[at + l] * x[at + l];
    float total = add_8_lanes(lanes);
    if (r == rows - 1 && rows % 2 == 1) {
      float half[4] = {};
      if (k - at >= 4) {
        for (int l = 0; l < 4; ++l) half[l] = half[l] + matrix[at + l] * x[at + l];
        at += 4;
      }
      total = total + add_4_lanes(half);
    }
    for (; at < k; ++at) total = total + matrix[at] * x[at];
    out[r] = 0.f + total;
  }
}

// A matrix whose columns are the terms: chains in blocks of k, each from 0 and then added to the result.
void products_by_columns(const float* matrix, int64_t stride, Vector x, float* out, int64_t columns, int64_t k) {
  const int64_t block = k < 128 ? k : stride * 4 < 32000 ? 16 : 4;
  std::fill(out, out + columns, 0.f);
  std::vector<float> part(columns);
  for (int64_t first = 0; first < k; first += block) {
    std::fill(part.begin(), part.end(), 0.f);
    for (int64_t i = first; i < std::min(first + block, k); ++i)
      for (int64_t c = 0; c < columns; ++c) part[c] = part[c] + matrix[i * stride + c] * x[i];
    for (int64_t c = 0; c < columns; ++c) out[c] = out[c] + part[c];
  }
}

// A product with M = 1 or N = 1: `outputs` places from `first` on.
struct VectorProduct {
  const float *a, *b;
  float* out;
  int64_t m, k, n;
  bool transpose_a, transpose_b;

  Vector left(int64_t row) const { return transpose_a ? Vector{a + row, m} : Vector{a + row * k, 1}; }
  Vector right(int64_t column) const { return transpose_b ? Vector{b + column * k, 1} : Vector{b + column, n}; }

  void run_block(int64_t first, int64_t outputs) const {
    const bool contiguous = transpose_b && !transpose_a;
    if (k + outputs + 1 < 20 || outputs == 1) {
      const bool small = k + outputs + 1 < 20;
      for (int64_t i = first; i < first + outputs; ++i) {
        const Vector x = left(m == 1 ? 0 : i), y = right(m == 1 ? i : 0);
        const float dot = contiguous ? dot_in_packets(x, y, k, small ? 1 : 4) : dot_in_sequence(x, y, k);
        out[i] = small ? dot : 0.f + dot;
      }
    } else if (m == 1) {
      transpose_b ? products_by_rows(b + first * k, {a, 1}, out + first, outputs, k)
                  : products_by_columns(b + first, n, {a, 1}, out + first, outputs, k);
    } else {
      transpose_a ? products_by_columns(a + first, m, {b, 1}, out + first, outputs, k)
                  : products_by_rows(a + first * k, {b, 1}, out + first, outputs, k);
    }
  }

  void run_split(int64_t first, int64_t outputs, int64_t limit) const {
    while (outputs * k > limit && outputs > 64) {
      const int64_t half = (outputs / 2 + 63) / 64 * 64;
      run_split(first + half, outputs - half, limit);
      outputs = half;
    }
    if (outputs > 0) run_block(first, outputs);
  }
};

// ---- reductions -------------------------------------------------------------------------------------------------------------------

// maxps and minps: the second operand where neither is greater. A NaN is the first operand's, else the second's, bits kept.
float greater(float a, float b) { return a != a ? a : b != b ? b : _mm_cvtss_f32(_mm_max_ss(_mm_set_ss(a), _mm_set_ss(b))); }
float smaller(float a, float b) { return a != a ? a : b != b ? b : _mm_cvtss_f32(_mm_min_ss(_mm_set_ss(a), _mm_set_ss(b))); }

enum Operation : int64_t { kSum, kProd, kMax, kMin };

struct Reduction {
  Operation op;
  bool of_numbers() const { return op == kSum || op == kProd; }
  float start() const { return op == kSum ? 0.f : op == kProd ? 1.f : op == kMax ? -INFINITY : INFINITY; }
  float combine(float x, float y) const { return op == kSum ? x + y : op == kProd ? x * y : op == kMax ? greater(x, y) : smaller(x, y); }
  float packet(float acc, float x) const { return combine(acc, x); }
  // The new element's NaN before the accumulator's; of equal values the new one.
  float scalar(float acc, float x) const { return x != x ? x : combine(acc, x); }
  // A maximum's or minimum's last step compares and selects, so that a denormal tail is not flushed.
  float join(float tail, float lanes) const {
    if (of_numbers()) return combine(tail, lanes);
    if (tail != tail) return tail;
    if (lanes != lanes) return lanes;
    const __m128 x = _mm_set_ss(tail), y = _mm_set_ss(lanes);
    return _mm_cvtss_f32(_mm_blendv_ps(x, y, op == kMax ? _mm_cmpgt_ss(y, x) : _mm_cmplt_ss(y, x)));
  }

  float piece(const float* x, int64_t n) const {
    float acc[4][8];
    for (auto& lanes : acc) std::fill(lanes, lanes + 8, start());
    int64_t at = 0;
    const auto take = [&](int q) {
      for (int l = 0; l < 8; ++l) acc[q][l] = packet(acc[q][l], x[at + l]);
      at += 8;
    };
    if (n >= 32) {
      while (at + 32 <= n)
        for (int q = 0; q < 4; ++q) take(q);
      for (int q = 1; q < 4; ++q)
        for (int l = 0; l < 8; ++l) acc[0][l] = packet(acc[0][l], acc[q][l]);
    }
    while (at + 8 <= n) take(0);
    float tail = start();
    for (int64_t i = at; i < n; ++i) tail = !of_numbers() && i == at ? x[i] : scalar(tail, x[i]);
    float* v = acc[0];
    for (int half = 4; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) v[l] = packet(v[l], v[l + half]);
    return join(tail, v[0]);
  }

  // Adjacent elements; `first` is the place of the first in the flat tensor, which decides where a long run is halved.
  float run(const float* tensor, int64_t first, int64_t n) const {
    if (op != kSum || n <= 8192) return piece(tensor + first, n);
    const int64_t split = 8 * ((first + (n + 1) / 2 + 7) / 8), left = std::min(split - first, n);
    float total = 0.f + run(tensor, first, left);
    return left < n ? total + run(tensor, split, n - left) : total;
  }

  float all(const float* x, int64_t n, int64_t threads) const {
    const double cost = 1.9375 * static_cast<double>(n);
    const int64_t used = std::max<int64_t>(1, std::min(threads, static_cast<int64_t>((cost - 100000) / 100000 + 0.9)));
    if (used == 1) return run(x, 0, n);
    const int64_t length = n / used, shards = n / length;
    float total = shards * length < n ? run(x, shards * length, n - shards * length) : start();
    for (int64_t i = 0; i < shards; ++i) total = scalar(total, run(x, i * length, length));
    return total;
  }

  // [outer, m, n] → [outer, n]
  void middle(const float* x, int64_t outer, int64_t m, int64_t n, float* out) const {
    for (int64_t group = 0; group < outer * n; group += 8) {
      const int64_t end = std::min(group + 8, outer * n);
      const bool in_packets = group + 8 <= outer * n && group % n + 8 <= n;
      for (int64_t i = group; i < end; ++i) {
        const float* column = x + i / n * m * n + i % n;
        out[i] = in_packets ? column_in_packets(column, m, n) : column_in_sequence(column, m, n);
      }
    }
  }
  float column_in_sequence(const float* column, int64_t m, int64_t stride) const {
    float total = start();
    for (int64_t j = 0; j < m; ++j) total = scalar(total, column[j * stride]);
    return total;
  }
  float column_in_packets(const float* column, int64_t m, int64_t stride) const {
    float acc[4] = {start(), start(), start(), start()};
    int64_t j = 0;
    if (m >= 16) {
      for (; j < m / 4 * 4; ++j) acc[j % 4] = packet(acc[j % 4], column[j * stride]);
      for (int q = 1; q < 4; ++q) acc[0] = packet(acc[0], acc[q]);
    }
    for (; j < m; ++j) acc[0] = packet(acc[0], column[j * stride]);
    return acc[0];
  }

  // [d0, d1, d2] → [d1]
  void ends(const float* x, int64_t d0, int64_t d1, int64_t d2, float* out) const {
    for (int64_t k = 0; k < d1; ++k) {
      out[k] = start();
      for (int64_t j = 0; j < d2; ++j)
        for (int64_t i = 0; i < d0; ++i) out[k] = scalar(out[k], x[(i * d1 + k) * d2 + j]);
    }
  }
};

}  // namespace

extern "C" {

void fma_chain(const float* a, const float* b, float* out, int64_t m, int64_t k, int64_t n) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t t = 0; t < k; ++t)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = __builtin_fmaf(a[i * k + t], b[t * n + j], out[i * n + j]);
}

void plain_chain(const float* a, const float* b, float* out, int64_t m, int64_t k, int64_t n) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t t = 0; t < k; ++t)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] = out[i * n + j] + a[i * k + t] * b[t * n + j];
}

void dots_of_16_lanes(const float* a, const float* columns, float* out, int64_t m, int64_t k, int64_t n) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float lanes[16] = {};
      for (int64_t t = 0; t < k; ++t) lanes[t % 16] = __builtin_fmaf(columns[j * k + t], a[i * k + t], lanes[t % 16]);
      for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lanes[l] = lanes[l] + lanes[l + half];
      out[i * n + j] = lanes[0];
    }
  }
}

void dots_of_8_lanes(const float* rows, const float* x, float* out, int64_t m, int64_t k) {
  const FlushDenormals flush;
  const auto add_in_pairs = [](const float* v) { return ((v[0] + v[1]) + (v[4] + v[5])) + ((v[2] + v[3]) + (v[6] + v[7])); };
  for (int64_t i = 0; i < m; ++i, rows += k) {
    float total = 0.f;
    int64_t at = 0;
    if (k >= 16) {
      float lanes[8] = {};
      for (; at < k / 16 * 16; ++at) lanes[at % 8] = __builtin_fmaf(rows[at], x[at], lanes[at % 8]);
      total = total + add_in_pairs(lanes);
    }
    for (int width = 8; width > 0; width /= 2) {
      if (k - at < width) continue;
      float products[8] = {};
      for (int l = 0; l < width; ++l, ++at) products[l] = rows[at] * x[at];
      total = total + add_in_pairs(products);
    }
    out[i] = total;
  }
}

void eigen_vector_product(const float* a, const float* b, float* out, int64_t m, int64_t k, int64_t n, int64_t transpose_a,
                          int64_t transpose_b, int64_t threads, int64_t may_split) {
  const FlushDenormals flush;
  const VectorProduct product{a, b, out, m, k, n, transpose_a != 0, transpose_b != 0};
  const int64_t outputs = m == 1 ? n : m, work = m * k * n;
  if (may_split != 0 && work > 16384) {
    product.run_split(0, outputs, std::max<int64_t>(work / threads, 16384));
  } else {
    product.run_block(0, outputs);
  }
}

void reduce_all(int64_t op, const float* x, float* out, int64_t n, int64_t threads) {
  const FlushDenormals flush;
  *out = Reduction{static_cast<Operation>(op)}.all(x, n, threads);
}
void reduce_last(int64_t op, const float* x, float* out, int64_t rows, int64_t n) {
  const FlushDenormals flush;
  for (int64_t r = 0; r < rows; ++r) out[r] = Reduction{static_cast<Operation>(op)}.run(x, r * n, n);
}
void reduce_middle(int64_t op, const float* x, float* out, int64_t outer, int64_t m, int64_t n) {
  const FlushDenormals flush;
  Reduction{static_cast<Operation>(op)}.middle(x, outer, m, n, out);
}
void reduce_ends(int64_t op, const float* x, float* out, int64_t d0, int64_t d1, int64_t d2) {
  const FlushDenormals flush;
  Reduction{static_cast<Operation>(op)}.ends(x, d0, d1, d2, out);
}
void divide_by(float* x, int64_t n, float divisor) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] / divisor;
}

// ---- functions whose tail is the C library's or whose groups start from an estimate of the CPU ----

void fma_each(const float* a, const float* b, float* c, int64_t n) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < n; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
}

void expf_each(float* x, int64_t n) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < n; ++i) x[i] = expf(x[i]);
}
void logf_each(float* x, int64_t n) {
  const FlushDenormals flush;
  for (int64_t i = 0; i < n; ++i) x[i] = logf(x[i]);
}

void reciprocal(const float* x, float* out, int64_t n) {
  const FlushDenormals flush;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i), estimate = _mm256_rcp_ps(v);
    const __m256 error = _mm256_sub_ps(_mm256_set1_ps(1.f), _mm256_mul_ps(v, estimate));
    const __m256 better = _mm256_add_ps(_mm256_mul_ps(estimate, error), estimate);
    _mm256_storeu_ps(out + i, _mm256_blendv_ps(better, estimate, _mm256_cmp_ps(error, error, _CMP_UNORD_Q)));
  }
  for (; i < n; ++i) out[i] = 1.f / x[i];
}

void rsqrt(const float* x, float* out, int64_t n) {
  const FlushDenormals flush;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i), estimate = _mm256_rsqrt_ps(v);
    const __m256 residue = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(v, estimate), estimate), _mm256_set1_ps(-1.f));
    const __m256 better = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(estimate, _mm256_set1_ps(-.5f)), residue), estimate);
    _mm256_storeu_ps(out + i, _mm256_blendv_ps(better, estimate, _mm256_cmp_ps(better, better, _CMP_UNORD_Q)));
  }
  for (; i < n; ++i) out[i] = 1.f / std::sqrt(x[i]);
}

}  // extern "C"
