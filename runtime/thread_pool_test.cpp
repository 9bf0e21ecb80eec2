// runtime/thread_pool_test.cpp: every item once, ranges of at least the grain, the caller's floating-point state, many callers, and fork.
#include "runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <set>

namespace natif::runtime {
namespace {

struct Counts {
  std::vector<std::atomic<int>> items;
  std::atomic<int64_t> shortest{INT64_MAX};
  std::mutex mutex;
  std::set<void*> scratches;
  int64_t count;
  explicit Counts(int64_t n) : items(static_cast<size_t>(n)), count(n) {}
};

void count_items(void* context, int64_t begin, int64_t end, void* scratch) {
  auto& counts = *static_cast<Counts*>(context);
  memset(scratch, 1, 100);
  for (int64_t i = begin; i < end; ++i) ++counts.items[static_cast<size_t>(i)];
  if (end != counts.count && end - begin < counts.shortest) counts.shortest = end - begin;
  std::lock_guard lock(counts.mutex);
  counts.scratches.insert(scratch);
}

TEST(ThreadPool, DoesEveryItemOnce) {
  Arena arena;
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t count : {0, 1, 7, 100, 1001}) {
      for (const int64_t grain : {1, 10, 5000}) {
        Counts counts(count);
        EXPECT_TRUE(pool.run(count, grain, count_items, &counts, 100, arena));
        for (const auto& item : counts.items) ASSERT_EQ(item, 1);
        EXPECT_GE(counts.shortest, grain);
        EXPECT_LE(counts.scratches.size(), static_cast<size_t>(threads));
      }
    }
  }
}

TEST(ThreadPool, WorkersTakeTheCallersFloatState) {
#if defined(__x86_64__)
  ThreadPool pool(3);
  Arena arena;
  const unsigned before = _mm_getcsr();
  for (const unsigned bits : {0u, 0x8040u}) {
    _mm_setcsr((before & ~0x8040u) | bits);
    std::atomic<int> wrong{0};
    struct Context {
      unsigned bits;
      std::atomic<int>* wrong;
    } context{bits, &wrong};
    pool.run(
        64, 1,
        [](void* raw, int64_t, int64_t, void*) {
          const auto& expected = *static_cast<Context*>(raw);
          if ((_mm_getcsr() & 0x8040u) != expected.bits) ++*expected.wrong;
          usleep(100);
        },
        &context, 0, arena);
    EXPECT_EQ(wrong, 0);
  }
  _mm_setcsr(before);
#else
  GTEST_SKIP() << "reads the x86 control register";
#endif
}

TEST(ThreadPool, ManyCallersAtOnce) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      Arena arena;
      for (int round = 0; round < 50; ++round) {
        Counts counts(97);
        pool.run(97, 1, count_items, &counts, 100, arena);
        for (const auto& item : counts.items) wrong += item != 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ManyCallersGetNoMoreThreads) {
  constexpr int kThreads = 3, kCallers = 6;
  struct Context {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    int inside = 0, most = 0;
  } context;
  ThreadPool pool(kThreads);
  std::vector<std::thread> callers;
  for (int t = 0; t < kCallers; ++t) {
    callers.emplace_back([&] {
      Arena arena;
      const auto body = [](void* raw, int64_t, int64_t, void*) {
        auto& seen = *static_cast<Context*>(raw);
        {
          std::lock_guard lock(seen.mutex);
          seen.threads.insert(std::this_thread::get_id());
          seen.most = std::max(seen.most, ++seen.inside);
        }
        usleep(200);
        std::lock_guard lock(seen.mutex);
        --seen.inside;
      };
      for (int round = 0; round < 20; ++round) pool.run(40, 1, body, &context, 0, arena);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(context.threads.size(), size_t{kCallers + kThreads - 1});
  EXPECT_LE(context.most, kCallers + kThreads - 1);
}

TEST(ThreadPool, LongRangesBeginAtWholeCacheLines) {
  ThreadPool pool(2);
  Arena arena;
  for (const int64_t count : {1000, 12'345, 100'000}) {
    std::atomic<int> crooked{0};
    pool.run(
        count, 10, [](void* wrong, int64_t begin, int64_t, void*) { *static_cast<std::atomic<int>*>(wrong) += begin % 16 != 0; }, &crooked,
        0, arena);
    EXPECT_EQ(crooked, 0);
  }
}

TEST(ThreadPool, SaysWhenThereIsNoScratch) {
  ThreadPool pool(2);
  Arena arena;
  Counts counts(4);
  EXPECT_FALSE(pool.run(4, 1, count_items, &counts, SIZE_MAX, arena));
}

#if !defined(__SANITIZE_THREAD__)  // the thread sanitizer does not follow threads through a fork
TEST(ProcessPool, IsMadeAgainInAForkedChild) {
  set_pool_threads(2);
  Arena arena;
  Counts warm(100);
  process_pool().run(100, 1, count_items, &warm, 100, arena);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    Counts counts(1000);
    const bool done = process_pool().run(1000, 1, count_items, &counts, 100, arena);
    bool all = done && process_pool().threads() == 2;
    for (const auto& item : counts.items) all = all && item == 1;
    _exit(all ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace natif::runtime
