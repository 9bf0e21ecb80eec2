// reduce_axes.h against the orders restated with scalars: all, columns of matrices, and both ends, with axes of length 1 between.
#include "kernels/reduce_axes.h"

#include "gtest/gtest.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

using Dims = std::vector<int64_t>;

struct Tensor {
  Dims dims;
  reference::Values x;
  explicit Tensor(Dims shape) : dims(std::move(shape)) {
    int64_t size = 1;
    for (int64_t n : dims) size *= n;
    x = reference::normal_values(size, 3);
  }
};

template <class Reduction>
reference::Values reduced(const Tensor& t, uint32_t axes, int64_t outputs) {
  reference::Values out(static_cast<size_t>(outputs));
  EXPECT_TRUE(reduce_axes<Reduction>(out.data(), t.dims.data(), static_cast<int>(t.dims.size()), axes, t.x.data()));
  return out;
}

TEST(ReduceAxes, JoinsAxesIntoRuns) {
  const int64_t dims[] = {1, 3, 1, 4, 5, 1, 2};
  const ReductionRuns runs = reduction_runs(dims, 7, 0b0011000);
  ASSERT_EQ(runs.count, 3);
  EXPECT_FALSE(runs.first_reduced);
  EXPECT_EQ(runs.lengths[0], 3);
  EXPECT_EQ(runs.lengths[1], 20);
  EXPECT_EQ(runs.lengths[2], 2);
}

TEST(ReduceAxes, MiddleTakesFourAccumulatorsInWholeGroupsOfOneRow) {
  for (int64_t outer : {1, 2, 5}) {
    for (int64_t m : {2, 15, 16, 19, 40}) {
      for (int64_t n : {1, 3, 8, 13, 21, 40}) {
        const Tensor t({outer, m, n});
        if (outer == 1 && n == 1) continue;  // all of a tensor
        if (n == 1) continue;                // rows
        reference::Values expected(static_cast<size_t>(outer * n));
        for (int64_t i = 0; i < outer * n; ++i) {
          const int64_t group = i & ~int64_t{7};
          const bool whole = group + 8 <= outer * n && group / n == (group + 7) / n;
          const auto at = [&](int64_t j) { return t.x[(i / n * m + j) * n + i % n]; };
          float acc[4] = {};
          int64_t j = 0;
          if (whole && m >= 16) {
            for (; j < m / 4 * 4; ++j) acc[j % 4] = acc[j % 4] + at(j);
            acc[0] = ((acc[0] + acc[1]) + acc[2]) + acc[3];
          }
          for (; j < m; ++j) acc[0] = acc[0] + at(j);
          expected[i] = acc[0];
        }
        reference::expect_same_bits(reduced<Sum>(t, 0b010, outer * n), expected,
                                    std::to_string(outer) + " " + std::to_string(m) + " " + std::to_string(n));
      }
    }
  }
}

TEST(ReduceAxes, EndsRunOverTheLastAxisOutside) {
  const Tensor t({5, 7, 9});
  reference::Values expected(7);
  for (int64_t k = 0; k < 7; ++k) {
    for (int64_t j = 0; j < 9; ++j)
      for (int64_t i = 0; i < 5; ++i) expected[k] = expected[k] + t.x[(i * 7 + k) * 9 + j];
    expected[k] = expected[k] / 45.f;
  }
  reference::expect_same_bits(reduced<Mean>(t, 0b101, 7), expected, "mean of both ends");
}

TEST(ReduceAxes, CopiesWhereNothingIsLeftToReduce) {
  Tensor t({3, 1, 4});
  t.x[5] = reference::from_bits(0x80000001);
  reference::expect_same_bits(reduced<Mean>(t, 0b010, 12), t.x, "an axis of one");
  reference::expect_same_bits(reduced<Max>(t, 0, 12), t.x, "no axes");
}

TEST(ReduceAxes, DeclinesWhatEagerSharesOrTurns) {
  const Tensor all({kSharedReduction + 1}), four({2, 3, 4, 5});
  float out[16];
  EXPECT_FALSE(reduce_axes<Sum>(out, all.dims.data(), 1, 1, all.x.data()));
  EXPECT_FALSE(reduce_axes<Sum>(out, four.dims.data(), 4, 0b0101, four.x.data()));
}

}  // namespace
}  // namespace natif::kernels
