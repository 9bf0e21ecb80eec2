// The hand-written chain of chain_example.h: time for each call, by batch.
#include "benchmark/benchmark.h"
#include "kernels/bench_values.h"
#include "kernels/chain_example.h"

namespace natif::kernels {
namespace {

void chain(benchmark::State& state) {
  const int64_t rows = state.range(0);
  const auto x = bench_values(rows * 32), mean = bench_values(32), scale = bench_values(32), w1 = bench_values(32 * 64),
             b1 = bench_values(64), w2 = bench_values(64 * 8), b2 = bench_values(8);
  std::vector<int64_t> classes(static_cast<size_t>(rows));
  alignas(64) float scratch[kChainScratch];
  const ChainArguments arguments{x.data(), mean.data(), scale.data(), w1.data(), b1.data(), w2.data(), b2.data(), rows};
  for (auto _ : state) {
    if (!chain_example(arguments, classes.data(), nullptr, scratch)) state.SkipWithError("declined");
    benchmark::DoNotOptimize(classes.data());
    benchmark::ClobberMemory();
  }
  state.counters["flop/s"] = flops(state, 2.0 * static_cast<double>(rows) * (32 * 64 + 64 * 8));
}
BENCHMARK(chain)->Arg(1)->Arg(2)->Arg(8)->Arg(16)->Arg(128)->Arg(1024);

}  // namespace
}  // namespace natif::kernels
