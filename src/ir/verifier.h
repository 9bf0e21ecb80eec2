// src/ir/verifier.h: checks that a function keeps the rules of ir/graph.h: every value is defined once and before its uses, regions end in
// one terminator, and the types of operands, results and region arguments agree. What only an op's definition knows is left to a callback;
// ops/verify.h has the one that every pass is followed by in tests.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace natif::ir {

/// Throws base::InternalError where an Op node is not what its op's definition says.
using OpCheck = std::function<void(const Function&, const Node&)>;

/// Throws base::InternalError that names the function and the node at fault.
void verify(const Function&, const OpCheck& check_op = {});

/// The InternalError for a node of `function` that breaks a rule.
[[noreturn]] void fail_verification(const Function& function, const Node& node, const std::string& rule);

}  // namespace natif::ir
