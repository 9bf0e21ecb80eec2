// src/ir/kernel_ir.h: the arithmetic of one element of a pointwise op or group, as a graph of intrinsics over inputs and constants. Ops
// build it; codegen prints it as C++, the folder and the tests evaluate it. Each intrinsic is a function of the kernel headers that exists
// in two forms, eager's formula for whole groups of 8 elements and the one for the last n mod 8 of a flat tensor.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace natif::ir {

enum class Intrinsic : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  Maximum,
  Minimum,  // two operands
  Negate,
  Absolute,
  Square,
  Sqrt,
  Relu,
  Exp,
  Log,
  Tanh,
  Sigmoid,  // one operand
};

/// The intrinsic's function in kernels/: "add".
std::string_view function_name(Intrinsic);
int operand_count(Intrinsic);
/// Whether the function gives the same bits in both forms for every operand.
bool same_in_tail(Intrinsic);

/// An index into Expression::terms.
struct Term {
  uint32_t index;
};

struct Expression {
  enum class Kind : uint8_t { Input, Constant, Call };
  struct Entry {
    Kind kind;
    uint32_t input = 0;     // of Input: its position
    float constant = 0;     // of Constant
    Intrinsic intrinsic{};  // of Call
    Term operands[2] = {};
  };

  std::vector<Entry> terms;  // operands before uses
  Term result{};

  Term input(uint32_t position);
  Term constant(float value);
  Term call(Intrinsic, Term);
  Term call(Intrinsic, Term, Term);
};

}  // namespace natif::ir
