// runtime/cpu_level.h: which vector levels this CPU and operating system can run, by the names that artifacts use.
#ifndef NATIF_RUNTIME_CPU_LEVEL_H_
#define NATIF_RUNTIME_CPU_LEVEL_H_

#include <string_view>

namespace natif::runtime {

// Whether code of this level runs here: "x86-64-v2", "x86-64-v3", "x86-64-v4" (the psABI's microarchitecture levels) or "aarch64".
// "native" is what the machine that built the code runs; whoever keeps such an artifact (the cache, by its key) keeps it to that machine.
// False for a name that is not known.
bool cpu_has_level(std::string_view level);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_CPU_LEVEL_H_
