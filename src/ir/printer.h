// src/ir/printer.h: the text form of a function. print() and parse() (ir/parser.h) are inverse: values are numbered in order of appearance,
// so equal functions have equal texts. The form, by example:
//
//   func score(%x.0: f32[?,64], hidden %w.1: f32[64,10], %n.2: int) -> f32[?,10] @3:0-9:12 {
//     %h.3: f32[?,10] = MatMul(%x.0, %w.1, transpose_a=false, transpose_b=false) @5:8-5:23 #0
//     %4: int = literal(value=0)
//     %5: bool = scalar.less(%4, %n.2)
//     %6: f32[?,10] = if(%5) {
//       yield(%h.3)
//     } else {
//       %7: f32[?,10] = Relu(%h.3)
//       yield(%7)
//     }
//     %8: int = literal(value=1)
//     %h.9: f32[?,10] = for(%4, %n.2, %8, %6) (%i.10: int, %h.11: f32[?,10]) {
//       continue(%h.11)
//     }
//     return(%h.9)
//   }
//
// A value is `%name.number` or `%number`. Operands stand before attributes. `@` gives the place in the source and `#` the claim
// (Node::site); both may be left out. Several results of a function are written `-> (int, f32[])`, as a tuple `-> tuple(int)`.
#pragma once

#include <string>

#include "ir/graph.h"

namespace natif::ir {

enum class Places : uint8_t { Shown, Hidden };

/// The text of `function`, which need not be valid.
std::string print(const Function& function, Places places = Places::Shown);

/// One node with its regions, for error messages; values are given by their index.
std::string print(const Function& function, const Node& node);

}  // namespace natif::ir
