// runtime/thread_state.h: what the runtime keeps for each thread between calls, so that a call allocates nothing: the arena, a status for
// TensorFlow's C API, and tokens for the tensors that calls make.
#ifndef NATIF_RUNTIME_THREAD_STATE_H_
#define NATIF_RUNTIME_THREAD_STATE_H_

#include <memory>
#include <vector>

#include "runtime/arena.h"
#include "runtime/tensor_object.h"

namespace natif::runtime {

class ThreadState {
 public:
  // This thread's state; valid until the thread ends.
  static ThreadState& of_thread();
  ~ThreadState();

  // The thread's status, which holds the outcome of the last call to TensorFlow only.
  TF_Status* status(const TensorFlowApi& api) {
    if (status_ == nullptr) make_status(api);
    return status_;
  }

  TensorObject* take_token();
  void give_token(TensorObject* token) { free_tokens_.push_back(token); }

  Arena arena;

 private:
  void make_status(const TensorFlowApi& api);

  TF_Status* status_ = nullptr;
  void (*delete_status_)(TF_Status*) = nullptr;
  std::vector<std::unique_ptr<TensorObject>> tokens_;
  std::vector<TensorObject*> free_tokens_;
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_THREAD_STATE_H_
