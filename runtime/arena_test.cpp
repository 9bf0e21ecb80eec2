// runtime/arena_test.cpp: alignment, reuse, nesting and what an arena keeps.
#include "runtime/arena.h"

#include <gtest/gtest.h>

#include <cstring>

namespace natif::runtime {
namespace {

TEST(Arena, GivesAlignedPiecesThatDoNotOverlap) {
  Arena arena;
  std::byte* before = nullptr;
  for (size_t size = 0; size < 300; ++size) {
    auto* memory = static_cast<std::byte*>(arena.allocate(size));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % Arena::kAlignment, 0u);
    memset(memory, static_cast<int>(size), size);
    if (before != nullptr && size > 1) {
      EXPECT_EQ(before[size - 2], static_cast<std::byte>(size - 1));
    }
    before = memory;
  }
}

TEST(Arena, ReusesWhatWasReleased) {
  Arena arena;
  const Arena::Mark mark = arena.mark();
  void* first = arena.allocate(1000);
  arena.allocate(1 << 20);
  arena.release(mark);
  EXPECT_EQ(arena.allocate(500), first);
}

TEST(Arena, InnerReleaseKeepsOuterPieces) {
  Arena arena;
  auto* outer = static_cast<char*>(arena.allocate(64));
  memset(outer, 7, 64);
  for (int i = 0; i < 10; ++i) {
    const Arena::Mark mark = arena.mark();
    memset(arena.allocate(size_t{100'000} << i), 9, size_t{100'000} << i);
    arena.release(mark);
  }
  for (int i = 0; i < 64; ++i) EXPECT_EQ(outer[i], 7);
}

TEST(Arena, AnswersNullForTheImpossible) {
  Arena arena;
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX / 2), nullptr);
  EXPECT_NE(arena.allocate(16), nullptr);
}

}  // namespace
}  // namespace natif::runtime
