// src/ops/verify.cpp: asks the type rule of each node again, with the node's operands and attributes as the arguments of a call.
#include "ops/verify.h"

#include <algorithm>

#include "ir/verifier.h"
#include "ops/registry.h"

namespace natif::ops {

namespace {

/// TensorFlow's Python writes some attributes without their underscores: keepdims for keep_dims.
bool same_name(std::string_view parameter, std::string_view attribute) {
  const auto plain = [](std::string_view name) {
    std::string letters(name);
    std::erase(letters, '_');
    return letters;
  };
  return plain(parameter) == plain(attribute);
}

Literal literal_of(const ir::AttributeValue& value) {
  return std::visit([](const auto& held) { return Literal(held); }, value);
}

Call call_of(const ir::Function& function, const ir::Node& node, const OpDef& op) {
  std::vector<std::optional<Argument>> arguments;
  size_t operands = 0;
  for (const Parameter& parameter : op.parameters.value) {
    std::optional<Argument> argument;
    if (parameter.kind == ParameterKind::Operand && operands < node.operands.size()) {
      argument = Argument{.type = function.type(node.operands[operands++]), .literal = {}, .span = {}};
    } else if (parameter.kind == ParameterKind::Attribute) {
      for (const ir::Attribute& attribute : node.attributes)
        if (same_name(parameter.name, attribute.name)) argument = Argument{.type = {}, .literal = literal_of(attribute.value), .span = {}};
    }
    arguments.push_back(std::move(argument));
  }
  return Call(std::move(arguments));
}

/// The attributes that the node has to carry: those of its TensorFlow op.
bool same_attributes(const OpDef& op, const ir::Attributes& given, const ir::Attributes& ruled) {
  const auto agrees = [&](std::string_view name) {
    const ir::AttributeValue *here = ir::find(given, name), *there = ir::find(ruled, name);
    return here && there && *here == *there;
  };
  return std::ranges::all_of(op.tfe->attributes, agrees) && std::ranges::all_of(op.tfe->constants, agrees) &&
         given.size() == op.tfe->attributes.size() + op.tfe->constants.size();
}

bool contradicts(const ir::Type& a, const ir::Type& b) {
  if (!ir::joinable(a, b)) return true;
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i] != ir::free_size && b.dims[i] != ir::free_size && a.dims[i] != b.dims[i]) return true;
  return false;
}

void check(const ir::Function& function, const ir::Node& node) {
  const OpDef& op = find_node(node.op);
  const auto is_operand = [](const Parameter& parameter) { return parameter.kind == ParameterKind::Operand; };
  if (std::ranges::count_if(op.parameters.value, is_operand) != static_cast<int64_t>(node.operands.size()))
    ir::fail_verification(function, node, "a wrong number of operands");
  const Verdict verdict = op.type_rule.value(call_of(function, node, op));
  if (verdict.refusal) ir::fail_verification(function, node, "an op that its rule refuses (" + std::string(verdict.refusal->code) + ")");
  if (verdict.results.size() != node.results.size()) ir::fail_verification(function, node, "a wrong number of results");
  for (size_t i = 0; i < node.results.size(); ++i)
    if (contradicts(verdict.results[i], function.type(node.results[i])))
      ir::fail_verification(function, node, "a result that is not " + ir::to_text(verdict.results[i]));
  if (!same_attributes(op, node.attributes, verdict.attributes))
    ir::fail_verification(function, node, "attributes that its rule does not give");
}

}  // namespace

void verify(const ir::Function& function) { ir::verify(function, check); }

}  // namespace natif::ops
