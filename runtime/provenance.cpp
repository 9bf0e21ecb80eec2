// runtime/provenance.cpp: the segments of the loaded images.
#include "runtime/provenance.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#if defined(__linux__)
#include <link.h>
#endif

namespace natif::runtime {
namespace {

bool same_file(const char* left, const std::string& right) {
  char resolved_left[PATH_MAX], resolved_right[PATH_MAX];
  return realpath(left, resolved_left) != nullptr && realpath(right.c_str(), resolved_right) != nullptr &&
         strcmp(resolved_left, resolved_right) == 0;
}

#if defined(__linux__)
// The loaded image that an address lies in, by its segments. dladdr would say the same after a search through the image's whole symbol
// table, which takes milliseconds in TensorFlow's.
struct Search {
  uintptr_t place;
  std::string file;
  std::vector<Provenance::Range> segments;
};

int look_in_image(dl_phdr_info* image, size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  std::vector<Provenance::Range> segments;
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const uintptr_t begin = image->dlpi_addr + image->dlpi_phdr[i].p_vaddr;
    if (image->dlpi_phdr[i].p_type == PT_LOAD) segments.push_back({begin, begin + image->dlpi_phdr[i].p_memsz});
  }
  if (std::ranges::none_of(segments, [&](const Provenance::Range& segment) { return segment.holds(search.place); })) return 0;
  search.file = image->dlpi_name;
  search.segments = std::move(segments);
  return 1;
}
#endif

}  // namespace

bool Provenance::holds(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  if (!segments_.empty()) return std::ranges::any_of(segments_, [&](const Range& segment) { return segment.holds(place); });
#if defined(__linux__)
  Search search = {place, {}, {}};
  if (dl_iterate_phdr(look_in_image, &search) == 0 || !same_file(search.file.c_str(), path_)) return false;
  segments_ = std::move(search.segments);
  return true;
#else
  Dl_info info;
  return dladdr(address, &info) != 0 && same_file(info.dli_fname, path_);
#endif
}

}  // namespace natif::runtime
