// Softmax of a block of rows in the order that eager follows on this machine: oneDNN's (softmax.h) or Eigen's (softmax_eigen.h).
#pragma once

#include "kernels/softmax.h"
#include "kernels/softmax_eigen.h"

namespace natif::kernels {
namespace {

// Which of the rules for softmax hold.
struct SoftmaxRules {
  bool onednn = false, eigen = false;
};

// From the bits of natif_call.rules, whose places the artifact's table decides.
[[maybe_unused]] constexpr SoftmaxRules softmax_rules(uint64_t rules, int onednn, int eigen) {
  return {(rules >> onednn & 1) != 0, (rules >> eigen & 1) != 0};
}

// Whether a rule covers a matrix of this size: Eigen computes the exponentials in runs with a tail each.
[[maybe_unused]] constexpr bool is_known_softmax(const SoftmaxRules& rules, int64_t rows, int64_t columns) {
  constexpr int64_t run = 6956;
  return rules.onednn || (rules.eigen && (rows * columns <= run || (columns % 8 == 0 && columns <= run)));
}

// As softmax_rows, for a block from `first` on among `total_rows`.
template <class C>
[[nodiscard]] inline bool softmax_in_order(const SoftmaxRules& rules, Output out, int64_t first, int64_t rows, int64_t total_rows,
                                           C columns, Full x) {
  if (rules.onednn) [[likely]]
    return softmax_rows(out, rows, columns, x);
  return softmax_rows_eigen(out, rows, columns, x, first, total_rows);
}

// As softmax_argmax_rows.
template <bool keep, class Index, class C>
[[nodiscard]] inline bool softmax_argmax_in_order(const SoftmaxRules& rules, Output out, Index* indices, int64_t first, int64_t rows,
                                                  int64_t total_rows, C columns, Full x) {
  if (rules.onednn) [[likely]]
    return softmax_argmax_rows<keep>(out, indices, rows, columns, x);
  if (!softmax_rows_eigen(out, rows, columns, x, first, total_rows)) return false;
  argmax_rows(indices, rows, Dynamic{columns}, Full{out.data, out.row_stride});
  return true;
}

}  // namespace
}  // namespace natif::kernels
