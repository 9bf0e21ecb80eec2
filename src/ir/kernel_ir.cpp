// src/ir/kernel_ir.cpp: the table of intrinsics, and building expressions with equal terms shared.
#include "ir/kernel_ir.h"

#include <cstring>

#include "base/error.h"

namespace natif::ir {

namespace {

struct IntrinsicFacts {
  std::string_view function;
  int operands;
  bool same_in_tail;
};

constexpr IntrinsicFacts facts[] = {
    {"add", 2, true},      {"sub", 2, true},  {"mul", 2, true},  {"div", 2, true},    {"maximum", 2, false},
    {"minimum", 2, false}, {"neg", 1, true},  {"abs", 1, true},  {"square", 1, true}, {"sqrt", 1, true},
    {"relu", 1, false},    {"exp", 1, false}, {"log", 1, false}, {"tanh", 1, true},   {"sigmoid", 1, false},
};

bool equal(const Expression::Entry& a, const Expression::Entry& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Expression::Kind::Input:
      return a.input == b.input;
    case Expression::Kind::Constant:
      return std::memcmp(&a.constant, &b.constant, sizeof a.constant) == 0;
    case Expression::Kind::Call:
      break;
  }
  if (a.intrinsic != b.intrinsic || a.operands[0].index != b.operands[0].index) return false;
  return operand_count(a.intrinsic) == 1 || a.operands[1].index == b.operands[1].index;
}

Term add_shared(Expression& expression, const Expression::Entry& entry) {
  for (uint32_t i = 0; i < expression.terms.size(); ++i)
    if (equal(expression.terms[i], entry)) return {i};
  expression.terms.push_back(entry);
  return {static_cast<uint32_t>(expression.terms.size() - 1)};
}

}  // namespace

std::string_view function_name(Intrinsic intrinsic) { return facts[static_cast<int>(intrinsic)].function; }
int operand_count(Intrinsic intrinsic) { return facts[static_cast<int>(intrinsic)].operands; }
bool same_in_tail(Intrinsic intrinsic) { return facts[static_cast<int>(intrinsic)].same_in_tail; }

Term Expression::input(uint32_t position) { return add_shared(*this, {.kind = Kind::Input, .input = position}); }
Term Expression::constant(float value) { return add_shared(*this, {.kind = Kind::Constant, .constant = value}); }

Term Expression::call(Intrinsic intrinsic, Term x) {
  base::require(operand_count(intrinsic) == 1, "an intrinsic with the wrong number of operands");
  return add_shared(*this, {.kind = Kind::Call, .intrinsic = intrinsic, .operands = {x, x}});
}

Term Expression::call(Intrinsic intrinsic, Term x, Term y) {
  base::require(operand_count(intrinsic) == 2, "an intrinsic with the wrong number of operands");
  return add_shared(*this, {.kind = Kind::Call, .intrinsic = intrinsic, .operands = {x, y}});
}

}  // namespace natif::ir
