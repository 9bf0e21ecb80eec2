// Row-wise kernels, softmax, argmax, reductions and transpose, by shape: elements a second.
#include "benchmark/benchmark.h"
#include "kernels/argmax.h"
#include "kernels/bench_values.h"
#include "kernels/reduce.h"
#include "kernels/softmax.h"
#include "kernels/softmax_fast.h"
#include "kernels/transpose.h"

namespace natif::kernels {
namespace {

// body(x, out, rows, columns)
template <class Body>
void over(benchmark::State& state, Body body) {
  const FlushDenormals flush;
  const int64_t rows = state.range(0), columns = state.range(1);
  const auto x = bench_values(rows * columns);
  std::vector<float> out(x.size());
  for (auto _ : state) {
    body(Full{x.data(), columns}, out.data(), rows, columns);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * rows * columns);
}

void softmax(benchmark::State& state) {
  over(state, [&](Full x, float* out, int64_t rows, int64_t columns) {
    const Output to{out, columns};
    const bool known = columns == 8    ? softmax_rows(to, rows, Size<8>{}, x)
                       : columns == 10 ? softmax_rows(to, rows, Size<10>{}, x)
                                       : softmax_rows(to, rows, Dynamic{columns}, x);
    if (!known) state.SkipWithError("declined");
  });
}
void fast_softmax(benchmark::State& state) {
  over(state, [](Full x, float* out, int64_t rows, int64_t columns) {
    const Output to{out, columns};
    if (columns == 8) return fast_softmax_rows(to, rows, Size<8>{}, x);
    if (columns == 10) return fast_softmax_rows(to, rows, Size<10>{}, x);
    fast_softmax_rows(to, rows, Dynamic{columns}, x);
  });
}
void sum_last(benchmark::State& state) {
  over(state, [](Full x, float* out, int64_t rows, int64_t columns) { reduce_last<Sum>(out, rows, Dynamic{columns}, x, 0); });
}
void sum_first(benchmark::State& state) {
  over(state, [](Full x, float* out, int64_t rows, int64_t columns) { reduce_first<Sum>(out, rows, Dynamic{columns}, x); });
}
void argmax_last(benchmark::State& state) {
  std::vector<int64_t> indices(static_cast<size_t>(state.range(0)));
  over(state, [&](Full x, float*, int64_t rows, int64_t columns) { argmax_rows(indices.data(), rows, Dynamic{columns}, x); });
}
void transpose(benchmark::State& state) {
  over(state, [](Full x, float* out, int64_t rows, int64_t columns) { transpose_rows(Output{out, rows}, rows, Dynamic{columns}, x); });
}
BENCHMARK(softmax)->Args({128, 8})->Args({128, 10})->Args({128, 64})->Args({128, 1000});
BENCHMARK(fast_softmax)->Args({128, 8})->Args({128, 10})->Args({128, 64})->Args({128, 1000});
BENCHMARK(sum_last)->Args({128, 10})->Args({128, 64})->Args({128, 1000});
BENCHMARK(sum_first)->Args({128, 10})->Args({128, 64})->Args({128, 1000});
BENCHMARK(argmax_last)->Args({128, 10})->Args({128, 64})->Args({128, 1000});
BENCHMARK(transpose)->Args({128, 64})->Args({1000, 1000});

}  // namespace
}  // namespace natif::kernels
