// src/passes/fuse.cpp: see fuse.h.
#include "passes/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "passes/control_flow.h"
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
  std::vector<const Node*> members;  // ops, control flow, and numbers that depend on it; in order
  Kernel kernel;
};

// Groups of one stretch of nodes that control enters at its begin and leaves at its end.
class Stretch {
 public:
  Stretch(CompiledFunction& compiled, const Uses& uses, std::span<const Node> nodes) : compiled_(compiled), uses_(uses), nodes_(nodes) {
    for (const Node& node : nodes_) reads_[&node] = values_read(node);
  }

  void group() {
    for (const Node& node : nodes_)
      if (is_candidate(node)) place(node);
  }

  // The control flow that is in no kernel, although it could stand in one.
  std::vector<const Node*> left_out() const {
    std::vector<const Node*> nodes;
    for (const Node& node : nodes_)
      if (is_candidate(node) && node.kind != NodeKind::Op && !group_of_.contains(&node)) nodes.push_back(&node);
    return nodes;
  }

  const std::vector<Split>& splits() const { return splits_; }

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

  bool is_candidate(const Node& node) const {
    return node.kind == NodeKind::Op || (owns_regions(node) && handles_tensors(node, compiled_.function));
  }

  // ---- growing groups ----

  void place(const Node& node) {
    std::vector<size_t> near;  // the groups that make its operands, the latest first
    for (Value operand : reads_.at(&node)) {
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
    if (!alone || !near.empty()) splits_.push_back({node.span, node.kind == NodeKind::Op ? node.op : statement_name(node), reason});
  }

  // The other groups that feed `group`, each on its own, as far as one kernel can hold them.
  void merge_rest(size_t group, const std::vector<size_t>& near) {
    std::string reason;
    for (size_t other : near)
      if (other != group && join_groups({group, other}, nullptr, reason)) group = std::min(group, other);
  }

  bool join(const std::vector<size_t>& groups, const Node& node, std::string& reason) { return join_groups(groups, &node, reason); }

  // Makes one group of `groups` and `node` if a kernel can hold them; otherwise says why not, unless an earlier attempt did.
  bool join_groups(const std::vector<size_t>& groups, const Node* node, std::string& reason) {
    std::set<const Node*> members;
    for (size_t group : groups) members.insert(groups_[group]->members.begin(), groups_[group]->members.end());
    if (node) members.insert(node);
    add_numbers(members);
    const auto refuse = [&](std::string why) {
      if (reason.empty()) reason = std::move(why);
      return false;
    };
    if (ops_in(members) > most_ops_of_a_kernel) return refuse("the kernel has as many ops as one may have");
    Assignment merged = group_of_;
    const size_t target = groups.empty() ? groups_.size() : *std::min_element(groups.begin(), groups.end());
    for (const Node* member : members) merged[member] = target;
    if (order(merged).empty()) return refuse("an op between is in no kernel with it, and needs its result");
    Group group;
    for (const Node& candidate : nodes_)
      if (members.contains(&candidate)) group.members.push_back(&candidate);
    auto plan = plan_kernel(compiled_.function, with_numbers(group.members), results_of(group.members));
    if (const auto* refusal = std::get_if<Refusal>(&plan)) return refuse(refusal->reason);
    group.kernel = std::move(std::get<Kernel>(plan));
    for (size_t gone : groups) groups_[gone].reset();
    if (target == groups_.size()) groups_.emplace_back();
    groups_[target] = std::move(group);
    group_of_ = std::move(merged);
    return true;
  }

  // Numbers between two members, which depend on the first's results, are members too.
  void add_numbers(std::set<const Node*>& members) const {
    std::set<const Node*> after;
    for (const Node& node : nodes_) {
      const bool is_number = node.kind == NodeKind::Scalar || node.kind == NodeKind::Dimension;
      const auto depends = [&](Value operand) {
        const auto producer = uses_.producer.find(operand);
        return producer != uses_.producer.end() && (members.contains(producer->second) || after.contains(producer->second));
      };
      if (is_number && !members.contains(&node) && std::any_of(node.operands.begin(), node.operands.end(), depends)) after.insert(&node);
    }
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node& node = nodes_[i];
      if (!members.contains(&node)) continue;
      for (Value operand : reads_.at(&node)) need(operand, after, members);
    }
  }

