// What is kept: one memory a slot, filled once however many threads ask.
#include "runtime/kept_memory.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace natif::runtime {
namespace {

std::atomic<int> fills = 0;

void fill_with_number(void* memory, const void* number) {
  ++fills;
  *static_cast<int*>(memory) = *static_cast<const int*>(number);
}

TEST(KeptMemory, IsFilledOnceForEachSlot) {
  KeptMemory memory;
  fills = 0;
  const int numbers[] = {3, 4, 5};
  const void* first = memory.get(7, sizeof(int), fill_with_number, &numbers[0]);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(memory.get(7, sizeof(int), fill_with_number, &numbers[1]), first);
  EXPECT_EQ(*static_cast<const int*>(first), 3);
  EXPECT_EQ(*static_cast<const int*>(memory.get(8, sizeof(int), fill_with_number, &numbers[2])), 5);
  EXPECT_EQ(fills, 2);
}

TEST(KeptMemory, ThreadsShareIt) {
  KeptMemory memory;
  fills = 0;
  const int number = 11;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { right += *static_cast<const int*>(memory.get(0, sizeof(int), fill_with_number, &number)) == 11; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fills, 1);
  EXPECT_EQ(right, 8);
}

TEST(KeptMemory, SaysWhenThereIsNone) {
  KeptMemory memory;
  fills = 0;
  const int number = 1;
  EXPECT_EQ(memory.get(0, SIZE_MAX / 2, fill_with_number, &number), nullptr);
  EXPECT_EQ(fills, 0);
}

}  // namespace
}  // namespace natif::runtime
