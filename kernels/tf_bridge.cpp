// The kernels as C functions, for kernels_tf_test.py to hold them against TensorFlow eager.
#include "kernels/chain_example.h"
#include "kernels/kernels.h"

namespace natif::kernels {
namespace {

// A whole matrix as blocks of `block` rows, as generated code splits it.
template <class Body>
void in_blocks(int64_t rows, int64_t block, const Body& body) {
  const FlushDenormals flush;
  for (int64_t first = 0; first < rows; first += block) body(first, rows - first < block ? rows - first : block);
}

// f over two operands of one access kind each: 0 whole, 1 row, 2 column, 3 scalar.
template <class F, class X, class Y>
void binary_with(const F& f, X x, Y y, float* out, int64_t rows, int64_t width, int64_t first, int64_t total) {
  map(Output{out, width}, rows, Dynamic{width}, flat_tail(total, width, first, rows), f, x, y);
}

template <class F>
void binary(const F& f, const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  in_blocks(rows, block, [&](int64_t first, int64_t count) {
    const Full x{a + first * width, width};
    float* to = out + first * width;
    switch (kind) {
      case 0:
        return binary_with(f, x, Full{b + first * width, width}, to, count, width, first, rows);
      case 1:
        return binary_with(f, x, Row{b}, to, count, width, first, rows);
      case 2:
        return binary_with(f, x, Column{b + first}, to, count, width, first, rows);
      default:
        return binary_with(f, x, Scalar{*b}, to, count, width, first, rows);
    }
  });
}

template <class F>
void unary(const F& f, const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  in_blocks(rows, block, [&](int64_t first, int64_t count) {
    map(Output{out + first * width, width}, count, Dynamic{width}, flat_tail(rows, width, first, count), f, Full{x + first * width, width});
  });
}

extern "C" bool natif_chain(const float* x, const float* mean, const float* scale, const float* w1, const float* b1, const float* w2,
                            const float* b2, int64_t* classes, float* probabilities, int64_t rows) {
  alignas(64) float scratch[kChainScratch];
  return chain_example({x, mean, scale, w1, b1, w2, b2, rows}, classes, probabilities, scratch);
}

extern "C" void natif_neg(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return neg(v); }, x, out, rows, width, block);
}
extern "C" void natif_abs(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return abs(v); }, x, out, rows, width, block);
}
extern "C" void natif_square(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return square(v); }, x, out, rows, width, block);
}
extern "C" void natif_sqrt(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return sqrt(v); }, x, out, rows, width, block);
}
extern "C" void natif_relu(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return relu(v); }, x, out, rows, width, block);
}
extern "C" void natif_exp(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return exp(v); }, x, out, rows, width, block);
}
extern "C" void natif_log(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return log(v); }, x, out, rows, width, block);
}
extern "C" void natif_tanh(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return tanh(v); }, x, out, rows, width, block);
}
extern "C" void natif_sigmoid(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return sigmoid(v); }, x, out, rows, width, block);
}
extern "C" void natif_rsqrt(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return rsqrt(v); }, x, out, rows, width, block);
}
extern "C" void natif_reciprocal(const float* x, float* out, int64_t rows, int64_t width, int64_t block) {
  unary([](auto v) { return reciprocal(v); }, x, out, rows, width, block);
}
extern "C" void natif_add(const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  binary([](auto v, auto w) { return add(v, w); }, a, b, kind, out, rows, width, block);
}
extern "C" void natif_sub(const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  binary([](auto v, auto w) { return sub(v, w); }, a, b, kind, out, rows, width, block);
}
extern "C" void natif_mul(const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  binary([](auto v, auto w) { return mul(v, w); }, a, b, kind, out, rows, width, block);
}
extern "C" void natif_div(const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  binary([](auto v, auto w) { return div(v, w); }, a, b, kind, out, rows, width, block);
}
extern "C" void natif_maximum(const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  binary([](auto v, auto w) { return maximum(v, w); }, a, b, kind, out, rows, width, block);
}
extern "C" void natif_minimum(const float* a, const float* b, int64_t kind, float* out, int64_t rows, int64_t width, int64_t block) {
  binary([](auto v, auto w) { return minimum(v, w); }, a, b, kind, out, rows, width, block);
}

extern "C" void natif_matmul(const float* a, const float* b, const float* bias, float* out, int64_t m, int64_t k, int64_t n,
                             int64_t block) {
  in_blocks(m, block, [&](int64_t first, int64_t rows) {
    const Left left{a + first * k, k};
    const Right right{b, n};
    const Output to{out + first * n, n};
    if (bias) {
      const auto epilogue = [&](auto acc, auto at) { return relu(add(acc, at(Row{bias}))); };
      matmul_rows(to, rows, m, Dynamic{k}, Dynamic{n}, left, right, flat_tail(m, n, first, rows), epilogue);
    } else {
      matmul_rows(to, rows, m, Dynamic{k}, Dynamic{n}, left, right, kNoTail, [](auto acc, auto) { return acc; });
    }
  });
}

// The right matrix packed first, into the caller's memory.
extern "C" void natif_matmul_packed(const float* a, const float* b, float* packed, float* out, int64_t m, int64_t k, int64_t n,
                                    int64_t block) {
  pack_right(packed, Dynamic{k}, Dynamic{n}, Right{b, n});
  in_blocks(m, block, [&](int64_t first, int64_t rows) {
    matmul_rows(Output{out + first * n, n}, rows, m, Dynamic{k}, Dynamic{n}, Left{a + first * k, k}, Packed{packed}, kNoTail,
                [](auto acc, auto) { return acc; });
  });
}

