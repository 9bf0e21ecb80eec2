// The schedule of a kernel with control flow: which of its segments run, in order, with the numbers that each reads as elements. The launch
// records it once, since control flow depends on Python numbers only, and every block of rows follows it.
//
// Numbers are computed with the caller's floating-point state, as Python's are; the segments run with denormals flushed.
#pragma once

#include "kernels/artifact.h"
#include "kernels/vec.h"

namespace natif::kernels {
namespace {

class Schedule {
 public:
  // A longer one is left to the ops, one by one: 4 MB, at least 100 ms of work for each block of rows.
  static constexpr size_t kMostWords = size_t{1} << 20;

  explicit Schedule(const Session& session) : session_(session) {}
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  // One more segment to run; `work` as in cost.h, for one row. NATIF_DECLINED when there are too many, NATIF_FAILED without memory.
  template <class... Elements>
  natif_status add(uint32_t segment, int64_t work, Elements... elements) {
    constexpr size_t more = 1 + sizeof...(elements);
    if (capacity_ - size_ < more)
      if (const natif_status status = grow()) return status;
    words_[size_++] = segment;
    ((words_[size_++] = __builtin_bit_cast(uint32_t, static_cast<float>(elements))), ...);
    work_ += work;
    return NATIF_OK;
  }

  const uint32_t* begin() const { return words_; }
  const uint32_t* end() const { return words_ + size_; }
  // Of one row.
  int64_t work() const { return work_; }

  // To be asked between segments, on any thread: false when a signal handler of Python has raised, which ends the call.
  bool goes_on() {
    if (__atomic_load_n(&interrupted_, __ATOMIC_RELAXED)) return false;
    if (thread_ != this_thread()) return true;  // the host answers the thread of the call only
    const FloatControl::State own = FloatControl::read();
    FloatControl::write(callers_);
    const bool ok = session_.host->poll(session_.call) == NATIF_OK;
    FloatControl::write(own);
    if (!ok) __atomic_store_n(&interrupted_, true, __ATOMIC_RELAXED);
    return ok;
  }
  bool interrupted() const { return interrupted_; }

 private:
  // The thread pointer of the platform's ABI. The address of a thread_local would tell threads apart as well, but make artifacts need the
  // dynamic linker's library.
  static uintptr_t this_thread() {
    uintptr_t pointer;
#if defined(__x86_64__)
    asm volatile("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
    return pointer;
  }

  [[gnu::noinline]] natif_status grow() {
    if (capacity_ >= kMostWords) return NATIF_DECLINED;
    auto* const larger = static_cast<uint32_t*>(session_.host->scratch(session_.call, capacity_ * 4 * sizeof(uint32_t)));
    if (!larger) return NATIF_FAILED;
    __builtin_memcpy(larger, words_, size_ * sizeof(uint32_t));
    words_ = larger;
    capacity_ *= 4;
    return NATIF_OK;
  }

  const Session& session_;
  uintptr_t thread_ = this_thread();
  FloatControl::State callers_ = FloatControl::read();
  uint32_t local_[256];
  uint32_t* words_ = local_;
  size_t size_ = 0, capacity_ = sizeof local_ / sizeof *local_;
  int64_t work_ = 0;
  bool interrupted_ = false;
};

// Follows a schedule over one block of rows after another.
class ScheduleReader {
 public:
  explicit ScheduleReader(Schedule& schedule) : schedule_(schedule) {}

  void restart() { next_ = schedule_.begin(); }
  bool at_end() const { return next_ == schedule_.end(); }
  uint32_t segment() { return *next_++; }
  float element() { return __builtin_bit_cast(float, *next_++); }
  // False: the call has ended.
  bool goes_on() { return ++segments_ % 64 != 0 || schedule_.goes_on(); }

 private:
  Schedule& schedule_;
  const uint32_t* next_ = nullptr;
  uint32_t segments_ = 0;
};

[[maybe_unused]] inline void swap_buffers(float*& a, float*& b) {
  float* const held = a;
  a = b;
  b = held;
}

[[maybe_unused]] inline void copy_block(float* to, const float* from, int64_t count) {
  __builtin_memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace
}  // namespace natif::kernels
