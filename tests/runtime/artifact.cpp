// tests/runtime/artifact.cpp: an artifact written by hand, as the compiler would emit one, with a function for each situation that the
// tests of the runtime need. The file and line of the spans are those of tests/runtime/bodies.py, which holds the Python bodies.
#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/abi.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

// ---- the functions -----------------------------------------------------------------------------------------------------------------

natif_status identity(const natif_host* host, natif_call* call, natif_frame* frame) {
  host->retain(call, &frame->parameters[0].tensor);
  frame->results[0].tensor = frame->parameters[0].tensor;
  return NATIF_OK;
}

int64_t count_of(const natif_tensor& tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) count *= tensor.dims[i];
  return count;
}

natif_status add(const natif_host* host, natif_call* call, natif_frame* frame) {
  const natif_tensor &x = frame->parameters[0].tensor, &y = frame->parameters[1].tensor;
  if (x.dims[0] != y.dims[0] || x.dims[1] != y.dims[1]) return NATIF_DECLINED;
  natif_tensor& out = frame->results[0].tensor;
  if (natif_status status = host->allocate(call, NATIF_FLOAT32, 2, x.dims, &out)) return status;
  const int64_t count = count_of(x);
  for (int64_t i = 0; i < count; ++i) {
    static_cast<float*>(out.data)[i] = static_cast<const float*>(x.data)[i] + static_cast<const float*>(y.data)[i];
  }
  return NATIF_OK;
}

// relu(matmul(x, w) + b) through TensorFlow's operations.
natif_status dense(const natif_host* host, natif_call* call, natif_frame* frame) {
  const natif_tensor* product[] = {&frame->parameters[0].tensor, &frame->parameters[1].tensor};
  natif_tensor t0, t1;
  if (natif_status status = host->run_op(call, 0, product, &t0)) return status;
  const natif_tensor* sum[] = {&t0, &frame->parameters[2].tensor};
  if (natif_status status = host->run_op(call, 1, sum, &t1)) return status;
  host->release(call, &t0);
  const natif_tensor* operand[] = {&t1};
  natif_status status = host->run_op(call, 2, operand, &frame->results[0].tensor);
  host->release(call, &t1);
  return status;
}

// (n * 2, f / 2, not b), with Python's overflow.
natif_status numbers(const natif_host* host, natif_call* call, natif_frame* frame) {
  int64_t doubled;
  if (__builtin_mul_overflow(frame->parameters[0].scalar.i, int64_t{2}, &doubled)) {
    return host->fail(call, NATIF_OVERFLOW_ERROR, 3, "natif: an integer beyond 64 bits");
  }
  frame->results[0].scalar.i = doubled;
  frame->results[1].scalar.f = frame->parameters[1].scalar.f / 2;
  frame->results[2].scalar.i = !frame->parameters[2].scalar.i;
  return NATIF_OK;
}

// n // d, failing as Python does when d is 0.
natif_status divide(const natif_host* host, natif_call* call, natif_frame* frame) {
  const int64_t n = frame->parameters[0].scalar.i, d = frame->parameters[1].scalar.i;
  if (d == 0) return host->fail(call, NATIF_ZERO_DIVISION_ERROR, 4, "integer division or modulo by zero");
  const int64_t quotient = n / d;
  frame->results[0].scalar.i = quotient - (n % d != 0 && (n < 0) != (d < 0));
  return NATIF_OK;
}

// x + OFFSET, a module-level tensor.
natif_status add_offset(const natif_host* host, natif_call* call, natif_frame* frame) { return add(host, call, frame); }

// A wrong kernel: fails where its body succeeds.
natif_status broken(const natif_host* host, natif_call* call, natif_frame*) { return host->fail(call, NATIF_VALUE_ERROR, 5, "not so"); }

// Sum over the last axis with a constant for the axis; the sum is read back and checked against a loop.
natif_status total(const natif_host* host, natif_call* call, natif_frame* frame) {
  natif_tensor axis;
  if (natif_status status = host->constant(call, 0, &axis)) return status;
  const natif_tensor* operands[] = {&frame->parameters[0].tensor, &axis};
  natif_tensor& out = frame->results[0].tensor;
  if (natif_status status = host->run_op(call, 3, operands, &out)) return status;
  if (out.data == nullptr || out.rank != 1 || out.dims[0] != frame->parameters[0].tensor.dims[0]) {
    return host->fail(call, NATIF_VALUE_ERROR, 0, "natif: the sum cannot be read");
  }
  return NATIF_OK;
}

