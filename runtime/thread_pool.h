// runtime/thread_pool.h: the runtime's own worker threads, behind natif_host.parallel_for. One piece of work runs at a time; whoever finds
// the pool busy does its work alone, so many calling threads never oversubscribe the machine. A forked child starts with new threads.
#ifndef NATIF_RUNTIME_THREAD_POOL_H_
#define NATIF_RUNTIME_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/abi.h"
#include "runtime/arena.h"
#include "runtime/float_state.h"

namespace natif::runtime {

class ThreadPool {
 public:
  // A pool in which `threads` threads work, the caller included.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Runs body over [0, count) in ranges of at least `grain` items (the last may be shorter), each thread with `scratch_bytes` bytes of its
  // own; the caller's come from `arena`. False: no memory for the scratch, and some items may not have been done.
  bool run(int64_t count, int64_t grain, natif_body body, void* context, size_t scratch_bytes, Arena& arena);

 private:
  struct Job {
    natif_body body;
    void* context;
    int64_t count, step;
    size_t scratch_bytes;
    FloatState float_state;
    std::atomic<int64_t> next{0};
    std::atomic<bool> out_of_memory{false};
  };

  static void work(Job& job, Arena& arena);
  void worker_loop();

  std::mutex busy_;  // held by the thread whose job runs
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  uint64_t job_number_ = 0;
  int working_ = 0;  // workers inside the current job
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

// The pool of this process, made at its first use and again in a forked child.
ThreadPool& process_pool();

// How many threads process_pool() has; takes effect before its first use. 0: as many as available_threads() (runtime/processors.h).
void set_pool_threads(int threads);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_THREAD_POOL_H_
