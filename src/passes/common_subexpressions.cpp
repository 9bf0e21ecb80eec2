// src/passes/common_subexpressions.cpp: see common_subexpressions.h.
#include "passes/common_subexpressions.h"

#include <bit>
#include <map>

#include "passes/rewrite.h"

namespace natif::passes {

namespace {

bool same_value(const ir::AttributeValue& a, const ir::AttributeValue& b) {
  const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  return x && y ? std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y) : a == b;  // 0.0 is not -0.0
}

bool same_attributes(const ir::Attributes& a, const ir::Attributes& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].name != b[i].name || !same_value(a[i].value, b[i].value)) return false;
  return true;
}

class Sharing {
 public:
  explicit Sharing(ir::Function& function) : function_(function) {}

  std::vector<std::pair<int, int>> run() {
    visit(function_.body);
    return std::move(gone_);
  }

 private:
  static bool may_be_shared(const ir::Node& node) {
    using ir::NodeKind;
    return node.kind == NodeKind::Op || node.kind == NodeKind::Literal || node.kind == NodeKind::Scalar ||
           node.kind == NodeKind::ToTensor || node.kind == NodeKind::Dimension;
  }

  bool equal(const ir::Node& a, const ir::Node& b) const {
    return a.kind == b.kind && a.op == b.op && (a.kind != ir::NodeKind::Scalar || a.scalar == b.scalar) && a.operands == b.operands &&
           a.results.size() == b.results.size() && function_.type(a.results[0]) == function_.type(b.results[0]) &&
           same_attributes(a.attributes, b.attributes);
  }

  void visit(ir::Region& region) {
    const size_t outside = seen_.size();
    std::vector<ir::Node> kept;
    for (ir::Node& node : region.nodes) {
      for (ir::Value& operand : node.operands)
        if (const auto found = replacements_.find(operand); found != replacements_.end()) operand = found->second;
      for (ir::Region& inner : node.regions) visit(inner);
      if (may_be_shared(node)) {
        if (const ir::Node* first = find_equal(node)) {
          for (size_t i = 0; i < node.results.size(); ++i) replacements_[node.results[i]] = first->results[i];
          if (node.site >= 0 && node.site != first->site) gone_.emplace_back(node.site, first->site);
          continue;
        }
        seen_.push_back(node);
      }
      kept.push_back(std::move(node));
    }
    region.nodes = std::move(kept);
    seen_.resize(outside, ir::Node{});
  }

  const ir::Node* find_equal(const ir::Node& node) const {
    for (const ir::Node& earlier : seen_)
      if (equal(earlier, node)) return &earlier;
    return nullptr;
  }

  ir::Function& function_;
  std::vector<ir::Node> seen_;  // of the region and those around it
  Replacements replacements_;
  std::vector<std::pair<int, int>> gone_;
};

}  // namespace

std::vector<std::pair<int, int>> share_common_subexpressions(ir::Function& function) { return Sharing(function).run(); }

}  // namespace natif::passes
