// src/ops/registry_test.cpp: what holds for every op of the registry: unique names, prose rules, and parts that fit together.
#include "ops/registry.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace natif::ops {
namespace {

bool is_sentence_part(std::string_view text) { return !text.empty() && !text.ends_with('.') && text.find("  ") == std::string_view::npos; }

TEST(Registry, NamesAreUnique) {
  std::set<std::string_view> spellings, nodes;
  for (const OpDef* op : all_ops()) {
    EXPECT_TRUE(nodes.insert(op->tfe->op).second) << op->tfe->op;
    for_each_spelling(*op, [&](std::string_view spelling) {
      EXPECT_TRUE(spelling.starts_with("tf.")) << spelling;
      EXPECT_TRUE(spellings.insert(spelling).second) << spelling;
      EXPECT_EQ(find_spelling(spelling), op);
    });
  }
  EXPECT_EQ(find_spelling("tf.no_such_op"), nullptr);
}

TEST(Registry, DiagnosticsReadWell) {
  std::map<std::string_view, const base::Diagnostic*> codes;
  for (const OpDef* op : all_ops()) {
    for (const base::Diagnostic* diagnostic : op->diagnostics) {
      const auto [place, fresh] = codes.emplace(diagnostic->code, diagnostic);
      EXPECT_TRUE(fresh || place->second == diagnostic) << diagnostic->code;
      EXPECT_TRUE(diagnostic->code.starts_with("NTF-")) << diagnostic->code;
      EXPECT_EQ(diagnostic->outcome, base::Outcome::Rejected) << diagnostic->code;
      EXPECT_TRUE(is_sentence_part(diagnostic->text)) << diagnostic->code;
      EXPECT_TRUE(is_sentence_part(diagnostic->suggestion)) << diagnostic->code;
      EXPECT_FALSE(diagnostic->example.empty()) << diagnostic->code;
    }
  }
}

TEST(Registry, DefinitionsAreComplete) {
  for (const OpDef* op : all_ops()) {
    const std::string name(op->tfe->op);
    EXPECT_TRUE(op->summary.value.ends_with('.')) << name;
    const bool internal = op->spellings->empty();
    EXPECT_EQ(internal, op->examples->empty()) << name;
    EXPECT_EQ(internal, op->diagnostics.empty()) << name << ": every form that is refused has a diagnostic";
    EXPECT_TRUE(op->more_spellings.empty() || op->spellings->size() == 8) << name;
    EXPECT_EQ(op->native.shape == LoopShape::Pointwise, op->native.element != nullptr) << name;
    EXPECT_EQ(op->native.shape == LoopShape::Reduction, op->native.reduction != Reduction::None) << name;
    EXPECT_TRUE(op->exact.rule.empty() || !op->exact.domain.empty()) << name << ": a rule states where it was proven";
    for (const SeedRule& rule : op->seed_rules) EXPECT_TRUE(rule.code.starts_with("RXTP-TENSORFLOW-")) << name;
  }
}

TEST(Registry, EveryOperatorHasItsOp) {
  for (Operator op :
       {Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide, Operator::MatMul, Operator::Negate, Operator::Absolute})
    EXPECT_NE(find_operator(op), nullptr);
  EXPECT_EQ(find_operator(Operator::None), nullptr);
}

TEST(Registry, PointwiseRulesBuildOneCallOfAllOperands) {
  for (const OpDef* op : all_ops()) {
    if (op->native.shape != LoopShape::Pointwise) continue;
    ir::Expression expression;
    std::vector<ir::Term> operands;
    for (const Parameter& parameter : op->parameters.value)
      if (parameter.kind == ParameterKind::Operand) operands.push_back(expression.input(static_cast<uint32_t>(operands.size())));
    const ir::Term result = op->native.element(expression, operands);
    EXPECT_LT(result.index, expression.terms.size()) << op->tfe->op;
    EXPECT_EQ(expression.terms[result.index].kind, ir::Expression::Kind::Call) << op->tfe->op;
  }
}

}  // namespace
}  // namespace natif::ops
