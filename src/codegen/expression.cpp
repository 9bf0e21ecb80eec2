// src/codegen/expression.cpp: see expression.h. A term that is used more than once becomes a variable, the others are written where they
// are used.
#include "codegen/expression.h"

namespace natif::codegen {

namespace {

using Kind = ir::Expression::Kind;

std::vector<int> uses_of_terms(const ir::Expression& expression) {
  std::vector<int> uses(expression.terms.size());
  for (const auto& entry : expression.terms) {
    if (entry.kind != Kind::Call) continue;
    for (int i = 0; i < ir::operand_count(entry.intrinsic); ++i) ++uses[entry.operands[i].index];
  }
  return uses;
}

Code function_of(ir::Intrinsic intrinsic, bool fast) {
  const Code name = trusted_name(ir::function_name(intrinsic));
  switch (intrinsic) {
    case ir::Intrinsic::Exp:
    case ir::Intrinsic::Log:
    case ir::Intrinsic::Tanh:
    case ir::Intrinsic::Sigmoid:
      return fast ? code("fast_$", name) : name;
    default:
      return name;
  }
}

// The terms that the result needs: ops whose results are read by no one leave none, but sharing may leave some behind.
std::vector<bool> needed_terms(const ir::Expression& expression) {
  std::vector<bool> needed(expression.terms.size());
  needed[expression.result.index] = true;
  for (size_t i = expression.terms.size(); i-- > 0;) {
    const auto& entry = expression.terms[i];
    if (!needed[i] || entry.kind != Kind::Call) continue;
    for (int k = 0; k < ir::operand_count(entry.intrinsic); ++k) needed[entry.operands[k].index] = true;
  }
  return needed;
}

// Whether compilers take an operation with this constant for no operation or a change of sign, as in x - 0 and x / -1. Eager's operation
// flushes denormals.
bool is_neutral(float constant) { return constant == 0 || constant == 1 || constant == -1; }

}  // namespace

void print_expression(Writer& w, const Code& name, const Code& head, const Code& element, const ir::Expression& expression,
                      const std::vector<Code>& inputs, bool fast) {
  const std::vector<int> uses = uses_of_terms(expression);
  const std::vector<bool> needed = needed_terms(expression);
  w.line("const auto $ = $ {", name, head);
  std::vector<Code> terms(expression.terms.size());
  for (size_t i = 0; i < expression.terms.size(); ++i) {
    if (!needed[i]) continue;
    const auto& entry = expression.terms[i];
    switch (entry.kind) {
      case Kind::Input:
        terms[i] = inputs.at(entry.input);
        continue;
      case Kind::Constant:
        terms[i] = code("constant<decltype($)>($)", element,
                        is_neutral(entry.constant) ? code("opaque($)", number(entry.constant)) : number(entry.constant));
        continue;
      case Kind::Call:
        break;
    }
    std::vector<Code> operands;
    for (int k = 0; k < ir::operand_count(entry.intrinsic); ++k) operands.push_back(terms[entry.operands[k].index]);
    terms[i] = code("$($)", function_of(entry.intrinsic, fast), list(operands));
    if (uses[i] < 2 && i != expression.result.index) continue;
    if (i == expression.result.index && uses[i] == 0) continue;
    w.line("const auto t$ = $;", i, terms[i]);
    terms[i] = code("t$", i);
  }
  w.line("return $;", terms[expression.result.index]);
  w.close(";");
}

}  // namespace natif::codegen
