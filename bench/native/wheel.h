// The calls of the TensorFlow wheel that this process has loaded, as far as the benchmark needs them: reading an EagerTensor in place,
// making one, running an op. Signatures are those of tensorflow/c/eager/c_api.h, c_api_experimental.h and of the wheel's pywrap image.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

struct TFE_Context;
struct TFE_Op;
struct TFE_TensorHandle;
struct TF_Status;
struct TF_Tensor;

namespace natif::bench {

inline constexpr int kFloat32 = 1, kInt32 = 3, kInt64 = 9;  // TF_DataType

struct Wheel {
  bool (*check_exact)(const PyObject*);
  TFE_TensorHandle* (*handle_of)(const PyObject*);
  PyObject* (*from_handle)(TFE_TensorHandle*, bool is_packed);  // takes the handle

  int (*handle_dtype)(TFE_TensorHandle*);
  int (*handle_rank)(TFE_TensorHandle*, TF_Status*);
  int64_t (*handle_dim)(TFE_TensorHandle*, int axis, TF_Status*);
  const char* (*handle_device)(TFE_TensorHandle*, TF_Status*);
  void* (*handle_data)(TFE_TensorHandle*, TF_Status*);
  TFE_TensorHandle* (*new_handle)(const TF_Tensor*, TF_Status*);
  void (*delete_handle)(TFE_TensorHandle*);

  TFE_Op* (*new_op)(TFE_Context*, const char* name, TF_Status*);
  void (*reset_op)(TFE_Op*, const char* name, const char* device, TF_Status*);
  void (*add_input)(TFE_Op*, TFE_TensorHandle*, TF_Status*);
  void (*set_type)(TFE_Op*, const char* attribute, int dtype);
  void (*execute)(TFE_Op*, TFE_TensorHandle** results, int* count, TF_Status*);
  void (*delete_op)(TFE_Op*);

  TF_Tensor* (*allocate)(int dtype, const int64_t* dims, int rank, size_t bytes);
  void* (*tensor_data)(const TF_Tensor*);
  void (*delete_tensor)(TF_Tensor*);
  TF_Status* (*new_status)();
  void (*delete_status)(TF_Status*);
  int (*status_code)(const TF_Status*);
  const char* (*status_message)(const TF_Status*);

  TF_Status* status;     // one for the module: every call here holds the GIL
  TFE_Context* context;  // the eager context of Python, borrowed
};

// The wheel, filled by open_wheel.
const Wheel& wheel();

// open_wheel(cc_path, framework_path, pywrap_path, context_capsule): binds the images, which must be loaded already.
PyObject* open_wheel(PyObject* self, PyObject* args);

// A float32 tensor on the CPU, read in place.
struct View {
  const float* data;
  int rank;
  int64_t dims[2];
};

// Reads an argument of rank 1 or 2: exact type, dtype, rank, sizes, device, data. False with a Python error set where it is anything else.
bool read(PyObject* argument, View& view);

// A result on the CPU: allocate it, fill its elements, then wrap it as an EagerTensor (which frees it; null with a Python error on
// failure).
TF_Tensor* new_tensor(int dtype, const int64_t* dims, int rank, size_t bytes);
PyObject* wrapped(TF_Tensor* tensor);

// Turns the status into a Python error where it is not OK; true where it is.
bool ok();

}  // namespace natif::bench
