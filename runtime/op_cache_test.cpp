// runtime/op_cache_test.cpp: operations are prepared as the site says, used by one thread at a time and given back; constants are made
// once. TensorFlow is a fake that only counts.
#include "runtime/op_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>

struct TFE_Op {
  std::string log;
  int users = 0;
};
struct TF_Tensor {
  std::vector<char> bytes;
};
struct TFE_TensorHandle {};
struct TF_Status {
  int code = 0;
};

namespace natif::runtime {
namespace {

std::atomic<int> ops_alive{0}, tensors_alive{0}, handles_alive{0}, handles_made{0};
std::atomic<bool> no_ops{false};

// Tensors' buffers, which outlive the tensors as a handle's share of them does.
std::mutex buffers_mutex;
std::vector<std::unique_ptr<TF_Tensor>> buffers;

TensorFlowApi fake_api() {
  TensorFlowApi api{};
  api.new_op = [](TFE_Context*, const char* name, TF_Status* status) -> TFE_Op* {
    if (no_ops) {
      status->code = 5;
      return nullptr;
    }
    ++ops_alive;
    return new TFE_Op{name, 0};
  };
  api.reset_op = [](TFE_Op* op, const char* name, const char* device, TF_Status*) { op->log = std::string(name) + "@" + device; };
  api.delete_op = [](TFE_Op* op) {
    --ops_alive;
    delete op;
  };
  api.op_set_bool = [](TFE_Op* op, const char* name, unsigned char value) {
    op->log += std::string(" ") + name + "=" + (value ? "1" : "0");
  };
  api.op_set_int = [](TFE_Op* op, const char* name, int64_t value) { op->log += std::string(" ") + name + "=" + std::to_string(value); };
  api.op_set_float = [](TFE_Op* op, const char* name, float value) { op->log += std::string(" ") + name + "=" + std::to_string(value); };
  api.op_set_type = [](TFE_Op* op, const char* name, int value) { op->log += std::string(" ") + name + "=#" + std::to_string(value); };
  api.op_set_string = [](TFE_Op* op, const char* name, const void* text, size_t size) {
    op->log += std::string(" ") + name + "=" + std::string(static_cast<const char*>(text), size);
  };
  api.op_set_ints = [](TFE_Op* op, const char* name, const int64_t* list, int count) {
    op->log += std::string(" ") + name + "=[";
    for (int i = 0; i < count; ++i) op->log += std::to_string(list[i]) + ";";
    op->log += "]";
  };
  api.status_code = [](const TF_Status* status) { return status->code; };
  api.set_status = [](TF_Status* status, int code, const char*) { status->code = code; };
  api.allocate_tensor = [](int, const int64_t*, int, size_t bytes) {
    ++tensors_alive;
    std::lock_guard lock(buffers_mutex);
    buffers.push_back(std::make_unique<TF_Tensor>(TF_Tensor{std::vector<char>(bytes + 1)}));
    return buffers.back().get();
  };
  api.tensor_data = [](const TF_Tensor* tensor) -> void* { return const_cast<char*>(tensor->bytes.data()); };
  api.delete_tensor = [](TF_Tensor*) { --tensors_alive; };
  api.new_handle = [](const TF_Tensor*, TF_Status*) {
    ++handles_alive;
    ++handles_made;
    return new TFE_TensorHandle;
  };
  api.delete_handle = [](TFE_TensorHandle* handle) {
    --handles_alive;
    delete handle;
  };
  return api;
}

const int64_t ints[] = {1, -1};
const natif_attribute attributes[] = {
    {"b", NATIF_ATTRIBUTE_BOOL, 1, 0, nullptr, nullptr},    {"i", NATIF_ATTRIBUTE_INT, -7, 0, nullptr, nullptr},
    {"f", NATIF_ATTRIBUTE_FLOAT, 0, 0.5, nullptr, nullptr}, {"t", NATIF_ATTRIBUTE_TYPE, NATIF_FLOAT32, 0, nullptr, nullptr},
    {"s", NATIF_ATTRIBUTE_STRING, 0, 0, "NHWC", nullptr},   {"l", NATIF_ATTRIBUTE_INTS, 2, 0, nullptr, ints}};
const natif_op_site sites[] = {{"Op", attributes, 6, 0, 1, 0, 0}};
const int64_t dims[] = {2};
const int32_t data[] = {3, 4};
const natif_constant constants[] = {{NATIF_INT32, 1, dims, data}};

natif_module module_of_tests() {
  natif_module module{};
  module.op_sites = sites;
  module.op_site_count = 1;
  module.constants = constants;
  module.constant_count = 1;
  return module;
}

TEST(OpCache, PreparesOperations) {
  const TensorFlowApi api = fake_api();
  const natif_module module = module_of_tests();
  {
    OpCache cache(api, nullptr, module);
    TF_Status status;
    TFE_Op* op = cache.take(0, &status);
    const std::string expected = std::string("Op@") + kCpuDevice + " b=1 i=-7 f=0.500000 t=#1 s=NHWC l=[1;-1;]";
    EXPECT_EQ(op->log, expected);
    TFE_Op* other = cache.take(0, &status);
    EXPECT_NE(other, op);
    cache.give(0, op, &status);
    EXPECT_EQ(cache.take(0, &status), op) << "the operation is used again";
    EXPECT_EQ(op->log, expected) << "with its attributes, once";
    cache.give(0, op, &status);
    cache.give(0, other, &status);
    EXPECT_EQ(ops_alive, 2);
    no_ops = true;
    TFE_Op* taken[] = {cache.take(0, &status), cache.take(0, &status)};
    EXPECT_EQ(cache.take(0, &status), nullptr);
    EXPECT_EQ(status.code, 5);
    no_ops = false;
    status.code = 0;
    for (TFE_Op* each : taken) cache.give(0, each, &status);
  }
  EXPECT_EQ(ops_alive, 0);
}

TEST(OpCache, MakesAConstantOnceForAllThreads) {
  const TensorFlowApi api = fake_api();
  const natif_module module = module_of_tests();
  const int made_before = handles_made;
  {
    OpCache cache(api, nullptr, module);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        TF_Status status;
        for (int i = 0; i < 100; ++i) {
          const natif_tensor* view = cache.constant(0, &status);
          TFE_Op* op = cache.take(0, &status);
          if (op->users++ != 0 || view->rank != 1 || view->dims[0] != 2 || memcmp(view->data, data, sizeof data) != 0) ++wrong;
          --op->users;
          cache.give(0, op, &status);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(handles_made - made_before, 1);
  }
  EXPECT_EQ(handles_alive, 0);
  EXPECT_EQ(tensors_alive, 0);
}

}  // namespace
}  // namespace natif::runtime
