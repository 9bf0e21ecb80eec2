// Binds the images of the wheel that are in the process already (RTLD_NOLOAD: a second TensorFlow is never opened) and holds what both the
// bare TFE program and the hand-written kernel do at the boundary.
#include "wheel.h"

#include <dlfcn.h>

#include <cstring>

namespace natif::bench {
namespace {

Wheel bound{};

// Looks names up in one image and remembers the first that is missing.
class Image {
 public:
  explicit Image(const char* path) : path_(path), image_(dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {}

  template <class Function>
  Image& bind(Function& function, const char* name) {
    function = image_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(image_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
    return *this;
  }

  bool complete() const {
    if (missing_ != nullptr) PyErr_Format(PyExc_RuntimeError, "%s: %s", path_, image_ == nullptr ? "is not loaded" : missing_);
    return missing_ == nullptr;
  }

 private:
  const char* path_;
  void* image_;
  const char* missing_ = nullptr;
};

bool bind_pywrap(Image image) {
  return image.bind(bound.check_exact, "_Z22EagerTensor_CheckExactPK7_object")
      .bind(bound.handle_of, "_Z18EagerTensor_HandlePK7_object")
      .bind(bound.from_handle, "_Z21EagerTensorFromHandleP16TFE_TensorHandleb")
      .complete();
}

bool bind_cc(Image image) {
  return image.bind(bound.handle_dtype, "TFE_TensorHandleDataType")
      .bind(bound.handle_rank, "TFE_TensorHandleNumDims")
      .bind(bound.handle_dim, "TFE_TensorHandleDim")
      .bind(bound.handle_device, "TFE_TensorHandleBackingDeviceName")
      .bind(bound.handle_data, "TFE_TensorHandleDevicePointer")
      .bind(bound.new_handle, "TFE_NewTensorHandle")
      .bind(bound.delete_handle, "TFE_DeleteTensorHandle")
      .bind(bound.new_op, "TFE_NewOp")
      .bind(bound.reset_op, "TFE_OpReset")
      .bind(bound.add_input, "TFE_OpAddInput")
      .bind(bound.set_type, "TFE_OpSetAttrType")
      .bind(bound.execute, "TFE_Execute")
      .bind(bound.delete_op, "TFE_DeleteOp")
      .complete();
}

bool bind_framework(Image image) {
  return image.bind(bound.allocate, "TF_AllocateTensor")
      .bind(bound.tensor_data, "TF_TensorData")
      .bind(bound.delete_tensor, "TF_DeleteTensor")
      .bind(bound.new_status, "TF_NewStatus")
      .bind(bound.delete_status, "TF_DeleteStatus")
      .bind(bound.status_code, "TF_GetCode")
      .bind(bound.status_message, "TF_Message")
      .complete();
}

bool on_cpu(const char* device) {
  constexpr char suffix[] = "CPU:0";
  constexpr size_t length = sizeof(suffix) - 1;
  const size_t given = device == nullptr ? 0 : std::strlen(device);
  return given >= length && std::memcmp(device + given - length, suffix, length) == 0;
}

}  // namespace

const Wheel& wheel() { return bound; }

PyObject* open_wheel(PyObject*, PyObject* args) {
  const char *cc, *framework, *pywrap;
  PyObject* capsule;
  if (PyArg_ParseTuple(args, "sssO", &cc, &framework, &pywrap, &capsule) == 0) return nullptr;
  if (!bind_cc(Image(cc)) || !bind_framework(Image(framework)) || !bind_pywrap(Image(pywrap))) return nullptr;
  bound.context = static_cast<TFE_Context*>(PyCapsule_GetPointer(capsule, nullptr));
  if (bound.context == nullptr) return nullptr;
  bound.status = bound.new_status();
  Py_RETURN_NONE;
}

bool ok() {
  if (bound.status_code(bound.status) == 0) return true;
  PyErr_SetString(PyExc_RuntimeError, bound.status_message(bound.status));
  return false;
}

bool read(PyObject* argument, View& view) {
  if (!bound.check_exact(argument)) {
    PyErr_SetString(PyExc_TypeError, "expected a TensorFlow EagerTensor");
    return false;
  }
  TFE_TensorHandle* handle = bound.handle_of(argument);
  view.rank = bound.handle_rank(handle, bound.status);
  if (bound.handle_dtype(handle) != kFloat32 || view.rank < 1 || view.rank > 2 || !on_cpu(bound.handle_device(handle, bound.status))) {
    PyErr_SetString(PyExc_ValueError, "expected a float32 tensor of rank 1 or 2 on CPU:0");
    return false;
  }
  for (int axis = 0; axis < view.rank; ++axis) view.dims[axis] = bound.handle_dim(handle, axis, bound.status);
  view.data = static_cast<const float*>(bound.handle_data(handle, bound.status));
  return view.data != nullptr || ok();
}

TF_Tensor* new_tensor(int dtype, const int64_t* dims, int rank, size_t bytes) { return bound.allocate(dtype, dims, rank, bytes); }

PyObject* wrapped(TF_Tensor* tensor) {
  TFE_TensorHandle* handle = bound.new_handle(tensor, bound.status);
  bound.delete_tensor(tensor);
  return ok() ? bound.from_handle(handle, false) : nullptr;
}

}  // namespace natif::bench
