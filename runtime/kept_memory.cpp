// runtime/kept_memory.cpp: see kept_memory.h.
#include "runtime/kept_memory.h"

#include <cstdlib>

#include "runtime/arena.h"

namespace natif::runtime {

void KeptMemory::Free::operator()(void* memory) const { std::free(memory); }

const void* KeptMemory::get(int32_t slot, size_t bytes, Fill fill, const void* context) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<void, Free>& memory = memories_[slot];
  if (memory == nullptr) {
    constexpr size_t alignment = 64;
    if (bytes > Arena::kLargest) return nullptr;
    memory.reset(std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment));
    if (memory != nullptr) fill(memory.get(), context);
  }
  return memory.get();
}

}  // namespace natif::runtime
