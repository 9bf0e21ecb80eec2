// runtime/rule_checks.cpp: the rules' names (those of the op registry), operations and sizes, and one comparison.
#include "runtime/rule_checks.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/abi.h"
#include "runtime/cpu_level.h"
#include "runtime/op_cache.h"
#include "runtime/self_check_kernels.h"

namespace natif::runtime {
namespace {

struct Operation {
  const char* op;
  Computation computation;
};

struct Rule {
  const char* name;
  std::vector<Operation> operations;
  std::vector<Sizes> sizes;
};

// Flat tensors around the groups of 8, and one of many groups.
std::vector<Sizes> flat_sizes() {
  std::vector<Sizes> sizes;
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 33, 100, 4099}) sizes.push_back({1, 0, n, 1});
  sizes.push_back({5, 0, 7, 1});
  sizes.push_back({33, 0, 10, 1});
  return sizes;
}

// Products with one row, one column, and where K is cut into pieces.
std::vector<Sizes> matmul_sizes() {
  std::vector<Sizes> sizes;
  for (const int64_t m : {1, 2, 17, 128})
    for (const int64_t k : {1, 7, 64, 255, 384, 385, 1000})
      for (const int64_t n : {1, 2, 10, 64})
        if (m * k * n <= 600'000) sizes.push_back({m, k, n, 1});
  return sizes;
}

std::vector<Sizes> row_sizes() {
  std::vector<Sizes> sizes;
  for (const int64_t m : {1, 2, 33})
    for (const int64_t n : {1, 3, 8, 10, 15, 16, 17, 31, 40, 63, 64, 65, 100, 250, 1000}) sizes.push_back({m, 0, n, 1});
  return sizes;
}

std::vector<Sizes> reduction_sizes() {
  std::vector<Sizes> sizes;
  for (const int axis : {0, 1})
    for (const int64_t m : {1, 2, 15, 16, 33})
      for (const int64_t n : {1, 7, 8, 9, 33, 40, 100}) sizes.push_back({m, 0, n, axis});
  sizes.push_back({1, 0, 8192, 1});
  return sizes;
}

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = {
      {"exp", {{"Exp", Computation::kExp}}, flat_sizes()},
      {"log", {{"Log", Computation::kLog}}, flat_sizes()},
      {"tanh", {{"Tanh", Computation::kTanh}}, flat_sizes()},
      {"sigmoid", {{"Sigmoid", Computation::kSigmoid}}, flat_sizes()},
      {"rsqrt", {{"Rsqrt", Computation::kRsqrt}}, flat_sizes()},
      {"reciprocal", {{"Reciprocal", Computation::kReciprocal}}, flat_sizes()},
      {"matmul", {{"MatMul", Computation::kMatMul}}, matmul_sizes()},
      {"softmax", {{"Softmax", Computation::kSoftmax}}, row_sizes()},
      {"sum", {{"Sum", Computation::kSum}, {"Mean", Computation::kMean}}, reduction_sizes()},
      {"reduce_prod", {{"Prod", Computation::kProd}}, reduction_sizes()},
      {"reduce_max", {{"Max", Computation::kMax}}, reduction_sizes()},
      {"reduce_min", {{"Min", Computation::kMin}}, reduction_sizes()},
  };
  return rules;
}

// Code for "native" uses the widest vectors that its machine has, so it is checked as the highest level that runs here.
KernelRunner runner_of(std::string_view level) {
  static constexpr std::pair<std::string_view, KernelRunner> runners[] = {
#if defined(__x86_64__)
      {"x86-64-v4", run_kernel_v4},
      {"x86-64-v3", run_kernel_v3},
      {"x86-64-v2", run_kernel_v2},
#else
      {"aarch64", run_kernel_aarch64},
#endif
  };
  for (const auto& [name, runner] : runners) {
    if (level == name || (level == "native" && cpu_has_level(name))) return runner;
  }
  return nullptr;
}

// Fixed pseudo-random values: a linear congruence (constants of Knuth's MMIX), summed to be roughly normal, with standard deviation
// `scale`.
class Values {
 public:
  std::vector<float> draw(int64_t count, float scale) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = scale * (uniform() + uniform() + uniform());
    return values;
  }

 private:
  float uniform() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<float>(static_cast<int32_t>(state_ >> 32)) * 0x1p-31f;
  }
  uint64_t state_ = 1;
};

