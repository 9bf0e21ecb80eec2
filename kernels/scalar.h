// Arithmetic of Python's numbers: `int` within 64 bits, `float` and `bool`, with CPython's results and errors. Emitted code includes this
// header and the graph evaluator is built on it, so both give the same values.
//
// A function is named after its operation (ir::ScalarOp) and overloaded by the operands' types: int64_t, double and bool. Where Python can
// raise, the function returns a Fault and writes its result through the last argument, which means nothing after a fault. An int that
// leaves 64 bits is Fault::IntRange. Fault::LeaveToPython is a case whose result has another type than the operation declares: a negative
// float to a fractional power is complex, an int to a negative power is a float.
//
// Floor division, modulo and power of floats follow CPython's Objects/floatobject.c, the quotient of two ints follows long_true_divide of
// Objects/longobject.c: correctly rounded. Call these with the default floating-point state (denormals kept, rounding to nearest).
#pragma once

#include <stdint.h>

namespace natif::kernels::scalar {
namespace {

enum class Fault : int32_t {
  None,
  IntRange,
  IntFloorDivision,
  IntModulo,
  IntDivision,
  FloatDivision,
  FloatFloorDivision,
  FloatModulo,
  ZeroToNegativePower,
  FloatPowerRange,
  NegativeShift,
  NanToInt,
  InfinityToInt,
  LeaveToPython,
};

/// What the host raises for a fault: a natif_error of runtime/abi.h and the text of CPython 3.11. `error` is 0 for LeaveToPython, which is
/// no error: the call is declined.
struct FaultFacts {
  int32_t error;
  const char* text;
};

[[gnu::unused]] inline FaultFacts facts_of(Fault fault) {
  constexpr int32_t zero_division = 1, overflow = 2, value = 3;
  constexpr FaultFacts facts[] = {
      {0, ""},
      {overflow, "natif: an int left the range of 64 bits"},
      {zero_division, "integer division or modulo by zero"},
      {zero_division, "integer modulo by zero"},
      {zero_division, "division by zero"},
      {zero_division, "float division by zero"},
      {zero_division, "float floor division by zero"},
      {zero_division, "float modulo"},
      {zero_division, "0.0 cannot be raised to a negative power"},
      {overflow, "(34, 'Numerical result out of range')"},
      {value, "negative shift count"},
      {value, "cannot convert float NaN to integer"},
      {overflow, "cannot convert float infinity to integer"},
      {0, ""},
  };
  return facts[static_cast<int32_t>(fault)];
}

// int

inline Fault add(int64_t a, int64_t b, int64_t& result) { return __builtin_add_overflow(a, b, &result) ? Fault::IntRange : Fault::None; }
inline Fault subtract(int64_t a, int64_t b, int64_t& result) {
  return __builtin_sub_overflow(a, b, &result) ? Fault::IntRange : Fault::None;
}
inline Fault multiply(int64_t a, int64_t b, int64_t& result) {
  return __builtin_mul_overflow(a, b, &result) ? Fault::IntRange : Fault::None;
}
inline Fault negate(int64_t a, int64_t& result) { return subtract(0, a, result); }

inline Fault absolute(int64_t a, int64_t& result) {
  if (a < 0) return negate(a, result);
  result = a;
  return Fault::None;
}

inline Fault floor_divide(int64_t a, int64_t b, int64_t& result) {
  if (b == 0) return Fault::IntFloorDivision;
  if (b == -1) return negate(a, result);
  result = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return Fault::None;
}

inline Fault modulo(int64_t a, int64_t b, int64_t& result) {
  if (b == 0) return Fault::IntModulo;
  const int64_t remainder = b == -1 ? 0 : a % b;  // the processor traps on the smallest int % -1
  result = remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  return Fault::None;
}

/// Correctly rounded, also where an operand has more than 53 bits: the quotient is computed to at least 55 bits, the lowest of which is set
/// where anything was cut off, so that the conversion rounds once.
inline Fault divide(int64_t a, int64_t b, double& result) {
  if (b == 0) return Fault::IntDivision;
  if (a == 0) {
    result = b < 0 ? -0.0 : 0.0;
    return Fault::None;
  }
  const uint64_t n = a < 0 ? -static_cast<uint64_t>(a) : static_cast<uint64_t>(a),
                 d = b < 0 ? -static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  constexpr uint64_t exact = uint64_t{1} << 53;
  if (n <= exact && d <= exact) {
    result = static_cast<double>(a) / static_cast<double>(b);
    return Fault::None;
  }
  __extension__ typedef unsigned __int128 Wide;
  const int missing = 56 + __builtin_clzll(n) - __builtin_clzll(d);
  const int shift = missing > 0 ? missing : 0;
  const Wide scaled = static_cast<Wide>(n) << shift;
  const uint64_t quotient = static_cast<uint64_t>(scaled / d) | (scaled % d != 0);
  const double magnitude = __builtin_ldexp(static_cast<double>(quotient), -shift);
  result = (a < 0) != (b < 0) ? -magnitude : magnitude;
  return Fault::None;
}

inline Fault power(int64_t a, int64_t b, int64_t& result) {
  if (b < 0) return a == 0 ? Fault::ZeroToNegativePower : Fault::LeaveToPython;
  int64_t product = 1, square = a;
  for (bool square_in_range = true;;) {
    if (b & 1 && (!square_in_range || __builtin_mul_overflow(product, square, &product))) return Fault::IntRange;
    b >>= 1;
    if (b == 0) break;
    square_in_range = square_in_range && !__builtin_mul_overflow(square, square, &square);
  }
  result = product;
  return Fault::None;
}

inline int64_t minimum(int64_t a, int64_t b) { return b < a ? b : a; }
inline int64_t maximum(int64_t a, int64_t b) { return b > a ? b : a; }
inline int64_t bit_and(int64_t a, int64_t b) { return a & b; }
inline int64_t bit_or(int64_t a, int64_t b) { return a | b; }
inline int64_t bit_xor(int64_t a, int64_t b) { return a ^ b; }
inline int64_t bit_not(int64_t a) { return ~a; }

inline Fault shift_left(int64_t a, int64_t b, int64_t& result) {
  if (b < 0) return Fault::NegativeShift;
  if (a != 0 && b > 63) return Fault::IntRange;
  const int64_t shifted = a == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  if (a != 0 && shifted >> b != a) return Fault::IntRange;
  result = shifted;
  return Fault::None;
}

inline Fault shift_right(int64_t a, int64_t b, int64_t& result) {
  if (b < 0) return Fault::NegativeShift;
  result = a >> (b > 63 ? 63 : b);
  return Fault::None;
}

inline bool equal(int64_t a, int64_t b) { return a == b; }
inline bool not_equal(int64_t a, int64_t b) { return a != b; }
inline bool less(int64_t a, int64_t b) { return a < b; }
inline bool less_equal(int64_t a, int64_t b) { return a <= b; }
inline bool greater(int64_t a, int64_t b) { return a > b; }
inline bool greater_equal(int64_t a, int64_t b) { return a >= b; }
inline double to_float(int64_t a) { return static_cast<double>(a); }
inline bool to_bool(int64_t a) { return a != 0; }

// float

inline double add(double a, double b) { return a + b; }
inline double subtract(double a, double b) { return a - b; }
inline double multiply(double a, double b) { return a * b; }
inline double negate(double a) { return -a; }
inline double absolute(double a) { return __builtin_fabs(a); }

inline Fault divide(double a, double b, double& result) {
  if (b == 0) return Fault::FloatDivision;
  result = a / b;
  return Fault::None;
}

/// The remainder with the sign of the divisor `b`, which is not 0; a zero remainder has that sign too.
inline double signed_remainder(double a, double b) {
  const double remainder = __builtin_fmod(a, b);
  if (remainder == 0) return __builtin_copysign(0.0, b);
  return (b < 0) != (remainder < 0) ? remainder + b : remainder;
}

inline Fault modulo(double a, double b, double& result) {
  if (b == 0) return Fault::FloatModulo;
  result = signed_remainder(a, b);
  return Fault::None;
}

/// The quotient of what the remainder leaves of `a`, then the nearest whole number: a - remainder is itself rounded.
inline Fault floor_divide(double a, double b, double& result) {
  if (b == 0) return Fault::FloatFloorDivision;
  const double remainder = __builtin_fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
  if (quotient == 0) {
    result = __builtin_copysign(0.0, a / b);
  } else {
    const double whole = __builtin_floor(quotient);
    result = quotient - whole > 0.5 ? whole + 1 : whole;
  }
  return Fault::None;
}

inline bool is_odd(double x) { return __builtin_fabs(__builtin_fmod(x, 2.0)) == 1.0; }

/// Python's rules where an operand is NaN, infinite, 0 or negative; the C library's pow for the rest, as in CPython.
inline Fault power(double a, double b, double& result) {
  const double inf = __builtin_inf();
  double value = 0;
  if (b == 0 || a == 1) {
    value = 1;
  } else if (a != a || b != b) {
    value = a != a ? a : b;
  } else if (b == inf || b == -inf) {
    const double size = __builtin_fabs(a);
    value = size == 1 ? 1 : (b > 0) == (size > 1) ? inf : 0;
  } else if (a == inf || a == -inf) {
    const double size = b > 0 ? inf : 0;
    value = is_odd(b) ? __builtin_copysign(size, a) : size;
  } else if (a == 0) {
    if (b < 0) return Fault::ZeroToNegativePower;
    value = is_odd(b) ? a : 0;
  } else {
    if (a < 0 && b != __builtin_floor(b)) return Fault::LeaveToPython;
    double size = __builtin_fabs(a);
    // Keeps the compiler from working the power out itself: it rounds some results otherwise than the C library.
    asm("" : "+m"(size));
    value = __builtin_pow(size, b);
    if (value == inf) return Fault::FloatPowerRange;
    if (a < 0 && is_odd(b)) value = -value;
  }
  result = value;
  return Fault::None;
}

inline double minimum(double a, double b) { return b < a ? b : a; }
inline double maximum(double a, double b) { return b > a ? b : a; }
inline bool equal(double a, double b) { return a == b; }
inline bool not_equal(double a, double b) { return a != b; }
inline bool less(double a, double b) { return a < b; }
inline bool less_equal(double a, double b) { return a <= b; }
inline bool greater(double a, double b) { return a > b; }
inline bool greater_equal(double a, double b) { return a >= b; }
inline bool to_bool(double a) { return a != 0; }

/// Toward zero.
inline Fault to_int(double a, int64_t& result) {
  if (a != a) return Fault::NanToInt;
  if (a == __builtin_inf() || a == -__builtin_inf()) return Fault::InfinityToInt;
  if (a < -0x1p63 || a >= 0x1p63) return Fault::IntRange;
  result = static_cast<int64_t>(a);
  return Fault::None;
}

// int with float, compared as exact numbers: 2**53 + 1 > 2.0**53

/// The sign of a - b; 2 where b is NaN.
inline int compare(int64_t a, double b) {
  if (b != b) return 2;
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const int64_t whole = static_cast<int64_t>(b);
  if (a != whole) return a < whole ? -1 : 1;
  const double rest = b - static_cast<double>(whole);
  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

inline bool equal(int64_t a, double b) { return compare(a, b) == 0; }
inline bool not_equal(int64_t a, double b) { return compare(a, b) != 0; }
inline bool less(int64_t a, double b) { return compare(a, b) == -1; }
inline bool less_equal(int64_t a, double b) { return compare(a, b) <= 0; }
inline bool greater(int64_t a, double b) { return compare(a, b) == 1; }
inline bool greater_equal(int64_t a, double b) { return compare(a, b) == 0 || compare(a, b) == 1; }
inline bool equal(double a, int64_t b) { return equal(b, a); }
inline bool not_equal(double a, int64_t b) { return not_equal(b, a); }
inline bool less(double a, int64_t b) { return greater(b, a); }
inline bool less_equal(double a, int64_t b) { return greater_equal(b, a); }
inline bool greater(double a, int64_t b) { return less(b, a); }
inline bool greater_equal(double a, int64_t b) { return less_equal(b, a); }

// bool

inline bool logical_not(bool a) { return !a; }
inline bool bit_and(bool a, bool b) { return a && b; }
inline bool bit_or(bool a, bool b) { return a || b; }
inline bool bit_xor(bool a, bool b) { return a != b; }
inline bool equal(bool a, bool b) { return a == b; }
inline bool not_equal(bool a, bool b) { return a != b; }
inline int64_t to_int(bool a) { return a; }
inline double to_float(bool a) { return a; }

/// A number as an element of a float32 tensor, as TensorFlow converts it: ints by way of a double.
inline float to_float32(double a) { return static_cast<float>(a); }
inline float to_float32(int64_t a) { return static_cast<float>(static_cast<double>(a)); }
inline float to_float32(bool a) { return a; }

/// The iterations of range(start, stop, step); step is not 0. An iteration's value is start + index * step and stays within 64 bits.
inline uint64_t range_length(int64_t start, int64_t stop, int64_t step) {
  const uint64_t low = static_cast<uint64_t>(step > 0 ? start : stop), high = static_cast<uint64_t>(step > 0 ? stop : start);
  if (static_cast<int64_t>(low) >= static_cast<int64_t>(high)) return 0;
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return (high - low - 1) / stride + 1;
}

}  // namespace
}  // namespace natif::kernels::scalar
