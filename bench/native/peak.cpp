// The float32 FMA peak of the core that runs this, measured: independent chains of fused multiply-adds on the widest vectors that the
// build's processor has, enough of them to hide the latency. To be compiled with -ffp-contract=fast, so that a * b + c is one FMA.
#include <chrono>

#include "functions.h"

namespace natif::bench {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
using Vector [[gnu::vector_size(kBytes)]] = float;
constexpr int kLanes = kBytes / static_cast<int>(sizeof(float)), kChains = 12, kSteps = 4096;

// kSteps FMAs on each chain; the sum is used, so nothing is left out.
[[gnu::noinline]] Vector chains(Vector factor, Vector addend) {
  Vector sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = addend * static_cast<float>(c);
  for (int i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * factor + addend;
  }
  Vector total = sum[0];
  for (int c = 1; c < kChains; ++c) total += sum[c];
  return total;
}

}  // namespace

PyObject* fma_peak(PyObject*, PyObject* args) {
  double seconds;
  if (PyArg_ParseTuple(args, "d", &seconds) == 0) return nullptr;
  using Clock = std::chrono::steady_clock;
  const Vector factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
  constexpr double kOperations = 2.0 * kLanes * kChains * kSteps;
  double best = 0;
  volatile float sink = 0;
  for (const auto end = Clock::now() + std::chrono::duration<double>(seconds); Clock::now() < end;) {
    const auto start = Clock::now();
    sink = sink + chains(factor, addend)[0];
    const double rate = kOperations / std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    if (rate > best) best = rate;
  }
  return PyFloat_FromDouble(best);
}

}  // namespace natif::bench
