// The scoring function of bench/programs/score.py written by hand, once, for its own widths and for AVX-512: the measure of what the
// compiler emits for any function.
#pragma once

#include <cstdint>

namespace natif::bench {

inline constexpr int kFeatures = 32, kHidden = 64, kClasses = 8;

// softmax(relu((x - mean) / scale · w1 + b1) · w2 + b2) and its argmax, with eager's bits. x is [rows, 32], w1 [32, 64], w2 [64, 8], all
// row-major; classes receives rows indices; probabilities, where not null, rows × 8 floats. Buffers need no alignment beyond the element's
// and outputs must not overlap inputs.
using ScoreFunction = void (*)(const float* x, const float* mean, const float* scale, const float* w1, const float* b1, const float* w2,
                               const float* b2, int64_t* classes, float* probabilities, int64_t rows);

// The kernel, or null where this build's processor has no AVX-512 F and DQ.
ScoreFunction score_function();

}  // namespace natif::bench
