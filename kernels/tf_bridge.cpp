// The kernels as C functions, for kernels_tf_test.py to hold them against TensorFlow eager.
#include "kernels/chain_example.h"

namespace natif::kernels {
namespace {

extern "C" bool natif_chain(const float* x, const float* mean, const float* scale, const float* w1, const float* b1, const float* w2,
                            const float* b2, int64_t* classes, float* probabilities, int64_t rows) {
  alignas(64) float scratch[kChainScratch];
  return chain_example({x, mean, scale, w1, b1, w2, b2, rows}, classes, probabilities, scratch);
}

}  // namespace
}  // namespace natif::kernels
