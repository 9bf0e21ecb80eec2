// runtime/self_check.h: whether natif's own kernels give TensorFlow's bits on this machine, rule by rule and vector level by level. A rule
// is decided when the first artifact that names it is called; the outcome is kept for the process and, where a folder is set, for later
// ones. All functions need the GIL.
#ifndef NATIF_RUNTIME_SELF_CHECK_H_
#define NATIF_RUNTIME_SELF_CHECK_H_

#include <cstdint>
#include <string_view>

#include "runtime/abi.h"
#include "runtime/eager_context.h"

namespace natif::runtime {

// Rises whenever an outcome may have changed, so that what was derived from outcomes is derived again.
uint64_t rules_version();

// The bits of natif_call.rules for the module's code of `level`: bit i says that rule i gives TensorFlow's bits here. Decides what is not
// known yet by running TensorFlow's operations in `context`, which no tape may see.
uint64_t proven_rules(const TensorFlow& tf, const EagerContext& context, const natif_module& module, std::string_view level);

// Adds self_check(), force_rule() and remember_self_check() to the module. False: an error is set.
bool add_self_check(PyObject* module);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_SELF_CHECK_H_
