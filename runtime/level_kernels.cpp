// runtime/level_kernels.cpp: the table of what levels/level_kernels.cpp was compiled into.
#include "runtime/level_kernels.h"

#include "runtime/cpu_level.h"

namespace natif::runtime {

#if defined(__x86_64__)
LevelKernels kernels_of_v2();
LevelKernels kernels_of_v3();
LevelKernels kernels_of_v4();
#else
LevelKernels kernels_of_aarch64();
#endif

const LevelKernels* level_kernels(std::string_view level) {
#if defined(__x86_64__)
  static const LevelKernels all[] = {kernels_of_v4(), kernels_of_v3(), kernels_of_v2()};
#else
  static const LevelKernels all[] = {kernels_of_aarch64()};
#endif
  for (const LevelKernels& kernels : all)
    if (level == kernels.level || (level == "native" && cpu_has_level(kernels.level))) return &kernels;
  return nullptr;
}

}  // namespace natif::runtime
