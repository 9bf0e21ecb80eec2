// src/ops/registry.cpp: lookups over the generated table.
#include "ops/registry.h"

#include <map>

#include "base/error.h"

namespace natif::ops {

namespace {

struct Index {
  std::map<std::string_view, const OpDef*> spellings, nodes;
  std::map<Operator, const OpDef*> operators;

  Index() {
    for (const OpDef* op : all_ops()) {
      for_each_spelling(*op, [&](std::string_view spelling) { spellings.emplace(spelling, op); });
      nodes.emplace(op->tfe->op, op);
      if (op->op != Operator::None) operators.emplace(op->op, op);
    }
  }
};

const Index& index() {
  static const Index built;
  return built;
}

template <class Map, class Key>
const OpDef* lookup(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

const OpDef* find_spelling(std::string_view spelling) { return lookup(index().spellings, spelling); }
const OpDef* find_operator(Operator op) { return lookup(index().operators, op); }

const OpDef& find_node(std::string_view tensorflow_name) {
  const OpDef* op = lookup(index().nodes, tensorflow_name);
  base::require(op != nullptr, "a node with an op that is not registered");
  return *op;
}

std::string rule_id(const OpDef& op) { return "natif/" + std::string(op.tfe->op); }

}  // namespace natif::ops
