// src/ir/attribute.h: a named constant on a node, such as `transpose_b = true` or `axis = [1]`.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/type.h"

namespace natif::ir {

using AttributeValue = std::variant<bool, int64_t, double, DType, std::string, std::vector<int64_t>>;

struct Attribute {
  std::string name;
  AttributeValue value;

  bool operator==(const Attribute&) const = default;
};

using Attributes = std::vector<Attribute>;

/// The value of `name`, or null.
const AttributeValue* find(const Attributes&, std::string_view name);
/// The value of `name` as T; InternalError where it is missing or of another type.
template <class T>
const T& get(const Attributes&, std::string_view name);

}  // namespace natif::ir