  // Makes the number of `after` that `operand` is, or is converted from, a member, and those that it needs.
  void need(Value operand, const std::set<const Node*>& after, std::set<const Node*>& members) const {
    const auto producer = uses_.producer.find(operand);
    if (producer == uses_.producer.end()) return;
    const Node* node = producer->second;
    const bool converts = node->kind == NodeKind::ToTensor;
    if (!converts && (!after.contains(node) || !members.insert(node).second)) return;
    for (Value next : node->operands) need(next, after, members);
  }

  static size_t ops_in(const std::set<const Node*>& members) {
    size_t count = 0;
    for (const Node* member : members) {
      count += member->kind == NodeKind::Op;
      for (const Region& region : member->regions) ir::for_each_node(region, [&](const Node& node) { count += node.kind == NodeKind::Op; });
    }
    return count;
  }

  // The members, and the numbers from outside that become operands of theirs or are known.
  std::vector<const Node*> with_numbers(const std::vector<const Node*>& members) const {
    std::vector<const Node*> nodes;
    std::set<const Node*> added;
    const auto add = [&](Value value, NodeKind kind) -> const Node* {
      const auto producer = uses_.producer.find(value);
      if (producer == uses_.producer.end() || producer->second->kind != kind) return nullptr;
      if (added.insert(producer->second).second) nodes.push_back(producer->second);
      return producer->second;
    };
    for (const Node* member : members) {
      for (Value operand : reads_.at(member)) {
        add(operand, NodeKind::Literal);
        const auto number = uses_.producer.find(operand);
        if (number == uses_.producer.end() || number->second->kind != NodeKind::ToTensor) continue;
        add(number->second->operands[0], NodeKind::Literal);
        add(operand, NodeKind::ToTensor);
      }
      nodes.push_back(member);
    }
    return nodes;
  }

  // The results that are used outside of the group, and those of ops that nobody uses.
  std::vector<Value> results_of(const std::vector<const Node*>& members) const {
    std::set<const Node*> inside;
    for (const Node* member : members) {
      inside.insert(member);
      for (const Region& region : member->regions) ir::for_each_node(region, [&](const Node& node) { inside.insert(&node); });
    }
    const auto leaves = [&](Value result) {
      const auto users = uses_.users.find(result);
      if (users == uses_.users.end()) return uses_.producer.at(result)->kind == NodeKind::Op;
      return !std::all_of(users->second.begin(), users->second.end(), [&](const Node* user) {
        const bool converts = user->kind == NodeKind::ToTensor && !inside.contains(user);
        return inside.contains(user) || (converts && is_used_inside(user->results[0], inside));
      });
    };
    std::vector<Value> results;
    for (const Node* member : members) std::copy_if(member->results.begin(), member->results.end(), std::back_inserter(results), leaves);
    return results;
  }

  // Whether a number's conversion is used inside of the group only, which then has its own.
  bool is_used_inside(Value converted, const std::set<const Node*>& inside) const {
    const auto users = uses_.users.find(converted);
    return users == uses_.users.end() ||
           std::all_of(users->second.begin(), users->second.end(), [&](const Node* user) { return inside.contains(user); });
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
      for (Value operand : reads_.at(&nodes_[i])) {
        const Value needed = assignment.contains(&nodes_[i]) ? before_conversion(operand) : operand;
        if (const auto made = made_by.find(needed); made != made_by.end() && made->second != unit[i]) needs[unit[i]].insert(made->second);
      }
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

  // The number that a kernel converts by itself.
  Value before_conversion(Value operand) const {
    const auto producer = uses_.producer.find(operand);
    return producer != uses_.producer.end() && producer->second->kind == NodeKind::ToTensor ? producer->second->operands[0] : operand;
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
    Kernel& planned = group.kernel;
    Node kernel{.kind = NodeKind::Kernel};
    for (const std::vector<Value>* values : {&planned.inputs, &planned.numbers, &planned.steering})
      kernel.operands.insert(kernel.operands.end(), values->begin(), values->end());
    kernel.attributes = {{"kernel", static_cast<int64_t>(compiled_.kernels.size())}};
    kernel.span = group.members.back()->span;
    Region body;
    Replacements renamed;
    for (const Node* member : group.members) {
      for (Value operand : reads_.at(member)) {
        const auto number = uses_.producer.find(operand);
        if (number == uses_.producer.end() || number->second->kind != NodeKind::ToTensor || renamed.contains(operand)) continue;
        Node conversion = *number->second;
        conversion.results = {function.new_value(ir::Type(function.type(operand)))};
        renamed[operand] = conversion.results[0];
        body.nodes.push_back(std::move(conversion));
      }
      body.nodes.push_back(*member);
    }
    replace_operands(body, renamed);
    // The results leave under new values, since the region's own may be read inside it only.
    Node yield{.kind = NodeKind::Yield};
    for (const std::vector<Value>* values : {&planned.outputs, &planned.number_outputs}) {
      for (Value output : *values) {
        yield.operands.push_back(output);
        kernel.results.push_back(function.new_value(ir::Type(function.type(output)), function.values[output].name));
      }
    }
    body.nodes.push_back(std::move(yield));
    kernel.regions.push_back(std::move(body));
    if (compiled_.options.numerics == Numerics::Fast) relax(planned);
    compiled_.kernels.push_back(std::move(planned));
    return kernel;
  }

  CompiledFunction& compiled_;
  const Uses& uses_;
  std::span<const Node> nodes_;
  std::map<const Node*, std::vector<Value>> reads_;  // what each reads, by itself and in its regions
  std::vector<std::optional<Group>> groups_;
  Assignment group_of_;
  std::vector<Split> splits_;
};

// Rebuilds regions with kernels; `outside` learns by which new values their results go.
class Fuser {
 public:
  Fuser(CompiledFunction& compiled, const Uses& uses, Replacements& outside) : compiled_(compiled), uses_(uses), outside_(outside) {}

