#include <algorithm>

#include "core/schedule/draw.h"

namespace athanor::schedule {

std::vector<ColumnRange> reduce_columns(const LearningRateSchedule& schedule, std::int64_t num_updates,
                                        int num_columns) {
  const std::int64_t count = std::min<std::int64_t>(num_updates, num_columns);
  std::vector<ColumnRange> columns;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = num_updates * i / count;
    const std::int64_t end = num_updates * (i + 1) / count;
    const double first = schedule.at(begin).learning_rate;
    ColumnRange column{begin, first, first, first, first, begin};
    for (std::int64_t update = begin + 1; update < end; ++update) {
      column.last = schedule.at(update).learning_rate;
      column.low = std::min(column.low, column.last);
      if (column.last > column.high) {
        column.high = column.last;
        column.high_update = update;
      }
    }
    columns.push_back(column);
  }
  return columns;
}

std::vector<std::int64_t> quarter_updates(std::int64_t num_updates) {
  std::vector<std::int64_t> updates;
  for (int quarter = 0; quarter <= 4; ++quarter) updates.push_back((num_updates - 1) * quarter / 4);
  return updates;
}

}  // namespace athanor::schedule
