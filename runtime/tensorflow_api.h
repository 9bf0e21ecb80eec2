// runtime/tensorflow_api.h: the functions of the loaded TensorFlow wheel that the runtime calls, as pointers. Nothing links against
// TensorFlow: tensorflow_images.h fills the table from the images that `import tensorflow` has loaded. The C API is that of
// tensorflow/c/eager/c_api.h; the private bridge between Python and C++ is declared in the wheel's own header
// tensorflow/python/eager/pywrap_tfe.h, from which the layout of EagerThreadState is taken.
#ifndef NATIF_RUNTIME_TENSORFLOW_API_H_
#define NATIF_RUNTIME_TENSORFLOW_API_H_

#include <cstddef>
#include <cstdint>

#include "runtime/python.h"

struct TFE_Context;
struct TFE_Executor;
struct TFE_Op;
struct TFE_TensorHandle;
struct TF_Status;
struct TF_Tensor;

namespace natif::runtime {

// tensorflow::EagerContextThreadLocalData. A Safe_PyObjectPtr there is a std::unique_ptr whose deleter has no state: one pointer.
struct EagerThreadState {
  bool is_eager;
  bool invoking_op_callbacks;
  PyObject* device_name;
  PyObject* scope_name;
  PyObject* device_spec;
  PyObject* function_call_options;
  PyObject* executor;
  PyObject* op_callbacks;
};

struct TensorFlowApi {
  // The pywrap image: EagerTensor objects, tapes, the Python side of the eager context.
  bool (*is_eager_tensor)(const PyObject*);
  TFE_TensorHandle* (*handle_of)(const PyObject*);
  PyObject* (*tensor_from_handle)(TFE_TensorHandle*, bool is_packed);
  PyObject* (*python_context)();
  EagerThreadState* (*thread_state)(PyObject* python_context);
  PyObject* (*tape_set_is_empty)();
  PyObject* (*possible_gradient_types)(PyObject* tensors);

  // libtensorflow_cc.so.2: the eager C API.
  const char* (*version)();
  void* (*c_context)();
  int (*handle_dtype)(TFE_TensorHandle*);
  int (*handle_rank)(TFE_TensorHandle*, TF_Status*);
  int64_t (*handle_dim)(TFE_TensorHandle*, int, TF_Status*);
  const char* (*handle_device)(TFE_TensorHandle*, TF_Status*);
  void* (*handle_data)(TFE_TensorHandle*, TF_Status*);
  TFE_TensorHandle* (*new_handle)(const TF_Tensor*, TF_Status*);
  TFE_TensorHandle* (*share_handle)(TFE_TensorHandle*, TF_Status*);
  void (*delete_handle)(TFE_TensorHandle*);
  TFE_Op* (*new_op)(TFE_Context*, const char* name, TF_Status*);
  void (*reset_op)(TFE_Op*, const char* name, const char* device, TF_Status*);
  void (*delete_op)(TFE_Op*);
  void (*op_add_input)(TFE_Op*, TFE_TensorHandle*, TF_Status*);
  void (*op_set_bool)(TFE_Op*, const char*, unsigned char);
  void (*op_set_int)(TFE_Op*, const char*, int64_t);
  void (*op_set_float)(TFE_Op*, const char*, float);
  void (*op_set_type)(TFE_Op*, const char*, int);
  void (*op_set_string)(TFE_Op*, const char*, const void*, size_t);
  void (*op_set_ints)(TFE_Op*, const char*, const int64_t*, int);
  void (*execute)(TFE_Op*, TFE_TensorHandle**, int*, TF_Status*);
  TFE_Executor* (*thread_executor)(TFE_Context*);
  bool (*executor_is_async)(TFE_Executor*);
  void (*delete_executor)(TFE_Executor*);

  // libtensorflow_framework.so.2: statuses and tensors.
  TF_Status* (*new_status)();
  void (*delete_status)(TF_Status*);
  void (*set_status)(TF_Status*, int code, const char* message);
  int (*status_code)(const TF_Status*);
  const char* (*status_message)(const TF_Status*);
  TF_Tensor* (*allocate_tensor)(int dtype, const int64_t* dims, int rank, size_t bytes);
  void* (*tensor_data)(const TF_Tensor*);
  void (*delete_tensor)(TF_Tensor*);
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_TENSORFLOW_API_H_
