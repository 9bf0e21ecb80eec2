// src/ops/families.cpp: type rules that ops share.
#include "ops/families.h"

#include <algorithm>

namespace natif::ops {

namespace {

bool is_float32(const ir::Type* type) { return type && type->is_tensor() && type->dtype == ir::DType::Float32; }

std::string what(const Call& call, size_t parameter) {
  const ir::Type* type = call.value(parameter);
  return type ? ir::describe(*type) : "something that is no tensor";
}

}  // namespace

Verdict unary_float32(const Call& call, const base::Diagnostic& refusal) {
  return is_float32(call.tensor(0)) ? accept(*call.tensor(0)) : reject(refusal, what(call, 0));
}

Verdict binary_float32(const Call& call, const base::Diagnostic& refusal) {
  const ir::Type *x = call.value(0), *y = call.value(1);
  if (is_float32(x) && is_float32(y)) return accept(broadcast(*x, *y));
  if (is_float32(x) && y && y->is_number()) return accept(*x);
  if (is_float32(y) && x && x->is_number()) return accept(*y);
  return reject(refusal, what(call, 0) + " and " + what(call, 1));
}

ir::Type broadcast(const ir::Type& a, const ir::Type& b) {
  const ir::Type& longer = a.rank() >= b.rank() ? a : b;
  const ir::Type& shorter = a.rank() >= b.rank() ? b : a;
  ir::Type result = longer;
  const int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t& size = result.dims[static_cast<size_t>(offset + i)];
    const int64_t other = shorter.dims[static_cast<size_t>(i)];
    if (size == other || other == 1) continue;
    if (size == 1) {
      size = other;
    } else if (size == ir::free_size || other == ir::free_size) {
      size = std::max(size, other);  // a known size other than 1 decides
    } else {
      size = ir::free_size;
    }
  }
  return result;
}

}  // namespace natif::ops
