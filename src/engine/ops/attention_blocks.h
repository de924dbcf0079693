// What the forward and backward of the blocked attention share: block sizes, scratch memory, the queue of work.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "engine/ops/block_matmul.h"

namespace athanor::ops::detail {

// Multiples of 32, the tile the matrix units work on. Found by measuring 32 to 256 on head size 64 and lengths 128 to 4096.
inline constexpr std::int64_t kQueryBlock = 64;
inline constexpr std::int64_t kKeyBlock = 64;
inline constexpr std::int64_t kHeadMultiple = 32;

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Memory of one thread that is carved into arrays, aligned to cache lines. Grows, never shrinks.
class Scratch {
 public:
  void reserve(std::size_t num_bytes) {
    if (num_bytes + kAlignment > size_) {
      size_ = num_bytes + kAlignment;
      memory_ = std::make_unique_for_overwrite<std::byte[]>(size_);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    next_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment;
  }
  template <typename T>
  T* take(std::int64_t n) {
    T* out = reinterpret_cast<T*>(next_);
    next_ += num_bytes<T>(n);
    return out;
  }
  template <typename T>
  static std::size_t num_bytes(std::int64_t n) {
    return static_cast<std::size_t>(round_up(n * static_cast<std::int64_t>(sizeof(T)), kAlignment));
  }

 private:
  static constexpr std::int64_t kAlignment = 64;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
  std::byte* next_ = nullptr;
};

// `rows` rows of `columns` elements, `stride` apart, into a dense [padded_rows, padded_columns] block with zeros around.
template <typename T>
void copy_padded(const T* source, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                 std::int64_t padded_rows, std::int64_t padded_columns, T* target) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::memcpy(target + r * padded_columns, source + r * stride, static_cast<std::size_t>(columns) * sizeof(T));
    std::fill(target + r * padded_columns + columns, target + (r + 1) * padded_columns, T{});
  }
  std::fill(target + rows * padded_columns, target + padded_rows * padded_columns, T{});
}

// One head of one sequence.
struct HeadTask {
  std::int64_t start = 0;   // first token
  std::int64_t length = 0;  // tokens
  std::int64_t head = 0;
};

// Longest first, so that threads end together; heads of one sequence side by side.
inline std::vector<HeadTask> list_head_tasks(std::span<const std::int32_t> sequence_starts, std::int64_t num_heads) {
  std::vector<std::size_t> order(sequence_starts.empty() ? 0 : sequence_starts.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length_of = [&](std::size_t s) { return sequence_starts[s + 1] - sequence_starts[s]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return length_of(a) > length_of(b); });
  std::vector<HeadTask> tasks;
  for (const std::size_t s : order) {
    if (length_of(s) == 0) continue;
    for (std::int64_t head = 0; head < num_heads; ++head) tasks.push_back({sequence_starts[s], length_of(s), head});
  }
  return tasks;
}

// Every thread takes the next task until none is left. A task writes its own outputs only, so which thread takes it is no matter.
template <typename Work>
void run_head_tasks(const std::vector<HeadTask>& tasks, const Work& work) {
  std::atomic<std::size_t> next{0};
  const std::int64_t num_threads =
      std::min<std::int64_t>(at::get_num_threads(), static_cast<std::int64_t>(tasks.size()));
  at::parallel_for(0, num_threads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t thread = begin; thread < end; ++thread) {
      for (std::size_t i = next++; i < tasks.size(); i = next++) work(tasks[i]);
    }
  });
}

}  // namespace athanor::ops::detail
