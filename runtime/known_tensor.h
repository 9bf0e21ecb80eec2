// runtime/known_tensor.h: what a function remembers of the tensor that a parameter was given at the calls before. Weights come again and
// again: an EagerTensor never changes its buffer, shape or device, so what was read of it holds as long as it lives, and one comparison
// replaces six calls to TensorFlow.
#ifndef NATIF_RUNTIME_KNOWN_TENSOR_H_
#define NATIF_RUNTIME_KNOWN_TENSOR_H_

#include "runtime/abi.h"
#include "runtime/eager_context.h"
#include "runtime/python.h"

namespace natif::runtime {

// One parameter's. Keeps no tensor alive. All functions need the GIL.
class KnownTensor {
 public:
  // The view that was read of `value`, without a token; null where it has to be read.
  const natif_tensor* find(PyObject* value, const TFE_TensorHandle* handle, const EagerContext* context) const {
    // A dead tensor's weak reference no longer gives its address, which another tensor may have by now.
    const bool known = reference_ && PyWeakref_GET_OBJECT(reference_.get()) == value && handle == handle_ && context == context_;
    return known ? &view_ : nullptr;
  }

  // `value` was read and is `view`.
  void note(PyObject* value, const TFE_TensorHandle* handle, const EagerContext* context, const natif_tensor& view) {
    if (value == last_ && patience_ > 0) return remember(value, handle, context, view);
    last_ = value;
  }

 private:
  void remember(PyObject* value, const TFE_TensorHandle* handle, const EagerContext* context, const natif_tensor& view);

  PyObject* last_ = nullptr;  // an address to compare with; the object may be gone
  // How often a tensor may still be remembered: a fresh one at each call often has the address of the one before, and remembering it is
  // for nothing.
  int patience_ = 1000;
  Ref reference_;  // weak
  const TFE_TensorHandle* handle_ = nullptr;
  const EagerContext* context_ = nullptr;
  natif_tensor view_{};
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_KNOWN_TENSOR_H_
