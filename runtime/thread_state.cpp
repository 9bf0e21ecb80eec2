// runtime/thread_state.cpp: the thread-local instance and its slow paths.
#include "runtime/thread_state.h"

namespace natif::runtime {

ThreadState& ThreadState::of_thread() {
  static thread_local ThreadState state;
  return state;
}

ThreadState::~ThreadState() {
  if (status_ != nullptr) delete_status_(status_);
}

void ThreadState::make_status(const TensorFlowApi& api) {
  status_ = api.new_status();
  delete_status_ = api.delete_status;
}

TensorObject* ThreadState::take_token() {
  if (free_tokens_.empty()) {
    tokens_.push_back(std::make_unique<TensorObject>());
    return tokens_.back().get();
  }
  TensorObject* token = free_tokens_.back();
  free_tokens_.pop_back();
  *token = TensorObject();
  return token;
}

}  // namespace natif::runtime
