// runtime/host_table.cpp: what the host does for an artifact. These functions run with or without the GIL and touch no Python object unless
// they say so.
#include "runtime/host_table.h"

#include <cstring>
#include <string_view>

#include "runtime/level_kernels.h"
#include "runtime/thread_pool.h"

// Exported by CPython 3.11: whether this is the thread whose signal handlers run. Needs the GIL.
extern "C" PyAPI_FUNC(int) _PyOS_IsMainThread(void);

namespace natif::runtime {
namespace {

constexpr int kResourceExhausted = 8;  // TF_RESOURCE_EXHAUSTED of tensorflow/c/tf_status.h

Call& of(natif_call* call) { return *static_cast<Call*>(call); }

TensorObject& token_of(const natif_tensor& tensor) { return *static_cast<TensorObject*>(tensor.object); }

natif_status no_memory(Call& call, const char* op, int64_t bytes) {
  const std::string text = "natif: no memory for " + std::to_string(bytes) + " bytes";
  return call.fail_tensorflow(kResourceExhausted, -1, op, text.c_str());
}

bool make_no_handles = false;  // an injected fault

// The handle behind a token, made now for a tensor that was only allocated. Null: see the thread's status.
TFE_TensorHandle* handle_of(Call& call, TensorObject& token) {
  if (token.handle == nullptr) {
    TF_Status* status = call.thread.status(call.tf.api);
    if (make_no_handles) {
      call.tf.api.set_status(status, 13, "natif: injected fault");
      return nullptr;
    }
    token.handle = call.tf.api.new_handle(token.tensor, status);
    if (token.handle != nullptr) call.tf.api.delete_tensor(std::exchange(token.tensor, nullptr));
  }
  return token.handle;
}

natif_status allocate(natif_call* base, int32_t dtype, int32_t rank, const int64_t* dims, natif_tensor* result) {
  Call& call = of(base);
  int64_t bytes = element_size(dtype);
  bool fits = bytes > 0 && rank >= 0 && rank <= NATIF_MAX_RANK;
  for (int i = 0; fits && i < rank; ++i) fits = dims[i] >= 0 && !__builtin_mul_overflow(bytes, dims[i], &bytes);
  if (!fits) return call.fail_native(NATIF_VALUE_ERROR, -1, "natif: a result of an impossible type or size");
  if (!call.ensure_context()) return NATIF_FAILED;
  TF_Tensor* tensor = call.tf.api.allocate_tensor(dtype, dims, rank, static_cast<size_t>(bytes));
  if (tensor == nullptr) return no_memory(call, "allocate", bytes);
  TensorObject* token = call.new_token();
  token->tensor = tensor;
  result->data = call.tf.api.tensor_data(tensor);
  result->object = token;
  result->dtype = dtype;
  result->rank = rank;
  for (int i = 0; i < rank; ++i) result->dims[i] = dims[i];
  return NATIF_OK;
}

// Fills in what the artifact may read of an operation's result.
bool describe(Call& call, TFE_TensorHandle* handle, bool reads, natif_tensor& view) {
  const TensorFlowApi& api = call.tf.api;
  TF_Status* status = call.thread.status(api);
  view.data = nullptr;
  view.dtype = api.handle_dtype(handle);
  view.rank = api.handle_rank(handle, status);
  if (view.rank < 0 || view.rank > NATIF_MAX_RANK) {
    api.set_status(status, 12, "natif: a result of more than 8 dimensions");
    return false;
  }
  if (!reads) return true;
  for (int i = 0; i < view.rank; ++i) view.dims[i] = api.handle_dim(handle, i, status);
  view.data = api.handle_data(handle, status);
  return api.status_code(status) == 0;
}

natif_status run_op(natif_call* base, int32_t index, const natif_tensor* const* operands, natif_tensor* results) {
  Call& call = of(base);
  if (!call.ensure_context()) return NATIF_FAILED;
  const TensorFlowApi& api = call.tf.api;
  const natif_op_site& site = call.module.op_sites[index];
  TF_Status* status = call.thread.status(api);
  const auto failed = [&] { return call.fail_tensorflow(api.status_code(status), site.span, site.op, api.status_message(status)); };

  TFE_Op* op = call.ops().take(index, status);
  if (op == nullptr) return failed();
  bool ok = true;
  for (int i = 0; ok && i < site.operand_count; ++i) {
    TFE_TensorHandle* handle = handle_of(call, token_of(*operands[i]));
    if (handle != nullptr) api.op_add_input(op, handle, status);
    ok = handle != nullptr && api.status_code(status) == 0;
  }
  TFE_TensorHandle* handles[16] = {};
  int count = site.result_count;
  if (ok && count > 16) {
    api.set_status(status, 12, "natif: an operation with more than 16 results");
    ok = false;
  }
  if (ok) {
    call.release_gil_if_long();
    api.execute(op, handles, &count, status);
    ok = api.status_code(status) == 0;
  }
  if (!ok) {
    const natif_status answer = failed();
    call.ops().give(index, op, status);
    return answer;
  }
  call.ops().give(index, op, status);
  for (int i = 0; i < count; ++i) {
    TensorObject* token = call.new_token();
    token->handle = handles[i];
    results[i].object = token;
  }
  for (int i = 0; i < count; ++i) {
    if (!describe(call, handles[i], (site.flags & NATIF_READS_RESULT) != 0, results[i])) return failed();
  }
  return NATIF_OK;
}

natif_status constant(natif_call* base, int32_t index, natif_tensor* result) {
  Call& call = of(base);
  if (!call.ensure_context()) return NATIF_FAILED;
  TF_Status* status = call.thread.status(call.tf.api);
  const natif_tensor* view = call.ops().constant(index, status);
  if (view == nullptr) return call.fail_tensorflow(call.tf.api.status_code(status), -1, "Const", call.tf.api.status_message(status));
  *result = *view;
  return NATIF_OK;
}

natif_status from_scalar(natif_call* base, int32_t kind, natif_scalar value, int32_t dtype, natif_tensor* result) {
  alignas(8) unsigned char element[8];
  if (!convert_scalar(kind, value, dtype, element)) return NATIF_DECLINED;
  const natif_status status = allocate(base, dtype, 0, nullptr, result);
  if (status == NATIF_OK) memcpy(result->data, element, static_cast<size_t>(element_size(dtype)));
  return status;
}

void retain(natif_call*, const natif_tensor* tensor) {
  TensorObject& token = token_of(*tensor);
  if (!token.borrowed) ++token.references;
}

void release(natif_call* base, const natif_tensor* tensor) {
  TensorObject& token = token_of(*tensor);
  if (token.borrowed) return;
  if (--token.references == 0) of(base).free_token(&token);
}

void* scratch(natif_call* base, size_t bytes) {
  void* memory = of(base).thread.arena.allocate(bytes);
  if (memory == nullptr) no_memory(of(base), "scratch", static_cast<int64_t>(bytes));
  return memory;
}

natif_status parallel_for(natif_call* base, int64_t count, int64_t grain, natif_body body, void* context, size_t scratch_bytes) {
  Call& call = of(base);
  call.release_gil_if_long();
  if (process_pool().run(count, grain, body, context, scratch_bytes, call.thread.arena)) return NATIF_OK;
  return no_memory(call, "scratch", static_cast<int64_t>(scratch_bytes));
}

// Looks at signals every few milliseconds on Python's main thread; everywhere, a call that got this far is long enough to give up the GIL.
natif_status poll(natif_call* base) {
  constexpr int64_t kInterval = 8'000'000;
  Call& call = of(base);
  const int64_t now = coarse_nanoseconds();
  if (now - call.polled_at < kInterval) return NATIF_OK;
  const bool first = std::exchange(call.polled_at, now) == 0;
  call.release_gil_if_long();
  if (first || call.handles_signals == Call::HandlesSignals::kNo) return NATIF_OK;
  if (!call.holds_gil()) call.take_gil();
  natif_status status = NATIF_OK;
  call.handles_signals = _PyOS_IsMainThread() ? Call::HandlesSignals::kYes : Call::HandlesSignals::kNo;
  if (call.handles_signals == Call::HandlesSignals::kYes) {
    const FloatState float_state = FloatState::of_thread();
    if (PyErr_CheckSignals() != 0) status = call.fail_python();
    float_state.restore();
  }
  call.release_gil();
  return status;
}

natif_status fail(natif_call* base, int32_t error, int32_t span, const char* text) { return of(base).fail_native(error, span, text); }

// The sums are the same at every vector level, so the widest serves all artifacts.
void product_rows(const natif_product* product, float* out, int64_t out_stride, int64_t first, int64_t rows, const float* left,
                  int64_t row_stride, int64_t k_stride) {
  static const LevelKernels& kernels = *level_kernels("native");
  kernels.product_rows(product, out, out_stride, first, rows, left, row_stride, k_stride);
}

const void* keep(natif_call* base, int32_t parameter, int32_t slot, size_t bytes, void (*fill)(void*, const void*), const void* context) {
  const Call& call = of(base);
  const bool bound = call.bound != nullptr && call.bound->is_bound(parameter);
  return bound ? call.bound->kept.get(slot, bytes, fill, context) : nullptr;
}

constexpr natif_host kHost = {NATIF_ABI_VERSION, sizeof(natif_host), allocate, run_op, constant,     from_scalar, retain, release,
                              scratch,           parallel_for,       poll,     fail,   product_rows, keep};

natif_host faulty = kHost;
const natif_host* current = &kHost;

}  // namespace

const natif_host& host_table() { return *current; }

bool inject_fault(const char* name) {
  faulty = kHost;
  current = &kHost;
  make_no_handles = false;
  const std::string_view which = name == nullptr ? "" : name;
  if (which.empty()) return true;
  if (which == "allocate") {
    faulty.allocate = [](natif_call* call, int32_t, int32_t, const int64_t*, natif_tensor*) { return no_memory(of(call), "allocate", 1); };
  } else if (which == "run_op") {
    faulty.run_op = [](natif_call* call, int32_t site, const natif_tensor* const*, natif_tensor*) {
      return of(call).fail_tensorflow(13, of(call).module.op_sites[site].span, of(call).module.op_sites[site].op, "natif: injected fault");
    };
  } else if (which == "constant") {
    faulty.constant = [](natif_call* call, int32_t, natif_tensor*) {
      return of(call).fail_tensorflow(13, -1, "Const", "natif: injected fault");
    };
  } else if (which == "from_scalar") {
    faulty.from_scalar = [](natif_call* call, int32_t, natif_scalar, int32_t, natif_tensor*) { return no_memory(of(call), "allocate", 8); };
  } else if (which == "scratch") {
    faulty.scratch = [](natif_call* call, size_t bytes) -> void* {
      no_memory(of(call), "scratch", static_cast<int64_t>(bytes));
      return nullptr;
    };
  } else if (which == "parallel_for") {
    faulty.parallel_for = [](natif_call* call, int64_t, int64_t, natif_body, void*, size_t) { return no_memory(of(call), "scratch", 1); };
  } else if (which == "poll") {
    faulty.poll = [](natif_call* call) { return of(call).fail_native(0, -1, "natif: injected fault"); };
  } else if (which == "keep") {
    faulty.keep = [](natif_call*, int32_t, int32_t, size_t, void (*)(void*, const void*), const void*) -> const void* { return nullptr; };
  } else if (which == "handle") {
    make_no_handles = true;
  } else {
    return false;
  }
  current = &faulty;
  return true;
}

PyObject* wrap_result(Call& call, TensorObject& token) {
  if (token.python != nullptr) return Py_NewRef(token.python);
  TF_Status* status = call.thread.status(call.tf.api);
  TFE_TensorHandle* handle = token.borrowed ? call.tf.api.share_handle(token.handle, status) : handle_of(call, token);
  if (handle == nullptr) {
    PyErr_Format(PyExc_RuntimeError, "natif: TensorFlow made no handle for a result: %s", call.tf.api.status_message(status));
    return nullptr;
  }
  if (token.borrowed) return call.tf.api.tensor_from_handle(handle, false);  // a constant, which other calls share
  token.handle = nullptr;                                                    // tensor_from_handle takes it over, also when it fails
  token.python = call.tf.api.tensor_from_handle(handle, false);
  return token.python;
}

bool convert_scalar(int32_t kind, natif_scalar value, int32_t dtype, void* element) {
  const double number = kind == NATIF_FLOAT ? value.f : static_cast<double>(value.i);
  switch (dtype) {
    case NATIF_FLOAT32: {
      const float narrow = static_cast<float>(number);
      memcpy(element, &narrow, sizeof narrow);
      return true;
    }
    case NATIF_FLOAT64:
      memcpy(element, &number, sizeof number);
      return true;
    case NATIF_INT32: {
      const auto low = static_cast<int32_t>(static_cast<uint64_t>(value.i));
      memcpy(element, &low, sizeof low);
      return kind != NATIF_FLOAT;
    }
    case NATIF_INT64:
      memcpy(element, &value.i, sizeof value.i);
      return kind != NATIF_FLOAT;
    case NATIF_BOOL: {
      const bool truth = value.i != 0;
      memcpy(element, &truth, sizeof truth);
      return kind == NATIF_BOOLEAN;
    }
    default:
      return false;
  }
}

}  // namespace natif::runtime
