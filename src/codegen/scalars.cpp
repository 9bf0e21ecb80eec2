// src/codegen/scalars.cpp: see scalars.h.
#include "codegen/scalars.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "codegen/values.h"

namespace natif::codegen {

namespace {

using ir::ScalarOp;

// Whether the function of kernels/scalar.h for operands of this kind answers a Fault.
bool can_fail(ScalarOp op, ir::Type::Kind operand) {
  const bool is_int = operand == ir::Type::Kind::Int;
  switch (op) {
    case ScalarOp::Add:
    case ScalarOp::Subtract:
    case ScalarOp::Multiply:
    case ScalarOp::Negate:
    case ScalarOp::Absolute:
      return is_int;
    case ScalarOp::Divide:
    case ScalarOp::FloorDivide:
    case ScalarOp::Modulo:
    case ScalarOp::Power:
    case ScalarOp::ShiftLeft:
    case ScalarOp::ShiftRight:
      return true;
    case ScalarOp::ToInt:
      return operand == ir::Type::Kind::Float;
    default:
      return false;
  }
}

Code function_of(ScalarOp op) { return op == ScalarOp::Not ? Code("logical_not") : trusted_name(ir::name(op)); }

template <class T>
Constant element(ir::DType dtype, T value) {
  Constant constant{dtype, {}, std::vector<unsigned char>(sizeof value)};
  std::memcpy(constant.bytes.data(), &value, sizeof value);
  return constant;
}

std::optional<Constant> element_of_int(int64_t value, ir::DType dtype) {
  switch (dtype) {
    case ir::DType::Float32:
      return element(dtype, static_cast<float>(static_cast<double>(value)));
    case ir::DType::Float64:
      return element(dtype, static_cast<double>(value));
    case ir::DType::Int64:
      return element(dtype, value);
    case ir::DType::Int32:
      if (value != static_cast<int32_t>(value)) return std::nullopt;
      return element(dtype, static_cast<int32_t>(value));
    case ir::DType::Bool:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Constant> element_of_float(double value, ir::DType dtype) {
  if (dtype == ir::DType::Float64) return element(dtype, value);
  if (dtype != ir::DType::Float32) return std::nullopt;
  const bool in_range = !std::isfinite(value) || std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
  if (!in_range) return std::nullopt;
  return element(dtype, static_cast<float>(value));
}

}  // namespace

void print_literal(Writer& w, const ir::Function& function, const ir::Node& literal) {
  const ir::Value result = literal.results[0];
  const ir::AttributeValue* value = ir::find(literal.attributes, "value");
  base::require(value, "a literal without a value");
  Code spelled;
  if (const auto* integer = std::get_if<int64_t>(value)) {
    spelled = number(*integer);
  } else if (const auto* real = std::get_if<double>(value)) {
    spelled = number(*real);
  } else {
    spelled = boolean(std::get<bool>(*value));
  }
  w.line("const $ $ = $;", number_type(function.type(result)), name_of(function, result), spelled);
}

void print_scalar(Writer& w, const ir::Function& function, const ir::Node& node, const Code& leave) {
  const ir::Value result = node.results[0];
  std::vector<Code> operands;
  for (ir::Value value : node.operands) operands.push_back(name_of(function, value));
  const Code type = number_type(function.type(result)), name = name_of(function, result);
  if (!can_fail(node.scalar, function.type(node.operands[0]).kind)) {
    w.line("const $ $ = scalar::$($);", type, name, function_of(node.scalar), list(operands));
    return;
  }
  w.line("$ $ = 0;", type, name);
  w.line("if (const scalar::Fault fault = scalar::$($, $); fault != scalar::Fault::None) $", function_of(node.scalar), list(operands), name,
         leave);
}

std::optional<Constant> element_constant(const ir::Node& literal, ir::DType dtype) {
  const ir::AttributeValue* value = ir::find(literal.attributes, "value");
  base::require(value, "a literal without a value");
  if (const auto* integer = std::get_if<int64_t>(value)) return element_of_int(*integer, dtype);
  if (const auto* real = std::get_if<double>(value)) return element_of_float(*real, dtype);
  return std::nullopt;
}

}  // namespace natif::codegen
