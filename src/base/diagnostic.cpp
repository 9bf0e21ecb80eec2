// src/base/diagnostic.cpp: fills the one hole a diagnostic's text may have.
#include "base/diagnostic.h"

namespace natif::base {

std::string format(std::string_view text, std::string_view detail) {
  const size_t hole = text.find("{}");
  if (hole == std::string_view::npos) return std::string(text);
  return std::string(text.substr(0, hole)).append(detail).append(text.substr(hole + 2));
}

}  // namespace natif::base
