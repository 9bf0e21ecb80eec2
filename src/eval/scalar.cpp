// src/eval/scalar.cpp: the table from operations and types of operands to the functions of kernels/scalar.h.
#include "eval/scalar.h"

#include "base/error.h"
#include "kernels/scalar.h"

namespace natif::eval {

namespace {

namespace scalar = kernels::scalar;
using Fault = scalar::Fault;
using Kind = ir::Type::Kind;
using ir::ScalarOp;

Fault store(int64_t value, natif_scalar& result) {
  result.i = value;
  return Fault::None;
}

Fault store(double value, natif_scalar& result) {
  result.f = value;
  return Fault::None;
}

/// Whether `op` is a comparison; then `result` is its outcome for operands of any two types that compare.
template <class A, class B>
bool compare(ScalarOp op, A a, B b, natif_scalar& result) {
  switch (op) {
    case ScalarOp::Equal:
      result.i = scalar::equal(a, b);
      return true;
    case ScalarOp::NotEqual:
      result.i = scalar::not_equal(a, b);
      return true;
    case ScalarOp::Less:
      result.i = scalar::less(a, b);
      return true;
    case ScalarOp::LessEqual:
      result.i = scalar::less_equal(a, b);
      return true;
    case ScalarOp::Greater:
      result.i = scalar::greater(a, b);
      return true;
    case ScalarOp::GreaterEqual:
      result.i = scalar::greater_equal(a, b);
      return true;
    default:
      return false;
  }
}

[[noreturn]] void refuse() { throw base::InternalError("arithmetic on numbers of types that the verifier refuses"); }

Fault on_ints(ScalarOp op, int64_t a, int64_t b, natif_scalar& result) {
  if (compare(op, a, b, result)) return Fault::None;
  switch (op) {
    case ScalarOp::Add:
      return scalar::add(a, b, result.i);
    case ScalarOp::Subtract:
      return scalar::subtract(a, b, result.i);
    case ScalarOp::Multiply:
      return scalar::multiply(a, b, result.i);
    case ScalarOp::Divide:
      return scalar::divide(a, b, result.f);
    case ScalarOp::FloorDivide:
      return scalar::floor_divide(a, b, result.i);
    case ScalarOp::Modulo:
      return scalar::modulo(a, b, result.i);
    case ScalarOp::Power:
      return scalar::power(a, b, result.i);
    case ScalarOp::Negate:
      return scalar::negate(a, result.i);
    case ScalarOp::Absolute:
      return scalar::absolute(a, result.i);
    case ScalarOp::Minimum:
      return store(scalar::minimum(a, b), result);
    case ScalarOp::Maximum:
      return store(scalar::maximum(a, b), result);
    case ScalarOp::BitAnd:
      return store(scalar::bit_and(a, b), result);
    case ScalarOp::BitOr:
      return store(scalar::bit_or(a, b), result);
    case ScalarOp::BitXor:
      return store(scalar::bit_xor(a, b), result);
    case ScalarOp::BitNot:
      return store(scalar::bit_not(a), result);
    case ScalarOp::ShiftLeft:
      return scalar::shift_left(a, b, result.i);
    case ScalarOp::ShiftRight:
      return scalar::shift_right(a, b, result.i);
    case ScalarOp::ToFloat:
      return store(scalar::to_float(a), result);
    case ScalarOp::ToBool:
      return store(int64_t{scalar::to_bool(a)}, result);
    default:
      refuse();
  }
}

Fault on_floats(ScalarOp op, double a, double b, natif_scalar& result) {
  if (compare(op, a, b, result)) return Fault::None;
  switch (op) {
    case ScalarOp::Add:
      return store(scalar::add(a, b), result);
    case ScalarOp::Subtract:
      return store(scalar::subtract(a, b), result);
    case ScalarOp::Multiply:
      return store(scalar::multiply(a, b), result);
    case ScalarOp::Divide:
      return scalar::divide(a, b, result.f);
    case ScalarOp::FloorDivide:
      return scalar::floor_divide(a, b, result.f);
    case ScalarOp::Modulo:
      return scalar::modulo(a, b, result.f);
    case ScalarOp::Power:
      return scalar::power(a, b, result.f);
    case ScalarOp::Negate:
      return store(scalar::negate(a), result);
    case ScalarOp::Absolute:
      return store(scalar::absolute(a), result);
    case ScalarOp::Minimum:
      return store(scalar::minimum(a, b), result);
    case ScalarOp::Maximum:
      return store(scalar::maximum(a, b), result);
    case ScalarOp::ToInt:
      return scalar::to_int(a, result.i);
    case ScalarOp::ToBool:
      return store(int64_t{scalar::to_bool(a)}, result);
    default:
      refuse();
  }
}

Fault on_bools(ScalarOp op, bool a, bool b, natif_scalar& result) {
  switch (op) {
    case ScalarOp::Equal:
      return store(int64_t{scalar::equal(a, b)}, result);
    case ScalarOp::NotEqual:
      return store(int64_t{scalar::not_equal(a, b)}, result);
    case ScalarOp::BitAnd:
      return store(int64_t{scalar::bit_and(a, b)}, result);
    case ScalarOp::BitOr:
      return store(int64_t{scalar::bit_or(a, b)}, result);
    case ScalarOp::BitXor:
      return store(int64_t{scalar::bit_xor(a, b)}, result);
    case ScalarOp::Not:
      return store(int64_t{scalar::logical_not(a)}, result);
    case ScalarOp::ToInt:
      return store(scalar::to_int(a), result);
    case ScalarOp::ToFloat:
      return store(scalar::to_float(a), result);
    default:
      refuse();
  }
}

Fault on_any(ScalarOp op, std::span<const Kind> kinds, std::span<const natif_scalar> operands, natif_scalar& result) {
  const natif_scalar &a = operands.front(), &b = operands.back();
  const Kind left = kinds.front(), right = kinds.back();
  if (left == Kind::Int && right == Kind::Int) return on_ints(op, a.i, b.i, result);
  if (left == Kind::Float && right == Kind::Float) return on_floats(op, a.f, b.f, result);
  if (left == Kind::Bool && right == Kind::Bool) return on_bools(op, a.i != 0, b.i != 0, result);
  if (left == Kind::Int && right == Kind::Float && compare(op, a.i, b.f, result)) return Fault::None;
  if (left == Kind::Float && right == Kind::Int && compare(op, a.f, b.i, result)) return Fault::None;
  refuse();
}

}  // namespace

std::optional<ScalarError> apply(ScalarOp op, std::span<const Kind> kinds, std::span<const natif_scalar> operands, natif_scalar& result) {
  const Fault fault = on_any(op, kinds, operands, result);
  if (fault == Fault::None) return std::nullopt;
  const scalar::FaultFacts facts = scalar::facts_of(fault);
  return ScalarError{facts.error, facts.text};
}

}  // namespace natif::eval
