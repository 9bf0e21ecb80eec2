// src/front/literals.h: values that stand in the source: what an attribute of an op may be.
#pragma once

#include <optional>
#include <string>

#include "front/syntax.h"
#include "ir/type.h"
#include "ops/call.h"

namespace natif::front {

/// The value of a literal expression: a number, a negated number, a string, None, or a list or tuple of ints; nullopt for anything else,
/// an int past 64 bits too.
std::optional<ops::Literal> read_literal(const Syntax& expression);

/// The type of a literal that is a number; nullopt for None, strings, lists and dtypes.
std::optional<ir::Type> number_type(const ops::Literal&);

/// Whether an expression is an int that is past 64 bits; its digits, or how long it is, in `text`.
bool is_large_int(const Syntax& expression, std::string& text);

}  // namespace natif::front
