// src/passes/fuse.cpp: see fuse.h.
#include "passes/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "ops/registry.h"
#include "passes/rewrite.h"

namespace natif::passes {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;

constexpr size_t most_ops_of_a_kernel = 64;  // bounds what the C++ compiler has to do for one function

// Facts about the whole function, taken before anything moves.
struct Uses {
  std::map<Value, std::vector<const Node*>> users;
  std::map<Value, const Node*> producer;

  explicit Uses(const ir::Function& function) {
    ir::for_each_node(function.body, [&](const Node& node) {
      for (Value operand : node.operands) users[operand].push_back(&node);
      for (Value result : node.results) producer[result] = &node;
    });
  }
};

struct Group {
  std::vector<const Node*> ops;  // in order
  Kernel kernel;
};

bool is_control_flow(const Node& node) { return !node.regions.empty() || ir::is_terminator(node.kind); }

// Groups of one stretch of nodes without control flow.
class Stretch {
 public:
  Stretch(CompiledFunction& compiled, const Uses& uses, std::span<const Node> nodes) : compiled_(compiled), uses_(uses), nodes_(nodes) {}

  void group() {
    for (const Node& node : nodes_)
      if (node.kind == NodeKind::Op) place(node);
  }

  // The nodes in their new order, with kernels.
  std::vector<Node> rebuild() {
    std::vector<Node> result;
    std::set<size_t> done;
    for (size_t index : order(group_of_)) {
      const auto found = group_of_.find(&nodes_[index]);
      if (found == group_of_.end()) {
        result.push_back(nodes_[index]);
      } else if (done.insert(found->second).second) {
        result.push_back(outline(*groups_[found->second]));
      }
    }
    return result;
  }

 private:
  using Assignment = std::map<const Node*, size_t>;

  // ---- growing groups ----

  void place(const Node& node) {
    std::vector<size_t> near;  // the groups that make its operands, the latest first
    for (Value operand : node.operands) {
      const auto producer = uses_.producer.find(operand);
      if (producer == uses_.producer.end()) continue;
      const auto group = group_of_.find(producer->second);
      if (group != group_of_.end() && std::find(near.begin(), near.end(), group->second) == near.end()) near.push_back(group->second);
    }
    std::sort(near.rbegin(), near.rend());
    std::string reason;
    if (!near.empty() && join(near, node, reason)) return;
    for (size_t group : near) {
      if (near.size() > 1 && join({group}, node, reason)) {
        merge_rest(group, near);
        return;
      }
    }
    const bool alone = join({}, node, reason);
    if (!alone || !near.empty()) compiled_.splits.push_back({node.span, node.op, reason});
  }

  // The other groups that feed `group`, each on its own, as far as one kernel can hold them.
  void merge_rest(size_t group, const std::vector<size_t>& near) {
    std::string reason;
    for (size_t other : near)
      if (other != group && groups_[other]) join_groups({group, other}, nullptr, reason);
  }

  bool join(const std::vector<size_t>& groups, const Node& node, std::string& reason) { return join_groups(groups, &node, reason); }

  // Makes one group of `groups` and `node` if a kernel can hold them; otherwise says why not, unless an earlier attempt did.
  bool join_groups(const std::vector<size_t>& groups, const Node* node, std::string& reason) {
    std::set<const Node*> members;
    for (size_t group : groups) members.insert(groups_[group]->ops.begin(), groups_[group]->ops.end());
    if (node) members.insert(node);
    const auto refuse = [&](std::string why) {
      if (reason.empty()) reason = std::move(why);
      return false;
    };
    if (members.size() > most_ops_of_a_kernel) return refuse("the kernel has as many ops as one may have");
    Assignment merged = group_of_;
    const size_t target = groups.empty() ? groups_.size() : *std::min_element(groups.begin(), groups.end());
    for (const Node* member : members) merged[member] = target;
    if (order(merged).empty()) return refuse("an op between is in no kernel with it, and needs its result");
    Group group;
    for (const Node& candidate : nodes_)
      if (members.contains(&candidate)) group.ops.push_back(&candidate);
    auto plan = plan_kernel(compiled_.function, with_numbers(group.ops), results_of(members, group.ops));
    if (const auto* refusal = std::get_if<Refusal>(&plan)) return refuse(refusal->reason);
    group.kernel = std::move(std::get<Kernel>(plan));
    for (size_t gone : groups) groups_[gone].reset();
    if (target == groups_.size()) groups_.emplace_back();
    groups_[target] = std::move(group);
    group_of_ = std::move(merged);
    return true;
  }

