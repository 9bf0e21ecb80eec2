// src/codegen/writer.h: the writer of C++ text. Everything that codegen prints passes through here, line by line.
//
// Legend of a pattern: `$` stands for the next argument. Arguments are ints or Code; Code can be made only by the functions below, each of
// which yields a complete C++ token or a fragment built from such, so that nothing of a user's source can end up as code. `$$` is not a
// pattern: emitted C++ has no dollar signs.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace natif::codegen {

/// A fragment of C++ that is safe to print.
class Code {
 public:
  Code() = default;
  /// Fragments that codegen itself spells out as string literals.
  template <size_t N>
  Code(const char (&literal)[N]) : text_(literal) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  Code(T value) : text_(std::to_string(value)) {}  // NOLINT(google-explicit-constructor)

  std::string_view text() const { return text_; }

 private:
  friend Code checked(std::string);
  std::string text_;
};

/// A pattern filled with its arguments; InternalError when their number differs or a line break is in it.
Code fill(std::string_view pattern, std::initializer_list<Code> arguments);
template <class... Arguments>
Code code(std::string_view pattern, const Arguments&... arguments) {
  return fill(pattern, {Code(arguments)...});
}

/// `prefix` + number, followed by the user's name with everything but ASCII letters and digits replaced: "v12_hidden".
Code identifier(std::string_view prefix, uint64_t number, std::string_view users_name = {});
/// A name that the project itself defines (an op's function, a header): letters, digits, `_`, `.`, `/`, `-` and `:` only, else
/// InternalError.
Code trusted_name(std::string_view name);
/// A string literal.
Code quoted(std::string_view text);
/// Text for a comment: printable ASCII without backslashes.
Code in_comment(std::string_view text);
Code number(int64_t);
/// A double or float literal with exactly these bits, NaN and infinities included.
Code number(double);
Code number(float);
Code boolean(bool);
/// "a, b, c"
Code list(const std::vector<Code>&, std::string_view separator = ", ");

class Writer {
 public:
  /// One line; a line that ends with `{` indents what follows until `close`.
  template <class... Arguments>
  void line(std::string_view pattern, const Arguments&... arguments) {
    put(fill(pattern, {Code(arguments)...}));
  }
  /// Ends the innermost open brace: "}" or, with `rest`, "} else {" and the like.
  void close(std::string_view rest = {});
  void blank();
  /// Everything written; InternalError when a brace is still open.
  std::string finish();

 private:
  void put(const Code&);
  std::string text_;
  int depth_ = 0;
};

}  // namespace natif::codegen
