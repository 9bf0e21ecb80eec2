// The cost model: what is decided by run-time sizes. Work is counted in picoseconds of one core, as measured on a Xeon with AVX-512 (the
// table in src/passes/cost_model.h); only its order of magnitude matters here.
#pragma once

#include <stdint.h>

namespace natif::kernels {
namespace {

// Work below the first is not split, and no piece is smaller than the second. Two threads of the runtime's pool against one, work as
// estimated: 20 µs take 1.5 times as long, 60 µs 1.1 to 1.5 times; at 80 to 100 µs both are even, and 150 µs take 0.7 of the time. Pieces
// of 30 µs did best from there on.
constexpr int64_t kParallelWork = 100'000'000, kPieceWork = 30'000'000;

// Rows of the pieces into which `rows` rows are split; `rows` itself where they are not. Pieces are whole blocks where that leaves enough
// of them to even out the threads; else groups of rows that still share what is loaded of a product's weights.
[[maybe_unused]] inline int64_t parallel_grain(int64_t rows, int64_t block, int64_t work) {
  if (work <= 0 || rows < kParallelWork / work) return rows;
  constexpr int64_t few_blocks = 4, sharing = 16;
  const int64_t half = rows > 1 ? rows / 2 : 1;
  const int64_t unit = rows >= few_blocks * block ? block : half < sharing ? half : sharing;
  const int64_t grain = (kPieceWork / work + unit) / unit * unit;
  return grain < rows ? grain : rows;
}

// Whether a product is left to TensorFlow's own op. From 600,000 weights on they no longer stay in the second cache, where TensorFlow's
// packed and threaded product is faster (256·1024·1024: 18 GFLOP/s here, 45–130 there; 64·512·512: 155 here, 136 there); from there on,
// too, eager's sums for one row depend on its number of threads, and those for many rows with 1,024 columns follow another order than the
// rule's. For 32 rows or more packing pays from fewer weights on. Times of eager's matmul, bias_add and relu over the kernel's, one thread:
//     weights               16 rows      64 rows      128 rows
//     393,000 to 410,000    1.5 to 2.0   0.9 to 1.2   0.8 to 1.1
//     490,000 to 524,000    1.2 to 1.6   0.7 to 1.0   0.6 to 0.9
[[maybe_unused]] constexpr bool is_large_product(int64_t rows, int64_t k, int64_t n) { return k * n >= (rows < 32 ? 600'000 : 450'000); }

// The same of a right matrix that was packed once: 128·512·1024 runs at 157 GFLOP/s, so that only the order decides.
[[maybe_unused]] constexpr bool is_large_packed_product(int64_t k, int64_t n) { return k * n >= 600'000; }

// Whether eager's reduction of a row is one that several of its threads share, which makes its order theirs.
[[maybe_unused]] constexpr bool is_shared_reduction(int64_t rows, int64_t n) { return rows == 1 && n > 8192; }

// Rows that are computed at a time: enough to use weights that lie beyond the first cache often, few enough that intermediates stay in it.
[[maybe_unused]] inline int64_t block_rows(int64_t rows, int64_t bytes_a_row, int64_t weight_bytes) {
  constexpr int64_t cached = 128 << 10, first_cache = 24 << 10, fewest = 8;
  const int64_t wanted = weight_bytes <= first_cache ? 32 : 64;
  const int64_t fitting = bytes_a_row * wanted <= cached ? wanted : cached / bytes_a_row & ~(fewest - 1);
  const int64_t block = fitting < fewest ? fewest : fitting;
  return rows < block ? rows : block;
}

// Elements of a flat loop that are computed at a time where there are intermediates.
[[maybe_unused]] inline int64_t block_elements(int64_t elements, int64_t intermediates) {
  if (intermediates == 0) return elements;
  constexpr int64_t block = 2048;
  return elements < block ? elements : block;
}

}  // namespace
}  // namespace natif::kernels