  // The ops, and the numbers that become their operands.
  std::vector<const Node*> with_numbers(const std::vector<const Node*>& ops) const {
    std::vector<const Node*> nodes;
    for (const Node* op : ops) {
      for (Value operand : op->operands) {
        const auto number = uses_.producer.find(operand);
        if (number == uses_.producer.end() || number->second->kind != NodeKind::ToTensor) continue;
        const auto literal = uses_.producer.find(number->second->operands[0]);
        if (literal != uses_.producer.end() && literal->second->kind == NodeKind::Literal) nodes.push_back(literal->second);
        nodes.push_back(number->second);
      }
      nodes.push_back(op);
    }
    return nodes;
  }

  // The results that are used outside of the group, or by nobody.
  std::vector<Value> results_of(const std::set<const Node*>& members, const std::vector<const Node*>& ops) const {
    std::vector<Value> results;
    for (const Node* op : ops) {
      for (Value result : op->results) {
        const auto users = uses_.users.find(result);
        const bool inside = users != uses_.users.end() && std::all_of(users->second.begin(), users->second.end(),
                                                                      [&](const Node* user) { return members.contains(user); });
        if (!inside) results.push_back(result);
      }
    }
    return results;
  }

  // ---- order ----

  // The nodes' indices in an order in which the groups of `assignment` can each run at once, at the place of their last op; empty if there
  // is none.
  std::vector<size_t> order(const Assignment& assignment) const {
    const size_t n = nodes_.size();
    std::vector<size_t> unit(n);  // nodes of one group are one unit, named by the index of its last node
    std::vector<std::vector<size_t>> members(n);
    std::map<size_t, size_t> unit_of_group;
    for (size_t i = 0; i < n; ++i) {
      const auto group = assignment.find(&nodes_[i]);
      if (group != assignment.end()) unit_of_group[group->second] = i;
    }
    for (size_t i = 0; i < n; ++i) {
      const auto group = assignment.find(&nodes_[i]);
      unit[i] = group == assignment.end() ? i : unit_of_group[group->second];
      members[unit[i]].push_back(i);
    }
    std::map<Value, size_t> made_by;
    for (size_t i = 0; i < n; ++i)
      for (Value result : nodes_[i].results) made_by[result] = unit[i];
    std::vector<std::set<size_t>> needs(n);
    for (size_t i = 0; i < n; ++i)
      for (Value operand : nodes_[i].operands)
        if (const auto made = made_by.find(operand); made != made_by.end() && made->second != unit[i]) needs[unit[i]].insert(made->second);
    std::vector<size_t> result;
    std::vector<bool> placed(n);
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t u = 0; u < n; ++u) {
        if (unit[u] != u || placed[u]) continue;
        if (!std::all_of(needs[u].begin(), needs[u].end(), [&](size_t need) { return placed[need]; })) continue;
        placed[u] = progress = true;
        result.insert(result.end(), members[u].begin(), members[u].end());
      }
    }
    return result.size() == n ? result : std::vector<size_t>{};
  }

  // ---- outlining ----

  // What eager's bits alone demand is dropped.
  static void relax(Kernel& kernel) {
    kernel.fast = true;
    kernel.rules.clear();
    for (Stage& stage : kernel.stages) stage.tail_matters = stage.tail_of_two = stage.broadcast_tail = false;
  }

  Node outline(Group& group) {
    ir::Function& function = compiled_.function;
    Node kernel{.kind = NodeKind::Kernel};
    kernel.operands = group.kernel.inputs;
    kernel.operands.insert(kernel.operands.end(), group.kernel.numbers.begin(), group.kernel.numbers.end());
    kernel.attributes = {{"kernel", static_cast<int64_t>(compiled_.kernels.size())}};
    kernel.span = group.ops.back()->span;
    Region body;
    Replacements renamed;
    for (const Node* op : group.ops) {
      Node copy = *op;
      for (Value& operand : copy.operands) {
        const auto number = uses_.producer.find(operand);
        if (number == uses_.producer.end() || number->second->kind != NodeKind::ToTensor) continue;
        if (!renamed.contains(operand)) {
          Node conversion = *number->second;
          conversion.results = {function.new_value(ir::Type(function.type(operand)))};
          renamed[operand] = conversion.results[0];
          body.nodes.push_back(std::move(conversion));
        }
        operand = renamed[operand];
      }
      body.nodes.push_back(std::move(copy));
    }
    // The results leave under new values, since the region's own may be read inside it only.
    Node yield{.kind = NodeKind::Yield};
    for (Value output : group.kernel.outputs) {
      yield.operands.push_back(output);
      kernel.results.push_back(function.new_value(ir::Type(function.type(output)), function.values[output].name));
    }
    body.nodes.push_back(std::move(yield));
    kernel.regions.push_back(std::move(body));
    if (compiled_.options.numerics == Numerics::Fast) relax(group.kernel);
    compiled_.kernels.push_back(std::move(group.kernel));
    return kernel;
  }

  CompiledFunction& compiled_;
  const Uses& uses_;
  std::span<const Node> nodes_;
  std::vector<std::optional<Group>> groups_;
  Assignment group_of_;
};

