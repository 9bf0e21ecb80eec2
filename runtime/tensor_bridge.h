// runtime/tensor_bridge.h: from arguments to what native code sees: EagerTensors read in place, Python and NumPy numbers as 64-bit scalars.
// A value that does not fit gives an error that names the parameter and the remedy, in the order type, dtype, rank, device, size.
#ifndef NATIF_RUNTIME_TENSOR_BRIDGE_H_
#define NATIF_RUNTIME_TENSOR_BRIDGE_H_

#include "runtime/abi.h"
#include "runtime/eager_context.h"
#include "runtime/tensor_object.h"

namespace natif::runtime {

enum class Match {
  kFits,
  kSymbolic,  // a tensor of a graph or of a Keras model under construction
  kNotEager,  // no tensor at all, or one that is not an EagerTensor
  kDtype,
  kRank,
  kDevice,
  kSize,
  kUnreadable,  // TensorFlow itself answered an error, which the status holds
  kNumber,      // not a number of the kind
  kOverflow,    // a whole number beyond 64 bits
  kRaised       // the value's own __index__ or __float__ raised: the error is set
};

// Reads one EagerTensor; `token` becomes the borrowed token behind `view`.
Match read_tensor(const TensorFlow& tf, const EagerContext& context, PyObject* value, const natif_value_type& type, TF_Status* status,
                  TensorObject& token, natif_tensor& view);

// Reads one number: an int parameter takes whatever has __index__, a float parameter __float__ or __index__, a bool parameter only bools
// (Python's and NumPy's). TensorFlow's own objects are no numbers here, whatever they convert to.
Match read_scalar(const TensorFlow& tf, PyObject* value, const natif_value_type& type, natif_scalar& scalar);

// Sets the error for a value that does not fit parameter `type` of `function`.
void set_mismatch_error(const TensorFlow& tf, Match match, PyObject* value, const natif_value_type& type, const char* function,
                        TF_Status* status);

// Sets the error for a size of parameter `type` that should be the same as one of parameter `first`.
void set_size_error(const natif_value_type& type, int axis, const natif_tensor& view, const natif_value_type& first, int first_axis,
                    const natif_tensor& first_view);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_TENSOR_BRIDGE_H_