// The product with one row whose right matrix is stored transposed, [N, K].
extern "C" void natif_row_times_transposed(const float* a, const float* b, const float* bias, float* out, int64_t k, int64_t n) {
  const FlushDenormals flush;
  const auto epilogue = [&](auto acc, auto at) { return relu(add(acc, at(Column{bias}))); };
  matvec_rows(Output{out, 1}, n, Dynamic{k}, Left{b, k}, Right{a, Size<1>{}}, flat_tail(1, n, 0, 1), epilogue);
}

// a is [K, M].
extern "C" void natif_matmul_transpose_a(const float* a, const float* b, float* out, int64_t m, int64_t k, int64_t n, int64_t block) {
  in_blocks(m, block, [&](int64_t first, int64_t rows) {
    matmul_rows(Output{out + first * n, n}, rows, m, Dynamic{k}, Dynamic{n}, Left{a + first, Size<1>{}, m}, Right{b, n}, kNoTail,
                [](auto acc, auto) { return acc; });
  });
}

template <class C>
bool softmax_blocks(const float* x, float* out, int64_t* indices, int64_t rows, C columns, int64_t block) {
  bool known = true;
  in_blocks(rows, block, [&](int64_t first, int64_t count) {
    const Full from{x + first * columns, columns};
    const Output to{out + first * columns, columns};
    known =
        known && (indices ? softmax_argmax_rows<true>(to, indices + first, count, columns, from) : softmax_rows(to, count, columns, from));
  });
  return known;
}

extern "C" bool natif_softmax(const float* x, float* out, int64_t* indices, int64_t rows, int64_t columns, int64_t block) {
  switch (columns) {  // the widths that have code of their own, and some that share it
    case 1:
      return softmax_blocks(x, out, indices, rows, Size<1>{}, block);
    case 3:
      return softmax_blocks(x, out, indices, rows, Size<3>{}, block);
    case 4:
      return softmax_blocks(x, out, indices, rows, Size<4>{}, block);
    case 8:
      return softmax_blocks(x, out, indices, rows, Size<8>{}, block);
    case 10:
      return softmax_blocks(x, out, indices, rows, Size<10>{}, block);
    case 16:
      return softmax_blocks(x, out, indices, rows, Size<16>{}, block);
    case 40:
      return softmax_blocks(x, out, indices, rows, Size<40>{}, block);
    case 64:
      return softmax_blocks(x, out, indices, rows, Size<64>{}, block);
    case 100:
      return softmax_blocks(x, out, indices, rows, Size<100>{}, block);
    default:
      return softmax_blocks(x, out, indices, rows, Dynamic{columns}, block);
  }
}

extern "C" bool natif_softmax_eigen(const float* x, float* out, int64_t rows, int64_t columns, int64_t block) {
  bool known = true;
  in_blocks(rows, block, [&](int64_t first, int64_t count) {
    known = softmax_rows_eigen(Output{out + first * columns, columns}, count, columns, Full{x + first * columns, columns}, first, rows) &&
            known;
  });
  return known;
}

template <class Reduction>
void reduce(const float* x, float* out, int64_t rows, int64_t n, int64_t block, bool last) {
  const FlushDenormals flush;
  if (!last) return reduce_first<Reduction>(out, rows, Dynamic{n}, Full{x, n});
  in_blocks(rows, block,
            [&](int64_t first, int64_t count) { reduce_last<Reduction>(out + first, count, Dynamic{n}, Full{x + first * n, n}, first); });
}

// which: 0 sum, 1 mean, 2 product, 3 maximum, 4 minimum.
extern "C" void natif_reduce(int64_t which, const float* x, float* out, int64_t rows, int64_t n, int64_t block, int64_t last) {
  switch (which) {
    case 0:
      return reduce<Sum>(x, out, rows, n, block, last != 0);
    case 1:
      return reduce<Mean>(x, out, rows, n, block, last != 0);
    case 2:
      return reduce<Prod>(x, out, rows, n, block, last != 0);
    case 3:
      return reduce<Max>(x, out, rows, n, block, last != 0);
    default:
      return reduce<Min>(x, out, rows, n, block, last != 0);
  }
}

template <class Index>
void argmax(const float* x, Index* out, int64_t rows, int64_t columns, bool last) {
  const FlushDenormals flush;
  if (last) return argmax_rows(out, rows, Dynamic{columns}, Full{x, columns});
  argmax_columns(out, rows, Dynamic{columns}, Full{x, columns});
}

extern "C" void natif_argmax64(const float* x, int64_t* out, int64_t rows, int64_t columns, int64_t last) {
  argmax(x, out, rows, columns, last != 0);
}

extern "C" void natif_argmax32(const float* x, int32_t* out, int64_t rows, int64_t columns, int64_t last) {
  argmax(x, out, rows, columns, last != 0);
}

extern "C" void natif_transpose(const float* x, float* out, int64_t rows, int64_t columns, int64_t block) {
  in_blocks(rows, block, [&](int64_t first, int64_t count) {
    transpose_rows(Output{out + first, rows}, count, Dynamic{columns}, Full{x + first * columns, columns});
  });
}

}  // namespace
}  // namespace natif::kernels
