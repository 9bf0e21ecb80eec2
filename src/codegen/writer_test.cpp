// The checked writer: nothing of a user's source becomes code, and what is printed is well formed.
#include "codegen/writer.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "gtest/gtest.h"

namespace natif::codegen {
namespace {

std::string text(const Code& code) { return std::string(code.text()); }

TEST(Writer, NamesOfTheSourceBecomePlainIdentifiers) {
  EXPECT_EQ(text(identifier("v", 12, "hidden")), "v12_hidden");
  EXPECT_EQ(text(identifier("v", 3)), "v3");
  EXPECT_EQ(text(identifier("v", 3, "h; system(\"x\");//")), "v3_h_system_x_");
  EXPECT_EQ(text(identifier("f", 0, "Model.<locals>.größe")), "f0_Model_locals_gr_e");
  EXPECT_LT(text(identifier("v", 1, std::string(10'000, 'a'))).size(), 60u);
}

TEST(Writer, StringsAreEscaped) {
  EXPECT_EQ(text(quoted("plain")), "\"plain\"");
  EXPECT_EQ(text(quoted("a\"b\\c\nd?")), "\"a\\\"b\\\\c\\012d\\?\"");
  EXPECT_EQ(text(quoted("\303\274"
                        "1")),
            "\"\\303\\2741\"");
}

TEST(Writer, CommentsStayOnTheirLine) {
  EXPECT_EQ(text(in_comment("a\\\nint x;")), "a__int x;");
  EXPECT_EQ(text(in_comment("*/ \x7f")), "*/ _");
}

TEST(Writer, NumbersKeepTheirBits) {
  EXPECT_EQ(text(number(std::numeric_limits<int64_t>::min())), "INT64_MIN");
  EXPECT_EQ(text(number(int64_t{-3})), "INT64_C(-3)");
  EXPECT_EQ(text(number(2.0)), "2.0");
  EXPECT_EQ(text(number(-0.0)), "-0.0");
  EXPECT_EQ(text(number(0.1f)), "0.100000001f");
  EXPECT_EQ(text(number(std::numeric_limits<double>::infinity())), "__builtin_inf()");
  EXPECT_EQ(text(number(-std::numeric_limits<float>::infinity())), "-__builtin_inff()");
  EXPECT_EQ(text(number(std::nan(""))), "__builtin_nan(\"\")");
  EXPECT_EQ(std::stod(text(number(0x1.fffffffffffffp-3))), 0x1.fffffffffffffp-3);
}

TEST(Writer, PatternsAreChecked) {
  EXPECT_EQ(text(code("$ = $;", Code("x"), 3)), "x = 3;");
  EXPECT_THROW(code("$ = $;", Code("x")), base::InternalError);
  EXPECT_THROW(code("x", 1), base::InternalError);
  EXPECT_THROW(trusted_name("a b"), base::InternalError);
}

TEST(Writer, BracesMatch) {
  Writer w;
  w.line("if (x) {");
  w.line("y();");
  w.close(" else {");
  w.close();
  EXPECT_EQ(w.finish(), "if (x) {\n  y();\n} else {\n}\n");
  Writer open;
  open.line("{");
  EXPECT_THROW(open.finish(), base::InternalError);
  EXPECT_THROW(Writer().close(), base::InternalError);
  EXPECT_THROW(Writer().line("a\nb"), base::InternalError);
}

}  // namespace
}  // namespace natif::codegen
