// A learning-rate schedule as a picture: text for a terminal, SVG for a page or a paper.
//
// Units:   updates 0 to num_updates - 1 on the x axis, the learning rate each is taken with on the y axis.
// Exact:   every update is evaluated; a column that covers several shows their whole range, so no spike is lost.
// Threads: pure functions. Cost: num_updates evaluations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/learning_rate.h"

namespace athanor::schedule {

struct Drawing {
  std::string title;
  std::int64_t num_updates = 0;  // > 0
};

enum class Glyphs { kUnicode, kAscii };

struct TextOptions {
  int columns = 80;  // of the terminal
  int rows = 16;     // of the plot itself
  Glyphs glyphs = Glyphs::kUnicode;
};

// Title, plot with labelled axes, and a line of values at 0, 25, 50, 75 and 100 % of the run. Ends with a newline.
std::string draw_text(const LearningRateSchedule& schedule, const Drawing& drawing, const TextOptions& options);

// A whole SVG document of 860 x 450 that follows the viewer's light or dark colours. The warm-up is shaded.
std::string draw_svg(const LearningRateSchedule& schedule, const Drawing& drawing);

// The range of the learning rate over the updates that one column of a plot covers.
struct ColumnRange {
  std::int64_t first_update = 0;
  double first = 0;
  double low = 0;
  double high = 0;
  double last = 0;
  std::int64_t high_update = 0;  // the first that reaches `high`
};

// At most `num_columns` columns; as many as updates when there are fewer.
std::vector<ColumnRange> reduce_columns(const LearningRateSchedule& schedule, std::int64_t num_updates,
                                        int num_columns);

// The updates at 0, 25, 50, 75 and 100 % of the run.
std::vector<std::int64_t> quarter_updates(std::int64_t num_updates);

}  // namespace athanor::schedule
