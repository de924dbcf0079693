#include "engine/trainer/progress.h"

#include <gtest/gtest.h>

#include "engine/trainer/console.h"

namespace athanor::trainer {
namespace {

using base::Seconds;

base::Clock::time_point at(double seconds) {
  return base::Clock::time_point(std::chrono::duration_cast<base::Clock::duration>(Seconds(seconds)));
}

TEST(Progress, SpeedAndTimeLeftComeFromTheLastSteps) {
  Progress progress(10, 50, at(100));
  EXPECT_EQ(progress.tokens_per_second(), 0.0);
  for (int i = 1; i <= 5; ++i) progress.step_done(1000, at(100 + 2.0 * i));
  EXPECT_EQ(progress.step(), 15);
  EXPECT_DOUBLE_EQ(progress.tokens_per_second(), 500.0);
  EXPECT_DOUBLE_EQ(progress.time_left().count(), 70.0);
  // Four times slower from here on: the window forgets the old speed.
  for (int i = 1; i <= 20; ++i) progress.step_done(1000, at(110 + 8.0 * i));
  EXPECT_DOUBLE_EQ(progress.tokens_per_second(), 125.0);
}

TEST(Progress, PausesDoNotCount) {
  Progress progress(0, 10, at(0));
  progress.step_done(100, at(1));
  progress.pause_ended(Seconds(60));
  progress.step_done(100, at(62));
  EXPECT_DOUBLE_EQ(progress.tokens_per_second(), 100.0);
}

TEST(Progress, LineIsReadable) {
  Progress progress(119, 400, at(0));
  progress.step_done(4210, at(1));
  EXPECT_EQ(
      format_progress(progress,
                      {.loss = 2.31418, .learning_rate = 1e-4, .gradient_norm = 0.8342, .memory_bytes = 1900000000}),
      "step 120/400  loss 2.3142  lr 0.0001  grad 0.834  4,210 tok/s  1.9 GB  left 4:40");
}

TEST(WithSeparators, GroupsThousands) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1234567), "1,234,567");
  EXPECT_EQ(with_separators(-123456), "-123,456");
}

TEST(Memory, IsReadFromTheKernel) {
  EXPECT_GT(resident_bytes(), 1 << 20);
  EXPECT_GE(peak_resident_bytes(), resident_bytes());
}

std::string shown_by(Console::Live live) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  {
    Console console(out, live, 10);
    console.line("first");
    console.live("a live line that is too long");
    console.line("second");
    console.live("last");
  }
  std::fclose(out);
  const std::string result(text, size);
  std::free(text);
  return result;
}

TEST(Console, RedrawsTheLiveLineBelowTheLines) {
  EXPECT_EQ(shown_by(Console::Live::kOff), "first\nsecond\n");
  EXPECT_EQ(shown_by(Console::Live::kOn), "first\n\ra live li\x1b[K\r\x1b[Ksecond\n\rlast\x1b[K\n");
}

}  // namespace
}  // namespace athanor::trainer
