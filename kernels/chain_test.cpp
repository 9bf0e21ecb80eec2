// The chain of chain_example.h against the rules restated with scalars, at batch sizes around the kernels' block and tile heights.
#include "gtest/gtest.h"
#include "kernels/chain_example.h"
#include "kernels/reference.h"

namespace natif::kernels {
namespace {

struct Weights {
  reference::Values mean = reference::normal_values(32, 1), scale = reference::normal_values(32, 2),
                    w1 = reference::normal_values(32 * 64, 3), b1 = reference::normal_values(64, 4),
                    w2 = reference::normal_values(64 * 8, 5, .2f), b2 = reference::normal_values(8, 6);
  Weights() {
    for (float& s : scale) s = std::fabs(s) + .1f;
  }
};

class Chain : public ::testing::TestWithParam<int64_t> {};

TEST_P(Chain, GivesTheRulesBits) {
  const int64_t rows = GetParam();
  const Weights w;
  const reference::Values x = reference::normal_values(rows * 32, 7);

  reference::Values z(x.size());
  for (size_t i = 0; i < x.size(); ++i) z[i] = (x[i] - w.mean[i % 32]) / w.scale[i % 32];
  reference::Values h = reference::matmul(z, w.w1, rows, 32, 64);
  for (size_t i = 0; i < h.size(); ++i) h[i] = h[i] + w.b1[i % 64] > 0.f ? h[i] + w.b1[i % 64] : 0.f;
  reference::Values y = reference::matmul(h, w.w2, rows, 64, 8);
  for (size_t i = 0; i < y.size(); ++i) y[i] = y[i] + w.b2[i % 8];
  const reference::Values expected = reference::softmax(y, rows, 8);

  alignas(64) float scratch[kChainScratch];
  std::vector<int64_t> classes(static_cast<size_t>(rows)), classes_alone(classes);
  reference::Values probabilities(static_cast<size_t>(rows * 8));
  const ChainArguments arguments{x.data(), w.mean.data(), w.scale.data(), w.w1.data(), w.b1.data(), w.w2.data(), w.b2.data(), rows};
  ASSERT_TRUE(chain_example(arguments, classes.data(), probabilities.data(), scratch));
  ASSERT_TRUE(chain_example(arguments, classes_alone.data(), nullptr, scratch));

  reference::expect_same_bits(probabilities, expected, "probabilities");
  for (int64_t r = 0; r < rows; ++r) {
    EXPECT_EQ(classes[r], reference::argmax(expected.data() + r * 8, 8));
    EXPECT_EQ(classes_alone[r], classes[r]);
  }
}

INSTANTIATE_TEST_SUITE_P(Batches, Chain, ::testing::Values(0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 128, 1001));

TEST(Chain, LeavesRowsWithNaNToEager) {
  const Weights w;
  reference::Values x = reference::normal_values(20 * 32, 8);
  x[17 * 32 + 5] = std::nanf("");
  alignas(64) float scratch[kChainScratch];
  int64_t classes[20];
  EXPECT_FALSE(chain_example({x.data(), w.mean.data(), w.scale.data(), w.w1.data(), w.b1.data(), w.w2.data(), w.b2.data(), 20}, classes,
                             nullptr, scratch));
}

TEST(Chain, RestoresTheCallersFloatingPointState) {
  const Weights w;
  const reference::Values x = reference::normal_values(32, 9);
  alignas(64) float scratch[kChainScratch];
  int64_t classes[1];
  ASSERT_TRUE(chain_example({x.data(), w.mean.data(), w.scale.data(), w.w1.data(), w.b1.data(), w.w2.data(), w.b2.data(), 1}, classes,
                            nullptr, scratch));
  volatile float denormal = 1e-40f;
  EXPECT_NE(denormal * 1.f, 0.f);
}

}  // namespace
}  // namespace natif::kernels
