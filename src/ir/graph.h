// src/ir/graph.h: the typed graph. Values are in single-assignment form; control flow is structured: `if`, `for` and `loop` nodes own
// regions, and values change across them only as region arguments and node results. Tensor nodes are TensorFlow ops under TensorFlow's
// names.
//
// How control leaves a region: each region ends in exactly one terminator, its last node.
//   yield(v…)     ends a branch of `if`: the values become the results of the `if`
//   continue(v…)  ends an iteration of the innermost loop: the values are the next iteration's arguments (after the induction variable)
//   break(v…)     leaves the innermost loop: the values become its results
//   return(v…)    leaves the function
// `if` has one boolean operand and two regions without arguments. `for` has the operands start, stop, step (ints; step is never 0), then
// the initial values; its region takes the induction variable, then the carried values; when the range is exhausted the carried values are
// the results. `loop` has the initial values as operands, and ends only by break or return. A region may use any value of the regions
// around it.
#pragma once

#include <string>
#include <vector>

#include "base/span.h"
#include "ir/attribute.h"
#include "ir/type.h"

namespace natif::ir {

/// A value's index in Function::values.
using Value = uint32_t;

struct ValueInfo {
  Type type;
  std::string name;  // the user's name, a hint for readers; may be empty or repeated
};

enum class NodeKind : uint8_t {
  Op,         // a TensorFlow op: Node::op
  Literal,    // a Python number: attribute "value" (int64_t, double or bool)
  Scalar,     // arithmetic on Python numbers: Node::scalar
  ToTensor,   // a Python number as a rank-0 tensor of the result's dtype, by TensorFlow's conversion
  Dimension,  // the size of axis attribute "axis" of a tensor, as an int
  If,
  For,
  Loop,
  Kernel,  // a fused group: one region that holds the ops; attribute "kernel" is the index into the plan (passes/plan.h)
  Yield,
  Continue,
  Break,
  Return,
};

/// Arithmetic of Python numbers, with Python's results. Operands of one node have the same type, except that comparisons also take an int
/// with a float (compared exactly, as Python does). Divide of ints is a float; comparisons and Not are bools.
enum class ScalarOp : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  Negate,
  Absolute,
  Minimum,
  Maximum,
  BitAnd,
  BitOr,
  BitXor,
  BitNot,
  ShiftLeft,
  ShiftRight,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Not,
  ToInt,
  ToFloat,
  ToBool,
};

struct Node;

struct Region {
  std::vector<Value> arguments;
  std::vector<Node> nodes;
};

struct Node {
  NodeKind kind;
  std::string op;                   // of Op: "MatMul"
  ScalarOp scalar = ScalarOp::Add;  // of Scalar
  std::vector<Value> operands, results;
  Attributes attributes;
  std::vector<Region> regions;
  base::Span span;
  int site = -1;  // index of the claim this node came from; -1 for none
};

struct Parameter {
  std::string name;
  Value value;
  bool hidden = false;  // a module-level name that the host reads at each call
  bool bound = false;   // captured by bind(): the same tensor at each call
  /// Of a tensor that has sizes in common with other parameters, else empty: its sizes, but a free one below free_size is the same as every
  /// size of the parameters with that number, which the host checks.
  std::vector<int64_t> sizes = {};
};

struct Function {
  std::string name;  // __qualname__
  std::vector<Parameter> parameters;
  std::vector<Type> results;
  bool tuple = false;  // the results come back as a Python tuple
  std::vector<ValueInfo> values;
  Region body;
  base::Span span;

  Value new_value(Type type, std::string name = {});
  const Type& type(Value value) const { return values[value].type; }
  const std::vector<int64_t>& sizes_of(const Parameter& parameter) const {
    return parameter.sizes.empty() ? type(parameter.value).dims : parameter.sizes;
  }
};

bool is_terminator(NodeKind);
std::string_view name(NodeKind);  // "if", "literal", …; "op" for Op
std::string_view name(ScalarOp);  // "add", "floor_divide", …

/// Calls `visit` on every node, outer before inner, in program order.
template <class F>
void for_each_node(const Region& region, const F& visit) {
  for (const Node& node : region.nodes) {
    visit(node);
    for (const Region& inner : node.regions) for_each_node(inner, visit);
  }
}
template <class F>
void for_each_node(Region& region, const F& visit) {
  for (Node& node : region.nodes) {
    visit(node);
    for (Region& inner : node.regions) for_each_node(inner, visit);
  }
}

}  // namespace natif::ir
