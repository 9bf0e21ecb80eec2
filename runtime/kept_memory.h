// runtime/kept_memory.h: what an artifact made once of the tensors that a function has bound, such as packed weights: natif_host.keep.
#ifndef NATIF_RUNTIME_KEPT_MEMORY_H_
#define NATIF_RUNTIME_KEPT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace natif::runtime {

// One function's memories, by slot. For any thread, with or without the GIL.
class KeptMemory {
 public:
  using Fill = void (*)(void* memory, const void* context);

  // Aligned to 64 bytes and written by `fill`, once, before this returns; null when the system has no memory for it.
  const void* get(int32_t slot, size_t bytes, Fill fill, const void* context);

 private:
  struct Free {
    void operator()(void* memory) const;
  };

  std::mutex mutex_;
  std::map<int32_t, std::unique_ptr<void, Free>> memories_;
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_KEPT_MEMORY_H_
