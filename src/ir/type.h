// src/ir/type.h: the types of graph values: Python numbers, and tensors with a static dtype and rank and sizes that may be free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace natif::ir {

enum class DType : uint8_t { Float32, Float64, Int32, Int64, Bool };

constexpr DType all_dtypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64, DType::Bool};

/// TensorFlow's name: "float32".
std::string_view name(DType);
/// TensorFlow's number (tensorflow/c/tf_datatype.h), as the ABI uses it.
int abi_number(DType);
/// Bytes of an element.
int size_of(DType);

constexpr int64_t free_size = -1;
constexpr int max_rank = 6;

/// A value's type. Numbers are Python's: Int is 64-bit, Float a double.
struct Type {
  enum class Kind : uint8_t { Int, Float, Bool, Tensor };

  Kind kind = Kind::Tensor;
  DType dtype = DType::Float32;  // of a tensor
  std::vector<int64_t> dims;     // of a tensor: one size an axis, free_size where it is only known at run time

  static Type integer() { return {Kind::Int, DType::Int64, {}}; }
  static Type real() { return {Kind::Float, DType::Float64, {}}; }
  static Type boolean() { return {Kind::Bool, DType::Bool, {}}; }
  static Type tensor(DType dtype, std::vector<int64_t> dims) { return {Kind::Tensor, dtype, std::move(dims)}; }
  static Type tensor_of_rank(DType dtype, int rank) { return tensor(dtype, std::vector<int64_t>(static_cast<size_t>(rank), free_size)); }

  bool is_tensor() const { return kind == Kind::Tensor; }
  bool is_number() const { return kind != Kind::Tensor; }
  int rank() const { return static_cast<int>(dims.size()); }
  bool operator==(const Type&) const = default;
};

/// Whether a value of `from` may stand where `to` is declared: same kind, dtype and rank, and no fixed size of `to` contradicted. A size
/// that is free in `from` and fixed in `to` is allowed only where `checked_later` (a boundary that checks it).
bool fits(const Type& from, const Type& to, bool checked_later = false);

/// The type that both have in common: sizes that differ become free. Call only on types of the same kind, dtype and rank.
Type join(const Type&, const Type&);
bool joinable(const Type&, const Type&);

/// The text form: "int", "float", "bool", "f32[?,64]", "i64[?]", "f32[]"; of a parameter's sizes below free_size "f32[?1,64]".
std::string to_text(const Type&);
/// For a person: "a rank-2 float32 tensor", "an int".
std::string describe(const Type&);

}  // namespace natif::ir
