// runtime/tensor_object.h: what stands behind natif_tensor.object, the host's token for one tensor during one call. A token is a parameter
// (the caller's EagerTensor, borrowed), a constant (borrowed from the artifact's cache), or a tensor that the call made and owns.
#ifndef NATIF_RUNTIME_TENSOR_OBJECT_H_
#define NATIF_RUNTIME_TENSOR_OBJECT_H_

#include "runtime/tensorflow_api.h"

namespace natif::runtime {

struct TensorObject {
  TFE_TensorHandle* handle = nullptr;  // null for an allocated tensor until an operation or the result needs it
  TF_Tensor* tensor = nullptr;         // the buffer of an allocated tensor, until then
  PyObject* python = nullptr;          // a parameter's EagerTensor, borrowed; a result's once it is wrapped
  int64_t references = 1;
  bool borrowed = false;  // a parameter or a constant: not counted, not freed
  // The tensors that a call owns form a ring through these, so that a failed call frees them all.
  TensorObject* previous = nullptr;
  TensorObject* next = nullptr;
};

// The token of a parameter.
inline TensorObject parameter_token(TFE_TensorHandle* handle, PyObject* value) {
  TensorObject token;
  token.handle = handle;
  token.python = value;
  token.borrowed = true;
  return token;
}

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_TENSOR_OBJECT_H_
