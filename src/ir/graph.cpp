// src/ir/graph.cpp: names of node kinds and scalar operations, and new values.
#include "ir/graph.h"

namespace natif::ir {

Value Function::new_value(Type type, std::string name) {
  values.push_back({std::move(type), std::move(name)});
  return static_cast<Value>(values.size() - 1);
}

bool is_terminator(NodeKind kind) { return kind >= NodeKind::Yield; }

std::string_view name(NodeKind kind) {
  constexpr std::string_view names[] = {"op",   "literal", "scalar", "to_tensor", "dimension", "if",    "for",
                                        "loop", "kernel",  "yield",  "continue",  "break",     "return"};
  return names[static_cast<int>(kind)];
}

std::string_view name(ScalarOp op) {
  constexpr std::string_view names[] = {"add",     "subtract",      "multiply",    "divide",  "floor_divide", "modulo", "power",
                                        "negate",  "absolute",      "minimum",     "maximum", "bit_and",      "bit_or", "bit_xor",
                                        "bit_not", "shift_left",    "shift_right", "equal",   "not_equal",    "less",   "less_equal",
                                        "greater", "greater_equal", "not",         "to_int",  "to_float",     "to_bool"};
  return names[static_cast<int>(op)];
}

}  // namespace natif::ir
