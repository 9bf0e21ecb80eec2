// src/front/calls.cpp: calls of registered ops, and the decision what a call is.
#include <algorithm>

#include "front/diagnostics.h"
#include "front/function_reader.h"
#include "front/literals.h"
#include "ops/registry.h"

namespace natif::front {

using ir::Type;
using ir::Value;

namespace {

std::string joined(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

}  // namespace

std::string FunctionReader::imported(const Syntax& expression) const {
  const std::vector<std::string> path = dotted_path(expression);
  if (path.empty() || environment_.contains(path[0])) return {};
  const auto local = local_imports_.find(path[0]);
  if (local != local_imports_.end()) {
    std::string full = local->second;
    for (size_t i = 1; i < path.size(); ++i) full += "." + path[i];
    return full;
  }
  if (is_local(path[0]) || definition_.enclosing.contains(path[0])) return {};
  return scope_.imported(path);
}

bool FunctionReader::is_builtin(const std::string& name) const {
  return !is_local(name) && !definition_.enclosing.contains(name) && !scope_.find(name) && !scope_.has_unknown_names();
}

Item FunctionReader::call(const Syntax& node) {
  const Syntax function = node.child("func");
  const std::vector<std::string> path = dotted_path(function);
  const std::string full = imported(function);
  const std::string spelling = tensorflow_spelling(full);
  if (!spelling.empty()) {
    if (const ops::OpDef* op = ops::find_spelling(spelling)) return op_call(node, spelling, *op);
    return refuse_call(node, diagnostics::call_not_covered, spelling, spelling);
  }
  if (!full.empty()) return refuse_call(node, diagnostics::call_not_covered, full, full);
  if (path.size() == 1 && is_builtin(path[0])) return builtin_call(node, path[0]);
  const bool global = path.size() == 1 && !is_local(path[0]) && !definition_.enclosing.contains(path[0]);
  const Binding* binding = global ? scope_.find(path[0]) : nullptr;
  if (binding && binding->kind == Binding::Kind::Function) return native_call(node, path[0], binding->value);
  if (function.is("Attribute")) {
    const std::string target = path.empty() ? "." + function.text("attr") : joined(path);
    const Item item = refuse_call(node, diagnostics::method_call, target, target);
    read_inside(function);
    return item;
  }
  const std::string target = path.empty() ? "call" : joined(path);
  return refuse_call(node, diagnostics::call_not_covered, target, path.empty() ? "what is called" : target);
}

Item FunctionReader::refuse_call(const Syntax& node, const base::Diagnostic& diagnostic, const std::string& target, std::string detail) {
  const Item item = report(node, diagnostic, target, detail);
  for (const Syntax& argument : node.children("args")) read_refused_argument(argument);
  for (const Syntax& keyword : node.children("keywords")) read_refused_argument(keyword.child("value"));
  return item;
}

void FunctionReader::read_refused_argument(const Syntax& argument) {
  // Only for the calls in it: names and literals that mean nothing here need no verdict of their own.
  if (argument.is("Call")) {
    expression(argument);
  } else {
    read_inside(argument);
  }
}

Item FunctionReader::op_call(const Syntax& node, const std::string& spelling, const ops::OpDef& op) {
  const std::optional<Operands> operands = bind_operands(node, spelling, op);
  return operands ? apply_op(node, spelling, op, *operands) : Item{};
}

std::optional<FunctionReader::Operands> FunctionReader::bind_operands(const Syntax& node, const std::string& spelling,
                                                                      const ops::OpDef& op) {
  const ops::Parameters& parameters = op.parameters;
  Operands operands(parameters.size());
  std::vector<Syntax> given(parameters.size());
  std::string wrong;
  const auto give = [&](size_t index, const Syntax& argument) {
    if (given[index]) wrong = spelling + " got " + std::string(parameters[index].name) + " twice";
    given[index] = argument;
  };
  const std::vector<Syntax> positional = node.children("args");
  if (positional.size() > parameters.size())
    wrong = spelling + " takes at most " + std::to_string(parameters.size()) + " arguments, got " + std::to_string(positional.size());
  for (size_t i = 0; i < positional.size() && wrong.empty(); ++i) {
    if (positional[i].is("Starred")) wrong = spelling + " is called with *, so which arguments it gets is not known";
    give(i, positional[i]);
  }
  for (const Syntax& keyword : node.children("keywords")) {
    const std::string name = keyword.text("arg");
    if (name.empty()) {
      wrong = spelling + " is called with **, so which arguments it gets is not known";
      break;
    }
    const auto names = [&](const ops::Parameter& parameter) {
      return parameter.name == name || std::ranges::count(parameter.other_names, name) > 0;
    };
    const auto found = std::ranges::find_if(parameters, names);
    if (found == parameters.end()) {
      wrong = spelling + " has no parameter " + name + " that natif knows";
    } else {
      give(static_cast<size_t>(found - parameters.begin()), keyword.child("value"));
    }
  }
  for (size_t i = 0; i < parameters.size() && wrong.empty(); ++i)
    if (parameters[i].required && !given[i]) wrong = spelling + " misses its argument " + std::string(parameters[i].name);
  if (!wrong.empty()) {
    refuse_call(node, diagnostics::call_arguments, spelling, wrong);
    return std::nullopt;
  }
  return read_operands(node, op, given);
}

std::optional<FunctionReader::Operands> FunctionReader::read_operands(const Syntax& node, const ops::OpDef& op,
                                                                      const std::vector<Syntax>& given) {
  const ops::Parameters& parameters = op.parameters;
  Operands operands(parameters.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i]) order.push_back(i);
  // As Python evaluates them, keywords in the order of the call.
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const base::Span x = given[a].span(), y = given[b].span();
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  bool failed = false;
  for (size_t i : order) {
    operands[i] = read_operand(given[i], parameters[i]);
    failed |= operands[i]->item.failed() && !operands[i]->argument.literal;
    const bool name = operands[i]->argument.literal && (std::holds_alternative<std::string>(*operands[i]->argument.literal) ||
                                                        std::holds_alternative<ops::None>(*operands[i]->argument.literal));
    if (parameters[i].kind == ops::ParameterKind::Name && !failed && !name) {
      report(node, diagnostics::call_arguments, "name", "the argument name is neither a literal string nor None");
      failed = true;
    }
  }
  return failed ? std::nullopt : std::optional(std::move(operands));
}

FunctionReader::Operand FunctionReader::read_operand(const Syntax& node, const ops::Parameter& parameter) {
  if (parameter.kind == ops::ParameterKind::Operand) return operand_of(expression(node), node.span());
  if (const std::optional<ops::Literal> literal = known_literal(node))
    return {Item{}, {.type = number_type(*literal), .literal = literal, .span = node.span()}};
  return operand_of(expression(node), node.span());
}

FunctionReader::Operand FunctionReader::operand_of(const Item& item, base::Span span) const {
  ops::Argument argument{.span = span};
  if (item.is_value()) argument.type = builder_.type(item.value);
  argument.literal = known_literal(item);
  return {item, std::move(argument)};
}

Item FunctionReader::apply_op(const Syntax& at, const std::string& target, const ops::OpDef& op, const Operands& operands) {
  std::vector<std::optional<ops::Argument>> arguments;
  for (const std::optional<Operand>& operand : operands) arguments.push_back(operand ? std::optional(operand->argument) : std::nullopt);
  const ops::Call call(std::move(arguments), at.is("Call") && target.starts_with("tf.") ? target : std::string());
  const ops::Verdict verdict = op.type_rule.value(call);
  if (verdict.refusal) {
    const Item item = report(at, *verdict.refusal, target, verdict.detail);
    if (verdict.refusal->outcome != base::Outcome::Claimed) sites_.back().rule = ops::rule_id(op);
    return item;
  }
  const int site = claim_site(at, target, ops::rule_id(op));
  const GraphBuilder::At here(builder_, at.span(), site);
  // A number takes the dtype of the tensors, which is that of what the op computes; only argmax and its like have another result.
  ir::DType dtype = verdict.results.at(0).dtype;
  for (const std::optional<Operand>& operand : operands)
    if (operand && is_tensor(operand->item)) dtype = builder_.type(operand->item.value).dtype;
  std::vector<Value> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (op.parameters.value[i].kind != ops::ParameterKind::Operand || !operands[i] || !operands[i]->item.is_value()) continue;
    const Value value = operands[i]->item.value;
    values.push_back(builder_.type(value).is_number() ? builder_.to_tensor(value, dtype) : value);
  }
  if (op.build) return Item::of(op.build(builder_, call, verdict, values));
  return Item::of(builder_.op(op.tfe->op, values, verdict.results.at(0), verdict.attributes));
}

int FunctionReader::claim_site(const Syntax& at, std::string target, std::string rule) {
  sites_.push_back({.span = at.span(), .target = std::move(target), .outcome = base::Outcome::Claimed, .rule = std::move(rule)});
  return static_cast<int>(sites_.size()) - 1;
}

Item FunctionReader::report(const Syntax& at, const base::Diagnostic& diagnostic, std::string target, const std::string& detail) {
  return report(at.span(), diagnostic, std::move(target), detail);
}

Item FunctionReader::report(base::Span span, const base::Diagnostic& diagnostic, std::string target, const std::string& detail) {
  sites_.push_back({.span = span,
                    .target = std::move(target),
                    .outcome = diagnostic.outcome,
                    .code = std::string(diagnostic.code),
                    .message = base::format(diagnostic.text, detail),
                    .suggestion = std::string(diagnostic.suggestion)});
  return {};
}

}  // namespace natif::front
