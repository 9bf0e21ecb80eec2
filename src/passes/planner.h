// src/passes/planner.h: what the steps of planning a kernel share; used by plan.cpp (which values are row values and how sizes relate),
// stages.cpp (which loops compute them) and segments.cpp (how control flow strings them together).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ops/op_def.h"
#include "passes/plan.h"

namespace natif::passes {

/// Thrown inside the planner, caught by plan_kernel.
struct Refused {
  std::string reason;
};

/// The sizes of a kernel: symbols that are made equal as the ops demand.
class Sizes {
 public:
  Size fresh(int64_t fixed);
  Size root(Size) const;
  int64_t fixed(Size size) const { return infos_[root(size)].fixed; }
  bool is_one(Size size) const { return fixed(size) == 1; }
  bool same(Size a, Size b) const { return root(a) == root(b) || (fixed(a) != ir::free_size && fixed(a) == fixed(b)); }
  /// Refused where both are fixed and differ.
  void unify(Size, Size);

 private:
  std::vector<Size> parents_;
  std::vector<SizeInfo> infos_;
};

/// A tensor that control flow hands on: `to` ← `from`.
struct Handing {
  ir::Value to, from;
};

/// A straight run of ops, with what is handed on at its end; becomes the segment with the same number.
struct Run {
  uint32_t place = 0;  // as of Segment
  std::vector<const ir::Node*> ops;
  std::vector<Handing> handings;
  std::vector<uint32_t> next;
};

/// A group of nodes while it is being planned.
struct Draft {
  const ir::Function& function;
  std::span<const ir::Node* const> nodes;
  std::vector<const ir::Node*> ops;                             // the Op nodes, in order, those inside of control flow included
  std::map<ir::Value, const ir::Node*> producer;                // the Op, ToTensor or Literal node of the group that makes a value
  std::map<ir::Value, std::vector<const ir::Node*>> consumers;  // Op nodes
  std::vector<ir::Value> outputs;
  std::vector<Run> runs;                      // in program order
  std::map<const ir::Node*, size_t> run_of;   // of the ops
  uint32_t end = 0;                           // the place after all of the group
  bool has_control_flow = false;              // or arithmetic on numbers between its ops, which the launch does in the same way
  std::map<ir::Value, uint32_t> variable_of;  // tensors that are arguments or results of control flow; those of one loop's one name share
  std::set<ir::Value> handed_on;              // all `from`s
  std::set<ir::Value> changing;               // numbers that the group's control flow makes
  int leading = 0;                            // leading axes that make the rows
  std::map<ir::Value, bool> invariant;        // of what the group computes
  Sizes sizes;
  std::map<ir::Value, std::vector<Size>> shapes;  // of what the group computes
  std::vector<Size> rows;                         // the leading axes' sizes
  Kernel kernel;

  bool is_output(ir::Value) const;
  /// Whether the value is needed as a whole after the loop that computes it, so that it can't be part of another's expression.
  bool is_kept(ir::Value value) const { return is_output(value) || handed_on.contains(value); }
  /// Whether the group computes the value: an op's result, or what control flow hands on.
  bool computes(ir::Value value) const { return op_of(value) || variable_of.contains(value); }
  bool is_input(ir::Value value) const { return !producer.contains(value) && !variable_of.contains(value); }
  /// The Op node of the group that makes `value`; null for an input or a number.
  const ir::Node* op_of(ir::Value) const;
  /// The number that a ToTensor node of the group turns into `value`; null for anything else.
  const ir::Node* number_of(ir::Value) const;
  uint32_t input(ir::Value);
  uint32_t number(ir::Value);
  uint32_t changing_number(ir::Value);
  void check(ir::Value input, size_t axis, Size, bool or_one = false);
};

/// Calls `visit` on every node of the group, those inside of control flow included.
template <class F>
void for_each_node_of(const Draft& draft, const F& visit) {
  for (const ir::Node* node : draft.nodes) {
    visit(*node);
    for (const ir::Region& region : node->regions) ir::for_each_node(region, visit);
  }
}

const ops::Native& native_of(const ir::Node&);
bool is_pointwise(const ir::Node&);

/// Whether a Contraction's operand lies transposed, by the attributes of either op.
bool transposes_left(const ir::Node&);
bool transposes_right(const ir::Node&);

/// Whether a Reduction or ArgReduction runs along the last axis; otherwise it runs down the first axis of a matrix.
bool is_along_last_axis(const ir::Node&, const ir::Function&);

/// The axes of a Reduction, bit by bit.
uint32_t reduced_axes(const ir::Node&);

/// Fills what a draft knows of its control flow: runs, variables and the numbers that it makes and reads.
void find_runs(Draft&);

/// Which stage computes a value, and which one stands where an op stood.
struct StagesByOp {
  std::map<ir::Value, uint32_t> of_value;
  std::map<const ir::Node*, uint32_t> at;
};

/// Adds the stages of a draft whose roles and sizes are settled.
StagesByOp add_stages(Draft&);

/// Turns the runs into segments.
void add_segments(Draft&, const StagesByOp&);

}  // namespace natif::passes
