// Matrix products with bias and relu, sizes known when compiling and not, plain and packed: floating-point operations a second.
#include "benchmark/benchmark.h"
#include "kernels/bench_values.h"
#include "kernels/matmul.h"

namespace natif::kernels {
namespace {

template <bool packed, class K, class N>
void product(benchmark::State& state, int64_t m, K k, N n) {
  const FlushDenormals flush;
  const auto a = bench_values(m * k), b = bench_values(k * n), bias = bench_values(n);
  std::vector<float> out(static_cast<size_t>(m * n)), panels(static_cast<size_t>(packed_size(k, n)));
  pack_right(panels.data(), k, n, Right{b.data(), n});
  const auto epilogue = [&](auto acc, auto at) { return relu(add(acc, at(Row{bias.data()}))); };
  for (auto _ : state) {
    const Output to{out.data(), n};
    if constexpr (packed) {
      matmul_rows(to, m, m, k, n, Left{a.data(), k}, Packed{panels.data()}, flat_tail(m, n, 0, m), epilogue);
    } else {
      matmul_rows(to, m, m, k, n, Left{a.data(), k}, Right{b.data(), n}, flat_tail(m, n, 0, m), epilogue);
    }
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.counters["flop/s"] = flops(state, 2.0 * static_cast<double>(m * k * n));
}

template <int64_t k, int64_t n>
void known(benchmark::State& state) {
  product<false>(state, state.range(0), Size<k>{}, Size<n>{});
}
BENCHMARK(known<32, 64>)->Arg(1)->Arg(16)->Arg(128);
BENCHMARK(known<64, 64>)->Arg(1)->Arg(128);
BENCHMARK(known<64, 8>)->Arg(1)->Arg(128);
BENCHMARK(known<64, 10>)->Arg(128);
BENCHMARK(known<96, 80>)->Arg(512);

void plain(benchmark::State& state) { product<false>(state, state.range(0), Dynamic{state.range(1)}, Dynamic{state.range(2)}); }
void packed(benchmark::State& state) { product<true>(state, state.range(0), Dynamic{state.range(1)}, Dynamic{state.range(2)}); }
BENCHMARK(plain)
    ->Args({1, 32, 64})
    ->Args({128, 64, 64})
    ->Args({128, 64, 10})
    ->Args({512, 96, 100})
    ->Args({128, 256, 1})
    ->Args({256, 512, 512});
BENCHMARK(packed)->Args({128, 64, 64})->Args({16, 512, 512})->Args({256, 512, 512});

}  // namespace
}  // namespace natif::kernels
