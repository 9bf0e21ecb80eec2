// src/passes/segments.cpp: planning of control flow: before the stages are known, the straight runs of ops and the ways between them; after
// that, the segments of stages that they become, with what moves between them.
#include <algorithm>

#include "base/error.h"
#include "passes/control_flow.h"
#include "passes/planner.h"

namespace natif::passes {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;

// Follows control through a group, with the runs that the next one comes after.
class RunFinder {
 public:
  explicit RunFinder(Draft& draft) : draft_(draft) { open(); }

  void run() {
    for (const Node* node : draft_.nodes) visit(*node, {});
    draft_.end = place_;
    const auto is_variable = [&](Value output) { return draft_.variable_of.contains(output); };
    if (std::any_of(draft_.outputs.begin(), draft_.outputs.end(), is_variable)) draft_.runs[open()].place = draft_.end;
  }

 private:
  struct Loop {
    std::vector<Value> arguments, results;  // arguments after the induction variable
    size_t head = 0;
    std::vector<size_t> breaks;  // the runs that leave it
  };
  struct Targets {
    const Node* branch = nullptr;
    Loop* loop = nullptr;
  };

  void visit(const Node& node, const Targets& targets) {
    if (!has_place(node)) return;
    const uint32_t place = place_++;
    switch (node.kind) {
      case NodeKind::Op: {
        Run& run = draft_.runs[open()];
        run.ops.push_back(&node);
        run.place = place;
        draft_.run_of[&node] = *current_;
        return;
      }
      case NodeKind::If:
        return visit_if(node, targets);
      case NodeKind::For:
      case NodeKind::Loop:
        return visit_loop(node, place);
      case NodeKind::Yield:
        return hand_on(targets.branch->results, node.operands, place);
      case NodeKind::Continue:
        hand_on(targets.loop->arguments, node.operands, place);
        return leave([&](size_t run) { draft_.runs[run].next.push_back(static_cast<uint32_t>(targets.loop->head)); });
      case NodeKind::Break:
        hand_on(targets.loop->results, node.operands, place);
        return leave([&](size_t run) { targets.loop->breaks.push_back(run); });
      default:
        throw base::InternalError("a node in a kernel that control flow there can't have");
    }
  }

  void visit_if(const Node& node, Targets targets) {
    for (Value result : node.results) add_variable({result});
    current_.reset();
    targets.branch = &node;
    const std::vector<size_t> before = last_;
    std::vector<size_t> after;
    for (const Region& region : node.regions) {
      last_ = before;
      for (const Node& inner : region.nodes) visit(inner, targets);
      current_.reset();
      after.insert(after.end(), last_.begin(), last_.end());
    }
    last_ = std::move(after);
  }

  void visit_loop(const Node& node, uint32_t place) {
    const bool counts = node.kind == NodeKind::For;
    const Region& body = node.regions[0];
    Loop loop{.arguments = {body.arguments.begin() + (counts ? 1 : 0), body.arguments.end()}, .results = node.results, .breaks = {}};
    for (size_t i = 0; counts && i < loop.results.size(); ++i) add_variable({loop.arguments[i], loop.results[i]});
    for (size_t i = 0; !counts && i < loop.arguments.size(); ++i) add_variable({loop.arguments[i]});
    for (size_t i = 0; !counts && i < loop.results.size(); ++i) add_variable({loop.results[i]});
    hand_on(loop.arguments, {node.operands.begin() + (counts ? 3 : 0), node.operands.end()}, place);
    current_.reset();
    loop.head = open();
    current_.reset();
    for (const Node& inner : body.nodes) visit(inner, {.loop = &loop});
    current_.reset();
    last_ = std::move(loop.breaks);
    if (counts) last_.push_back(loop.head);
  }

  void add_variable(const std::vector<Value>& values) {
    if (draft_.function.type(values[0]).is_number()) return;
    const auto variable = static_cast<uint32_t>(draft_.kernel.variables.size());
    draft_.kernel.variables.emplace_back();
    for (Value value : values) draft_.variable_of[value] = variable;
  }

  void hand_on(const std::vector<Value>& to, const std::vector<Value>& from, uint32_t place) {
    for (size_t i = 0; i < to.size(); ++i) {
      const auto variable = draft_.variable_of.find(to[i]), source = draft_.variable_of.find(from[i]);
      if (variable == draft_.variable_of.end()) continue;
      if (source != draft_.variable_of.end() && source->second == variable->second) continue;
      Run& run = draft_.runs[open()];
      run.handings.push_back({to[i], from[i]});
      run.place = place;
      draft_.handed_on.insert(from[i]);
    }
  }

  template <class F>
  void leave(const F& follow) {
    for (size_t run : last_) follow(run);
    last_.clear();
    current_.reset();
  }

  // The run that goes on here.
  size_t open() {
    if (current_) return *current_;
    current_ = draft_.runs.size();
    for (size_t before : last_) draft_.runs[before].next.push_back(static_cast<uint32_t>(*current_));
    draft_.runs.emplace_back();
    last_ = {*current_};
    return *current_;
  }

