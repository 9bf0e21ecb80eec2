// src/front/numbers.cpp: operators. On tensors they mean ops; on numbers they give Python's results, whose type follows from the operands'.
#include <algorithm>

#include "front/diagnostics.h"
#include "front/function_reader.h"
#include "front/literals.h"
#include "ops/registry.h"

namespace natif::front {

using ir::ScalarOp;
using ir::Type;
using ir::Value;
using Kind = ir::Type::Kind;

namespace {

/// What an operator asks of numbers.
enum class Domain {
  Numbers,  // ints, or floats where one is a float
  Ints,     // ints only
  Bits,     // ints only, or bools where both are
};

struct BinaryOperator {
  std::string_view node, symbol;
  ops::Operator op;  // on tensors
  ScalarOp scalar;   // on numbers
  Domain domain;
  bool on_numbers = true;
};

constexpr BinaryOperator binary_operators[] = {
    {"Add", "+", ops::Operator::Add, ScalarOp::Add, Domain::Numbers},
    {"Sub", "-", ops::Operator::Subtract, ScalarOp::Subtract, Domain::Numbers},
    {"Mult", "*", ops::Operator::Multiply, ScalarOp::Multiply, Domain::Numbers},
    {"Div", "/", ops::Operator::Divide, ScalarOp::Divide, Domain::Numbers},
    {"FloorDiv", "//", ops::Operator::None, ScalarOp::FloorDivide, Domain::Numbers},
    {"Mod", "%", ops::Operator::None, ScalarOp::Modulo, Domain::Numbers},
    {"Pow", "**", ops::Operator::None, ScalarOp::Power, Domain::Numbers},
    {"MatMult", "@", ops::Operator::MatMul, ScalarOp::Multiply, Domain::Numbers, false},
    {"BitAnd", "&", ops::Operator::None, ScalarOp::BitAnd, Domain::Bits},
    {"BitOr", "|", ops::Operator::None, ScalarOp::BitOr, Domain::Bits},
    {"BitXor", "^", ops::Operator::None, ScalarOp::BitXor, Domain::Bits},
    {"LShift", "<<", ops::Operator::None, ScalarOp::ShiftLeft, Domain::Ints},
    {"RShift", ">>", ops::Operator::None, ScalarOp::ShiftRight, Domain::Ints},
};

struct ComparisonOperator {
  std::string_view node, symbol;
  ScalarOp scalar;
};

constexpr ComparisonOperator comparison_operators[] = {
    {"Eq", "==", ScalarOp::Equal},      {"NotEq", "!=", ScalarOp::NotEqual}, {"Lt", "<", ScalarOp::Less},
    {"LtE", "<=", ScalarOp::LessEqual}, {"Gt", ">", ScalarOp::Greater},      {"GtE", ">=", ScalarOp::GreaterEqual},
};

const BinaryOperator& binary_operator(std::string_view symbol) {
  return *std::ranges::find(binary_operators, symbol, &BinaryOperator::symbol);
}

std::string_view identity_word(std::string_view node) {
  return node == "Is" ? "is" : node == "IsNot" ? "is not" : node == "In" ? "in" : "not in";
}

}  // namespace

Item FunctionReader::binary(const Syntax& node) {
  const Item left = expression(node.child("left"));
  const Item right = expression(node.child("right"));
  return apply_operator(node, node.child("op"), left, right);
}

Item FunctionReader::apply_operator(const Syntax& at, const Syntax& op, const Item& left, const Item& right) {
  const BinaryOperator& found = *std::ranges::find(binary_operators, op.kind(), &BinaryOperator::node);
  return apply_operator(at, found.symbol, found.op, left, right);
}

Item FunctionReader::apply_operator(const Syntax& at, std::string_view symbol, ops::Operator op, const Item& left, const Item& right) {
  if (left.failed() || right.failed()) return {};
  const GraphBuilder::At here(builder_, at.span());
  if (is_tensor(left) || is_tensor(right)) {
    const ops::OpDef* def = op == ops::Operator::None ? nullptr : ops::find_operator(op);
    if (!def) return report(at, diagnostics::tensor_operator, std::string(symbol), std::string(symbol));
    return apply_op(at, std::string(symbol), *def, {operand_of(left, at.span()), operand_of(right, at.span())});
  }
  if (!is_number(left) || !is_number(right) || !binary_operator(symbol).on_numbers) return refuse_operands(at, symbol, left, &right);
  return apply_numbers(at, symbol, left.value, right.value);
}

Item FunctionReader::refuse_operands(const Syntax& at, std::string_view symbol, const Item& left, const Item* right) {
  std::string detail = std::string(symbol) + " on " + describe(left, builder_.function);
  if (right) detail += " and " + describe(*right, builder_.function);
  return report(at, diagnostics::operand_types, std::string(symbol), detail);
}

Item FunctionReader::apply_numbers(const Syntax& at, std::string_view symbol, Value left, Value right) {
  const BinaryOperator& op = binary_operator(symbol);
  const Kind a = builder_.type(left).kind, b = builder_.type(right).kind;
  if (op.domain == Domain::Bits && a == Kind::Bool && b == Kind::Bool)
    return Item::of(builder_.scalar(op.scalar, {left, right}, Type::boolean()));
  const bool real = a == Kind::Float || b == Kind::Float;
  if (real && op.domain != Domain::Numbers) {
    const Item left_item = Item::of(left), right_item = Item::of(right);
    return refuse_operands(at, symbol, left_item, &right_item);
  }
  if (op.scalar == ScalarOp::Power) return power(left, right);
  const Value x = real ? builder_.as_float(left) : builder_.as_int(left);
  const Value y = real ? builder_.as_float(right) : builder_.as_int(right);
  return Item::of(builder_.scalar(op.scalar, {x, y}, real || op.scalar == ScalarOp::Divide ? Type::real() : Type::integer()));
}

Item FunctionReader::power(Value left, Value right) {
  // An int to a negative power is a float; where the exponent is only known at run time, the native code leaves that case to Python.
  const ops::Literal* exponent = builder_.known(right);
  const int64_t* number = exponent ? std::get_if<int64_t>(exponent) : nullptr;
  const bool real = builder_.type(left).kind == Kind::Float || builder_.type(right).kind == Kind::Float || (number && *number < 0);
  if (real) return Item::of(builder_.scalar(ScalarOp::Power, {builder_.as_float(left), builder_.as_float(right)}, Type::real()));
  return Item::of(builder_.scalar(ScalarOp::Power, {builder_.as_int(left), builder_.as_int(right)}, Type::integer()));
}

Item FunctionReader::unary(const Syntax& node) {
  if (const std::optional<ops::Literal> literal = read_literal(node)) return Item::of(builder_.literal(*literal));
  const Syntax op = node.child("op");
  if (op.is("Not")) {
    const std::optional<Value> value = condition(node);
    return value ? Item::of(*value) : Item{};
  }
  const Item operand = expression(node.child("operand"));
  if (operand.failed()) return operand;
  const std::string symbol = op.is("USub") ? "-" : op.is("UAdd") ? "+" : "~";
  if (is_tensor(operand)) {
    const ops::OpDef* negate = op.is("USub") ? ops::find_operator(ops::Operator::Negate) : nullptr;
    if (negate) return apply_op(node, symbol, *negate, {operand_of(operand, node.span())});
    if (op.is("UAdd")) return report(node, diagnostics::unary_plus, symbol, describe(operand, builder_.function));
    return report(node, diagnostics::tensor_operator, symbol, symbol);
  }
  const bool real = is_number(operand) && builder_.type(operand.value).kind == Kind::Float;
  if (!is_number(operand) || (real && op.is("Invert"))) return refuse_operands(node, symbol, operand, nullptr);
  const Value value = real ? operand.value : builder_.as_int(operand.value);
  if (op.is("UAdd")) return Item::of(value);
  const ScalarOp scalar = op.is("USub") ? ScalarOp::Negate : ScalarOp::BitNot;
  return Item::of(builder_.scalar(scalar, {value}, real ? Type::real() : Type::integer()));
}

Item FunctionReader::comparison(const Syntax& node) { return compare_from(node, 0, expression(node.child("left"))); }

Item FunctionReader::compare_from(const Syntax& node, size_t index, const Item& left) {
  const std::vector<Syntax> operators = node.children("ops"), operands = node.children("comparators");
  const Item right = expression(operands[index]);
  const std::string_view kind = operators[index].kind();
  const ComparisonOperator* op = std::ranges::find(comparison_operators, kind, &ComparisonOperator::node);
  Item first;
  if (op == std::end(comparison_operators)) {
    first = report(node, diagnostics::expression, std::string(identity_word(kind)), std::string(identity_word(kind)));
  } else {
    first = compare(node, op->symbol, left, right);
  }
  if (index + 1 == operators.size()) return first;
  // The later operands are read only where the comparison before them holds.
  return choose(
      node, first.failed() ? 0 : first.value, [&] { return compare_from(node, index + 1, right); }, [&] { return first; },
      "the comparison");
}

Item FunctionReader::compare(const Syntax& at, std::string_view symbol, const Item& left, const Item& right) {
  if (left.failed() || right.failed()) return {};
  const ScalarOp op = std::ranges::find(comparison_operators, symbol, &ComparisonOperator::symbol)->scalar;
  if (is_tensor(left) || is_tensor(right)) return report(at, diagnostics::tensor_operator, std::string(symbol), std::string(symbol));
  if (!is_number(left) || !is_number(right)) return refuse_operands(at, symbol, left, &right);
  Value x = left.value, y = right.value;
  if (builder_.type(x) != builder_.type(y)) {
    if (builder_.type(x).kind == Kind::Bool) x = builder_.as_int(x);
    if (builder_.type(y).kind == Kind::Bool) y = builder_.as_int(y);
  }
  return Item::of(builder_.scalar(op, {x, y}, Type::boolean()));
}

}  // namespace natif::front
