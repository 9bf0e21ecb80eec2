// src/codegen/writer.cpp: see writer.h.
#include "codegen/writer.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/error.h"

namespace natif::codegen {

Code checked(std::string text) {
  Code code;
  code.text_ = std::move(text);
  return code;
}

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

template <class T>
Code real(T value, const char* suffix) {
  if (std::isnan(value)) return checked(std::string(std::signbit(value) ? "-" : "") + "__builtin_nan" + suffix + "(\"\")");
  if (std::isinf(value)) return checked(std::string(std::signbit(value) ? "-" : "") + "__builtin_inf" + suffix + "()");
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(value));
  std::string literal = text;
  if (literal.find_first_of(".e") == std::string::npos) literal += ".0";
  return checked(literal + suffix);
}

}  // namespace

Code fill(std::string_view pattern, std::initializer_list<Code> arguments) {
  std::string text;
  auto next = arguments.begin();
  for (char c : pattern) {
    base::require(c != '\n', "a line break in a line of code");
    if (c != '$') {
      text += c;
    } else {
      base::require(next != arguments.end(), "a pattern with too few arguments");
      text += (next++)->text();
    }
  }
  base::require(next == arguments.end(), "a pattern with too many arguments");
  return checked(std::move(text));
}

Code identifier(std::string_view prefix, uint64_t number, std::string_view users_name) {
  std::string text = std::string(trusted_name(prefix).text()) + std::to_string(number);
  if (!users_name.empty()) text += '_';
  constexpr size_t longest = 40;
  for (char c : users_name.substr(0, longest)) text += is_word(c) ? c : '_';
  // Two underscores in a row are reserved for the implementation.
  std::string single;
  for (char c : text)
    if (c != '_' || single.empty() || single.back() != '_') single += c;
  return checked(std::move(single));
}

Code trusted_name(std::string_view name) {
  for (char c : name)
    base::require(is_word(c) || std::string_view("_./-:").find(c) != std::string_view::npos,
                  "a name of the project with a character that none has");
  return checked(std::string(name));
}

Code quoted(std::string_view text) {
  std::string literal = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\' || c == '?') {
      literal += '\\';
      literal += static_cast<char>(c);
    } else if (c >= 0x20 && c < 0x7f) {
      literal += static_cast<char>(c);
    } else {
      char octal[5];
      std::snprintf(octal, sizeof octal, "\\%03o", c);
      literal += octal;
    }
  }
  return checked(literal + '"');
}

Code in_comment(std::string_view text) {
  std::string safe;
  for (unsigned char c : text) safe += c >= 0x20 && c < 0x7f && c != '\\' ? static_cast<char>(c) : '_';
  return checked(std::move(safe));
}

Code number(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "INT64_MIN";
  return checked("INT64_C(" + std::to_string(value) + ")");
}
Code number(double value) { return real(value, ""); }
Code number(float value) { return real(value, "f"); }
Code boolean(bool value) { return value ? Code("true") : Code("false"); }

Code list(const std::vector<Code>& items, std::string_view separator) {
  std::string text;
  for (const Code& item : items) {
    if (!text.empty()) text += separator;
    text += item.text();
  }
  return checked(std::move(text));
}

void Writer::put(const Code& code) {
  const std::string_view line = code.text();
  base::require(line.find('\n') == std::string_view::npos, "a line break in a line of code");
  text_.append(static_cast<size_t>(depth_) * 2, ' ').append(line).append("\n");
  if (!line.empty() && line.back() == '{') ++depth_;
}

void Writer::close(std::string_view rest) {
  base::require(depth_ > 0, "a brace closed that was not open");
  --depth_;
  put(checked("}" + std::string(rest)));
}

void Writer::blank() { text_ += '\n'; }

std::string Writer::finish() {
  base::require(depth_ == 0, "an open brace at the end of the code");
  return std::move(text_);
}

}  // namespace natif::codegen