// What the operation is defined on: positive values for logarithms and roots, factors near 1 for products.
std::vector<float> operand(Values& values, Computation computation, int64_t count, int round) {
  const bool positive = computation == Computation::kLog || computation == Computation::kRsqrt;
  const bool wide = computation == Computation::kExp || computation == Computation::kSigmoid || computation == Computation::kSoftmax;
  std::vector<float> drawn = values.draw(count, round == 0 ? 1.f : wide ? 20.f : 4.f);
  for (float& value : drawn) {
    if (positive) value = std::abs(value) + 1e-3f;
    if (computation == Computation::kProd) value = 1 + value / 16;
  }
  return drawn;
}

// TensorFlow's side of a comparison. Everything is freed at the end of its scope.
class Runner {
 public:
  Runner(const TensorFlowApi& api, TFE_Context* context) : api_(api), context_(context), status_(api.new_status()) {}
  ~Runner() {
    for (TFE_TensorHandle* handle : handles_) api_.delete_handle(handle);
    api_.delete_status(status_);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  TFE_TensorHandle* make(int dtype, std::initializer_list<int64_t> dims, const void* data, size_t bytes) {
    TF_Tensor* tensor = api_.allocate_tensor(dtype, dims.begin(), static_cast<int>(dims.size()), bytes);
    if (tensor == nullptr) return nullptr;
    memcpy(api_.tensor_data(tensor), data, bytes);
    TFE_TensorHandle* handle = api_.new_handle(tensor, status_);
    api_.delete_tensor(tensor);
    if (handle != nullptr) handles_.push_back(handle);
    return handle;
  }

  // The elements of the only result; null when anything failed.
  const float* run(const Operation& operation, const Sizes& s, const std::vector<float>& a, const std::vector<float>& b) {
    const bool product = operation.computation == Computation::kMatMul;
    const bool reduction = operation.computation >= Computation::kSum;
    std::vector<TFE_TensorHandle*> inputs = {make(NATIF_FLOAT32, {s.m, product ? s.k : s.n}, a.data(), a.size() * sizeof(float))};
    if (product) inputs.push_back(make(NATIF_FLOAT32, {s.k, s.n}, b.data(), b.size() * sizeof(float)));
    const int32_t axis = s.axis;
    if (reduction) inputs.push_back(make(NATIF_INT32, {}, &axis, sizeof axis));
    TFE_Op* op = api_.new_op(context_, operation.op, status_);
    if (op == nullptr) return nullptr;
    api_.reset_op(op, operation.op, kCpuDevice, status_);
    for (TFE_TensorHandle* input : inputs) {
      if (input != nullptr && ok()) api_.op_add_input(op, input, status_);
    }
    TFE_TensorHandle* result = nullptr;
    int count = 1;
    if (ok()) api_.execute(op, &result, &count, status_);
    api_.delete_op(op);
    if (!ok() || result == nullptr) return nullptr;
    handles_.push_back(result);
    return static_cast<const float*>(api_.handle_data(result, status_));
  }

 private:
  bool ok() const { return api_.status_code(status_) == 0; }

  const TensorFlowApi& api_;
  TFE_Context* context_;
  TF_Status* status_;
  std::vector<TFE_TensorHandle*> handles_;
};

bool same_bits(const TensorFlowApi& api, TFE_Context* context, const Operation& operation, const Sizes& s, KernelRunner kernel) {
  const bool product = operation.computation == Computation::kMatMul;
  const bool reduction = operation.computation >= Computation::kSum;
  Values values;
  for (int round = 0; round < 2; ++round) {
    const std::vector<float> a = operand(values, operation.computation, s.m * (product ? s.k : s.n), round);
    const std::vector<float> b = operand(values, operation.computation, product ? s.k * s.n : 0, 0);
    std::vector<float> mine(static_cast<size_t>(reduction ? (s.axis == 0 ? s.n : s.m) : s.m * s.n));
    Runner runner(api, context);
    const float* theirs = runner.run(operation, s, a, b);
    if (theirs == nullptr || !kernel(operation.computation, s, a.data(), b.data(), mine.data())) return false;
    if (memcmp(theirs, mine.data(), mine.size() * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace

bool rule_holds(const TensorFlowApi& api, TFE_Context* context, std::string_view name, std::string_view level) {
  const KernelRunner kernel = runner_of(level);
  for (const Rule& rule : all_rules()) {
    if (rule.name != name || kernel == nullptr) continue;
    for (const Operation& operation : rule.operations) {
      for (const Sizes& sizes : rule.sizes) {
        if (!same_bits(api, context, operation, sizes, kernel)) return false;
      }
    }
    return true;
  }
  return false;
}

}  // namespace natif::runtime
