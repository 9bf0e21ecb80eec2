// runtime/provenance.h: whether an address that dlsym gave belongs to the image that it was looked up in, rather than to a library that
// interposes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace natif::runtime {

class Provenance {
 public:
  /// `path`: the image's file.
  explicit Provenance(std::string path) : path_(std::move(path)) {}

  /// Whether `address` lies in the image. Asks dladdr the first time, which searches the image's whole symbol table and takes milliseconds
  /// in TensorFlow's; later addresses are held against the segments of the image that it found.
  bool holds(const void* address);

 private:
  struct Range {
    uintptr_t begin, end;
  };

  std::string path_;
  std::vector<Range> segments_;  // of the image; empty until found, and where the system does not list them
};

}  // namespace natif::runtime
