// src/front/literals.cpp: Constant nodes and the few expressions around them that are literals to a reader.
#include "front/literals.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace natif::front {

namespace {

/// A Python int within 64 bits.
std::optional<int64_t> read_int(nb::handle value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow) return std::nullopt;
  return number;
}

std::optional<ops::Literal> read_constant(const nb::object& value) {
  if (value.is_none()) return ops::None{};
  if (PyBool_Check(value.ptr())) return value.is(nb::handle(Py_True));
  if (PyLong_CheckExact(value.ptr())) {
    const std::optional<int64_t> number = read_int(value);
    return number ? std::optional<ops::Literal>(*number) : std::nullopt;
  }
  if (PyFloat_CheckExact(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  return std::nullopt;
}

std::optional<ops::Literal> read_negated(const Syntax& operand) {
  if (!operand.is("Constant")) return std::nullopt;
  const nb::object value = operand.constant();
  if (PyFloat_CheckExact(value.ptr())) return -PyFloat_AS_DOUBLE(value.ptr());
  if (!PyLong_CheckExact(value.ptr())) return std::nullopt;
  const std::optional<int64_t> number = read_int(nb::steal(PyNumber_Negative(value.ptr())));
  return number ? std::optional<ops::Literal>(*number) : std::nullopt;
}

std::optional<ops::Literal> read_list(const Syntax& list) {
  std::vector<int64_t> values;
  for (const Syntax& element : list.children("elts")) {
    const std::optional<ops::Literal> literal = read_literal(element);
    const int64_t* value = literal ? std::get_if<int64_t>(&*literal) : nullptr;
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace

std::optional<ops::Literal> read_literal(const Syntax& expression) {
  if (expression.is("Constant")) return read_constant(expression.constant());
  if (expression.is("UnaryOp") && expression.child("op").is("USub")) return read_negated(expression.child("operand"));
  if (expression.is("List") || expression.is("Tuple")) return read_list(expression);
  return std::nullopt;
}

std::optional<ir::Type> number_type(const ops::Literal& literal) {
  if (std::holds_alternative<bool>(literal)) return ir::Type::boolean();
  if (std::holds_alternative<int64_t>(literal)) return ir::Type::integer();
  if (std::holds_alternative<double>(literal)) return ir::Type::real();
  return std::nullopt;
}

bool is_large_int(const Syntax& expression, std::string& text) {
  if (!expression.is("Constant")) return false;
  const nb::object value = expression.constant();
  if (!PyLong_CheckExact(value.ptr()) || read_int(value)) return false;
  const int64_t bits = nb::cast<int64_t>(value.attr("bit_length")());
  // CPython refuses to write ints of thousands of digits in decimal, and nobody reads them.
  text = bits <= 256 ? nb::cast<std::string>(nb::str(value)) : "of " + std::to_string(bits) + " bits";
  return true;
}

}  // namespace natif::front
