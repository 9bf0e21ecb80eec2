// runtime/arena.h: memory that is taken in small pieces and given back all at once. Each thread keeps one and reuses it for every call, so
// a call allocates nothing once the arena has grown. Calls may nest (a signal handler that calls a native function): each gives back only
// what it took, by a mark.
#ifndef NATIF_RUNTIME_ARENA_H_
#define NATIF_RUNTIME_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace natif::runtime {

class Arena {
 public:
  static constexpr size_t kAlignment = 64;
  // What a thread keeps for its next call, in bytes; larger blocks go back to the system.
  static constexpr size_t kKept = size_t{32} << 20;

  // No single piece is larger; a request beyond it is a mistake of the caller's.
  static constexpr size_t kLargest = size_t{1} << 39;

  struct Mark {
    size_t block, used;
  };

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // At least `bytes` bytes aligned to kAlignment; null when the system has no memory for it.
  void* allocate(size_t bytes);
  Mark mark() const { return {current_, used_}; }
  void release(Mark mark);

 private:
  struct Block {
    std::byte* data;
    size_t size;
  };

  void* allocate_in_next_block(size_t bytes);

  std::vector<Block> blocks_;
  size_t current_ = 0;  // the block that is being filled
  size_t used_ = 0;     // of that block
};

inline void* Arena::allocate(size_t bytes) {
  if (bytes > kLargest) return nullptr;
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (current_ < blocks_.size() && rounded <= blocks_[current_].size - used_) {
    void* memory = blocks_[current_].data + used_;
    used_ += rounded;
    return memory;
  }
  return allocate_in_next_block(rounded);
}

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_ARENA_H_
