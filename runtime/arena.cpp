// runtime/arena.cpp: growing an arena and giving memory back.
#include "runtime/arena.h"

#include <algorithm>
#include <new>

namespace natif::runtime {
namespace {

constexpr size_t kFirstBlock = size_t{64} << 10;

}  // namespace

Arena::~Arena() {
  for (const Block& block : blocks_) ::operator delete(block.data, std::align_val_t(kAlignment));
}

void* Arena::allocate_in_next_block(size_t bytes) {
  size_t next = blocks_.empty() ? 0 : current_ + 1;
  while (next < blocks_.size() && blocks_[next].size < bytes) ++next;
  if (next >= blocks_.size()) {
    const size_t size = std::max({bytes, kFirstBlock, blocks_.empty() ? size_t{0} : std::min(2 * blocks_.back().size, kKept / 4)});
    void* data = ::operator new(size, std::align_val_t(kAlignment), std::nothrow);
    if (data == nullptr) return nullptr;
    blocks_.push_back({static_cast<std::byte*>(data), size});
    next = blocks_.size() - 1;
  }
  current_ = next;
  used_ = bytes;
  return blocks_[current_].data;
}

void Arena::release(Mark mark) {
  current_ = mark.block;
  used_ = mark.used;
  if (blocks_.size() <= 1 || current_ != 0) return;
  size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  for (; blocks_.size() > 1 && total > kKept; blocks_.pop_back()) {
    total -= blocks_.back().size;
    ::operator delete(blocks_.back().data, std::align_val_t(kAlignment));
  }
}

}  // namespace natif::runtime
