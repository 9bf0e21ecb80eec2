// src/passes/pipeline.cpp: the map of the compiler's middle: the passes in their order. docs/adding-a-pass.md says how to add one.
#include "passes/pipeline.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "ops/registry.h"
#include "ops/verify.h"
#include "passes/common_subexpressions.h"
#include "passes/dead_code.h"
#include "passes/fold_numbers.h"
#include "passes/fuse.h"

namespace natif::passes {

namespace {

std::string place(const base::Span& span) { return "line " + std::to_string(span.line) + ", column " + std::to_string(span.column); }

void demand_fused(const CompiledFunction& compiled, const ir::Region& region) {
  for (const ir::Node& node : region.nodes) {
    if (node.kind == ir::NodeKind::Kernel) continue;
    for (const ir::Region& inner : node.regions) demand_fused(compiled, inner);
    if (node.kind != ir::NodeKind::Op) continue;
    const auto split = std::find_if(compiled.splits.begin(), compiled.splits.end(),
                                    [&](const Split& s) { return s.span == node.span && s.op == node.op; });
    const std::string reason = split == compiled.splits.end() ? "" : ": " + split->reason;
    throw base::UserError("natif: lane=\"fused\", but " + node.op + " at " + place(node.span) + " of " + compiled.function.name +
                          " can't be fused" + reason);
  }
}

void collect_sites(CompiledFunction& compiled, const ir::Region& region, bool in_kernel) {
  for (const ir::Node& node : region.nodes) {
    for (const ir::Region& inner : node.regions) collect_sites(compiled, inner, in_kernel || node.kind == ir::NodeKind::Kernel);
    if (node.kind != ir::NodeKind::Op || node.site < 0) continue;
    const ops::OpDef& op = ops::find_node(node.op);
    const std::string rule(in_kernel ? op.exact.rule : std::string_view());
    const bool exact = compiled.options.numerics == Numerics::Exact || rule.empty();
    compiled.sites.push_back({node.site, in_kernel ? "fused" : "tfe", rule, exact});
  }
}

// A site whose node was merged with an equal one runs where that one does; one with several nodes is fused if all are.
void settle_sites(CompiledFunction& compiled, const std::vector<std::pair<int, int>>& merged) {
  std::map<int, SiteFacts> sites;
  for (SiteFacts& facts : compiled.sites) {
    const auto [place, added] = sites.try_emplace(facts.site, facts);
    if (!added && facts.lane == "tfe") place->second = facts;
  }
  for (const auto& [gone, kept] : merged) {
    const auto found = sites.find(kept);
    if (found == sites.end() || sites.contains(gone)) continue;
    SiteFacts facts = found->second;
    facts.site = gone;
    sites.emplace(gone, facts);
  }
  compiled.sites.clear();
  for (auto& [site, facts] : sites) compiled.sites.push_back(std::move(facts));
}

}  // namespace

CompiledFunction compile(ir::Function function, const Options& options) {
  CompiledFunction compiled{.function = std::move(function), .options = options};
  const auto check = [&] {
    if (options.verify) ops::verify(compiled.function);
  };
  check();
  fold_numbers(compiled.function);  // first: it turns numbers into literals, which become constants of loops
  check();
  const auto merged = share_common_subexpressions(compiled.function);
  check();
  remove_dead_code(compiled.function);  // after the two that leave unused nodes behind
  check();
  if (options.lane != Lane::Tfe) {
    fuse(compiled);  // last: what it outlines is planned and not to be changed any more
    check();
  }
  if (options.lane == Lane::Fused) demand_fused(compiled, compiled.function.body);
  collect_sites(compiled, compiled.function.body, false);
  settle_sites(compiled, merged);
  return compiled;
}

}  // namespace natif::passes
