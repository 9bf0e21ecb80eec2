// src/ops/call.h: one call or operator in the user's program, as an op's rules see it: which parameters were given, as what, and the
// verdict that a type rule gives. Nothing here knows Python's syntax.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "ir/attribute.h"
#include "ir/type.h"

namespace natif::ops {

/// Python's None, written out.
struct None {
  bool operator==(const None&) const = default;
};

/// A value written in the source where an attribute stands: `axis=1`, `[0, 1]`, `None`, `"NHWC"`, `tf.int32`.
using Literal = std::variant<None, bool, int64_t, double, std::string, ir::DType, std::vector<int64_t>>;

/// What was given for one parameter. A number written in the source has both a type and a literal.
struct Argument {
  std::optional<ir::Type> type;    // of a value of the program
  std::optional<Literal> literal;  // of a constant of the source
  base::Span span;
};

/// The arguments of a call, bound to the op's parameters in their order; nullopt where one was not given. `spelling` is the name that was
/// called ("tf.math.add"), empty for an operator: a few names convert their operands otherwise than the operator does.
class Call {
 public:
  explicit Call(std::vector<std::optional<Argument>> arguments, std::string spelling = {})
      : arguments_(std::move(arguments)), spelling_(std::move(spelling)) {}

  const std::string& spelling() const { return spelling_; }

  bool given(size_t parameter) const { return parameter < arguments_.size() && arguments_[parameter].has_value(); }
  const Argument& argument(size_t parameter) const { return *arguments_.at(parameter); }
  /// The tensor type given for a parameter; null when it is not given or is no tensor.
  const ir::Type* tensor(size_t parameter) const;
  /// The type given for a parameter, tensor or number; null for none.
  const ir::Type* value(size_t parameter) const;
  /// The literal of type T given for a parameter; null when not given, not a literal, or of another type. An int does not count as a
  /// double.
  template <class T>
  const T* literal(size_t parameter) const {
    return given(parameter) && arguments_[parameter]->literal ? std::get_if<T>(&*arguments_[parameter]->literal) : nullptr;
  }
  /// Whether a parameter was left out or given as None.
  bool absent(size_t parameter) const { return !given(parameter) || literal<None>(parameter); }

 private:
  std::vector<std::optional<Argument>> arguments_;
  std::string spelling_;
};

/// What a type rule says: the results and attributes of the node, or the diagnostic that refuses the call.
struct Verdict {
  const base::Diagnostic* refusal = nullptr;
  std::string detail;  // fills the hole of the refusal's text
  std::vector<ir::Type> results;
  ir::Attributes attributes;
};

Verdict accept(ir::Type result, ir::Attributes attributes = {});
Verdict reject(const base::Diagnostic&, std::string detail = {});

}  // namespace natif::ops
