// src/ir/printer_test.cpp: the text form reads back to what was printed, and faults in a text are named.
#include "ir/printer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/parser.h"
#include "ir/verifier.h"

namespace natif::ir {
namespace {

constexpr std::string_view every_form =
    R"(func Model.score(bound %x.0: f32[?,64], hidden %w.1: f32[64,10], %n.2: int, %s.3: float, %flag.4: bool) -> (f32[?,10], i64[?]) @3:0-30:12 {
  %h.5: f32[?,10] = MatMul(%x.0, %w.1, transpose_a=false, transpose_b=false) @5:8-5:23 #0
  %6: f32[10] = Sum(%h.5, axis=[0], keep_dims=false)
  %7: f32[?,10] = BiasAdd(%h.5, %6, data_format="NHWC")
  %8: i64[?] = ArgMax(%7, axis=1, output_type=int64) #12
  %9: int = literal(value=0)
  %10: float = literal(value=-2.0)
  %11: float = literal(value=1e-07)
  %12: float = literal(value=nan)
  %13: float = literal(value=-inf)
  %14: bool = literal(value=true)
  %15: f32[] = to_tensor(%s.3)
  %16: int = dimension(%x.0, axis=1)
  %17: bool = scalar.less(%9, %n.2)
  %y.18: f32[?,10] = if(%17) @9:4-12:9 {
    yield(%7)
  } else {
    %19: f32[?,10] = Mul(%7, %15)
    yield(%19)
  }
  %z.20: f32[?,10] = for(%9, %n.2, %16, %y.18) (%i.21: int, %z.22: f32[?,10]) {
    %23: bool = scalar.equal(%i.21, %9)
    if(%23) {
      break(%z.22)
    } else {
      yield()
    }
    continue(%z.22)
  }
  %24: f32[?,10] = loop(%z.20) (%z.25: f32[?,10]) {
    %26: f32[?,10] = kernel(kernel=0) {
      %27: f32[?,10] = Relu(%z.25)
      yield(%27)
    }
    break(%26)
  }
  return(%24, %8)
}
)";

TEST(Printer, ReadsBackWhatItPrints) {
  const Function function = parse(every_form);
  EXPECT_EQ(print(function), every_form);
  EXPECT_EQ(function.name, "Model.score");
  EXPECT_TRUE(function.parameters[0].bound);
  EXPECT_TRUE(function.parameters[1].hidden);
  EXPECT_EQ(function.body.nodes[3].site, 12);
  EXPECT_EQ(function.span, (base::Span{3, 0, 30, 12}));
  verify(function);
}

TEST(Printer, HidesPlaces) {
  const std::string text = print(parse(every_form), Places::Hidden);
  EXPECT_EQ(text.find('@'), std::string::npos);
  EXPECT_EQ(text.find('#'), std::string::npos);
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Printer, KeepsSizesThatParametersShare) {
  const std::string text = "func f(%x.0: f32[?1,?2], %y.1: f32[?1,4], %z.2: f32[?]) -> f32[?,?] {\n  return(%x.0)\n}\n";
  const Function function = parse(text);
  EXPECT_EQ(print(function), text);
  EXPECT_EQ(function.parameters[0].sizes, (std::vector<int64_t>{-2, -3}));
  EXPECT_EQ(function.parameters[1].sizes, (std::vector<int64_t>{-2, 4}));
  EXPECT_TRUE(function.parameters[2].sizes.empty());
  EXPECT_EQ(function.type(function.parameters[1].value).dims, (std::vector<int64_t>{free_size, 4}));
  EXPECT_EQ(function.sizes_of(function.parameters[2]), (std::vector<int64_t>{free_size}));
  EXPECT_THROW(parse("func f(%x.0: f32[?]) -> f32[?1] { return(%x.0) }"), base::UserError);
}

TEST(Printer, NumbersValuesInOrderOfAppearance) {
  EXPECT_EQ(print(parse("func f(%x.7: f32[]) -> f32[] { %y.2: f32[] = Abs(%x.7) %1: f32[] = Neg(%y.2) return(%1) }")),
            "func f(%x.0: f32[]) -> f32[] {\n  %y.1: f32[] = Abs(%x.0)\n  %2: f32[] = Neg(%y.1)\n  return(%2)\n}\n");
}

TEST(Printer, ResultsAsTuple) {
  const std::string text = "func f(%x.0: f32[]) -> (f32[]) {\n  return(%x.0)\n}\n";
  EXPECT_TRUE(parse(text).tuple);
  EXPECT_EQ(print(parse(text)), text);
  const std::string none = "func f() -> () {\n  return()\n}\n";
  EXPECT_EQ(print(parse(none)), none);
}

TEST(Printer, EscapesStrings) {
  const std::string text = "func f(%x.0: f32[]) -> f32[] {\n  %1: f32[] = Abs(%x.0, note=\"a \\\"quoted\\\" \\\\\")\n  return(%1)\n}\n";
  const Function function = parse(text);
  EXPECT_EQ(get<std::string>(function.body.nodes[0].attributes, "note"), "a \"quoted\" \\");
  EXPECT_EQ(print(function), text);
}

TEST(Parser, ReadsSeveralFunctionsAndComments) {
  const auto functions = parse_all("// one\nfunc f() -> () { return() }\n// two\nfunc g() -> () { return() }\n// end");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].name, "g");
}

void expect_fault(std::string_view text, const std::string& message) {
  try {
    parse(text);
    ADD_FAILURE() << "no error for " << text;
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Parser, NamesTheLineAndWhatWasExpected) {
  expect_fault("func f(%x.0: f32[])\n  return", "natif: line 2 of the graph's text: expected `->` at `return`");
  expect_fault("func f(%x.0: f16[])", "natif: line 1 of the graph's text: expected a type at `[])`");
  expect_fault("func f() -> () {\n  return(%3)\n}",
               "natif: line 2 of the graph's text: expected a value that is declared above, not %3, at `)`");
  expect_fault("func f() -> () { %0: int = scalar.tan() }",
               "natif: line 1 of the graph's text: expected an operation on numbers before this place at `() }`");
  expect_fault("func f() -> () { return()", "natif: line 1 of the graph's text: expected a node at ``");
}

}  // namespace
}  // namespace natif::ir
