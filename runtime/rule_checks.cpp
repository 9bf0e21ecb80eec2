// runtime/rule_checks.cpp: the rules' names (those of the op registry), operations and sizes, and one comparison.
#include "runtime/rule_checks.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/abi.h"
#include "runtime/level_kernels.h"
#include "runtime/op_cache.h"

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

using Lengths = std::initializer_list<int64_t>;

// All combinations of at most `most` multiply-adds.
void add_products(std::vector<Sizes>& sizes, Lengths ms, Lengths ks, Lengths ns, int64_t most, bool transposed) {
  for (const int64_t m : ms)
    for (const int64_t k : ks)
      for (const int64_t n : ns)
        for (const bool transpose_a : {false, true})
          for (const bool transpose_b : {false, true})
            if (m * k * n <= most && (transposed || !(transpose_a || transpose_b)))
              sizes.push_back({.m = m, .k = k, .n = n, .transpose_a = transpose_a, .transpose_b = transpose_b});
}

// One row, one column, where few rows have a kernel of their own, and where K is cut into pieces.
std::vector<Sizes> matmul_sizes() {
  std::vector<Sizes> sizes;
  add_products(sizes, {1, 2, 17, 128}, {1, 7, 64, 255, 384, 385, 1000}, {1, 2, 10, 64}, 600'000, false);
  add_products(sizes, {1, 2, 15, 16}, {1, 31, 100, 500}, {1, 10, 33}, 600'000, true);
  return sizes;
}

// One row and one column, small and not, to both sides of 8 lanes and of the blocks along K.
std::vector<Sizes> vector_sizes() {
  std::vector<Sizes> sizes;
  for (const bool row : {true, false}) {
    const Lengths one = {1}, more = {1, 2, 5, 10, 63, 64, 128};
    add_products(sizes, row ? one : more, {2, 7, 8, 16, 17, 18, 31, 64, 127, 128, 300}, row ? more : one, 100'000, true);
  }
  return sizes;
}

// Around the blocks of 16 columns and, with AVX2, of 6 and 48 rows.
std::vector<Sizes> block_sizes(bool avx2) {
  std::vector<Sizes> sizes;
  const Lengths few = {2, 3, 8, 17, 128}, groups = {2, 3, 4, 5, 6, 7, 9, 24, 50, 72, 96};
  add_products(sizes, avx2 ? groups : few, {2, 7, 64, 256}, {2, 8, 10, 16, 17, 48, 64, 100}, 500'000, false);
  add_products(sizes, {2, 3, 8, 20}, {5, 64}, {2, 10, 33}, 500'000, true);
  if (!avx2) add_products(sizes, few, {320}, {10, 64}, 500'000, false);
  return sizes;
}

// One row, one column and others; the right operand as it is and transposed.
std::vector<Sizes> batch_sizes() {
  std::vector<Sizes> sizes;
  for (const int64_t m : {1, 2, 17})
    for (const int64_t k : {1, 7, 64, 400, 512})
      for (const int64_t n : {1, 2, 10, 64})
        for (const bool transposed : {false, true}) sizes.push_back({.m = m, .k = k, .n = n, .transpose_b = transposed});
  return sizes;
}

// With oneDNN on, vectors too, and blocks of rows in two halves.
std::vector<Sizes> onednn_avx2_sizes() {
  std::vector<Sizes> sizes = block_sizes(true);
  add_products(sizes, {1}, {1, 7, 64, 255, 1000}, {1, 10, 64}, 500'000, true);
  add_products(sizes, {2, 17}, {1, 7, 64, 255, 1000}, {1}, 500'000, true);
  add_products(sizes, {75, 100}, {31, 90}, {9, 16}, 500'000, true);
  return sizes;
}

std::vector<Sizes> row_sizes() {
  std::vector<Sizes> sizes;
  for (const int64_t m : {1, 2, 33})
    for (const int64_t n : {1, 3, 8, 10, 15, 16, 17, 31, 40, 63, 64, 65, 100, 250, 1000}) sizes.push_back({m, 0, n, 1});
  return sizes;
}

// Eigen's softmax inverts the sums of whole groups of 8 rows otherwise than the last ones.
std::vector<Sizes> row_sizes_of_eigen() {
  std::vector<Sizes> sizes;
  for (const Sizes& s : row_sizes())
    if (s.m * s.n <= 6956) sizes.push_back(s);
  for (const int64_t m : {7, 8, 9, 100}) sizes.push_back({m, 0, 10, 1});
  return sizes;
}

std::vector<Sizes> reduction_sizes() {
  std::vector<Sizes> sizes;
  for (const int axis : {0, 1})
    for (const int64_t m : {1, 2, 15, 16, 33})
      for (const int64_t n : {1, 7, 8, 9, 33, 40, 100}) sizes.push_back({m, 0, n, axis});
  sizes.push_back({1, 0, 8192, 1});
  for (const int axis : {1, 2})
    for (const int64_t outer : {2, 3})
      for (const int64_t m : {2, 15, 16, 33})
        for (const int64_t n : {3, 8, 21, 40}) sizes.push_back({m, outer, n, axis});
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
      {"matmul@avx2", {{"MatMul", Computation::kMatMulAvx2}}, onednn_avx2_sizes()},
      {"matmul@eigen-vector", {{"MatMul", Computation::kMatMulEigenVector}}, vector_sizes()},
      {"matmul@eigen", {{"MatMul", Computation::kMatMulEigen}}, block_sizes(false)},
      {"matmul@eigen-avx2", {{"MatMul", Computation::kMatMulEigenAvx2}}, block_sizes(true)},
      {"batch_matmul", {{"BatchMatMulV2", Computation::kBatchMatMul}}, batch_sizes()},
      {"softmax", {{"Softmax", Computation::kSoftmax}}, row_sizes()},
      {"softmax@eigen", {{"Softmax", Computation::kSoftmaxEigen}}, row_sizes_of_eigen()},
      {"sum", {{"Sum", Computation::kSum}, {"Mean", Computation::kMean}}, reduction_sizes()},
      {"reduce_prod", {{"Prod", Computation::kProd}}, reduction_sizes()},
      {"reduce_max", {{"Max", Computation::kMax}}, reduction_sizes()},
      {"reduce_min", {{"Min", Computation::kMin}}, reduction_sizes()},
  };
  return rules;
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
  const bool wide = computation == Computation::kExp || computation == Computation::kSigmoid || computation == Computation::kSoftmax ||
                    computation == Computation::kSoftmaxEigen;
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
    const bool product = is_product(operation.computation);
    const auto matrix = [this](int64_t rows, int64_t columns, bool transposed, const std::vector<float>& values) {
      return make(NATIF_FLOAT32, {transposed ? columns : rows, transposed ? rows : columns}, values.data(), values.size() * sizeof(float));
    };
    const bool batch = operation.computation == Computation::kBatchMatMul, reduction = is_reduction(operation.computation);
    std::vector<TFE_TensorHandle*> inputs;
    if (batch || (reduction && s.k != 0)) {
      const int64_t outer = batch ? kBatch : s.k, inner = batch ? s.k : s.n;
      inputs.push_back(make(NATIF_FLOAT32, {outer, s.m, inner}, a.data(), a.size() * sizeof(float)));
    } else {
      inputs.push_back(matrix(s.m, product ? s.k : s.n, s.transpose_a, a));
    }
    if (product) inputs.push_back(matrix(s.k, s.n, s.transpose_b, b));
    const int32_t axis = s.axis, ends[] = {0, 2};
    if (reduction && s.k != 0 && s.axis == 2) {
      inputs.push_back(make(NATIF_INT32, {2}, ends, sizeof ends));
    } else if (reduction) {
      inputs.push_back(make(NATIF_INT32, {}, &axis, sizeof axis));
    }
    TFE_Op* op = api_.new_op(context_, operation.op, status_);
    if (op == nullptr) return nullptr;
    api_.reset_op(op, operation.op, kCpuDevice, status_);
    for (TFE_TensorHandle* input : inputs) {
      if (input != nullptr && ok()) api_.op_add_input(op, input, status_);
    }
    if (product && ok()) {
      api_.op_set_bool(op, batch ? "adj_x" : "transpose_a", s.transpose_a);
      api_.op_set_bool(op, batch ? "adj_y" : "transpose_b", s.transpose_b);
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
  const bool product = is_product(operation.computation), reduction = is_reduction(operation.computation);
  const int64_t rows = operation.computation == Computation::kBatchMatMul ? kBatch * s.m : s.m;
  Values values;
  for (int round = 0; round < 2; ++round) {
    const std::vector<float> a = operand(values, operation.computation, reduction ? s.reduced_from() : rows * (product ? s.k : s.n), round);
    const std::vector<float> b = operand(values, operation.computation, product ? s.k * s.n : 0, 0);
    std::vector<float> scratch(b.size());
    std::vector<float> mine(static_cast<size_t>(reduction ? s.reduced_to() : rows * s.n));
    Runner runner(api, context);
    const float* theirs = runner.run(operation, s, a, b);
    if (theirs == nullptr || !kernel(operation.computation, s, {a.data(), b.data(), scratch.data()}, mine.data())) return false;
    if (memcmp(theirs, mine.data(), mine.size() * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace

bool rule_holds(const TensorFlowApi& api, TFE_Context* context, std::string_view name, std::string_view level) {
  const LevelKernels* kernels = level_kernels(level);
  for (const Rule& rule : all_rules()) {
    if (rule.name != name || kernels == nullptr) continue;
    for (const Operation& operation : rule.operations) {
      for (const Sizes& sizes : rule.sizes) {
        if (!same_bits(api, context, operation, sizes, kernels->run)) return false;
      }
    }
    return true;
  }
  return false;
}

}  // namespace natif::runtime
