// runtime/call.h: one native call in progress: natif_call as the host sees it. It owns the tensors that the call makes, knows whether the
// GIL is held, and records the failure.
#ifndef NATIF_RUNTIME_CALL_H_
#define NATIF_RUNTIME_CALL_H_

#include "runtime/abi.h"
#include "runtime/bound_tensors.h"
#include "runtime/eager_context.h"
#include "runtime/failure.h"
#include "runtime/op_cache.h"
#include "runtime/thread_state.h"

namespace natif::runtime {

class Call : public natif_call {
 public:
  // `rules`, the field that the artifact reads, is 0 at first.
  Call(const TensorFlow& tf, const natif_module& module, ThreadState& thread);
  // Frees every tensor that was not handed over. Needs the GIL.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Joins the eager context; every host function that needs it does so by itself, and only then is an uninitialised context initialised.
  bool enter_context(EagerContext* known);
  bool ensure_context() { return ops_ != nullptr || enter_context(nullptr); }

  // The GIL may be released once and is taken back at the end, or for a moment by the host functions that need Python.
  void release_gil();
  void take_gil();
  bool holds_gil() const { return released_ == nullptr; }
  // Releases the GIL when the call has held it for longer than kLongCall.
  void release_gil_if_long();

  // A token for a tensor of this call.
  TensorObject* new_token();
  void free_token(TensorObject* token);

  natif_status fail_native(int error, int span, const char* text);
  natif_status fail_tensorflow(int code, int span, const char* op, const char* text);
  // Records the Python error that is set.
  natif_status fail_python();

  const TensorFlow& tf;
  const natif_module& module;
  ThreadState& thread;
  OpCache& ops() { return *ops_; }
  EagerContext* context() const { return context_; }
  BoundTensors* bound = nullptr;  // of the function that is called
  Failure failure;
  enum class HandlesSignals { kUnknown, kYes, kNo } handles_signals = HandlesSignals::kUnknown;
  int64_t polled_at = 0;  // coarse_nanoseconds() of the last look at signals

 private:
  EagerContext* context_ = nullptr;
  OpCache* ops_ = nullptr;
  PyThreadState* released_ = nullptr;
  int64_t started_at_;
  TensorObject ring_;  // the head of the call's tensors
  Arena::Mark mark_;
};

// From here on a call is long: it does not keep the GIL. Nanoseconds.
inline constexpr int64_t kLongCall = 20'000;

// Monotonic time in nanoseconds: exact at about 20 ns a call, coarse (to a few milliseconds) at about 5 ns.
int64_t nanoseconds();
int64_t coarse_nanoseconds();

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_CALL_H_
