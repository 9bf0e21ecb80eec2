// runtime/processors_test.cpp: quotas of both versions of control groups, in folders like the kernel's.
#include "runtime/processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

namespace natif::runtime {
namespace {

class ControlGroups : public ::testing::Test {
 protected:
  ~ControlGroups() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  double quota() { return control_group_quota(folder_ / "mount", folder_ / "membership"); }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("natif-groups-" + std::to_string(getpid()));
};

TEST_F(ControlGroups, NoneIsNoLimit) {
  EXPECT_EQ(quota(), INFINITY);
  write("membership", "0::/\n");
  write("mount/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), INFINITY);
}

TEST_F(ControlGroups, TheRootOfAContainer) {
  write("membership", "0::/\n");
  write("mount/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(ControlGroups, TheLeastOfTheGroupsAround) {
  write("membership", "0::/user.slice/job.scope\n");
  write("mount/user.slice/cpu.max", "300000 100000\n");
  write("mount/user.slice/job.scope/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 3);
  write("mount/user.slice/job.scope/cpu.max", "50000 50000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(ControlGroups, VersionOne) {
  write("membership", "5:memory:/job\n4:cpu,cpuacct:/job\n");
  write("mount/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), INFINITY);
  write("mount/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n");
  write("mount/cpu,cpuacct/job/cpu.cfs_period_us", "80000\n");
  write("mount/memory/job/cpu.cfs_quota_us", "1000\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(ControlGroups, WhatIsNoQuotaIsNoLimit) {
  write("membership", "0::/../other\nno line of the kernel's\n0:\n");
  write("mount/cpu.max", "many 100000\n");
  EXPECT_EQ(quota(), INFINITY);
  write("mount/cpu.max", "100000 0\n");
  EXPECT_EQ(quota(), INFINITY);
}

TEST(AvailableThreads, AreThoseOfTheAffinityMask) {
  EXPECT_GE(available_threads(), 1);
  EXPECT_LE(available_threads(), static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
  std::thread([] {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(available_threads(), 1);
  }).join();
}

}  // namespace
}  // namespace natif::runtime
