// runtime/levels/level_kernels.cpp: the kernels of one vector level. The build compiles this file once for each level, with that level's
// flags, and with NATIF_KERNELS_OF_LEVEL and NATIF_LEVEL naming the function that gives them and the level. It includes nothing but the
// kernels, whose names have internal linkage: an inline function of the standard library compiled here could be the one that the linker
// keeps, and would not run on lesser CPUs.
#include "runtime/levels/level_kernels.h"

#include "kernels/kernels.h"
#include "kernels/product_other_orders.h"
#include "kernels/product_rows.h"
#include "kernels/reduce_axes.h"
#include "kernels/softmax_order.h"

namespace natif::runtime {
namespace {

using namespace natif::kernels;

// Blocks of a height that divides none of the sizes, as emitted code would cut them.
constexpr int64_t kBlock = 13;

template <class Body>
void in_blocks(int64_t rows, const Body& body) {
  for (int64_t first = 0; first < rows; first += kBlock) body(first, rows - first < kBlock ? rows - first : kBlock);
}

template <class F>
bool unary(const F& f, const Sizes& s, const float* x, float* out) {
  in_blocks(s.m, [&](int64_t first, int64_t rows) {
    map(Output{out + first * s.n, s.n}, rows, Dynamic{s.n}, flat_tail(s.m, s.n, first, rows), f, Full{x + first * s.n, s.n});
  });
  return true;
}

bool product(OrderedProduct p, const Sizes& s, const Operands& operands, float* out) {
  if (p.order == ProductOrder::kUnknown) return false;
  p.other_rows = product_in_other_order;
  p.right = {s.transpose_b ? operands.scratch : operands.b, s.transpose_b ? operands.b : nullptr};
  if (s.transpose_b && reads_by_terms(p.order)) transpose_rows(Output{operands.scratch, s.n}, s.n, Dynamic{s.k}, Full{operands.b, s.k});
  const auto sum = [](auto acc, auto) { return acc; };
  in_blocks(s.m, [&](int64_t first, int64_t rows) {
    const Output to{out + first * s.n, s.n};
    if (s.transpose_a) {
      product_rows(p, to, first, rows, Dynamic{s.k}, Dynamic{s.n}, Left{operands.a + first, Size<1>{}, Dynamic{s.m}}, kNoTail, sum);
    } else {
      product_rows(p, to, first, rows, Dynamic{s.k}, Dynamic{s.n}, Left{operands.a + first * s.k, s.k}, kNoTail, sum);
    }
  });
  return true;
}

bool product(const ProductRules& rules, const Sizes& s, const Operands& operands, float* out) {
  return product(ordered_product(rules, {s.m, s.k, s.n, s.transpose_a, s.transpose_b}), s, operands, out);
}

bool softmax(const SoftmaxRules& rules, const Sizes& s, const float* x, float* out) {
  bool known = is_known_softmax(rules, s.m, s.n);
  in_blocks(s.m, [&](int64_t first, int64_t rows) {
    const Full block{x + first * s.n, s.n};
    known = softmax_in_order(rules, Output{out + first * s.n, s.n}, first, rows, s.m, Dynamic{s.n}, block) && known;
  });
  return known;
}

template <class Reduction>
bool reduce(const Sizes& s, const float* x, float* out) {
  if (s.k != 0) {
    const int64_t dims[] = {s.k, s.m, s.n};
    return reduce_axes<Reduction>(out, dims, 3, s.axis == 1 ? 0b010 : 0b101, x);
  }
  if (s.axis == 0) {
    reduce_first<Reduction>(out, s.m, Dynamic{s.n}, Full{x, s.n});
  } else {
    in_blocks(s.m, [&](int64_t first, int64_t rows) {
      reduce_last<Reduction>(out + first, rows, Dynamic{s.n}, Full{x + first * s.n, s.n}, first);
    });
  }
  return true;
}

bool run(Computation computation, const Sizes& sizes, const Operands& operands, float* out) {
  const FlushDenormals flush;
  const float* a = operands.a;
  switch (computation) {
    case Computation::kExp:
      return unary([](auto x) { return exp(x); }, sizes, a, out);
    case Computation::kLog:
      return unary([](auto x) { return log(x); }, sizes, a, out);
    case Computation::kTanh:
      return unary([](auto x) { return tanh(x); }, sizes, a, out);
    case Computation::kSigmoid:
      return unary([](auto x) { return sigmoid(x); }, sizes, a, out);
    case Computation::kRsqrt:
      return unary([](auto x) { return rsqrt(x); }, sizes, a, out);
    case Computation::kReciprocal:
      return unary([](auto x) { return reciprocal(x); }, sizes, a, out);
    case Computation::kBatchMatMul: {
      Sizes rows = sizes;
      rows.m = kBatch * sizes.m;
      return product(ordered_batch_product(sizes.k, sizes.n, sizes.transpose_b), rows, operands, out);
    }
    case Computation::kMatMul:
      return product(ProductRules{.onednn = true}, sizes, operands, out);
    case Computation::kMatMulAvx2:
      return product(ProductRules{.onednn_avx2 = true}, sizes, operands, out);
    case Computation::kMatMulEigenVector:
      return product(ProductRules{.eigen_vector = true}, sizes, operands, out);
    case Computation::kMatMulEigen:
      return product(ProductRules{.eigen = true}, sizes, operands, out);
    case Computation::kMatMulEigenAvx2:
      return product(ProductRules{.eigen_avx2 = true}, sizes, operands, out);
    case Computation::kSoftmax:
      return softmax({.onednn = true}, sizes, a, out);
    case Computation::kSoftmaxEigen:
      return softmax({.eigen = true}, sizes, a, out);
    case Computation::kSum:
      return reduce<Sum>(sizes, a, out);
    case Computation::kMean:
      return reduce<Mean>(sizes, a, out);
    case Computation::kProd:
      return reduce<Prod>(sizes, a, out);
    case Computation::kMax:
      return reduce<Max>(sizes, a, out);
    case Computation::kMin:
      return reduce<Min>(sizes, a, out);
  }
  return false;
}

}  // namespace

LevelKernels NATIF_KERNELS_OF_LEVEL() { return {NATIF_LEVEL, run, product_in_other_order}; }

}  // namespace natif::runtime
