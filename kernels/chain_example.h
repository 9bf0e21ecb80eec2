// A whole chain as generated code writes it: (x − mean) / scale → matmul + bias → relu → matmul + bias → softmax → argmax, 32 → 64 → 8.
//
// Written by hand, to test and time the kernels together: sizes that are known become Size<…>, a block of rows passes through all kernels
// before the next begins, intermediates lie in scratch memory that the caller provides, and a declined block declines the call.
#pragma once

#include "kernels/matmul.h"
#include "kernels/pointwise.h"
#include "kernels/softmax.h"

namespace natif::kernels {
namespace {

struct ChainArguments {
  const float *x, *mean, *scale, *w1, *b1, *w2, *b2;  // [rows, 32], [32], [32], [32, 64], [64], [64, 8], [8]
  int64_t rows;
};

constexpr int64_t kChainBlock = 16;
// Buffers that are read and written in step lie at different offsets within 4,096 bytes, or the processor takes one's loads to depend on
// the other's stores.
constexpr int64_t kChainZ = 0, kChainH = kChainZ + kChainBlock * 32 + 16, kChainY = kChainH + kChainBlock * 64 + 16;
constexpr int64_t kChainScratch = kChainY + kChainBlock * 8;  // floats

// classes [rows]; probabilities [rows, 8] unless null; scratch: kChainScratch floats, aligned to 64 bytes. False: left to eager.
[[maybe_unused]] inline bool chain_example(const ChainArguments& a, int64_t* classes, float* probabilities, float* scratch) {
  const FlushDenormals flush;
  float *z = scratch + kChainZ, *h = scratch + kChainH, *y = scratch + kChainY;
  for (int64_t first = 0; first < a.rows; first += kChainBlock) {
    const int64_t rows = a.rows - first < kChainBlock ? a.rows - first : kChainBlock;

    const auto standardise = [](auto x0, auto x1, auto x2) { return div(sub(x0, x1), x2); };
    map(Output{z, 32}, rows, Size<32>{}, kNoTail, standardise, Full{a.x + first * 32, 32}, Row{a.mean}, Row{a.scale});

    const auto bias_relu = [&](auto acc, auto at) { return relu(add(acc, at(Row{a.b1}))); };
    matmul_rows(Output{h, 64}, rows, a.rows, Size<32>{}, Size<64>{}, Left{z, Size<32>{}}, Right{a.w1, Size<64>{}},
                flat_tail(a.rows, Size<64>{}, first, rows), bias_relu);

    const auto bias = [&](auto acc, auto at) { return add(acc, at(Row{a.b2})); };
    matmul_rows(Output{y, 8}, rows, a.rows, Size<64>{}, Size<8>{}, Left{h, Size<64>{}}, Right{a.w2, Size<8>{}}, kNoTail, bias);

    const bool known = probabilities
                           ? softmax_argmax_rows<true>(Output{probabilities + first * 8, 8}, classes + first, rows, Size<8>{}, Full{y, 8})
                           : softmax_argmax_rows<false>(Output{y, 8}, classes + first, rows, Size<8>{}, Full{y, 8});
    if (!known) return false;
  }
  return true;
}

}  // namespace
}  // namespace natif::kernels
