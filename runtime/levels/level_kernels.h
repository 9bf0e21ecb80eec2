// runtime/levels/level_kernels.h: natif's own kernels of one vector level, as the self-check calls them, and the products that artifacts
// leave to the host. Nothing of the standard library but plain types is included here: see level_kernels.cpp.
#ifndef NATIF_RUNTIME_LEVELS_LEVEL_KERNELS_H_
#define NATIF_RUNTIME_LEVELS_LEVEL_KERNELS_H_

#include <cstdint>

#include "runtime/abi.h"

namespace natif::runtime {

// clang-format off
enum class Computation {
  kExp, kLog, kTanh, kSigmoid, kRsqrt, kReciprocal,
  kMatMul, kMatMulAvx2, kMatMulEigenVector, kMatMulEigen, kMatMulEigenAvx2,  // by the rules of the machine classes
  kBatchMatMul,
  kSoftmax, kSoftmaxEigen,
  kSum, kMean, kProd, kMax, kMin
};
// clang-format on

constexpr bool is_product(Computation c) { return c >= Computation::kMatMul && c <= Computation::kBatchMatMul; }
constexpr bool is_reduction(Computation c) { return c >= Computation::kSum; }

// One comparison: elementwise and softmax: a is [m, n]; products: a is [m, k], b is [k, n], or the transposes of these; reductions: a is
// [m, n], along `axis`, or [k, m, n] if k is not 0, along the middle axis (1) or the two others (2). In a batch product a is kBatch
// matrices.
constexpr int64_t kBatch = 3;
struct Sizes {
  int64_t m = 1, k = 0, n = 1;
  int axis = 1;
  bool transpose_a = false, transpose_b = false;

  // Of a reduction's operand and result.
  constexpr int64_t reduced_from() const { return (k != 0 ? k : 1) * m * n; }
  constexpr int64_t reduced_to() const { return k == 0 ? (axis == 0 ? n : m) : (axis == 1 ? k * n : m); }
};

// The operands, and for a product k·n elements of memory to work in.
struct Operands {
  const float *a, *b;
  float* scratch;
};

// Computes into `out`; false: the kernel declines these values.
using KernelRunner = bool (*)(Computation, const Sizes&, const Operands&, float* out);

struct LevelKernels {
  const char* level;
  KernelRunner run;
  natif_product_rows product_rows;
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_LEVELS_LEVEL_KERNELS_H_
