// runtime/artifact_check.h: whether the tables of a loaded artifact can be read: every array and text that natif_module leads to lies
// inside the shared object that it came from. Damage that a hash has not caught, or an artifact that another program made, is an error
// then, and no crash.
#ifndef NATIF_RUNTIME_ARTIFACT_CHECK_H_
#define NATIF_RUNTIME_ARTIFACT_CHECK_H_

#include "runtime/abi.h"

namespace natif::runtime {

// The module's abi_version must be this host's. Looks at the tables, not at code.
bool tables_are_sound(const natif_module& module);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_ARTIFACT_CHECK_H_
