// src/codegen/block_epilogue.h: how much of a product's epilogue its tiles take when sizes are known at run time only (BlockEpilogue of
// kernels/matmul_block.h): a bias, then relu. The rest is a pointwise loop over the block.
#pragma once

#include <optional>

#include "passes/plan.h"

namespace natif::codegen {

struct BlockEpilogue {
  std::optional<size_t> bias;  // the vector added along the columns, among the epilogue's operands
  bool relu = false;
  ir::Expression rest;  // what is left to do; its input 0 is the tiles' result
};

/// Of a Contraction.
BlockEpilogue block_epilogue(const passes::Stage&);

}  // namespace natif::codegen
