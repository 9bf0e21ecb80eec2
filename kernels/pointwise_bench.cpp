// Pointwise functions over a tensor in the first-level cache (4,096 elements) and one in memory (1,048,576): elements a second.
#include "benchmark/benchmark.h"
#include "kernels/bench_values.h"
#include "kernels/math_fast.h"
#include "kernels/pointwise.h"

namespace natif::kernels {
namespace {

template <class F>
void over(benchmark::State& state, F f) {
  const FlushDenormals flush;
  const int64_t n = state.range(0);
  const auto x = bench_values(n), y = bench_values(n);
  std::vector<float> out(static_cast<size_t>(n));
  for (auto _ : state) {
    map(Output{out.data(), n}, 1, Dynamic{n}, flat_tail(1, n, 0, 1), f, Full{x.data(), n}, Full{y.data(), n});
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
}

void addition(benchmark::State& state) {
  over(state, [](auto a, auto b) { return add(a, b); });
}
void exponential(benchmark::State& state) {
  over(state, [](auto a, auto) { return exp(a); });
}
void logarithm(benchmark::State& state) {
  over(state, [](auto a, auto) { return log(a); });
}
void hyperbolic_tangent(benchmark::State& state) {
  over(state, [](auto a, auto) { return tanh(a); });
}
void logistic(benchmark::State& state) {
  over(state, [](auto a, auto) { return sigmoid(a); });
}
void fast_exponential(benchmark::State& state) {
  over(state, [](auto a, auto) { return fast_exp(a); });
}
void fast_logarithm(benchmark::State& state) {
  over(state, [](auto a, auto) { return fast_log(a); });
}
void fast_hyperbolic_tangent(benchmark::State& state) {
  over(state, [](auto a, auto) { return fast_tanh(a); });
}
void fast_logistic(benchmark::State& state) {
  over(state, [](auto a, auto) { return fast_sigmoid(a); });
}
void seven_operations(benchmark::State& state) {
  over(state, [](auto a, auto b) { return tanh(sigmoid(mul(relu(sub(add(a, b), constant<decltype(a)>(.5f))), exp(neg(a))))); });
}
void fast_seven_operations(benchmark::State& state) {
  over(state,
       [](auto a, auto b) { return fast_tanh(fast_sigmoid(mul(relu(sub(add(a, b), constant<decltype(a)>(.5f))), fast_exp(neg(a))))); });
}
BENCHMARK(addition)->Arg(4096)->Arg(1 << 20);
BENCHMARK(exponential)->Arg(4096);
BENCHMARK(fast_exponential)->Arg(4096);
BENCHMARK(logarithm)->Arg(4096);
BENCHMARK(fast_logarithm)->Arg(4096);
BENCHMARK(hyperbolic_tangent)->Arg(4096);
BENCHMARK(fast_hyperbolic_tangent)->Arg(4096);
BENCHMARK(logistic)->Arg(4096);
BENCHMARK(fast_logistic)->Arg(4096);
BENCHMARK(seven_operations)->Arg(4096)->Arg(1 << 20);
BENCHMARK(fast_seven_operations)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace natif::kernels
