// runtime/platform.h: what differs between the platforms that natif runs on: the machine's name in Python, and the names of the TensorFlow
// wheel's libraries below its package folder. The numeric dlopen flags are those of the platform's own <dlfcn.h>. Any other platform ends
// the build here. It includes nothing, so that a preprocessor can be asked for every profile.
#ifndef NATIF_RUNTIME_PLATFORM_H_
#define NATIF_RUNTIME_PLATFORM_H_

namespace natif::runtime {

struct Platform {
  const char* name;
  const char* machine;            // as uname names it
  const char* eager;              // the library with TFE_*
  const char* framework;          // the library with TF_*
  const char* bridge_until_2_18;  // the library with the bridge to Python
  const char* bridge_from_2_19;
};

#if defined(__linux__) && __has_include(<gnu/libc-version.h>) && defined(__x86_64__) && !defined(__ILP32__)
inline constexpr Platform kPlatform = {
    "linux-x86_64",
    "x86_64",
    "libtensorflow_cc.so.2",
    "libtensorflow_framework.so.2",
    "python/_pywrap_tensorflow_internal.so",
    "python/lib_pywrap_tensorflow_common.so",
};
#elif defined(__linux__) && __has_include(<gnu/libc-version.h>) && defined(__aarch64__)
inline constexpr Platform kPlatform = {
    "linux-aarch64",
    "aarch64",
    "libtensorflow_cc.so.2",
    "libtensorflow_framework.so.2",
    "python/_pywrap_tensorflow_internal.so",
    "python/lib_pywrap_tensorflow_common.so",
};
#elif defined(__APPLE__) && defined(__aarch64__)
inline constexpr Platform kPlatform = {
    "macos-arm64",
    "arm64",
    "libtensorflow_cc.2.dylib",
    "libtensorflow_framework.2.dylib",
    "python/_pywrap_tensorflow_internal.so",
    "python/lib_pywrap_tensorflow_common.dylib",
};
#else
#error "natif runs on Linux with glibc on x86-64 and AArch64, and on macOS on ARM64"
#endif

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_PLATFORM_H_
