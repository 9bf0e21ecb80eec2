// natif's kernels for the orders that differ between machine classes, as C functions for test_kernels.py. Work is cut into blocks of rows,
// as generated code does.
#include "kernels/product_other_orders.h"
#include "kernels/product_rows.h"
#include "kernels/transpose.h"

namespace natif::kernels {
namespace {

constexpr auto kPlain = [](auto acc, auto) { return acc; };

}  // namespace

// `rules`: which of ProductRules' members holds, in their order as bits. 0: the order is not known.
extern "C" int64_t product_in_blocks(const float* a, const float* b, float* turned, float* out, int64_t m, int64_t k, int64_t n,
                                     int64_t transpose_a, int64_t transpose_b, int64_t rules, int64_t block) {
  const FlushDenormals flush;
  const auto holds = [rules](int bit) { return (rules >> bit & 1) != 0; };
  OrderedProduct p = ordered_product({holds(0), holds(1), holds(2), holds(3), holds(4)}, {m, k, n, transpose_a != 0, transpose_b != 0});
  if (p.order == ProductOrder::kUnknown) return 0;
  p.other_rows = product_in_other_order;
  p.right = {transpose_b ? turned : b, transpose_b ? b : nullptr};
  if (transpose_b && reads_by_terms(p.order)) transpose_rows(Output{turned, n}, n, Dynamic{k}, Full{b, k});
  for (int64_t first = 0; first < m; first += block) {
    const int64_t rows = m - first < block ? m - first : block;
    const Output to{out + first * n, n};
    if (transpose_a) {
      product_rows(p, to, first, rows, Dynamic{k}, Dynamic{n}, Left{a + first, Size<1>{}, Dynamic{m}}, kNoTail, kPlain);
    } else {
      product_rows(p, to, first, rows, Dynamic{k}, Dynamic{n}, Left{a + first * k, Dynamic{k}}, kNoTail, kPlain);
    }
  }
  return static_cast<int64_t>(p.order);
}

}  // namespace natif::kernels
