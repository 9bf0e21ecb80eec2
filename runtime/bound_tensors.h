// runtime/bound_tensors.h: which of a function's parameters bind() captured, and what artifacts made of them.
#ifndef NATIF_RUNTIME_BOUND_TENSORS_H_
#define NATIF_RUNTIME_BOUND_TENSORS_H_

#include <vector>

#include "runtime/kept_memory.h"

namespace natif::runtime {

struct BoundTensors {
  std::vector<bool> bound;  // by parameter of the native function
  KeptMemory kept;

  bool is_bound(int32_t parameter) const {
    return parameter >= 0 && static_cast<size_t>(parameter) < bound.size() && bound[static_cast<size_t>(parameter)];
  }
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_BOUND_TENSORS_H_
