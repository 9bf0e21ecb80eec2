// What the kernels' benchmarks share: operands in [0.5, 1.5), which no operation takes out of the range of floats, and rates.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"

namespace natif::kernels {

inline std::vector<float> bench_values(int64_t count) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> draw(.5f, 1.5f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& x : values) x = draw(engine);
  return values;
}

inline benchmark::Counter flops(const benchmark::State& state, double each_iteration) {
  return benchmark::Counter(each_iteration * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

}  // namespace natif::kernels
