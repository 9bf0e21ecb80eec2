// Symbols of the C++ library lie in it and nowhere else. (The C library's are no example: sanitizers interpose them.)
#include "runtime/provenance.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace natif::runtime {
namespace {

int local_variable;

void* symbol(const char* name) { return dlsym(dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD), name); }

TEST(Provenance, HoldsTheSymbolsOfTheImageAndNoOthers) {
  Dl_info info;
  ASSERT_NE(dladdr(symbol("_ZNSt6localeC1Ev"), &info), 0);
  Provenance library(info.dli_fname);
  EXPECT_FALSE(library.holds(&local_variable));
  EXPECT_TRUE(library.holds(symbol("_ZNSt6localeC1Ev")));
  EXPECT_TRUE(library.holds(symbol("_ZSt4cout")));
  EXPECT_FALSE(library.holds(&local_variable));
  EXPECT_FALSE(library.holds(nullptr));
}

TEST(Provenance, RefusesAnotherFile) {
  Provenance other("/dev/null");
  EXPECT_FALSE(other.holds(symbol("_ZNSt6localeC1Ev")));
}

}  // namespace
}  // namespace natif::runtime
