// runtime/op_cache.cpp: preparing operations and constants.
#include "runtime/op_cache.h"

#include <cstring>

namespace natif::runtime {
namespace {

void set_attributes(const TensorFlowApi& api, TFE_Op* op, const natif_op_site& site) {
  for (int i = 0; i < site.attribute_count; ++i) {
    const natif_attribute& attribute = site.attributes[i];
    switch (attribute.type) {
      case NATIF_ATTRIBUTE_BOOL:
        api.op_set_bool(op, attribute.name, attribute.integer != 0);
        break;
      case NATIF_ATTRIBUTE_INT:
        api.op_set_int(op, attribute.name, attribute.integer);
        break;
      case NATIF_ATTRIBUTE_FLOAT:
        api.op_set_float(op, attribute.name, static_cast<float>(attribute.real));
        break;
      case NATIF_ATTRIBUTE_TYPE:
        api.op_set_type(op, attribute.name, static_cast<int>(attribute.integer));
        break;
      case NATIF_ATTRIBUTE_STRING:
        api.op_set_string(op, attribute.name, attribute.text, strlen(attribute.text));
        break;
      case NATIF_ATTRIBUTE_INTS:
        api.op_set_ints(op, attribute.name, attribute.list, static_cast<int>(attribute.integer));
        break;
    }
  }
}

}  // namespace

int64_t element_size(int32_t dtype) {
  switch (dtype) {
    case NATIF_FLOAT32:
    case NATIF_INT32:
      return 4;
    case NATIF_FLOAT64:
    case NATIF_INT64:
      return 8;
    case NATIF_BOOL:
      return 1;
    default:
      return -1;
  }
}

OpCache::OpCache(const TensorFlowApi& api, TFE_Context* context, const natif_module& module)
    : api_(api), context_(context), module_(module), ops_(module.op_site_count), constants_(module.constant_count) {}

OpCache::~OpCache() {
  for (FreeList<TFE_Op>& list : ops_) list.clear(api_.delete_op);
  for (Constant& constant : constants_) {
    if (constant.token.handle != nullptr) api_.delete_handle(constant.token.handle);
  }
}

TFE_Op* OpCache::take(int site, TF_Status* status) {
  TFE_Op* op = ops_[site].take();
  if (op == nullptr) {
    op = api_.new_op(context_, module_.op_sites[site].op, status);
    if (op == nullptr) return nullptr;
    api_.reset_op(op, module_.op_sites[site].op, kCpuDevice, status);
    if (api_.status_code(status) != 0) {
      api_.delete_op(op);
      return nullptr;
    }
  }
  set_attributes(api_, op, module_.op_sites[site]);
  return op;
}

void OpCache::give(int site, TFE_Op* op, TF_Status* status) {
  api_.reset_op(op, module_.op_sites[site].op, kCpuDevice, status);
  if (api_.status_code(status) == 0) {
    ops_[site].give(op);
  } else {
    api_.delete_op(op);
  }
}

const natif_tensor* OpCache::constant(int index, TF_Status* status) {
  Constant& constant = constants_[index];
  if (constant.ready.load(std::memory_order_acquire)) return &constant.view;
  std::lock_guard lock(mutex_);
  if (!constant.ready && !make_constant(module_.constants[index], constant, status)) return nullptr;
  return &constant.view;
}

bool OpCache::make_constant(const natif_constant& value, Constant& constant, TF_Status* status) {
  int64_t count = 1;
  for (int i = 0; i < value.rank; ++i) count *= value.dims[i];
  const size_t bytes = static_cast<size_t>(count * element_size(value.dtype));
  TF_Tensor* tensor = api_.allocate_tensor(value.dtype, value.dims, value.rank, bytes);
  if (tensor == nullptr) {
    api_.set_status(status, 8, "natif: no memory for a constant");
    return false;
  }
  if (bytes > 0) memcpy(api_.tensor_data(tensor), value.data, bytes);
  constant.view = {api_.tensor_data(tensor), &constant.token, value.dtype, value.rank, {}};
  if (value.rank > 0) memcpy(constant.view.dims, value.dims, sizeof(int64_t) * static_cast<size_t>(value.rank));
  constant.token.borrowed = true;
  constant.token.handle = api_.new_handle(tensor, status);
  api_.delete_tensor(tensor);
  if (constant.token.handle == nullptr) return false;
  constant.ready.store(true, std::memory_order_release);
  return true;
}

}  // namespace natif::runtime
