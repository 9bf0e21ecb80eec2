// src/ir/verifier_test.cpp: each rule of the graph is refused where it is broken.
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/parser.h"

namespace natif::ir {
namespace {

/// The rule that verification names for a body over x: f32[?], n: int, s: float, c: bool; "" where the function is valid.
std::string fault(const std::string& body, const std::string& result = "f32[?]") {
  const Function function = parse("func f(%x.0: f32[?], %n.1: int, %s.2: float, %c.3: bool) -> " + result + " {" + body + "}");
  try {
    verify(function);
  } catch (const base::InternalError& error) {
    const std::string message = error.what(), prefix = "the graph of f is not valid: ";
    EXPECT_TRUE(message.starts_with(prefix));
    return message.substr(prefix.size(), message.find(", in: ") - prefix.size());
  }
  return "";
}

TEST(Verifier, AcceptsAValidFunction) { EXPECT_EQ(fault("%4: f32[?] = Relu(%x.0) return(%4)"), ""); }

TEST(Verifier, Terminators) {
  EXPECT_EQ(fault("%4: f32[?] = Relu(%x.0)"), "a region that ends in no terminator");
  EXPECT_EQ(fault(""), "a region that ends in no terminator");
  EXPECT_EQ(fault("return(%x.0) return(%x.0)"), "a terminator that is not the last node of its region");
  EXPECT_EQ(fault("yield(%x.0)"), "a yield outside of a branch");
  EXPECT_EQ(fault("break(%x.0)"), "a break outside of a loop");
  EXPECT_EQ(fault("continue(%x.0)"), "a continue outside of a loop");
  EXPECT_EQ(fault("kernel(kernel=0) { return(%x.0) } return(%x.0)"), "a return out of a kernel");
}

TEST(Verifier, Visibility) {
  EXPECT_EQ(fault("if(%c.3) { %4: f32[?] = Relu(%x.0) yield() } else { %5: f32[?] = Relu(%4) yield() } return(%x.0)"),
            "an operand that is not defined at this place");
  Function function = parse("func f(%x.0: f32[?]) -> f32[?] { %1: f32[?] = Relu(%x.0) return(%1) }");
  function.body.nodes[0].results[0] = function.parameters[0].value;
  EXPECT_THROW(verify(function), base::InternalError);
  function.body.nodes[0].results[0] = 99;
  EXPECT_THROW(verify(function), base::InternalError);
}

TEST(Verifier, Types) {
  EXPECT_EQ(fault("%4: f32[?] = Relu(%n.1) return(%4)"), "an operand of an op that is no tensor");
  EXPECT_EQ(fault("%4: int = literal(value=1.0) return(%x.0)"), "a literal of another type than its result");
  EXPECT_EQ(fault("%4: int = scalar.add(%n.1, %s.2) return(%x.0)"), "arithmetic on numbers of these types");
  EXPECT_EQ(fault("%4: bool = scalar.less(%n.1, %s.2) return(%x.0)"), "");
  EXPECT_EQ(fault("%4: bool = scalar.add(%c.3, %c.3) return(%x.0)"), "arithmetic on numbers of these types");
  EXPECT_EQ(fault("%4: int = scalar.divide(%n.1, %n.1) return(%x.0)"), "arithmetic on numbers of these types");
  EXPECT_EQ(fault("%4: int = scalar.negate(%n.1, %n.1) return(%x.0)"), "a wrong number of operands or results");
  EXPECT_EQ(fault("%4: f32[?] = to_tensor(%n.1) return(%4)"), "a conversion other than of a number to a rank-0 tensor");
  EXPECT_EQ(fault("%4: int = dimension(%x.0, axis=1) return(%x.0)"), "no dimension of this tensor");
  EXPECT_EQ(fault("return(%x.0)", "f32[]"), "a return of other values than the results of the function");
  EXPECT_EQ(fault("return(%x.0)", "f32[3]"), "");
  Function several = parse("func f(%x.0: f32[]) -> (f32[], f32[]) { return(%x.0, %x.0) }");
  several.tuple = false;
  EXPECT_THROW(verify(several), base::InternalError);
  EXPECT_EQ(fault("return(%x.0, %x.0)"), "a return of other values than the results of the function");
}

TEST(Verifier, ControlFlow) {
  EXPECT_EQ(fault("if(%n.1) { yield() } else { yield() } return(%x.0)"), "an if on something that is no bool");
  EXPECT_EQ(fault("if(%c.3) { yield() } return(%x.0)"), "an if without its two branches");
  EXPECT_EQ(fault("%4: f32[?] = if(%c.3) { yield(%x.0) } else { yield() } return(%4)"),
            "a yield of other values than the results of its node");
  EXPECT_EQ(fault("for(%n.1, %n.1, %s.2) (%i.4: int) { continue() } return(%x.0)"), "a range of something that is no int");
  EXPECT_EQ(fault("for(%n.1, %n.1, %n.1) { continue() } return(%x.0)"), "a for without its variable");
  EXPECT_EQ(fault("%4: f32[?] = for(%n.1, %n.1, %n.1, %x.0) (%i.5: int, %y.6: f32[]) { continue(%y.6) } return(%4)"),
            "initial values that are not the arguments of the body");
  EXPECT_EQ(fault("%4: f32[?] = for(%n.1, %n.1, %n.1, %x.0) (%i.5: int, %y.6: f32[?]) { continue() } return(%4)"),
            "a continue with other values than the arguments of its loop");
  EXPECT_EQ(fault("%4: f32[?] = loop(%x.0) (%y.5: f32[?]) { break() } return(%4)"),
            "a break with other values than the results of its loop");
  EXPECT_EQ(fault("%4: int = loop(%x.0) (%y.5: f32[?]) { if(%c.3) { break(%n.1) } else { yield() } continue(%y.5) } return(%x.0)"), "");
  EXPECT_EQ(fault("kernel() { yield() } return(%x.0)"), "a kernel without its number");
}

TEST(Verifier, AsksTheOpsDefinition) {
  const Function function = parse("func f(%x.0: f32[?]) -> f32[?] { %1: f32[?] = Relu(%x.0) return(%1) }");
  int asked = 0;
  verify(function, [&](const Function&, const Node& node) { asked += node.op == "Relu"; });
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace natif::ir
