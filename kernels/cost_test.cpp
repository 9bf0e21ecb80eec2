// kernels/cost_test.cpp: what the cost model decides, at both sides of each threshold.
#include "kernels/cost.h"

#include <gtest/gtest.h>

namespace natif::kernels {
namespace {

TEST(ParallelGrain, SplitsFromTheWorkOfAHundredMicrosecondsOn) {
  for (const int64_t work : {1, 90, 1000, 12'345, 1'000'000, 30'000'000}) {
    const int64_t edge = kParallelWork / work;
    for (const int64_t block : {int64_t{8}, int64_t{64}, edge}) {
      EXPECT_EQ(parallel_grain(edge - 1, block, work), edge - 1);
      EXPECT_LT(parallel_grain(edge, block, work), edge);
    }
  }
  EXPECT_EQ(parallel_grain(1, 8, 10 * kParallelWork), 1);
  EXPECT_EQ(parallel_grain(1'000'000, 64, 0), 1'000'000);
}

TEST(ParallelGrain, PiecesAreWorthAStart) {
  for (const int64_t rows : {2, 7, 40, 64, 96, 500, 1024, 1'000'000}) {
    for (const int64_t block : {int64_t{1}, int64_t{8}, int64_t{64}, rows}) {
      for (const int64_t work : {200, 1000, 50'000, 1'000'000, 90'000'000}) {
        const int64_t grain = parallel_grain(rows, block, work);
        if (grain == rows) continue;
        EXPECT_GE(grain * work, kPieceWork) << rows << ' ' << block << ' ' << work;
        EXPECT_GE(rows * work, kParallelWork - work);
        if (rows >= 4 * block) {
          EXPECT_EQ(grain % block, 0);
        } else {
          EXPECT_GE(grain, rows < 32 ? rows / 2 : 16);
        }
      }
    }
  }
}

TEST(ParallelGrain, ALoopInOneBlockIsSplitToo) {
  EXPECT_EQ(parallel_grain(1'000'000, 1'000'000, 300), 100'016);
  EXPECT_EQ(parallel_grain(64, 64, 5'000'000), 16);
  EXPECT_EQ(parallel_grain(8, 8, 36'000'000), 4);
}

TEST(Products, LargeOnesAreLeftToTensorFlow) {
  for (const int64_t rows : {1, 31}) {
    EXPECT_FALSE(is_large_product(rows, 600, 999));
    EXPECT_TRUE(is_large_product(rows, 600, 1000));
    EXPECT_TRUE(is_large_product(rows, 1, 600'000));
  }
  for (const int64_t rows : {32, 1000}) {
    EXPECT_FALSE(is_large_product(rows, 600, 749));
    EXPECT_TRUE(is_large_product(rows, 600, 750));
  }
}

TEST(Products, PackedOnesStayLonger) {
  EXPECT_FALSE(is_large_packed_product(600, 999));
  EXPECT_TRUE(is_large_packed_product(600, 1000));
}

TEST(Reductions, OneRowOfMoreThanEightThousandIsShared) {
  EXPECT_FALSE(is_shared_reduction(1, 8192));
  EXPECT_TRUE(is_shared_reduction(1, 8193));
  EXPECT_FALSE(is_shared_reduction(2, 8193));
}

TEST(Blocks, HoldIntermediatesInTheCache) {
  EXPECT_EQ(block_rows(1000, 256, 24 << 10), 32);
  EXPECT_EQ(block_rows(1000, 256, (24 << 10) + 1), 64);
  EXPECT_EQ(block_rows(5, 256, 0), 5);
  EXPECT_EQ(block_rows(1000, 2048, 1 << 20), 64);
  EXPECT_EQ(block_rows(1000, 2049, 1 << 20), 56);
  EXPECT_EQ(block_rows(1000, 16 << 10, 1 << 20), 8);
  EXPECT_EQ(block_rows(1000, 1 << 20, 1 << 20), 8);
  EXPECT_EQ(block_elements(1'000'000, 0), 1'000'000);
  EXPECT_EQ(block_elements(1'000'000, 1), 2048);
  EXPECT_EQ(block_elements(100, 3), 100);
}

}  // namespace
}  // namespace natif::kernels
