// src/front/builtins.cpp: the built-in functions of Python that native code has.
#include <algorithm>
#include <cmath>
#include <limits>

#include "front/diagnostics.h"
#include "front/function_reader.h"
#include "ops/registry.h"

namespace natif::front {

using ir::ScalarOp;
using ir::Type;
using ir::Value;
using Kind = ir::Type::Kind;

namespace {

constexpr std::string_view supported[] = {"abs", "bool", "float", "int", "len", "max", "min", "pow", "divmod"};

/// float("inf") and its relatives.
std::optional<double> special_float(const std::string& text) {
  std::string lower;
  for (char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const bool negative = lower.starts_with('-');
  if (negative || lower.starts_with('+')) lower.erase(0, 1);
  if (lower == "inf" || lower == "infinity")
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

}  // namespace

Item FunctionReader::builtin_call(const Syntax& node, const std::string& name) {
  if (std::ranges::find(supported, name) == std::end(supported)) return refuse_call(node, diagnostics::call_not_covered, name, name);
  std::vector<Item> arguments;
  bool failed = false, plain = node.children("keywords").empty();
  for (const Syntax& argument : node.children("args")) {
    if (argument.is("Starred")) {
      plain = false;
      continue;
    }
    arguments.push_back(expression(argument));
    failed |= arguments.back().failed();
  }
  if (!plain) return refuse_call(node, diagnostics::builtin_arguments, name, name + "() with a keyword or *");
  return failed ? Item{} : builtin(node, name, arguments);
}

Item FunctionReader::builtin(const Syntax& node, const std::string& name, const std::vector<Item>& arguments) {
  const size_t count = arguments.size();
  if (name == "len" && count == 1) return length(node, arguments[0]);
  if (name == "abs" && count == 1) return absolute(node, arguments[0]);
  if ((name == "int" || name == "float" || name == "bool") && count == 1) return convert(node, name, arguments[0]);
  if ((name == "min" || name == "max") && count >= 2) return extreme(node, name, arguments);
  if ((name == "pow" || name == "divmod") && count == 2 && is_number(arguments[0]) && is_number(arguments[1])) {
    claim_site(node, name, "python/" + name);
    const Value left = arguments[0].value, right = arguments[1].value;
    if (name == "pow") return apply_numbers(node, "**", left, right);
    return Item::sequence({apply_numbers(node, "//", left, right), apply_numbers(node, "%", left, right)}, false);
  }
  return refuse_builtin(node, name, arguments);
}

Item FunctionReader::refuse_builtin(const Syntax& node, const std::string& name, const std::vector<Item>& arguments) {
  std::string detail = name + "() of ";
  for (size_t i = 0; i < arguments.size(); ++i) detail += (i ? ", " : "") + describe(arguments[i], builder_.function);
  if (arguments.empty()) detail += "nothing";
  return report(node, diagnostics::builtin_arguments, name, detail);
}

Item FunctionReader::length(const Syntax& node, const Item& item) {
  if (item.kind == Item::Kind::Sequence || item.kind == Item::Kind::Shape) {
    claim_site(node, "len", "python/len");
    const size_t rank = item.kind == Item::Kind::Shape ? static_cast<size_t>(builder_.type(item.value).rank()) : item.elements.size();
    return Item::of(builder_.literal(static_cast<int64_t>(rank)));
  }
  // TensorFlow raises TypeError for a tensor of rank 0.
  if (!is_tensor(item) || builder_.type(item.value).rank() == 0) return refuse_builtin(node, "len", {item});
  claim_site(node, "len", "python/len");
  return Item::of(builder_.dimension(item.value, 0));
}

Item FunctionReader::absolute(const Syntax& node, const Item& item) {
  const ops::OpDef* op = ops::find_operator(ops::Operator::Absolute);
  if (is_tensor(item) && op) return apply_op(node, "abs", *op, {operand_of(item, node.span())});
  if (!is_number(item)) return refuse_builtin(node, "abs", {item});
  claim_site(node, "abs", "python/abs");
  const bool real = builder_.type(item.value).kind == Kind::Float;
  const Value value = real ? item.value : builder_.as_int(item.value);
  return Item::of(builder_.scalar(ScalarOp::Absolute, {value}, real ? Type::real() : Type::integer()));
}

Item FunctionReader::convert(const Syntax& node, const std::string& name, const Item& item) {
  const std::string* text = item.kind == Item::Kind::Constant ? std::get_if<std::string>(&item.constant) : nullptr;
  const std::optional<double> special = text && name == "float" ? special_float(*text) : std::nullopt;
  if (!special && !is_number(item)) return refuse_builtin(node, name, {item});
  claim_site(node, name, "python/" + name);
  if (special) return Item::of(builder_.literal(*special));
  return Item::of(name == "int"     ? builder_.as_int(item.value)
                  : name == "float" ? builder_.as_float(item.value)
                                    : builder_.as_bool(item.value));
}

Item FunctionReader::extreme(const Syntax& node, const std::string& name, const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (!is_number(item)) return refuse_builtin(node, name, items);
    // The result is one of the operands with its own type, so the types must agree.
    if (builder_.type(item.value) != builder_.type(items[0].value)) return refuse_builtin(node, name, items);
  }
  claim_site(node, name, "python/" + name);
  const Type type = builder_.type(items[0].value);
  const bool flags = type.kind == Kind::Bool, least = name == "min";
  const ScalarOp op = flags ? (least ? ScalarOp::BitAnd : ScalarOp::BitOr) : least ? ScalarOp::Minimum : ScalarOp::Maximum;
  Value value = items[0].value;
  for (size_t i = 1; i < items.size(); ++i) value = builder_.scalar(op, {value, items[i].value}, type);
  return Item::of(value);
}

}  // namespace natif::front
