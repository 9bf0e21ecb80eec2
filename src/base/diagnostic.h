// src/base/diagnostic.h: the static description of a diagnostic and one occurrence of it. Texts are written once, beside the rule that
// needs them; docs/diagnostics.md and the tests derive from these records.
#pragma once

#include <string>
#include <string_view>

#include "base/span.h"

namespace natif::base {

/// What claiming says of a site: native, not ours (the function stays Python), or ours in a form that is not supported (stays Python too).
enum class Outcome { Claimed, NotCovered, Rejected };

constexpr std::string_view name(Outcome outcome) {
  constexpr std::string_view names[] = {"Claimed", "NotCovered", "Rejected"};
  return names[static_cast<int>(outcome)];
}

/// A kind of diagnostic. `text` and `suggestion` are whole sentences without a full stop; a `{}` in `text` takes the detail of the
/// occurrence.
struct Diagnostic {
  std::string_view code;  // stable: "NTF-RELU-1"
  Outcome outcome = Outcome::Rejected;
  std::string_view text;        // "takes one tensor, got {}"
  std::string_view suggestion;  // "pass a float32 tensor"
  std::string_view example;     // a call or a body that triggers it (see docs/adding-an-op.md for the names it may use)
};

/// One verdict of claiming, about one call, operator, statement or function.
struct Site {
  Span span;
  std::string target;  // "tf.nn.relu", "+", "print"
  Outcome outcome = Outcome::Claimed;
  std::string rule;                       // "natif/Relu"
  std::string code, message, suggestion;  // empty where Claimed
  std::string lane;                       // "fused", "tfe", "python"; set by planning
  bool exact = true;
};

/// `text` with its `{}` replaced by `detail`.
std::string format(std::string_view text, std::string_view detail);

}  // namespace natif::base
