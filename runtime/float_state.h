// runtime/float_state.h: the thread's floating-point control register (MXCSR or FPCR): rounding, flush-to-zero, denormals-are-zero and
// masks. Kernels set FTZ and DAZ for their loops; the runtime carries the caller's state into worker threads and puts it back after a call.
#ifndef NATIF_RUNTIME_FLOAT_STATE_H_
#define NATIF_RUNTIME_FLOAT_STATE_H_

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace natif::runtime {

class FloatState {
 public:
  static FloatState of_thread() {
#if defined(__x86_64__)
    return FloatState(_mm_getcsr());
#else
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return FloatState(value);
#endif
  }

  // Sets this state unless the thread has it already: writing the register is slow.
  void restore() const {
    if (of_thread().control() == control()) return;
#if defined(__x86_64__)
    _mm_setcsr(static_cast<uint32_t>(value_));
#else
    __asm__ volatile("msr fpcr, %0" : : "r"(value_));
#endif
  }

 private:
  explicit FloatState(uint64_t value) : value_(value) {}

  uint64_t control() const {
#if defined(__x86_64__)
    return value_ & ~uint64_t{0x3f};  // the low six bits record exceptions, they control nothing
#else
    return value_;
#endif
  }

  uint64_t value_;
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_FLOAT_STATE_H_
