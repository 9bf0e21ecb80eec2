// src/eval/module.h: makes, from graphs, a module that the runtime takes for an artifact (runtime/abi.h) and whose functions are
// interpreted: each op runs through the host's run_op, one by one. It needs no compiler, so it serves where there is none, and, being a
// plain reading of the graph's rules (ir/graph.h), it is what compiled code is compared with in tests. Graphs may come from before or after
// the passes; a kernel node runs as the ops in it.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/abi.h"

namespace natif::eval {

/// The module with these functions under its only vector level, "any". It lives until the process ends, since hosts keep addresses inside
/// it. Throws base::InternalError where a function is not valid (ops/verify.h).
const natif_module* make_module(std::string name, std::string source_file, std::vector<ir::Function> functions);

}  // namespace natif::eval
