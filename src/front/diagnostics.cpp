// src/front/diagnostics.cpp: the texts. Codes are stable: a new diagnostic takes the next number, and a number is never used again.
#include "front/diagnostics.h"

#include <array>

namespace natif::front::diagnostics {

using base::Outcome;

/// "return ----…-n", deeper than the front end follows.
constexpr auto deep_expression = [] {
  std::array<char, 600> text{};
  text.fill('-');
  constexpr std::string_view head = "return ";
  for (size_t i = 0; i < head.size(); ++i) text[i] = head[i];
  text.back() = 'n';
  return text;
}();

constexpr std::string_view keep_out = "move it out of the function; the function stays Python as it is";

const base::Diagnostic call_not_covered{.code = "NTF-LANG-1",
                                        .outcome = Outcome::NotCovered,
                                        .text = "{} is no registered op, native function or supported built-in",
                                        .suggestion = keep_out,
                                        .example = "print(n)\nreturn x2"};
const base::Diagnostic method_call{
    .code = "NTF-LANG-2",
    .outcome = Outcome::NotCovered,
    .text = "the method call {} is not covered",
    .suggestion = "use the function of the tf module instead of the method, or keep the call out of the function",
    .example = "x2.numpy()\nreturn x2"};
const base::Diagnostic attribute_read{.code = "NTF-LANG-3",
                                      .outcome = Outcome::NotCovered,
                                      .text = "reading the attribute {} is not covered",
                                      .suggestion = "pass the value as an argument",
                                      .example = "d = x2.device\nreturn x2"};
const base::Diagnostic statement{.code = "NTF-LANG-4",
                                 .outcome = Outcome::NotCovered,
                                 .text = "the statement {} is not covered",
                                 .suggestion = keep_out,
                                 .example = "assert n > 0\nreturn x2"};
const base::Diagnostic expression{.code = "NTF-LANG-5",
                                  .outcome = Outcome::NotCovered,
                                  .text = "the expression {} is not covered",
                                  .suggestion = "write it with numbers, tensors and registered ops, or keep it out of the function",
                                  .example = "d = {n: 1}\nreturn x2"};
const base::Diagnostic tensor_condition{.code = "NTF-LANG-6",
                                        .outcome = Outcome::NotCovered,
                                        .text = "a tensor decides here, as {}, so the way depends on the tensor's elements",
                                        .suggestion = "decide by numbers, or compute both and select by an op",
                                        .example = "if x0:\n  return x2\nreturn y2"};
const base::Diagnostic parameter_annotation{.code = "NTF-LANG-7",
                                            .outcome = Outcome::NotCovered,
                                            .text = "parameter {}",
                                            .suggestion = "annotate it with a marker of natif.types, int, float or bool",
                                            .example = "def f(x):\n  return x"};
const base::Diagnostic variadic_parameter{.code = "NTF-LANG-8",
                                          .outcome = Outcome::NotCovered,
                                          .text = "the parameter {} takes any number of arguments",
                                          .suggestion = "name each parameter",
                                          .example = "def f(x: TensorF32Cpu2D, *y: TensorF32Cpu2D) -> TensorF32Cpu2D:\n  return x"};
const base::Diagnostic default_value{.code = "NTF-LANG-9",
                                     .outcome = Outcome::Rejected,
                                     .text = "the default of parameter {}",
                                     .suggestion = "give a default of the annotated type, or none",
                                     .example = "def f(x: TensorF32Cpu2D, s: float = None) -> TensorF32Cpu2D:\n  return x"};
const base::Diagnostic result_annotation{
    .code = "NTF-LANG-10",
    .outcome = Outcome::NotCovered,
    .text = "the result {}",
    .suggestion = "annotate the result with a marker of natif.types, int, float, bool or a tuple of these",
    .example = "def f(x: TensorF32Cpu2D) -> str:\n  return x"};
const base::Diagnostic no_result{.code = "NTF-LANG-11",
                                 .outcome = Outcome::NotCovered,
                                 .text = "{} can end without returning a value",
                                 .suggestion = "return a value on every way",
                                 .example = "if flag:\n  return x2"};
const base::Diagnostic result_type{.code = "NTF-LANG-12",
                                   .outcome = Outcome::Rejected,
                                   .text = "returns {}",
                                   .suggestion = "annotate the result with the type that it has",
                                   .example = "def f(x: TensorF32Cpu2D) -> TensorF32Cpu1D:\n  return x"};
const base::Diagnostic results_differ{.code = "NTF-LANG-13",
                                      .outcome = Outcome::Rejected,
                                      .text = "returns {}",
                                      .suggestion = "return the same type on every way",
                                      .example = "if flag:\n  return x1\nreturn x2"};
const base::Diagnostic result_value{.code = "NTF-LANG-14",
                                    .outcome = Outcome::Rejected,
                                    .text = "returns {}, which is no tensor, number or flat tuple of these",
                                    .suggestion = "return tensors and numbers",
                                    .example = "return [x1, x2]"};
const base::Diagnostic unknown_name{
    .code = "NTF-LANG-15",
    .outcome = Outcome::NotCovered,
    .text = "the name {} is bound nowhere in this file",
    .suggestion = "bind it at module level to a literal or with a marker annotation, or pass it as an argument",
    .example = "return x2 * unknown"};
const base::Diagnostic enclosing_name{
    .code = "NTF-LANG-16",
    .outcome = Outcome::NotCovered,
    .text = "the name {} belongs to an enclosing function",
    .suggestion = "pass it as an argument",
    .example = "def make(k: int):\n  def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n    return x * k\n  return f"};
const base::Diagnostic module_name{.code = "NTF-LANG-17",
                                   .outcome = Outcome::NotCovered,
                                   .text = "the module-level name {}",
                                   .suggestion = "give it one literal value or a marker annotation, or pass it as an argument",
                                   .example = "W = load()\ndef f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n  return tf.matmul(x, W)"};
const base::Diagnostic maybe_unbound{.code = "NTF-LANG-18",
                                     .outcome = Outcome::NotCovered,
                                     .text = "the name {} may be unbound here",
                                     .suggestion = "assign it before the branch or loop",
                                     .example = "if flag:\n  y = x2\nreturn y"};
const base::Diagnostic types_differ{.code = "NTF-LANG-19",
                                    .outcome = Outcome::Rejected,
                                    .text = "{}",
                                    .suggestion = "give it the same type on every way, or another name",
                                    .example = "y = x2 if flag else 1.0\nreturn y"};
const base::Diagnostic loop_changes_type{
    .code = "NTF-LANG-20",
    .outcome = Outcome::Rejected,
    .text = "{}",
    .suggestion = "start it with the type that it has later (0.0 for a float), or use another name inside the loop",
    .example = "t = 0\nfor i in range(n):\n  t = t + 0.5\nreturn t"};
const base::Diagnostic large_int{.code = "NTF-LANG-21",
                                 .outcome = Outcome::NotCovered,
                                 .text = "the int {} is past 64 bits",
                                 .suggestion = "use a float, or keep the computation out of the function",
                                 .example = "return n + 99999999999999999999"};
const base::Diagnostic iterable{.code = "NTF-LANG-22",
                                .outcome = Outcome::NotCovered,
                                .text = "a for loop over {}",
                                .suggestion = "loop over range(…)",
                                .example = "for row in x2:\n  pass\nreturn x2"};
const base::Diagnostic range_arguments{.code = "NTF-LANG-23",
                                       .outcome = Outcome::Rejected,
                                       .text = "range() takes one to three ints, got {}",
                                       .suggestion = "convert with int(…)",
                                       .example = "for i in range(s):\n  pass\nreturn x2"};
const base::Diagnostic tensor_operator{.code = "NTF-LANG-24",
                                       .outcome = Outcome::NotCovered,
                                       .text = "the operator {} is no registered op on tensors",
                                       .suggestion = "use a registered op",
                                       .example = "return x2 % y2"};
const base::Diagnostic unary_plus{.code = "NTF-LANG-25",
                                  .outcome = Outcome::NotCovered,
                                  .text = "unary + on {}: TensorFlow raises TypeError for it",
                                  .suggestion = "drop the +",
                                  .example = "return +x2"};
const base::Diagnostic operand_types{.code = "NTF-LANG-26",
                                     .outcome = Outcome::Rejected,
                                     .text = "the operator {}",
                                     .suggestion = "use operands for which Python defines the operator",
                                     .example = "return n | s"};
const base::Diagnostic call_arguments{.code = "NTF-LANG-27",
                                      .outcome = Outcome::Rejected,
                                      .text = "{}",
                                      .suggestion = "write each argument once, in its place or by its name",
                                      .example = "return tf.nn.relu(x2, alpha=1)"};
const base::Diagnostic native_call_types{.code = "NTF-LANG-28",
                                         .outcome = Outcome::Rejected,
                                         .text = "calls {}",
                                         .suggestion = "pass what the called function's annotation says",
                                         .example =
                                             "def g(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n  return x\n"
                                             "def f(x: TensorF32Cpu2D) -> TensorF32Cpu1D:\n  return g(x)"};
const base::Diagnostic recursive_call{.code = "NTF-LANG-29",
                                      .outcome = Outcome::NotCovered,
                                      .text = "the call of {} is recursive",
                                      .suggestion = "write it as a loop",
                                      .example = "def f(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:\n  return f(x, n)"};
const base::Diagnostic callee_is_python{.code = "NTF-LANG-30",
                                        .outcome = Outcome::NotCovered,
                                        .text = "calls {}, which stays Python",
                                        .suggestion = "make that function native: its own sites say what is missing",
                                        .example =
                                            "def g(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n  return tf.cos(x)\n"
                                            "def f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n  return g(x)"};
const base::Diagnostic callee_returns_in_loop{
    .code = "NTF-LANG-31",
    .outcome = Outcome::NotCovered,
    .text = "calls {}, which returns from inside a loop",
    .suggestion = "let that function leave its loop by break and return after it",
    .example =
        "def g(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:\n  for i in range(n):\n    return x\n"
        "  return x\ndef f(x: TensorF32Cpu2D) -> TensorF32Cpu2D:\n  return g(x, 1)"};
const base::Diagnostic shape_index{.code = "NTF-LANG-32",
                                   .outcome = Outcome::Rejected,
                                   .text = "the index of a shape is {}",
                                   .suggestion = "use a literal int from -rank to rank - 1",
                                   .example = "return x2.shape[2]"};
const base::Diagnostic tensor_index{.code = "NTF-LANG-33",
                                    .outcome = Outcome::NotCovered,
                                    .text = "indexing {} is not covered",
                                    .suggestion = "keep the indexing out of the function",
                                    .example = "return x2[0]"};
const base::Diagnostic unpacking{.code = "NTF-LANG-34",
                                 .outcome = Outcome::Rejected,
                                 .text = "can't unpack {}",
                                 .suggestion = "give as many names as there are values",
                                 .example = "a, b, c = x2, y2\nreturn a"};
const base::Diagnostic coroutine{.code = "NTF-LANG-35",
                                 .outcome = Outcome::NotCovered,
                                 .text = "{} is a generator or coroutine",
                                 .suggestion = "return the values instead",
                                 .example = "yield x2"};
const base::Diagnostic builtin_arguments{.code = "NTF-LANG-36",
                                         .outcome = Outcome::Rejected,
                                         .text = "the built-in {}",
                                         .suggestion = "call it with numbers, or with a tensor where TensorFlow defines it",
                                         .example = "return float(x2)"};
const base::Diagnostic nesting{.code = "NTF-LANG-37",
                               .outcome = Outcome::NotCovered,
                               .text = "{} is nested deeper than natif follows",
                               .suggestion = "name the intermediate values",
                               .example = {deep_expression.data(), deep_expression.size()}};
const base::Diagnostic native_call_arguments{.code = "NTF-LANG-38",
                                             .outcome = Outcome::Rejected,
                                             .text = "calls {}",
                                             .suggestion = "pass each parameter once, in its place or by its name",
                                             .example =
                                                 "def g(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n  return x\n"
                                                 "def f(x: TensorF32Cpu1D) -> TensorF32Cpu1D:\n  return g()"};

std::span<const base::Diagnostic* const> all() {
  static constexpr const base::Diagnostic* list[] = {&call_not_covered,
                                                     &method_call,
                                                     &attribute_read,
                                                     &statement,
                                                     &expression,
                                                     &tensor_condition,
                                                     &parameter_annotation,
                                                     &variadic_parameter,
                                                     &default_value,
                                                     &result_annotation,
                                                     &no_result,
                                                     &result_type,
                                                     &results_differ,
                                                     &result_value,
                                                     &unknown_name,
                                                     &enclosing_name,
                                                     &module_name,
                                                     &maybe_unbound,
                                                     &types_differ,
                                                     &loop_changes_type,
                                                     &large_int,
                                                     &iterable,
                                                     &range_arguments,
                                                     &tensor_operator,
                                                     &unary_plus,
                                                     &operand_types,
                                                     &call_arguments,
                                                     &native_call_types,
                                                     &recursive_call,
                                                     &callee_is_python,
                                                     &callee_returns_in_loop,
                                                     &shape_index,
                                                     &tensor_index,
                                                     &unpacking,
                                                     &coroutine,
                                                     &builtin_arguments,
                                                     &nesting,
                                                     &native_call_arguments};
  return list;
}

}  // namespace natif::front::diagnostics