// The region with kernels; `outside` learns by which new values their results go.
Region fuse_region(CompiledFunction& compiled, const Uses& uses, const Region& region, Replacements& outside) {
  Region rebuilt{.arguments = region.arguments};
  for (size_t begin = 0; begin < region.nodes.size();) {
    size_t end = begin;
    while (end < region.nodes.size() && !is_control_flow(region.nodes[end])) ++end;
    Stretch stretch(compiled, uses, std::span(region.nodes).subspan(begin, end - begin));
    stretch.group();
    for (Node& node : stretch.rebuild()) {
      if (node.kind == NodeKind::Kernel)
        for (size_t i = 0; i < node.results.size(); ++i) outside[node.regions[0].nodes.back().operands[i]] = node.results[i];
      rebuilt.nodes.push_back(std::move(node));
    }
    if (end < region.nodes.size()) {
      Node node = region.nodes[end];
      for (size_t i = 0; i < node.regions.size(); ++i) node.regions[i] = fuse_region(compiled, uses, region.nodes[end].regions[i], outside);
      rebuilt.nodes.push_back(std::move(node));
    }
    begin = end + 1;
  }
  return rebuilt;
}

// Outside of the kernels, their results go by the new names.
void rename_results(Region& region, const Replacements& outside, std::vector<Kernel>& kernels) {
  const auto rename = [&](Value& value) {
    if (const auto found = outside.find(value); found != outside.end()) value = found->second;
  };
  for (Node& node : region.nodes) {
    std::for_each(node.operands.begin(), node.operands.end(), rename);
    if (node.kind != NodeKind::Kernel) {
      for (Region& inner : node.regions) rename_results(inner, outside, kernels);
      continue;
    }
    Kernel& kernel = kernels[static_cast<size_t>(ir::get<int64_t>(node.attributes, "kernel"))];
    std::for_each(kernel.inputs.begin(), kernel.inputs.end(), rename);
    std::set<Value> own;
    for (const Node& inner : node.regions[0].nodes) own.insert(inner.results.begin(), inner.results.end());
    for (Node& inner : node.regions[0].nodes)
      for (Value& operand : inner.operands)
        if (!own.contains(operand)) rename(operand);
  }
}

// Conversions of numbers that only kernels use now: each kernel has its own.
void remove_unused_conversions(ir::Function& function) {
  const std::vector<int> uses = count_uses(function);
  const auto unused = [&](const Node& node) { return node.kind == NodeKind::ToTensor && uses[node.results[0]] == 0; };
  std::erase_if(function.body.nodes, unused);
  ir::for_each_node(function.body, [&](Node& node) {
    for (Region& region : node.regions) std::erase_if(region.nodes, unused);
  });
}

}  // namespace

void fuse(CompiledFunction& compiled) {
  // Uses points into the function's nodes, which therefore stay as they are until the new ones are complete.
  const Uses uses(compiled.function);
  Replacements outside;
  Region body = fuse_region(compiled, uses, compiled.function.body, outside);
  rename_results(body, outside, compiled.kernels);
  compiled.function.body = std::move(body);
  remove_unused_conversions(compiled.function);
}

}  // namespace natif::passes
