// src/front/graph_builder.cpp
#include "front/graph_builder.h"

#include "base/error.h"
#include "front/literals.h"

namespace natif::front {

using ir::NodeKind;
using ir::ScalarOp;
using ir::Type;
using ir::Value;

namespace {

ir::AttributeValue number_attribute(const ops::Literal& number) {
  if (const bool* flag = std::get_if<bool>(&number)) return *flag;
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return *integer;
  base::require(std::holds_alternative<double>(number), "a literal node of something that is no number");
  return std::get<double>(number);
}

}  // namespace

void GraphBuilder::append(ir::Node node) {
  node.span = span_;
  node.site = site_;
  region_->nodes.push_back(std::move(node));
}

Value GraphBuilder::append_one(ir::Node node, Type result) {
  const Value value = function.new_value(std::move(result));
  node.results = {value};
  append(std::move(node));
  return value;
}

Value GraphBuilder::op(std::string_view op, std::span<const Value> operands, Type result, ir::Attributes attributes) {
  return append_one(
      {.kind = NodeKind::Op, .op = std::string(op), .operands = {operands.begin(), operands.end()}, .attributes = std::move(attributes)},
      std::move(result));
}

Value GraphBuilder::literal(const ops::Literal& number) {
  const Value value = append_one({.kind = NodeKind::Literal, .attributes = {{"value", number_attribute(number)}}}, *number_type(number));
  known_.emplace(value, number);
  return value;
}

Value GraphBuilder::scalar(ScalarOp op, std::vector<Value> operands, Type result) {
  return append_one({.kind = NodeKind::Scalar, .scalar = op, .operands = std::move(operands)}, std::move(result));
}

Value GraphBuilder::to_tensor(Value number, ir::DType dtype) {
  return append_one({.kind = NodeKind::ToTensor, .operands = {number}}, Type::tensor(dtype, {}));
}

Value GraphBuilder::dimension(Value tensor, int axis) {
  return append_one({.kind = NodeKind::Dimension, .operands = {tensor}, .attributes = {{"axis", int64_t{axis}}}}, Type::integer());
}

Value GraphBuilder::as_int(Value number) {
  return type(number).kind == Type::Kind::Int ? number : scalar(ScalarOp::ToInt, {number}, Type::integer());
}

Value GraphBuilder::as_float(Value number) {
  return type(number).kind == Type::Kind::Float ? number : scalar(ScalarOp::ToFloat, {number}, Type::real());
}

Value GraphBuilder::as_bool(Value number) {
  return type(number).kind == Type::Kind::Bool ? number : scalar(ScalarOp::ToBool, {number}, Type::boolean());
}

void GraphBuilder::terminate(NodeKind kind, std::vector<Value> operands) { append({.kind = kind, .operands = std::move(operands)}); }

const ops::Literal* GraphBuilder::known(Value value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? nullptr : &found->second;
}

void GraphBuilder::rewind(size_t count) {
  function.values.resize(count);
  known_.erase(known_.lower_bound(static_cast<Value>(count)), known_.end());
}

}  // namespace natif::front
