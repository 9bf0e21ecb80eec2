// src/ir/type.cpp: names, sizes and relations of types.
#include "ir/type.h"

#include "base/error.h"

namespace natif::ir {

namespace {

struct DTypeFacts {
  std::string_view name, short_name;
  int abi_number, size;
};

constexpr DTypeFacts facts[] = {
    {"float32", "f32", 1, 4}, {"float64", "f64", 2, 8}, {"int32", "i32", 3, 4}, {"int64", "i64", 9, 8}, {"bool", "b8", 10, 1}};

const DTypeFacts& facts_of(DType dtype) { return facts[static_cast<int>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return facts_of(dtype).name; }
int abi_number(DType dtype) { return facts_of(dtype).abi_number; }
int size_of(DType dtype) { return facts_of(dtype).size; }

bool fits(const Type& from, const Type& to, bool checked_later) {
  if (!joinable(from, to)) return false;
  for (size_t i = 0; i < to.dims.size(); ++i)
    if (to.dims[i] != free_size && from.dims[i] != to.dims[i] && !(checked_later && from.dims[i] == free_size)) return false;
  return true;
}

bool joinable(const Type& a, const Type& b) {
  return a.kind == b.kind && (a.is_number() || (a.dtype == b.dtype && a.dims.size() == b.dims.size()));
}

Type join(const Type& a, const Type& b) {
  base::require(joinable(a, b), "join of unlike types");
  Type common = a;
  for (size_t i = 0; i < common.dims.size(); ++i)
    if (common.dims[i] != b.dims[i]) common.dims[i] = free_size;
  return common;
}

std::string to_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Int:
      return "int";
    case Type::Kind::Float:
      return "float";
    case Type::Kind::Bool:
      return "bool";
    case Type::Kind::Tensor:
      break;
  }
  std::string text(facts_of(type.dtype).short_name);
  text += '[';
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i) text += ',';
    const int64_t size = type.dims[i];
    text += size == free_size ? "?" : size < free_size ? "?" + std::to_string(free_size - size) : std::to_string(size);
  }
  return text + ']';
}

std::string describe(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Int:
      return "an int";
    case Type::Kind::Float:
      return "a float";
    case Type::Kind::Bool:
      return "a bool";
    case Type::Kind::Tensor:
      break;
  }
  return "a rank-" + std::to_string(type.rank()) + " " + std::string(name(type.dtype)) + " tensor";
}

}  // namespace natif::ir
