#include "programs/athanor_engine/worker_threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace athanor::engine_program {

namespace {

void run_on_threads(std::size_t num_threads, std::size_t n, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        next = n;
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < std::min(num_threads, n); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace

base::ParallelFor parallel_for_on(int num_threads) {
  return [num_threads](std::size_t n, const std::function<void(std::size_t)>& body) {
    run_on_threads(static_cast<std::size_t>(std::max(num_threads, 1)), n, body);
  };
}

}  // namespace athanor::engine_program
