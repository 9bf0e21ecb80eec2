// src/ir/parser.h: reads the text form that ir/printer.h describes.
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace natif::ir {

/// The one function in `text`. It need not be valid: see ir/verifier.h. Throws base::UserError that names the line and what was expected.
Function parse(std::string_view text);

/// All functions in `text`, in their order. Lines that begin with `//` are left out.
std::vector<Function> parse_all(std::string_view text);

}  // namespace natif::ir
