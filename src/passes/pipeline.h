// src/passes/pipeline.h: the passes in their order, from a typed graph to a graph with kernels and their plans.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/options.h"
#include "passes/plan.h"

namespace natif::passes {

/// Where an op runs that came from a claimed site.
struct SiteFacts {
  int site;          // Node::site
  std::string lane;  // "fused" or "tfe"
  std::string rule;  // the exactness rule that the fused lane relies on; empty where it needs none
  bool exact;        // the lane gives eager's bits wherever it runs
};

/// Why an op is in no kernel, or begins a kernel of its own.
struct Split {
  base::Span span;
  std::string op;
  std::string reason;
};

struct CompiledFunction {
  ir::Function function;
  Options options;
  std::vector<Kernel> kernels;  // by attribute "kernel" of Kernel nodes
  std::vector<Split> splits;
  std::vector<SiteFacts> sites;
};

/// Runs all passes. UserError where lane="fused" meets an op that no kernel can run.
CompiledFunction compile(ir::Function, const Options&);

}  // namespace natif::passes
