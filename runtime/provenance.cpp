// runtime/provenance.cpp: dladdr, and the segments of a loaded image.
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

}  // namespace

bool Provenance::holds(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  const auto holds_place = [place](const Range& range) { return place >= range.begin && place < range.end; };
  if (!segments_.empty()) return std::ranges::any_of(segments_, holds_place);
  Dl_info info;
  if (dladdr(address, &info) == 0 || !same_file(info.dli_fname, path_)) return false;
#if defined(__linux__)
  struct Search {
    uintptr_t base;
    std::vector<Range>& segments;
  } search = {reinterpret_cast<uintptr_t>(info.dli_fbase), segments_};
  const auto take_image_at_base = [](dl_phdr_info* image, size_t, void* context) {
    auto& [base, segments] = *static_cast<Search*>(context);
    std::vector<Range> ranges;
    for (int i = 0; i < image->dlpi_phnum; ++i) {
      const uintptr_t begin = image->dlpi_addr + image->dlpi_phdr[i].p_vaddr;
      if (image->dlpi_phdr[i].p_type == PT_LOAD) ranges.push_back({begin, begin + image->dlpi_phdr[i].p_memsz});
    }
    const bool found = std::ranges::any_of(ranges, [&](const Range& range) { return base >= range.begin && base < range.end; });
    if (found) segments = std::move(ranges);
    return found ? 1 : 0;
  };
  dl_iterate_phdr(take_image_at_base, &search);
#endif
  return true;
}

}  // namespace natif::runtime
