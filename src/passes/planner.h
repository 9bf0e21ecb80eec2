// src/passes/planner.h: what the steps of planning a kernel share; used by plan.cpp (which values are row values and how sizes relate) and
// stages.cpp (which loops compute them).
#pragma once

#include <map>
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
  size_t count() const { return infos_.size(); }

 private:
  std::vector<Size> parents_;
  std::vector<SizeInfo> infos_;
};

/// A group of nodes while it is being planned.
struct Draft {
  const ir::Function& function;
  std::vector<const ir::Node*> ops;                             // the Op nodes, in order
  std::map<ir::Value, const ir::Node*> producer;                // the Op, ToTensor or Literal node of the group that makes a value
  std::map<ir::Value, std::vector<const ir::Node*>> consumers;  // Op nodes
  std::vector<ir::Value> outputs;
  int leading = 0;                      // leading axes that make the rows
  std::map<ir::Value, bool> invariant;  // of the ops' results
  Sizes sizes;
  std::map<ir::Value, std::vector<Size>> shapes;  // of the ops' results
  std::vector<Size> rows;                         // the leading axes' sizes
  Kernel kernel;

  bool is_output(ir::Value) const;
  /// The Op node of the group that makes `value`; null for an input or a number.
  const ir::Node* op_of(ir::Value) const;
  /// The number that a ToTensor node of the group turns into `value`; null for anything else.
  const ir::Node* number_of(ir::Value) const;
  uint32_t input(ir::Value);
  uint32_t number(ir::Value);
  void check(ir::Value input, size_t axis, Size, bool or_one = false);
};

const ops::Native& native_of(const ir::Node&);
bool is_pointwise(const ir::Node&);

/// Whether a Contraction's operand lies transposed, by the attributes of either op.
bool transposes_left(const ir::Node&);
bool transposes_right(const ir::Node&);

/// Whether a Reduction or ArgReduction runs along the last axis; otherwise it runs down the first axis of a matrix.
bool is_along_last_axis(const ir::Node&, const ir::Function&);

/// The axes of a Reduction, bit by bit.
uint32_t reduced_axes(const ir::Node&);

/// Adds the stages of a draft whose roles and sizes are settled.
void add_stages(Draft&);

}  // namespace natif::passes
