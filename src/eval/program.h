// src/eval/program.h: a function that is ready to be interpreted: its graph, and where its op nodes stand in the tables of its module.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "runtime/abi.h"

namespace natif::eval {

/// Where an Op node runs: natif_module.op_sites[site], with natif_module.constants as its last operands.
struct Site {
  int32_t site;
  std::vector<int32_t> constants;
};

struct Program {
  ir::Function function;
  std::unordered_map<const ir::Node*, Site> sites;     // of Op nodes
  std::unordered_map<const ir::Node*, int32_t> spans;  // of nodes that can fail by themselves: indices into natif_module.spans
};

/// One call, as natif_entry says.
natif_status interpret(const Program& program, const natif_host& host, natif_call* call, natif_frame* frame);

}  // namespace natif::eval
