// src/ops/verify.h: the verifier of ir/verifier.h with what the op registry knows: each Op node is one that its type rule accepts.
#pragma once

#include "ir/graph.h"

namespace natif::ops {

/// Throws base::InternalError that names the function and the node at fault. Run after every pass in tests.
void verify(const ir::Function&);

}  // namespace natif::ops
