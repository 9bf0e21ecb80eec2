// runtime/artifact_check.cpp: walks the tables of an artifact within the bounds of its image in memory.
#include "runtime/artifact_check.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace natif::runtime {
namespace {

// Where the object that holds an address is mapped.
class Image {
 public:
  explicit Image(const void* inside) : inside_(reinterpret_cast<uintptr_t>(inside)) {
    dl_iterate_phdr([](dl_phdr_info* info, size_t, void* self) { return static_cast<Image*>(self)->read(*info) ? 1 : 0; }, this);
  }

  // `count` elements at `first`; none may stand anywhere.
  template <class T>
  bool holds(const T* first, int64_t count) const {
    return count == 0 || (count > 0 && room(first) / sizeof(T) >= static_cast<uint64_t>(count));
  }

  bool holds_text(const char* text) const {
    const uint64_t bytes = room(text);
    return bytes > 0 && memchr(text, 0, bytes) != nullptr;
  }

 private:
  struct Range {
    uintptr_t begin, end;
  };

  bool read(const dl_phdr_info& info) {
    ranges_.clear();
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr) & header = info.dlpi_phdr[i];
      if (header.p_type == PT_LOAD && (header.p_flags & PF_R) != 0) {
        ranges_.push_back({info.dlpi_addr + header.p_vaddr, info.dlpi_addr + header.p_vaddr + header.p_memsz});
      }
    }
    return room(reinterpret_cast<const void*>(inside_)) > 0;
  }

  // The readable bytes from an address to the end of its segment.
  uint64_t room(const void* from) const {
    const auto address = reinterpret_cast<uintptr_t>(from);
    for (const Range& range : ranges_) {
      if (address >= range.begin && address < range.end) return range.end - address;
    }
    return 0;
  }

  uintptr_t inside_;
  std::vector<Range> ranges_;
};

template <class T, class Check>
bool each(const Image& image, const T* items, int64_t count, Check check) {
  return image.holds(items, count) && (count == 0 || std::all_of(items, items + count, check));
}

bool is_rank(int32_t rank) { return rank >= 0 && rank <= NATIF_MAX_RANK; }

bool value_is_sound(const Image& image, const natif_value_type& value) {
  if (!image.holds_text(value.name)) return false;
  return value.kind != NATIF_TENSOR || (is_rank(value.rank) && (value.dims == nullptr || image.holds(value.dims, value.rank)));
}

bool function_is_sound(const Image& image, const natif_function& function, int32_t levels) {
  const auto sound = [&](const natif_value_type& value) { return value_is_sound(image, value); };
  return image.holds_text(function.name) && image.holds(function.entries, levels) &&
         each(image, function.parameters, function.parameter_count, sound) && each(image, function.results, function.result_count, sound) &&
         std::all_of(function.entries, function.entries + levels,
                     [&](natif_entry entry) { return entry == nullptr || image.holds(reinterpret_cast<const char*>(entry), 1); });
}

bool attribute_is_sound(const Image& image, const natif_attribute& attribute) {
  if (!image.holds_text(attribute.name)) return false;
  if (attribute.type == NATIF_ATTRIBUTE_STRING) return image.holds_text(attribute.text);
  return attribute.type != NATIF_ATTRIBUTE_INTS || image.holds(attribute.list, attribute.integer);
}

int64_t element_bytes(int32_t dtype) { return dtype == NATIF_BOOL ? 1 : dtype == NATIF_FLOAT32 || dtype == NATIF_INT32 ? 4 : 8; }

bool constant_is_sound(const Image& image, const natif_constant& constant) {
  if (!is_rank(constant.rank) || !image.holds(constant.dims, constant.rank)) return false;
  int64_t bytes = element_bytes(constant.dtype);
  for (int i = 0; i < constant.rank; ++i) {
    if (constant.dims[i] < 0 || __builtin_mul_overflow(bytes, constant.dims[i], &bytes)) return false;
  }
  return image.holds(static_cast<const char*>(constant.data), bytes);
}

}  // namespace

bool tables_are_sound(const natif_module& module) {
  const Image image(&module);
  const auto text = [&](const char* name) { return image.holds_text(name); };
  return image.holds(&module, 1) && module.struct_size >= sizeof(natif_module) && module.rule_count <= 64 &&
         image.holds_text(module.name) && image.holds_text(module.source_file) && each(image, module.levels, module.level_count, text) &&
         each(image, module.rules, module.rule_count, text) && image.holds(module.spans, module.span_count) &&
         each(image, module.functions, module.function_count,
              [&](const natif_function& function) { return function_is_sound(image, function, module.level_count); }) &&
         each(image, module.op_sites, module.op_site_count,
              [&](const natif_op_site& site) {
                return image.holds_text(site.op) &&
                       each(image, site.attributes, site.attribute_count,
                            [&](const natif_attribute& attribute) { return attribute_is_sound(image, attribute); });
              }) &&
         each(image, module.constants, module.constant_count,
              [&](const natif_constant& constant) { return constant_is_sound(image, constant); });
}

}  // namespace natif::runtime