// x * factor, with the number made a tensor at run time.
natif_status scale(const natif_host* host, natif_call* call, natif_frame* frame) {
  natif_tensor factor;
  if (natif_status status = host->from_scalar(call, NATIF_FLOAT, frame->parameters[1].scalar, NATIF_FLOAT32, &factor)) return status;
  const natif_tensor* operands[] = {&frame->parameters[0].tensor, &factor};
  natif_status status = host->run_op(call, 4, operands, &frame->results[0].tensor);
  host->release(call, &factor);
  return status;
}

// (x, x + x, the same x + x): a parameter and one fresh tensor twice.
natif_status several(const natif_host* host, natif_call* call, natif_frame* frame) {
  const natif_tensor* operands[] = {&frame->parameters[0].tensor, &frame->parameters[0].tensor};
  host->retain(call, &frame->parameters[0].tensor);
  frame->results[0].tensor = frame->parameters[0].tensor;
  if (natif_status status = host->run_op(call, 1, operands, &frame->results[1].tensor)) return status;
  host->retain(call, &frame->results[1].tensor);
  frame->results[2].tensor = frame->results[1].tensor;
  return NATIF_OK;
}

struct Squares {
  const float* x;
  float* out;
};

void square_range(void* context, int64_t begin, int64_t end, void* scratch) {
  const Squares& squares = *static_cast<Squares*>(context);
  float* row = static_cast<float*>(scratch);
  for (int64_t i = begin; i < end; ++i) {
    row[0] = squares.x[i];
    squares.out[i] = row[0] * row[0];
  }
}

// x * x over the host's threads, with flush-to-zero set and left set: putting it back is the host's guarantee.
natif_status square(const natif_host* host, natif_call* call, natif_frame* frame) {
  const natif_tensor& x = frame->parameters[0].tensor;
  natif_tensor& out = frame->results[0].tensor;
  if (natif_status status = host->allocate(call, NATIF_FLOAT32, 1, x.dims, &out)) return status;
  if (host->scratch(call, 256) == nullptr) return NATIF_FAILED;
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  Squares squares = {static_cast<const float*>(x.data), static_cast<float*>(out.data)};
  return host->parallel_for(call, x.dims[0], 1024, square_range, &squares, 64);
}

// Runs for `ms` milliseconds, asking for signals.
natif_status spin(const natif_host* host, natif_call* call, natif_frame* frame) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + frame->parameters[0].scalar.i;
  do {
    if (natif_status status = host->poll(call)) return status;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
  frame->results[0].scalar.i = frame->parameters[0].scalar.i;
  return NATIF_OK;
}

natif_status nothing(const natif_host*, natif_call*, natif_frame*) { return NATIF_OK; }

// The rules that the host has proven, as a number.
natif_status proven(const natif_host*, natif_call* call, natif_frame* frame) {
  frame->results[0].scalar.i = static_cast<int64_t>(call->rules);
  return NATIF_OK;
}

// ---- the tables ----------------------------------------------------------------------------------------------------------------------

constexpr natif_value_type tensor(const char* name, int32_t rank, int32_t dtype = NATIF_FLOAT32, const int64_t* dims = nullptr) {
  return {name, NATIF_TENSOR, dtype, rank, 0, dims};
}
constexpr natif_value_type number(const char* name, int32_t kind) { return {name, kind, 0, 0, 0, nullptr}; }

const int64_t wide[] = {-1, 32};
const natif_value_type x1[] = {tensor("x", 1)};
const natif_value_type x2[] = {tensor("x", 2)};
const natif_value_type x_y[] = {tensor("x", 2), tensor("y", 2)};
const natif_value_type x_w_b[] = {tensor("x", 2), tensor("w", 2), tensor("b", 1)};
const natif_value_type x_offset[] = {tensor("x", 2), {"OFFSET", NATIF_TENSOR, NATIF_FLOAT32, 2, 1, nullptr}};
const natif_value_type x_factor[] = {tensor("x", 2), number("factor", NATIF_FLOAT)};
const natif_value_type x_wide[] = {tensor("x", 2, NATIF_FLOAT32, wide)};
const natif_value_type n_f_b[] = {number("n", NATIF_INT), number("f", NATIF_FLOAT), number("b", NATIF_BOOLEAN)};
const natif_value_type n_d[] = {number("n", NATIF_INT), number("d", NATIF_INT)};
const natif_value_type ms[] = {number("ms", NATIF_INT)};
const natif_value_type tensors8[] = {tensor("a", 2), tensor("b", 2), tensor("c", 2), tensor("d", 2),
                                     tensor("e", 2), tensor("f", 2), tensor("g", 2), tensor("h", 2)};
