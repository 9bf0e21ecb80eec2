// kernels/schedule_test.cpp: what was recorded is read again, over any number of blocks and beyond the memory it began with; and how a
// schedule ends early.
#include "kernels/schedule.h"

#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace natif::kernels {
namespace {

// A host with memory and signals of the test's own.
struct Host {
  natif_host table{};
  natif_call call{};
  Session session{&table, &call};

  static inline std::vector<std::unique_ptr<unsigned char[]>> pieces;
  static inline bool has_memory;
  static inline natif_status signals;
  static inline int polls;

  Host() {
    pieces.clear();
    has_memory = true;
    signals = NATIF_OK;
    polls = 0;
    table.scratch = [](natif_call*, size_t bytes) -> void* {
      if (!has_memory) return nullptr;
      pieces.push_back(std::make_unique<unsigned char[]>(bytes));
      return pieces.back().get();
    };
    table.poll = [](natif_call*) {
      ++polls;
      return signals;
    };
  }
};

TEST(Schedule, IsReadAgainForEachBlock) {
  const Host host;
  for (const uint32_t count : {0, 1, 100, 255, 256, 257, 5000}) {
    Schedule schedule(host.session);
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(i % 2 ? schedule.add(7, 3, static_cast<float>(i), -0.5f) : schedule.add(i, 2), NATIF_OK);
    EXPECT_EQ(schedule.work(), count / 2 * 3 + (count + 1) / 2 * 2);
    ScheduleReader reader(schedule);
    for (int block = 0; block < 3; ++block) {
      reader.restart();
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_FALSE(reader.at_end());
        ASSERT_EQ(reader.segment(), i % 2 ? 7 : i);
        if (i % 2 == 0) continue;
        ASSERT_EQ(reader.element(), static_cast<float>(i));
        ASSERT_EQ(reader.element(), -0.5f);
      }
      ASSERT_TRUE(reader.at_end());
    }
  }
}

TEST(Schedule, NeedsNoMemoryOfTheHostWhileShort) {
  const Host host;
  Schedule schedule(host.session);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(schedule.add(1, 1), NATIF_OK);
  EXPECT_TRUE(Host::pieces.empty());
}

TEST(Schedule, DeclinesPastItsLimit) {
  const Host host;
  Schedule schedule(host.session);
  for (size_t i = 0; i < Schedule::kMostWords; ++i) ASSERT_EQ(schedule.add(1, 1), NATIF_OK);
  EXPECT_EQ(schedule.add(1, 1), NATIF_DECLINED);
  EXPECT_EQ(schedule.end() - schedule.begin(), static_cast<int64_t>(Schedule::kMostWords));
}

TEST(Schedule, FailsWithoutMemory) {
  const Host host;
  Schedule schedule(host.session);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(schedule.add(1, 1), NATIF_OK);
  Host::has_memory = false;
  EXPECT_EQ(schedule.add(1, 1), NATIF_FAILED);
}

TEST(Schedule, EndsOnEveryThreadWhenASignalHandlerHasRaised) {
  const Host host;
  Schedule schedule(host.session);
  ScheduleReader reader(schedule);
  const auto runs = [](ScheduleReader& on) {
    for (int i = 0; i < 1000; ++i)
      if (!on.goes_on()) return false;
    return true;
  };
  EXPECT_TRUE(runs(reader));
  EXPECT_GT(Host::polls, 0);
  EXPECT_FALSE(schedule.interrupted());
  const int before = Host::polls;
  Host::signals = NATIF_FAILED;
  bool goes_on = false;
  std::thread([&] {
    ScheduleReader other(schedule);
    goes_on = runs(other);
  }).join();
  EXPECT_TRUE(goes_on);  // the host may be asked on the call's own thread only
  EXPECT_EQ(Host::polls, before);
  EXPECT_FALSE(runs(reader));
  EXPECT_TRUE(schedule.interrupted());
  std::thread([&] {
    ScheduleReader other(schedule);
    goes_on = runs(other);
  }).join();
  EXPECT_FALSE(goes_on);
}

TEST(Schedule, AsksForSignalsInTheCallersFloatingPointState) {
  Host host;
  static FloatControl::State seen;
  host.table.poll = [](natif_call*) {
    seen = FloatControl::read();
    return NATIF_OK;
  };
  const FloatControl::State callers = FloatControl::read();
  Schedule schedule(host.session);
  const FlushDenormals flush;
  const FloatControl::State own = FloatControl::read();
  EXPECT_TRUE(schedule.goes_on());
  EXPECT_EQ(seen & FloatControl::kFlush, callers & FloatControl::kFlush);
  EXPECT_EQ(FloatControl::read() & FloatControl::kFlush, own & FloatControl::kFlush);
}

TEST(Buffers, AreSwappedAndCopied) {
  std::vector<float> a = {1, 2, 3}, b = {4, 5, 6};
  float *x = a.data(), *y = b.data();
  swap_buffers(x, y);
  EXPECT_EQ(x, b.data());
  EXPECT_EQ(y, a.data());
  copy_block(x, y, 2);
  EXPECT_EQ(b, (std::vector<float>{1, 2, 6}));
}

}  // namespace
}  // namespace natif::kernels
