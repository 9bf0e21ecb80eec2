// runtime/machine_key.cpp: collecting the key. What cannot be read is left out, which only makes keys alike that the rest tells apart.
#include "runtime/machine_key.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "runtime/platform.h"

#if defined(__linux__)
#include <gnu/libc-version.h>
#else
extern char** environ;
#endif

namespace natif::runtime {
namespace {

// The first processor's lines of /proc/cpuinfo that name the model, its features and its microcode.
std::string cpu() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* name : {"model name", "stepping", "microcode", "flags", "Features", "CPU implementer", "CPU part", "CPU revision"}) {
      if (line.starts_with(name)) text += line + "\n";
    }
  }
  return text;
}

std::string file_stamp(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return "none";
#if defined(__APPLE__)
  const timespec& changed = info.st_mtimespec;
#else
  const timespec& changed = info.st_mtim;
#endif
  return std::to_string(info.st_size) + " " + std::to_string(changed.tv_sec) + "." + std::to_string(changed.tv_nsec);
}

// The wheel's version, and the stamp of its RECORD, which an installation writes anew. Hashing the RECORD would take longer than all else
// that a first call does.
std::string record(const std::filesystem::path& packages) {
  std::string text;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(packages, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("tensorflow") || !name.ends_with(".dist-info")) continue;
    text += name + " " + file_stamp(entry.path() / "RECORD") + "\n";
  }
  return text;
}

std::string environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("TF_") || text.starts_with("ONEDNN_") || text.starts_with("DNNL_")) variables.push_back(text);
  }
  std::ranges::sort(variables);
  std::string text;
  for (const std::string& variable : variables) text += variable + "\n";
  return text;
}

std::string libc_version() {
#if defined(__linux__)
  return gnu_get_libc_version();
#else
  return "the system's";
#endif
}

std::string own_build() {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(&machine_key), &info) != 0 ? file_stamp(info.dli_fname) : "none";
}

}  // namespace

uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::string machine_key(const std::string& tensorflow_root, int threads) {
  return cpu() + "library " + file_stamp(tensorflow_root + "/" + kPlatform.eager) + "\n" +
         record(std::filesystem::path(tensorflow_root).parent_path()) + "libc " + libc_version() + "\nthreads " + std::to_string(threads) +
         "\n" + environment() + "runtime " + own_build() + "\n";
}

}  // namespace natif::runtime
