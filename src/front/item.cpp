// src/front/item.cpp: descriptions of items, and exchanging the graph values in them.
#include "front/item.h"

#include <algorithm>

namespace natif::front {

namespace {

struct DescribeLiteral {
  std::string operator()(ops::None) const { return "None"; }
  std::string operator()(const std::string&) const { return "a string"; }
  std::string operator()(ir::DType dtype) const { return "the dtype " + std::string(ir::name(dtype)); }
  std::string operator()(const std::vector<int64_t>&) const { return "a list of ints"; }
  std::string operator()(auto) const { return "a number"; }
};

}  // namespace

std::string describe(const Item& item, const ir::Function& function) {
  switch (item.kind) {
    case Item::Kind::Value:
      return ir::describe(function.type(item.value));
    case Item::Kind::Constant:
      return std::visit(DescribeLiteral{}, item.constant);
    case Item::Kind::Sequence:
      return (item.list ? "a list of " : "a tuple of ") + std::to_string(item.elements.size());
    case Item::Kind::Shape:
      return "a shape";
    case Item::Kind::Failed:
    case Item::Kind::Poison:
      break;
  }
  return "something unknown";
}

bool same_shape(const Item& a, const Item& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Item::Kind::Constant) return a.constant == b.constant;
  return a.kind != Item::Kind::Sequence || (a.list == b.list && std::ranges::equal(a.elements, b.elements, same_shape));
}

void flatten(const Item& item, std::vector<ir::Value>& values) {
  if (item.kind == Item::Kind::Value || item.kind == Item::Kind::Shape) values.push_back(item.value);
  for (const Item& element : item.elements) flatten(element, values);
}

Item rebuild(const Item& item, std::vector<ir::Value>::const_iterator& next) {
  Item rebuilt = item;
  if (item.kind == Item::Kind::Value || item.kind == Item::Kind::Shape) rebuilt.value = *next++;
  for (Item& element : rebuilt.elements) element = rebuild(element, next);
  return rebuilt;
}

}  // namespace natif::front
