// runtime/free_list_test.cpp: an object is with one user at a time, and none is lost, also with many threads.
#include "runtime/free_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace natif::runtime {
namespace {

TEST(FreeList, IsEmptyAtFirst) {
  FreeList<int> list;
  EXPECT_EQ(list.take(), nullptr);
}

TEST(FreeList, GivesBackWhatItGot) {
  FreeList<int> list;
  int a = 1, b = 2;
  list.give(&a);
  list.give(&b);
  int* first = list.take();
  int* second = list.take();
  EXPECT_TRUE((first == &a && second == &b) || (first == &b && second == &a));
  EXPECT_EQ(list.take(), nullptr);
}

TEST(FreeList, SharedByThreads) {
  FreeList<int> list;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        int* object = list.take();
        if (object == nullptr) {
          object = new int(0);
          ++made;
        }
        ++*object;  // a data race if two threads hold it
        list.give(object);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int uses = 0, left = 0;
  list.clear([&](int* object) {
    uses += *object;
    ++left;
    delete object;
  });
  EXPECT_EQ(uses, 8000);
  EXPECT_EQ(left, made);
}

}  // namespace
}  // namespace natif::runtime
