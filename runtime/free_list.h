// runtime/free_list.h: objects that are ready for use again, shared by threads. One is kept in an atomic slot, so a single caller takes and
// gives without a lock; more than one, only while several threads are at the same place at once.
#ifndef NATIF_RUNTIME_FREE_LIST_H_
#define NATIF_RUNTIME_FREE_LIST_H_

#include <atomic>
#include <mutex>
#include <vector>

namespace natif::runtime {

template <class T>
class FreeList {
 public:
  // An object that was given, now the caller's; null when there is none.
  T* take() {
    if (T* object = first_.exchange(nullptr, std::memory_order_acquire)) return object;
    if (more_count_.load(std::memory_order_relaxed) == 0) return nullptr;
    std::lock_guard lock(mutex_);
    if (more_.empty()) return nullptr;
    T* object = more_.back();
    more_.pop_back();
    more_count_.store(more_.size(), std::memory_order_relaxed);
    return object;
  }

  void give(T* object) {
    T* expected = nullptr;
    if (first_.compare_exchange_strong(expected, object, std::memory_order_release, std::memory_order_relaxed)) return;
    std::lock_guard lock(mutex_);
    more_.push_back(object);
    more_count_.store(more_.size(), std::memory_order_relaxed);
  }

  // Takes all objects and hands each to `destroy`.
  template <class Destroy>
  void clear(Destroy destroy) {
    while (T* object = take()) destroy(object);
  }

 private:
  std::atomic<T*> first_{nullptr};
  std::atomic<size_t> more_count_{0};
  std::mutex mutex_;
  std::vector<T*> more_;
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_FREE_LIST_H_
