// runtime/call.cpp: the life of a call.
#include "runtime/call.h"

#include <time.h>

namespace natif::runtime {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void free_tensor(const TensorFlowApi& api, TensorObject& token) {
  if (token.handle != nullptr) api.delete_handle(token.handle);
  if (token.tensor != nullptr) api.delete_tensor(token.tensor);
}

}  // namespace

int64_t nanoseconds() { return read_clock(CLOCK_MONOTONIC); }
int64_t coarse_nanoseconds() { return read_clock(CLOCK_MONOTONIC_COARSE); }

Call::Call(const TensorFlow& tensorflow, const natif_module& artifact, ThreadState& thread_state)
    : natif_call{0, nullptr},
      tf(tensorflow),
      module(artifact),
      thread(thread_state),
      started_at_(coarse_nanoseconds()),
      mark_(thread_state.arena.mark()) {
  ring_.previous = ring_.next = &ring_;
}

Call::~Call() {
  while (ring_.next != &ring_) free_token(ring_.next);
  thread.arena.release(mark_);
  if (context_ != nullptr) leave(*context_);
}

bool Call::enter_context(EagerContext* known) {
  const bool released = !holds_gil();
  if (released) take_gil();
  EagerContext* context = known != nullptr ? known : acquire_context(tf);
  if (context == nullptr) {
    fail_python();
  } else {
    context_ = context;
    enter(*context);
    for (const auto& cache : context->op_caches) {
      if (&cache->module() == &module) ops_ = cache.get();
    }
    if (ops_ == nullptr) {
      context->op_caches.push_back(std::make_unique<OpCache>(tf.api, context->handle, module));
      ops_ = context->op_caches.back().get();
    }
  }
  if (released) release_gil();
  return ops_ != nullptr;
}

void Call::release_gil() { released_ = PyEval_SaveThread(); }

void Call::take_gil() { PyEval_RestoreThread(std::exchange(released_, nullptr)); }

void Call::release_gil_if_long() {
  // The coarse clock stands still within its tick, so a call that began in this tick counts as short.
  if (holds_gil() && coarse_nanoseconds() - started_at_ > kLongCall) release_gil();
}

TensorObject* Call::new_token() {
  TensorObject* token = thread.take_token();
  token->previous = &ring_;
  token->next = ring_.next;
  ring_.next->previous = token;
  ring_.next = token;
  return token;
}

void Call::free_token(TensorObject* token) {
  free_tensor(tf.api, *token);
  token->previous->next = token->next;
  token->next->previous = token->previous;
  thread.give_token(token);
}

natif_status Call::fail_native(int error, int span, const char* text) {
  failure = Failure{Failure::Kind::kNative, error, span, text, nullptr, Ref()};
  return NATIF_FAILED;
}

natif_status Call::fail_tensorflow(int code, int span, const char* op, const char* text) {
  failure = Failure{Failure::Kind::kTensorFlow, code, span, text, op, Ref()};
  return NATIF_FAILED;
}

natif_status Call::fail_python() {
  failure = Failure{Failure::Kind::kPython, 0, -1, {}, nullptr, take_error()};
  return NATIF_FAILED;
}

}  // namespace natif::runtime
