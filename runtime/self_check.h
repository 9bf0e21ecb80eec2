// runtime/self_check.h: whether natif's own kernels give TensorFlow's bits on this machine, rule by rule.
#ifndef NATIF_RUNTIME_SELF_CHECK_H_
#define NATIF_RUNTIME_SELF_CHECK_H_

#include <cstdint>

#include "runtime/abi.h"
#include "runtime/python.h"

namespace natif::runtime {

// Rises whenever an outcome may have changed, so that what was derived from outcomes is derived again.
uint64_t rules_version();

// The bits of natif_call.rules for the module: bit i says that rule i gives TensorFlow's bits here.
uint64_t known_rules(const natif_module& module);

// Forces a rule's outcome (1 or 0), or lets the check decide again (-1). For tests.
void force_rule(const char* rule, int outcome);

// Adds self_check() and force_rule() to the module. False: an error is set.
bool add_self_check(PyObject* module);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_SELF_CHECK_H_