const natif_value_type numbers_out[] = {number("", NATIF_INT), number("", NATIF_FLOAT), number("", NATIF_BOOLEAN)};
const natif_value_type three_out[] = {tensor("", 2), tensor("", 2), tensor("", 2)};

template <natif_entry entry>
struct Entries {
  static constexpr natif_entry table[] = {entry};
};

#define FUNCTION(name, entry, parameters, results, tuple)  \
  {name,       Entries<entry>::table,                      \
   parameters, sizeof(parameters) / sizeof(parameters[0]), \
   results,    sizeof(results) / sizeof(results[0]),       \
   tuple,      0}

const natif_function functions[] = {
    FUNCTION("identity", identity, x2, x2, 0),
    FUNCTION("add", add, x_y, x2, 0),
    FUNCTION("dense", dense, x_w_b, x2, 0),
    FUNCTION("Model.method", dense, x_w_b, x2, 0),
    FUNCTION("numbers", numbers, n_f_b, numbers_out, 1),
    FUNCTION("divide", divide, n_d, n_d, 0),
    FUNCTION("add_offset", add_offset, x_offset, x2, 0),
    FUNCTION("broken", broken, x2, x2, 0),
    FUNCTION("total", total, x2, x1, 0),
    FUNCTION("scale", scale, x_factor, x2, 0),
    FUNCTION("several", several, x2, three_out, 1),
    FUNCTION("square", square, x1, x1, 0),
    FUNCTION("spin", spin, ms, ms, 0),
    FUNCTION("fixed", identity, x_wide, x2, 0),
    {"nothing", Entries<nothing>::table, nullptr, 0, nullptr, 0, 0, 0},
    {"proven", Entries<proven>::table, nullptr, 0, ms, 1, 0, 0},
    {"read8", Entries<nothing>::table, tensors8, 8, nullptr, 0, 0, 0},
    {"read1", Entries<nothing>::table, tensors8, 1, nullptr, 0, 0, 0},
};

const natif_attribute no_transpose[] = {{"transpose_a", NATIF_ATTRIBUTE_BOOL, 0, 0, nullptr, nullptr},
                                        {"transpose_b", NATIF_ATTRIBUTE_BOOL, 0, 0, nullptr, nullptr},
                                        {"T", NATIF_ATTRIBUTE_TYPE, NATIF_FLOAT32, 0, nullptr, nullptr}};
const natif_attribute float_type[] = {{"T", NATIF_ATTRIBUTE_TYPE, NATIF_FLOAT32, 0, nullptr, nullptr}};
const natif_attribute keep_dims[] = {{"keep_dims", NATIF_ATTRIBUTE_BOOL, 0, 0, nullptr, nullptr}};

const natif_op_site sites[] = {
    {"MatMul", no_transpose, 3, 2, 1, 0, 0}, {"AddV2", float_type, 1, 2, 1, 0, 1},
    {"Relu", float_type, 1, 1, 1, 0, 2},     {"Sum", keep_dims, 1, 2, 1, NATIF_READS_RESULT, 0},
    {"Mul", float_type, 1, 2, 1, 0, 0},
};

const int64_t one_dim[] = {1};
const int32_t last_axis[] = {-1};
const natif_constant constants[] = {{NATIF_INT32, 1, one_dim, last_axis}};
const natif_span spans[] = {{31, 17, 31, 32}, {31, 17, 31, 36}, {31, 11, 31, 37}, {35, 12, 35, 17}, {39, 11, 39, 17}, {47, 4, 47, 12}};
const char* const rules[] = {"exp", "matmul"};

#if defined(__x86_64__)
const char* const levels[] = {"x86-64-v2"};
#else
const char* const levels[] = {"aarch64"};
#endif

}  // namespace

// The exported name is that of the type, so C++ declares it under another.
extern "C" NATIF_EXPORT const natif_module table __asm__(NATIF_MODULE_SYMBOL);
const natif_module table = {NATIF_ABI_VERSION,
                            sizeof(natif_module),
                            "bodies",
                            "bodies.py",
                            levels,
                            1,
                            rules,
                            2,
                            functions,
                            sizeof(functions) / sizeof(functions[0]),
                            sites,
                            sizeof(sites) / sizeof(sites[0]),
                            constants,
                            1,
                            spans,
                            sizeof(spans) / sizeof(spans[0])};
