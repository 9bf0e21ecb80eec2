// runtime/known_tensor.cpp: see known_tensor.h.
#include "runtime/known_tensor.h"

namespace natif::runtime {

void KnownTensor::remember(PyObject* value, const TFE_TensorHandle* handle, const EagerContext* context, const natif_tensor& view) {
  --patience_;
  reference_ = Ref(PyWeakref_NewRef(value, nullptr));
  if (!reference_) {
    PyErr_Clear();
    patience_ = 0;
  }
  handle_ = handle;
  context_ = context;
  view_ = view;
}

}  // namespace natif::runtime
