// The promise of math_fast.h for each of the 2³² floats, at the vector level that this program is compiled for: prints each function's
// largest error and where it is, and ends with 1 where one is beyond 2 ULP. Takes a few minutes; `make test-exhaustive` runs it.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/math_fast_truth.h"

namespace natif::kernels {
namespace {

// Over all floats, in pieces that the processor's threads take in turn.
template <class Fast, class True>
truth::Worst worst_of_all(Fast fast, True exact) {
  constexpr uint64_t end = uint64_t{1} << 32, piece = uint64_t{1} << 22;
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  truth::Worst worst;
  const auto work = [&] {
    const FlushDenormals flush;
    truth::Worst mine;
    for (uint64_t first; (first = next.fetch_add(piece)) < end;) mine.take(truth::worst_over(fast, exact, first, first + piece, 1));
    const std::lock_guard lock(mutex);
    worst.take(mine);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return worst;
}

int run() {
  if (!truth::is_supported()) {
    std::printf("%s: NOT CHECKED, this processor does not have it\n", truth::kLevel);
    return 0;
  }
  bool kept = true;
  truth::for_each_function([&](const char* name, auto fast, auto exact) {
    const truth::Worst worst = worst_of_all(fast, exact);
    kept = kept && worst.ulps <= truth::kPromisedUlps;
    std::printf("%-9s  %-7s  %.4f ULP at %a (%.9g): %.9g instead of %.12g\n", truth::kLevel, name, worst.ulps, static_cast<double>(worst.x),
                static_cast<double>(worst.x), static_cast<double>(worst.actual), worst.expected);
    std::fflush(stdout);
  });
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace natif::kernels

int main() { return natif::kernels::run(); }