  Draft& draft_;
  std::optional<size_t> current_;
  std::vector<size_t> last_;
  uint32_t place_ = 0;
};

// The numbers that the group's control flow makes, and those that it reads.
void sort_numbers(Draft& draft) {
  std::set<Value> made;
  for (const Node* node : draft.nodes) {
    if (node->kind == NodeKind::Literal || node->kind == NodeKind::ToTensor) continue;
    made.merge(values_made(*node));
  }
  for (Value value : made)
    if (draft.function.type(value).is_number()) draft.changing.insert(value);
  const auto visit = [&](const Node& node) {
    if (node.kind == NodeKind::ToTensor || node.kind == NodeKind::Op) return;
    for (Value operand : node.operands) {
      if (!draft.function.type(operand).is_number() || made.contains(operand) || draft.producer.contains(operand)) continue;
      std::vector<Value>& steering = draft.kernel.steering;
      if (std::find(steering.begin(), steering.end(), operand) == steering.end()) steering.push_back(operand);
    }
  };
  for_each_node_of(draft, visit);
}

class SegmentWriter {
 public:
  SegmentWriter(Draft& draft, const StagesByOp& stages) : draft_(draft), kernel_(draft.kernel), stages_(stages) {}

  void run() {
    for (const Run& run : draft_.runs) kernel_.segments.push_back(segment(run));
    for (size_t i = 0; i < draft_.outputs.size(); ++i) add_output(static_cast<uint32_t>(i));
    for (Segment& segment : kernel_.segments) find_numbers(segment);
    for_each_node_of(draft_, [&](const Node& node) {
      if (node.kind == NodeKind::Dimension) add_dimension(node);
    });
  }

 private:
  Segment segment(const Run& run) {
    Segment segment{.place = run.place, .stages = {}, .moves = {}, .numbers = {}, .next = run.next};
    for (const Node* op : run.ops) {
      const auto stage = stages_.at.find(op);
      if (stage != stages_.at.end() && !kernel_.stages[stage->second].invariant) segment.stages.push_back(stage->second);
    }
    for (const Handing& handing : run.handings) segment.moves.push_back({draft_.variable_of.at(handing.to), source(segment, handing)});
    return segment;
  }

  Source source(Segment& segment, const Handing& handing) {
    const auto variable = draft_.variable_of.find(handing.from);
    if (variable != draft_.variable_of.end()) return {Source::Kind::Variable, variable->second};
    if (draft_.op_of(handing.from)) return {Source::Kind::Stage, stages_.of_value.at(handing.from)};
    const uint32_t copied = add_copy({Source::Kind::Input, draft_.input(handing.from)}, handing.to);
    segment.stages.push_back(copied);
    return {Source::Kind::Stage, copied};
  }

  // A stage that takes a whole value as it is.
  uint32_t add_copy(Source from, Value like) {
    const Variable& variable = kernel_.variables[draft_.variable_of.at(like)];
    Stage copy{.kind = StageKind::Pointwise};
    copy.shape = variable.shape;
    copy.width = copy.depth = variable.width;
    copy.expression.result = copy.expression.input(0);
    copy.operands = {{from, Access::Full}};
    copy.result = like;
    copy.ops = {"copy"};
    kernel_.stages.push_back(std::move(copy));
    return static_cast<uint32_t>(kernel_.stages.size() - 1);
  }

  void add_output(uint32_t output) {
    const auto variable = draft_.variable_of.find(draft_.outputs[output]);
    if (variable == draft_.variable_of.end()) return;
    const uint32_t copy = add_copy({Source::Kind::Variable, variable->second}, draft_.outputs[output]);
    kernel_.stages[copy].output = output;
    kernel_.segments.back().stages.push_back(copy);
    kernel_.variable_outputs.push_back(output);
  }

  void find_numbers(Segment& segment) {
    for (uint32_t stage : segment.stages)
      for (const Operand& operand : kernel_.stages[stage].operands)
        if (operand.source.kind == Source::Kind::Changing &&
            std::find(segment.numbers.begin(), segment.numbers.end(), operand.source.index) == segment.numbers.end())
          segment.numbers.push_back(operand.source.index);
  }

  void add_dimension(const Node& node) {
    const Value tensor = node.operands[0];
    const auto axis = static_cast<size_t>(ir::get<int64_t>(node.attributes, "axis"));
    if (draft_.is_input(tensor)) {
      draft_.input(tensor);
    } else {
      kernel_.dimensions.push_back({node.results[0], draft_.shapes.at(tensor)[axis]});
    }
  }

  Draft& draft_;
  Kernel& kernel_;
  const StagesByOp& stages_;
};

}  // namespace

void find_runs(Draft& draft) {
  RunFinder(draft).run();
  sort_numbers(draft);
}

void add_segments(Draft& draft, const StagesByOp& stages) { SegmentWriter(draft, stages).run(); }

}  // namespace natif::passes
