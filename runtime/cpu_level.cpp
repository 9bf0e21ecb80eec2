// runtime/cpu_level.cpp: the levels' features, as the x86-64 psABI lists them. The compiler's run-time check includes that the operating
// system saves the registers.
#include "runtime/cpu_level.h"

namespace natif::runtime {
namespace {

#if defined(__x86_64__)
bool has_v2() { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt"); }
bool has_v3() {
  return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

}  // namespace

bool cpu_has_level(std::string_view level) {
  if (level == "native") return true;
#if defined(__x86_64__)
  return (level == "x86-64-v2" && has_v2()) || (level == "x86-64-v3" && has_v3()) || (level == "x86-64-v4" && has_v4());
#else
  return level == "aarch64";
#endif
}

}  // namespace natif::runtime
