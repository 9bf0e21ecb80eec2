// src/passes/fold_numbers.cpp: see fold_numbers.h.
#include "passes/fold_numbers.h"

#include <map>
#include <optional>
#include <variant>

#include "base/error.h"
#include "kernels/scalar.h"

namespace natif::passes {

namespace {

namespace scalar = natif::kernels::scalar;
using ir::ScalarOp;
using Number = std::variant<bool, int64_t, double>;

std::optional<Number> as_number(const ir::AttributeValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

ir::AttributeValue as_attribute(const Number& number) {
  return std::visit([](auto value) { return ir::AttributeValue(value); }, number);
}

// Results that may come with a fault.
template <class Operand, class Result = Operand>
std::optional<Number> checked(scalar::Fault (*function)(Operand, Operand, Result&), Operand a, Operand b) {
  Result result{};
  if (function(a, b, result) != scalar::Fault::None) return std::nullopt;
  return result;
}
template <class Operand, class Result = Operand>
std::optional<Number> checked(scalar::Fault (*function)(Operand, Result&), Operand a) {
  Result result{};
  if (function(a, result) != scalar::Fault::None) return std::nullopt;
  return result;
}

std::optional<Number> fold_ints(ScalarOp op, int64_t a, int64_t b) {
  switch (op) {
    case ScalarOp::Add:
      return checked<int64_t>(scalar::add, a, b);
    case ScalarOp::Subtract:
      return checked<int64_t>(scalar::subtract, a, b);
    case ScalarOp::Multiply:
      return checked<int64_t>(scalar::multiply, a, b);
    case ScalarOp::Divide:
      return checked<int64_t, double>(scalar::divide, a, b);
    case ScalarOp::FloorDivide:
      return checked<int64_t>(scalar::floor_divide, a, b);
    case ScalarOp::Modulo:
      return checked<int64_t>(scalar::modulo, a, b);
    case ScalarOp::Power:
      return checked<int64_t>(scalar::power, a, b);
    case ScalarOp::Minimum:
      return scalar::minimum(a, b);
    case ScalarOp::Maximum:
      return scalar::maximum(a, b);
    case ScalarOp::BitAnd:
      return scalar::bit_and(a, b);
    case ScalarOp::BitOr:
      return scalar::bit_or(a, b);
    case ScalarOp::BitXor:
      return scalar::bit_xor(a, b);
    case ScalarOp::ShiftLeft:
      return checked<int64_t>(scalar::shift_left, a, b);
    case ScalarOp::ShiftRight:
      return checked<int64_t>(scalar::shift_right, a, b);
    default:
      return std::nullopt;
  }
}

std::optional<Number> fold_floats(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::Add:
      return scalar::add(a, b);
    case ScalarOp::Subtract:
      return scalar::subtract(a, b);
    case ScalarOp::Multiply:
      return scalar::multiply(a, b);
    case ScalarOp::Divide:
      return checked<double>(scalar::divide, a, b);
    case ScalarOp::FloorDivide:
      return checked<double>(scalar::floor_divide, a, b);
    case ScalarOp::Modulo:
      return checked<double>(scalar::modulo, a, b);
    case ScalarOp::Power:
      return checked<double>(scalar::power, a, b);
    case ScalarOp::Minimum:
      return scalar::minimum(a, b);
    case ScalarOp::Maximum:
      return scalar::maximum(a, b);
    default:
      return std::nullopt;
  }
}

template <class A, class B>
std::optional<Number> compare(ScalarOp op, A a, B b) {
  switch (op) {
    case ScalarOp::Equal:
      return scalar::equal(a, b);
    case ScalarOp::NotEqual:
      return scalar::not_equal(a, b);
    case ScalarOp::Less:
      return scalar::less(a, b);
    case ScalarOp::LessEqual:
      return scalar::less_equal(a, b);
    case ScalarOp::Greater:
      return scalar::greater(a, b);
    case ScalarOp::GreaterEqual:
      return scalar::greater_equal(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<Number> fold_unary(ScalarOp op, const Number& x) {
  if (const auto* flag = std::get_if<bool>(&x)) {
    if (op == ScalarOp::Not) return scalar::logical_not(*flag);
    if (op == ScalarOp::ToInt) return scalar::to_int(*flag);
    if (op == ScalarOp::ToFloat) return scalar::to_float(*flag);
  } else if (const auto* integer = std::get_if<int64_t>(&x)) {
    if (op == ScalarOp::Negate) return checked<int64_t>(scalar::negate, *integer);
    if (op == ScalarOp::Absolute) return checked<int64_t>(scalar::absolute, *integer);
    if (op == ScalarOp::BitNot) return scalar::bit_not(*integer);
    if (op == ScalarOp::ToFloat) return scalar::to_float(*integer);
    if (op == ScalarOp::ToBool) return scalar::to_bool(*integer);
  } else {
    const double real = std::get<double>(x);
    if (op == ScalarOp::Negate) return scalar::negate(real);
    if (op == ScalarOp::Absolute) return scalar::absolute(real);
    if (op == ScalarOp::ToBool) return scalar::to_bool(real);
    if (op == ScalarOp::ToInt) return checked<double, int64_t>(scalar::to_int, real);
  }
  return std::nullopt;
}

std::optional<Number> fold_binary(ScalarOp op, const Number& x, const Number& y) {
  if (std::holds_alternative<bool>(x) || std::holds_alternative<bool>(y)) return std::nullopt;
  const auto compared = std::visit(
      [&](auto a, auto b) -> std::optional<Number> {
        if constexpr (std::is_same_v<decltype(a), bool> || std::is_same_v<decltype(b), bool>) {
          return std::nullopt;
        } else {
          return compare(op, a, b);
        }
      },
      x, y);
  if (compared || x.index() != y.index()) return compared;
  if (const auto* integer = std::get_if<int64_t>(&x)) return fold_ints(op, *integer, std::get<int64_t>(y));
  return fold_floats(op, std::get<double>(x), std::get<double>(y));
}

}  // namespace

void fold_numbers(ir::Function& function) {
  std::map<ir::Value, Number> known;
  ir::for_each_node(function.body, [&](ir::Node& node) {
    if (node.kind == ir::NodeKind::Literal) {
      const ir::AttributeValue* value = ir::find(node.attributes, "value");
      base::require(value, "a literal without a value");
      if (const auto number = as_number(*value)) known[node.results[0]] = *number;
    }
    if (node.kind != ir::NodeKind::Scalar) return;
    std::vector<Number> operands;
    for (ir::Value operand : node.operands) {
      if (!known.contains(operand)) return;
      operands.push_back(known[operand]);
    }
    const auto folded = operands.size() == 1 ? fold_unary(node.scalar, operands[0]) : fold_binary(node.scalar, operands[0], operands[1]);
    if (!folded) return;
    known[node.results[0]] = *folded;
    node.kind = ir::NodeKind::Literal;
    node.operands.clear();
    node.attributes = {{"value", as_attribute(*folded)}};
  });
}

}  // namespace natif::passes
