// runtime/self_check_kernels.h: natif's own kernels as the self-check calls them. levels/self_check_level.cpp is compiled once for each
// vector level of the architecture and gives one such function from each object.
#ifndef NATIF_RUNTIME_SELF_CHECK_KERNELS_H_
#define NATIF_RUNTIME_SELF_CHECK_KERNELS_H_

#include <cstdint>

namespace natif::runtime {

enum class Computation { kExp, kLog, kTanh, kSigmoid, kRsqrt, kReciprocal, kMatMul, kSoftmax, kSum, kMean, kProd, kMax, kMin };

// One comparison: elementwise and softmax: a is [m, n]; matmul: a is [m, k], b is [k, n]; reductions: a is [m, n], along `axis`.
struct Sizes {
  int64_t m = 1, k = 0, n = 1;
  int axis = 1;
};

// Computes into `out`; false: the kernel declines these values.
using KernelRunner = bool (*)(Computation, const Sizes&, const float* a, const float* b, float* out);

#if defined(__x86_64__)
bool run_kernel_v2(Computation, const Sizes&, const float* a, const float* b, float* out);
bool run_kernel_v3(Computation, const Sizes&, const float* a, const float* b, float* out);
bool run_kernel_v4(Computation, const Sizes&, const float* a, const float* b, float* out);
#else
bool run_kernel_aarch64(Computation, const Sizes&, const float* a, const float* b, float* out);
#endif

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_SELF_CHECK_KERNELS_H_
