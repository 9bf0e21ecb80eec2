// runtime/level_kernels.h: natif's own kernels inside the runtime, at each vector level of the architecture.
#ifndef NATIF_RUNTIME_LEVEL_KERNELS_H_
#define NATIF_RUNTIME_LEVEL_KERNELS_H_

#include <string_view>

#include "runtime/levels/level_kernels.h"

namespace natif::runtime {

// Those of a level, as artifacts name it; code for "native" uses the widest vectors that its machine has, so it stands for the highest
// level that runs here. Null for a name that is not known.
const LevelKernels* level_kernels(std::string_view level);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_LEVEL_KERNELS_H_
