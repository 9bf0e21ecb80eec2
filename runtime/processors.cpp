// runtime/processors.cpp: the affinity mask, and the quotas that control groups set.
#include "runtime/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace natif::runtime {
namespace {

// A group's own quota in processors; infinity where it has none.
double quota_of(const std::string& group) {
  double quota = -1, period = 100000;  // microseconds in each so many
  std::string first;
  if (std::ifstream file(group + "/cpu.max"); file >> first >> period) {
    if (first != "max") quota = std::strtod(first.c_str(), nullptr);
  } else if (std::ifstream limit(group + "/cpu.cfs_quota_us"); limit >> quota) {
    std::ifstream(group + "/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

// The least quota of the group at `path` below `root` and of those around it, `root` included. A path may lead out of what is mounted
// here, as in a container; then only the root is looked at.
double least_quota(const std::string& root, std::string path) {
  double least = quota_of(root);
  if (path.find("..") != std::string::npos) return least;
  while (!path.empty() && path != "/") {
    least = std::min(least, quota_of(root + path));
    path.erase(path.rfind('/'));
  }
  return least;
}

}  // namespace

double control_group_quota(const std::string& mount, const std::string& membership) {
  double least = least_quota(mount, "/");
  std::ifstream groups(membership);
  // "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.size() == second + 1 || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) least = std::min(least, least_quota(mount, path));
    if (("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    for (const std::string& name : {std::string("cpu"), controllers}) least = std::min(least, least_quota(mount + "/" + name, path));
  }
  return least;
}

int available_threads() {
  int allowed = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) allowed = CPU_COUNT(&set);
#endif
  return std::max(1, static_cast<int>(std::min<double>(allowed, std::ceil(control_group_quota()))));
}

}  // namespace natif::runtime
