// src/front/item.h: what an expression or a local name stands for while a function is read: mostly a value of the graph, else something
// that exists only while compiling, such as a tuple or None.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"
#include "ops/call.h"

namespace natif::front {

struct Item {
  enum class Kind {
    Failed,    // a site has been reported already
    Value,     // value
    Constant,  // constant: None, a string or a dtype
    Sequence,  // elements: a tuple, or a list where `list`
    Shape,     // the `.shape` of the tensor `value`
    Poison,    // reading the name reports `problem` with `detail`
  };
  Kind kind = Kind::Failed;
  ir::Value value = 0;
  ops::Literal constant = {};
  std::vector<Item> elements = {};
  bool list = false;
  const base::Diagnostic* problem = nullptr;
  std::string detail = {};

  static Item of(ir::Value value) { return {.kind = Kind::Value, .value = value}; }
  static Item of(ops::Literal constant) { return {.kind = Kind::Constant, .constant = std::move(constant)}; }
  static Item sequence(std::vector<Item> elements, bool list) {
    return {.kind = Kind::Sequence, .elements = std::move(elements), .list = list};
  }
  static Item shape_of(ir::Value tensor) { return {.kind = Kind::Shape, .value = tensor}; }
  static Item poison(const base::Diagnostic& problem, std::string detail) {
    return {.kind = Kind::Poison, .problem = &problem, .detail = std::move(detail)};
  }

  bool failed() const { return kind == Kind::Failed; }
  bool is_value() const { return kind == Kind::Value; }
};

/// The local names at a point of the function.
using Environment = std::map<std::string, Item>;

/// For a person: "a rank-2 float32 tensor", "a tuple", "None".
std::string describe(const Item&, const ir::Function&);

/// Whether two items have the same make-up, so that one can stand for the other once their values are exchanged.
bool same_shape(const Item& a, const Item& b);

/// The graph values in an item, from left to right.
void flatten(const Item&, std::vector<ir::Value>& values);
/// `item` with its graph values replaced, from left to right, by those from `next` on; `next` advances.
Item rebuild(const Item& item, std::vector<ir::Value>::const_iterator& next);

}  // namespace natif::front
