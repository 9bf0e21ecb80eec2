// src/ops/verify_test.cpp: nodes that their op's rule would not make are refused.
#include "ops/verify.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/parser.h"

namespace natif::ops {
namespace {

std::string fault(const std::string& body) {
  try {
    verify(ir::parse("func f(%x.0: f32[?,8], %y.1: f32[8,3], %z.2: f32[2,8,3], %i.3: i64[?]) -> () {" + body + " return()}"));
  } catch (const base::InternalError& error) {
    const std::string message = error.what();
    const size_t start = message.find(": ");
    return start == std::string::npos ? message : message.substr(start + 2, message.find(", in: ") - start - 2);
  }
  return "";
}

TEST(Verify, AcceptsWhatTheRulesMake) {
  EXPECT_EQ(fault("%4: f32[?,3] = MatMul(%x.0, %y.1, transpose_a=false, transpose_b=false)"), "");
  EXPECT_EQ(fault("%4: f32[2,?,3] = BatchMatMulV2(%x.0, %z.2, adj_x=false, adj_y=false)"), "");
  EXPECT_EQ(fault("%4: f32[8] = Sum(%x.0, axis=[0], keep_dims=false)"), "");
  EXPECT_EQ(fault("%4: f32[8,?] = Transpose(%x.0, perm=[1, 0])"), "");
  EXPECT_EQ(fault("%4: i64[?] = ArgMax(%x.0, axis=1, output_type=int64)"), "");
  EXPECT_EQ(fault("%4: f32[?,?] = Softmax(%x.0)"), "");
}

TEST(Verify, RefusesTheRest) {
  EXPECT_EQ(fault("%4: f32[?,3] = MatMul(%x.0, transpose_a=false, transpose_b=false)"), "a wrong number of operands");
  EXPECT_EQ(fault("%4: f32[?,4] = MatMul(%x.0, %y.1, transpose_a=false, transpose_b=false)"), "a result that is not f32[?,3]");
  EXPECT_EQ(fault("%4: f32[?] = Relu(%x.0)"), "a result that is not f32[?,8]");
  EXPECT_EQ(fault("%4: i64[?] = Relu(%i.3)"), "an op that its rule refuses (NTF-RELU-1)");
  EXPECT_EQ(fault("%4: f32[?] = Sum(%x.0, axis=[2], keep_dims=false)"), "an op that its rule refuses (NTF-REDUCE-3)");
  EXPECT_EQ(fault("%4: f32[?] = Sum(%x.0, axis=[-1], keep_dims=false)"), "attributes that its rule does not give");
  EXPECT_EQ(fault("%4: f32[?,3] = MatMul(%x.0, %y.1)"), "attributes that its rule does not give");
  EXPECT_EQ(fault("%4: f32[?,8] = Relu(%x.0, alpha=1)"), "attributes that its rule does not give");
  EXPECT_EQ(fault("%4: f32[?,8] = Selu(%x.0)"), "a node with an op that is not registered");
}

}  // namespace
}  // namespace natif::ops
