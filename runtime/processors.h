// runtime/processors.h: how many processors this process may use.
#ifndef NATIF_RUNTIME_PROCESSORS_H_
#define NATIF_RUNTIME_PROCESSORS_H_

#include <string>

namespace natif::runtime {

// The processors that this process may use: its affinity mask, within its control groups' quota (rounded up), at least 1.
int available_threads();

// The quota of the control groups of this process in processors, the least of its own group's and those of the groups around it; infinity
// where none has one. `mount` is where they are mounted, version 2 (cpu.max) or version 1 (cpu.cfs_quota_us below cpu or cpu,cpuacct);
// `membership` is the kernel's list of the process's groups.
double control_group_quota(const std::string& mount = "/sys/fs/cgroup", const std::string& membership = "/proc/self/cgroup");

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_PROCESSORS_H_
