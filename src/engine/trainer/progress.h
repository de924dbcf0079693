// Speed and time left, over the last steps, and the line that shows them.
//
// Units:   tokens are input tokens; time is passed in.
// Threads: confined to the training thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/base/clock.h"

namespace athanor::trainer {

class Progress {
 public:
  Progress(std::int64_t first_step, std::int64_t max_steps, base::Clock::time_point start)
      : step_(first_step), max_steps_(max_steps), marks_{{start, 0}} {}

  // One more step, of `num_tokens`, is done at `now`.
  void step_done(std::int64_t num_tokens, base::Clock::time_point now);
  // Time that was spent on something else (evaluation, saving) and does not count.
  void pause_ended(base::Seconds pause);

  std::int64_t step() const { return step_; }
  std::int64_t max_steps() const { return max_steps_; }
  double tokens_per_second() const;
  base::Seconds time_left() const;

 private:
  struct Mark {
    base::Clock::time_point time;
    std::int64_t num_tokens;  // since the start
  };
  std::int64_t step_;
  std::int64_t max_steps_;
  std::deque<Mark> marks_;  // the last steps' ends, oldest first
};

struct ShownStep {
  double loss = 0.0;
  double learning_rate = 0.0;
  double gradient_norm = 0.0;
  std::int64_t memory_bytes = 0;
};
// "step 120/400  loss 2.3142  lr 1.00e-04  grad 0.834  4,210 tok/s  1.9 GB  left 3:12".
std::string format_progress(const Progress& progress, const ShownStep& shown);

// Resident memory of this process now, and at its highest.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

// 1,234,567
std::string with_separators(std::int64_t number);
// "1.9 GB", decimal.
std::string format_bytes(std::int64_t num_bytes);

}  // namespace athanor::trainer
