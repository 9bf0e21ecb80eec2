// Symbols of the C library lie in it and nowhere else.
#include "runtime/provenance.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace natif::runtime {
namespace {

int local_variable;

TEST(Provenance, HoldsTheSymbolsOfTheImageAndNoOthers) {
  Dl_info info;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "malloc_usable_size"), &info), 0);
  Provenance libc(info.dli_fname);
  EXPECT_FALSE(libc.holds(&local_variable));
  EXPECT_TRUE(libc.holds(dlsym(RTLD_DEFAULT, "getenv")));
  EXPECT_TRUE(libc.holds(dlsym(RTLD_DEFAULT, "strtol")));
  EXPECT_FALSE(libc.holds(&local_variable));
  EXPECT_FALSE(libc.holds(nullptr));
}

TEST(Provenance, RefusesAnotherFile) {
  Provenance other("/dev/null");
  EXPECT_FALSE(other.holds(dlsym(RTLD_DEFAULT, "getenv")));
}

}  // namespace
}  // namespace natif::runtime
