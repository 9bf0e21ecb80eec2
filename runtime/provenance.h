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

  /// A part of the address space.
  struct Range {
    uintptr_t begin, end;
    bool holds(uintptr_t place) const { return place >= begin && place < end; }
  };

  /// Whether `address` lies in the image. Searches all loaded images the first time; later addresses are held against the segments of the
  /// one that was found.
  bool holds(const void* address);

 private:
  std::string path_;
  std::vector<Range> segments_;  // of the image; empty until found, and where the system does not list them
};

}  // namespace natif::runtime
