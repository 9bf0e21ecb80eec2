// runtime/thread_pool.cpp: the pool, the process's one instance of it, and how many threads it may have.
#include "runtime/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>

#include "runtime/processors.h"

namespace natif::runtime {
namespace {

// Ranges a thread gets on average: enough to even out a late start, few enough that claiming them costs nothing.
constexpr int64_t kRangesPerThread = 4;

// Where ranges are longer, they begin at multiples of this: floats of a cache line, so that no line is written by two threads and vectors
// lie in the second range as in the first.
constexpr int64_t kAligned = 16;

}  // namespace

ThreadPool::ThreadPool(int threads) {
  // Workers take no signals: Python's handlers belong to its main thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { worker_loop(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool ThreadPool::run(int64_t count, int64_t grain, natif_body body, void* context, size_t scratch_bytes, Arena& arena) {
  if (count <= 0) return true;
  const int64_t ranges = threads() * kRangesPerThread;
  int64_t step = std::max({int64_t{1}, grain, (count + ranges - 1) / ranges});
  if (step >= kAligned) step = (step + kAligned - 1) / kAligned * kAligned;
  Job job{body, context, count, step, scratch_bytes, FloatState::of_thread()};
  std::unique_lock busy(busy_, std::defer_lock);
  if (workers_.empty() || step >= count || !busy.try_lock()) {
    job.step = count;
    work(job, arena);
    return !job.out_of_memory;
  }
  {
    std::lock_guard lock(mutex_);
    job_ = &job;
    ++job_number_;
  }
  wake_.notify_all();
  work(job, arena);
  std::unique_lock lock(mutex_);
  job_ = nullptr;  // a worker that wakes only now finds nothing
  done_.wait(lock, [this] { return working_ == 0; });
  return !job.out_of_memory;
}

void ThreadPool::work(Job& job, Arena& arena) {
  int64_t begin = job.next.fetch_add(job.step, std::memory_order_relaxed);
  if (begin >= job.count) return;
  const Arena::Mark mark = arena.mark();
  void* scratch = arena.allocate(job.scratch_bytes);
  if (scratch == nullptr) {
    job.out_of_memory = true;
    return;
  }
  for (; begin < job.count && !job.out_of_memory; begin = job.next.fetch_add(job.step, std::memory_order_relaxed)) {
    job.body(job.context, begin, std::min(job.count, begin + job.step), scratch);
  }
  arena.release(mark);
}

void ThreadPool::worker_loop() {
  Arena arena;
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && job_number_ != seen); });
    if (stopping_) return;
    seen = job_number_;
    Job& job = *job_;
    ++working_;
    lock.unlock();
    const FloatState own = FloatState::of_thread();
    job.float_state.restore();
    work(job, arena);
    own.restore();
    lock.lock();
    if (--working_ == 0) done_.notify_one();
  }
}

namespace {

// Never destroyed: worker threads may outlive main()'s static objects. In a forked child the parent's pool is abandoned, since its threads
// do not exist there and its locks may be held for ever.
struct ProcessPool {
  std::mutex mutex;
  std::atomic<ThreadPool*> pool{nullptr};
  int threads = 0;
};

ProcessPool& process() {
  static ProcessPool* instance = [] {
    auto* fresh = new ProcessPool;
    pthread_atfork(nullptr, nullptr, [] {
      ProcessPool& state = process();
      new (&state.mutex) std::mutex;
      state.pool.store(nullptr);
    });
    return fresh;
  }();
  return *instance;
}

}  // namespace

ThreadPool& process_pool() {
  ProcessPool& state = process();
  if (ThreadPool* pool = state.pool.load(std::memory_order_acquire)) return *pool;
  std::lock_guard lock(state.mutex);
  if (state.pool.load() == nullptr) state.pool.store(new ThreadPool(state.threads > 0 ? state.threads : available_threads()));
  return *state.pool.load();
}

void set_pool_threads(int threads) {
  ProcessPool& state = process();
  std::lock_guard lock(state.mutex);
  if (state.pool.load() == nullptr) state.threads = threads;
}

}  // namespace natif::runtime
