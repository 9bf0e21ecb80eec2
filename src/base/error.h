// src/base/error.h: errors classed by audience. A UserError is a fault of the program being compiled or of the call, worded for its author;
// an InternalError is a broken invariant of the compiler and never satisfies a test that expects the former.
#pragma once

#include <stdexcept>
#include <string>

namespace natif::base {

class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError with `what` unless `holds`.
inline void require(bool holds, const char* what) {
  if (!holds) throw InternalError(what);
}

}  // namespace natif::base
