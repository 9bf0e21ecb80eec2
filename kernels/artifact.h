// What an emitted function needs of its host: tensors that are released by themselves, and the reporting of Python errors. No exceptions:
// every step answers a natif_status, and an emitted function hands on the first one that is not NATIF_OK.
#pragma once

#include "kernels/scalar.h"
#include "runtime/abi.h"

namespace natif::kernels {
namespace {

// The call in progress, as handed to the entry.
struct Session {
  const natif_host* host;
  natif_call* call;
};

// A reference to one tensor, or to none; released where it ends.
class Tensor {
 public:
  explicit Tensor(const Session& session) : session_(session) {}
  ~Tensor() { release(); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  operator const natif_tensor&() const { return view_; }
  const natif_tensor* operator->() const { return &view_; }

  // Where a host function writes a tensor together with its reference.
  natif_tensor* fill() {
    release();
    return &view_;
  }
  void release() {
    if (view_.object) session_.host->release(session_.call, &view_);
    view_.object = nullptr;
  }
  // One more reference to `other`.
  void share(const natif_tensor& other) {
    if (&other == &view_) return;
    const natif_tensor kept = other;
    session_.host->retain(session_.call, &kept);
    release();
    view_ = kept;
  }
  // The reference of `other`, which is empty afterwards.
  void take(Tensor& other) {
    if (&other == this) return;
    release();
    view_ = other.view_;
    other.view_.object = nullptr;
  }
  // Hands the reference to the caller of the function.
  void give(natif_slot& result) {
    result.tensor = view_;
    view_.object = nullptr;
  }

 private:
  const Session& session_;
  natif_tensor view_{};
};

// Returns a tensor that is also held elsewhere: a parameter, or one returned twice.
[[maybe_unused]] inline void give_shared(const Session& session, const natif_tensor& tensor, natif_slot& result) {
  session.host->retain(session.call, &tensor);
  result.tensor = tensor;
}

// Runs a TensorFlow op with one result through the host.
template <class... Operands>
[[maybe_unused]] inline natif_status run_op(const Session& session, int32_t site, Tensor& result, const Operands&... operands) {
  const natif_tensor* list[] = {&static_cast<const natif_tensor&>(operands)..., nullptr};
  return session.host->run_op(session.call, site, list, result.fill());
}

[[maybe_unused]] inline natif_status from_number(const Session& session, int64_t value, int32_t dtype, Tensor& result) {
  natif_scalar scalar;
  scalar.i = value;
  return session.host->from_scalar(session.call, NATIF_INT, scalar, dtype, result.fill());
}
[[maybe_unused]] inline natif_status from_number(const Session& session, double value, int32_t dtype, Tensor& result) {
  natif_scalar scalar;
  scalar.f = value;
  return session.host->from_scalar(session.call, NATIF_FLOAT, scalar, dtype, result.fill());
}
[[maybe_unused]] inline natif_status from_number(const Session& session, bool value, int32_t dtype, Tensor& result) {
  natif_scalar scalar;
  scalar.i = value;
  return session.host->from_scalar(session.call, NATIF_BOOLEAN, scalar, dtype, result.fill());
}

// Raises the Python error of a failed operation on numbers; a result that Python's numbers alone can hold leaves the call to Python.
[[maybe_unused]] inline natif_status raise(const Session& session, scalar::Fault fault, int32_t span) {
  const scalar::FaultFacts facts = scalar::facts_of(fault);
  return facts.error ? session.host->fail(session.call, facts.error, span, facts.text) : NATIF_DECLINED;
}

// Asks for signals of Python every `Period` iterations of the loops that share it.
template <uint32_t Period>
class Poll {
 public:
  natif_status operator()(const Session& session) { return ++iterations_ % Period ? NATIF_OK : session.host->poll(session.call); }

 private:
  uint32_t iterations_ = 0;
};

}  // namespace
}  // namespace natif::kernels