  Region fuse(const Region& region) {
    Region rebuilt{.arguments = region.arguments};
    std::span<const Node> nodes(region.nodes);
    while (!nodes.empty()) {
      size_t end = 0;
      while (end < nodes.size() && !ir::is_terminator(nodes[end].kind) && obstacle_in(nodes[end]).empty()) ++end;
      add_stretch(rebuilt, nodes.first(end));
      if (end == nodes.size()) break;
      if (owns_regions(nodes[end]) && handles_tensors(nodes[end], compiled_.function))
        compiled_.splits.push_back({nodes[end].span, statement_name(nodes[end]), obstacle_in(nodes[end])});
      add_unfused(rebuilt, nodes[end]);
      nodes = nodes.subspan(end + 1);
    }
    return rebuilt;
  }

 private:
  // Control flow that fits into no kernel ends those before it.
  void add_stretch(Region& rebuilt, std::span<const Node> nodes) {
    if (nodes.empty()) return;
    Stretch stretch(compiled_, uses_, nodes);
    stretch.group();
    const std::vector<const Node*> left_out = stretch.left_out();
    if (left_out.empty()) {
      compiled_.splits.insert(compiled_.splits.end(), stretch.splits().begin(), stretch.splits().end());
      for (Node& node : stretch.rebuild()) add(rebuilt, std::move(node));
      return;
    }
    for (const Node* node : left_out) {
      const auto place = static_cast<size_t>(node - nodes.data());
      add_stretch(rebuilt, nodes.first(place));
      for (const Split& split : stretch.splits())
        if (split.span == node->span && split.op == statement_name(*node)) compiled_.splits.push_back(split);
      add_unfused(rebuilt, *node);
      nodes = nodes.subspan(place + 1);
    }
    add_stretch(rebuilt, nodes);
  }

  void add_unfused(Region& rebuilt, const Node& node) {
    Node copy = node;
    for (size_t i = 0; i < node.regions.size(); ++i) copy.regions[i] = fuse(node.regions[i]);
    rebuilt.nodes.push_back(std::move(copy));
  }

  void add(Region& rebuilt, Node node) {
    if (node.kind == NodeKind::Kernel)
      for (size_t i = 0; i < node.results.size(); ++i) outside_[node.regions[0].nodes.back().operands[i]] = node.results[i];
    rebuilt.nodes.push_back(std::move(node));
  }

  CompiledFunction& compiled_;
  const Uses& uses_;
  Replacements& outside_;
};

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
    for (std::vector<Value>* values : {&kernel.inputs, &kernel.numbers, &kernel.steering})
      std::for_each(values->begin(), values->end(), rename);
    std::set<Value> own;
    for (const Node& inner : node.regions[0].nodes) own.merge(values_made(inner));
    ir::for_each_node(node.regions[0], [&](Node& inner) {
      for (Value& operand : inner.operands)
        if (!own.contains(operand)) rename(operand);
    });
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
  Region body = Fuser(compiled, uses, outside).fuse(compiled.function.body);
  rename_results(body, outside, compiled.kernels);
  compiled.function.body = std::move(body);
  remove_unused_conversions(compiled.function);
}

}  // namespace natif::passes
