// src/base/span.h: a place in the user's source. Lines are 1-based, columns 0-based in UTF-8 bytes, as in CPython's ast.
#pragma once

namespace natif::base {

struct Span {
  int line = 0, column = 0, end_line = 0, end_column = 0;

  bool operator==(const Span&) const = default;
};

}  // namespace natif::base
