// src/ops/call.cpp: reading a call's arguments, and making verdicts.
#include "ops/call.h"

namespace natif::ops {

const ir::Type* Call::value(size_t parameter) const {
  return given(parameter) && arguments_[parameter]->type ? &*arguments_[parameter]->type : nullptr;
}

const ir::Type* Call::tensor(size_t parameter) const {
  const ir::Type* type = value(parameter);
  return type && type->is_tensor() ? type : nullptr;
}

Verdict accept(ir::Type result, ir::Attributes attributes) { return {nullptr, {}, {std::move(result)}, std::move(attributes)}; }
Verdict reject(const base::Diagnostic& diagnostic, std::string detail) { return {&diagnostic, std::move(detail), {}, {}}; }

}  // namespace natif::ops
