// The right matrix of a product, put where its order wants it: as it lies, or turned into scratch memory first.
#pragma once

#include "kernels/launch.h"
#include "kernels/product_order.h"
#include "kernels/transpose.h"

namespace natif::kernels {
namespace {

// `right` is [k, n], or [n, k] where the product's shape says so; `memory`, needed only then, lives as long as the product.
[[maybe_unused]] inline natif_status place_right(const Session& session, Scratch* memory, OrderedProduct& product, const float* right) {
  const auto [m, k, n, transpose_left, transposed] = product.shape;
  product.other_rows = session.host->product_rows;
  if (product.order != ProductOrder::kChains && !product.other_rows) return NATIF_DECLINED;
  product.right = {transposed ? nullptr : right, transposed ? right : nullptr};
  if (!transposed || !reads_by_terms(product.order)) return NATIF_OK;
  float* const turned = static_cast<float*>(memory->get(session, static_cast<size_t>(k * n) * sizeof(float)));
  if (!turned) return NATIF_FAILED;
  transpose_rows(Output{turned, n}, n, Dynamic{k}, Full{right, k});
  product.right.by_terms = turned;
  return NATIF_OK;
}

}  // namespace
}  // namespace natif::kernels
