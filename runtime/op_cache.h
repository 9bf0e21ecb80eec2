// runtime/op_cache.h: what one artifact keeps in one eager context: for each place that runs a TensorFlow op, operations that are ready for
// use again, and the constants that it has asked for. Thread-safe; usable without the GIL.
#ifndef NATIF_RUNTIME_OP_CACHE_H_
#define NATIF_RUNTIME_OP_CACHE_H_

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/abi.h"
#include "runtime/free_list.h"
#include "runtime/tensor_object.h"
#include "runtime/tensorflow_api.h"

namespace natif::runtime {

// The device on which all operations run.
inline constexpr const char* kCpuDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

class OpCache {
 public:
  OpCache(const TensorFlowApi& api, TFE_Context* context, const natif_module& module);
  ~OpCache();

  // An operation for the site with its attributes set, ready for inputs; null: see `status`.
  TFE_Op* take(int site, TF_Status* status);
  // Gives an operation back after it ran; its inputs are let go at once.
  void give(int site, TFE_Op* op, TF_Status* status);
  // Constant `index` of the module; its buffers live as long as this cache. Null: see `status`.
  const natif_tensor* constant(int index, TF_Status* status);

  const natif_module& module() const { return module_; }

 private:
  struct Constant {
    std::atomic<bool> ready{false};
    TensorObject token;
    natif_tensor view;
  };

  bool make_constant(const natif_constant& value, Constant& constant, TF_Status* status);

  const TensorFlowApi& api_;
  TFE_Context* context_;
  const natif_module& module_;
  std::vector<FreeList<TFE_Op>> ops_;
  std::vector<Constant> constants_;
  std::mutex mutex_;
};

// Bytes of one element; -1 for a type that the runtime does not know.
int64_t element_size(int32_t dtype);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_OP_CACHE_H_
