// src/ops/families.cpp: type rules that ops share.
#include "ops/families.h"

#include <algorithm>

namespace natif::ops {

namespace {

/// The axes that a reduction names, as the source wrote them; nullopt where it is no literal of that kind.
std::optional<std::vector<int64_t>> written_axes(const Call& call, int rank) {
  std::vector<int64_t> axes;
  if (call.absent(1)) {
    for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  } else if (const auto* one = call.literal<int64_t>(1)) {
    axes.push_back(*one);
  } else if (const auto* several = call.literal<std::vector<int64_t>>(1)) {
    axes = *several;
  } else {
    return std::nullopt;
  }
  return axes;
}

ir::Type reduced(const ir::Type& x, const std::vector<int64_t>& axes, bool keep_dims) {
  ir::Type result = x;
  for (size_t i = axes.size(); i-- > 0;) {
    const auto place = result.dims.begin() + axes[i];
    if (keep_dims) {
      *place = 1;
    } else {
      result.dims.erase(place);
    }
  }
  return result;
}

}  // namespace

const ir::Type* float32_tensor(const Call& call, size_t parameter) {
  const ir::Type* type = call.tensor(parameter);
  return type && type->dtype == ir::DType::Float32 ? type : nullptr;
}

std::string what(const Call& call, size_t parameter) {
  const ir::Type* type = call.value(parameter);
  return type ? ir::describe(*type) : "something that is no tensor";
}

std::optional<bool> flag(const Call& call, size_t parameter) {
  if (call.absent(parameter)) return false;
  if (const bool* value = call.literal<bool>(parameter)) return *value;
  if (const int64_t* value = call.literal<int64_t>(parameter)) return *value != 0;
  return std::nullopt;
}

std::optional<int64_t> normal_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

Verdict unary_float32(const Call& call, const base::Diagnostic& refusal) {
  if (const ir::Type* x = float32_tensor(call, 0)) return accept(*x);
  const ir::Type* number = call.value(0);
  if (number && number->kind == ir::Type::Kind::Float) return accept(ir::Type::tensor(ir::DType::Float32, {}));
  return reject(refusal, what(call, 0));
}

Verdict binary_float32(const Call& call, const base::Diagnostic& refusal) {
  const ir::Type *x = float32_tensor(call, 0), *y = float32_tensor(call, 1);
  const ir::Type *left = call.value(0), *right = call.value(1);
  if (x && y) return accept(broadcast(*x, *y));
  if (x && right && right->is_number()) return accept(*x);
  if (y && left && left->is_number()) return accept(*y);
  return reject(refusal, what(call, 0) + " and " + what(call, 1));
}

bool is_number_converted_alone(const Call& call) {
  const ir::Type* left = call.value(0);
  return !call.spelling().empty() && left && left->is_number() && left->kind != ir::Type::Kind::Float;
}

Verdict reduce_float32(const Call& call) {
  const ir::Type* x = float32_tensor(call, 0);
  if (!x) return reject(reduction_operand, what(call, 0));
  const auto written = written_axes(call, x->rank());
  if (!written) return reject(reduction_axis);
  const auto keep_dims = flag(call, 2);
  if (!keep_dims) return reject(reduction_keepdims);
  std::vector<int64_t> axes;
  for (int64_t axis : *written) {
    const auto normal = normal_axis(axis, x->rank());
    if (!normal) return reject(reduction_range, std::to_string(axis) + " of " + ir::describe(*x));
    if (std::ranges::find(axes, *normal) != axes.end()) return reject(reduction_range, std::to_string(axis) + ", which is named twice");
    axes.push_back(*normal);
  }
  std::ranges::sort(axes);
  ir::Type result = reduced(*x, axes, *keep_dims);
  return accept(std::move(result), {{"axis", std::move(axes)}, {"keep_dims", *keep_dims}});
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

ir::Type transposed(const ir::Type& x, const std::vector<int64_t>& permutation) {
  ir::Type result = x;
  for (size_t i = 0; i < permutation.size(); ++i) result.dims[i] = x.dims[static_cast<size_t>(permutation[i])];
  return result;
}

ir::Type matrix_product(const ir::Type& a, const ir::Type& b, bool transpose_a, bool transpose_b) {
  const auto outer = [](const ir::Type& type) {
    return ir::Type::tensor(type.dtype, std::vector<int64_t>(type.dims.begin(), type.dims.end() - 2));
  };
  ir::Type result = broadcast(outer(a), outer(b));
  result.dims.push_back(a.dims.end()[transpose_a ? -1 : -2]);
  result.dims.push_back(b.dims.end()[transpose_b ? -2 : -1]);
  return result;
}

}  // namespace natif::ops
