#include "programs/athanor/thread_loop.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace athanor::command {

namespace {

void run_loop(std::size_t num_workers, std::size_t n, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_failure;
  const auto work = [&] {
    try {
      for (std::size_t i; (i = next.fetch_add(1)) < n;) body(i);
    } catch (...) {
      next.store(n);
      const std::lock_guard<std::mutex> guard(mutex);
      if (!first_failure) first_failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(num_workers, n); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace

base::ParallelFor make_thread_loop(std::size_t num_workers) {
  if (num_workers == 0) num_workers = std::max(1u, std::thread::hardware_concurrency());
  return [num_workers](std::size_t n, const std::function<void(std::size_t)>& body) { run_loop(num_workers, n, body); };
}

}  // namespace athanor::command
