#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/unicode.h"
#include "core/schedule/axis.h"
#include "core/schedule/draw.h"

namespace athanor::schedule {
namespace {

constexpr int kFewestColumns = 24;
constexpr int kFewestRows = 4;

// A field of dots: 2 x 4 in each Unicode cell (braille), 1 x 1 in each ASCII cell.
class DotField {
 public:
  DotField(int columns, int rows, Glyphs glyphs)
      : columns_(columns),
        rows_(rows),
        unicode_(glyphs == Glyphs::kUnicode),
        cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0) {}

  int width() const { return unicode_ ? 2 * columns_ : columns_; }
  int height() const { return unicode_ ? 4 * rows_ : rows_; }

  // y grows upwards.
  void set(int x, int y) {
    const int down = height() - 1 - y;
    if (!unicode_) {
      cell(x, down) = 1;
      return;
    }
    // The braille block numbers its dots by column for the upper three rows, then the lowest row.
    static constexpr int kBits[2][4] = {{0, 1, 2, 6}, {3, 4, 5, 7}};
    cell(x / 2, down / 4) |= 1 << kBits[x % 2][down % 4];
  }

  std::string row_text(int row) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const int bits = cells_[index_of(column, row)];
      if (bits == 0) {
        text += ' ';
      } else if (unicode_) {
        base::append_utf8(text, static_cast<char32_t>(0x2800 + bits));
      } else {
        text += '*';
      }
    }
    return text.erase(text.find_last_not_of(' ') + 1);
  }

 private:
  std::size_t index_of(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }
  int& cell(int column, int row) { return cells_[index_of(column, row)]; }

  int columns_;
  int rows_;
  bool unicode_;
  std::vector<int> cells_;
};

void draw_curve(DotField& field, const std::vector<ColumnRange>& columns, double low, double high) {
  const auto y_of = [&](double rate) {
    return static_cast<int>(std::lround((rate - low) / (high - low) * (field.height() - 1)));
  };
  const auto draw_line = [&](int x, double from, double to) {
    const int bottom = y_of(std::min(from, to));
    const int top = y_of(std::max(from, to));
    for (int y = bottom; y <= top; ++y) field.set(x, y);
  };
  const auto count = static_cast<std::int64_t>(columns.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const ColumnRange& column = columns[static_cast<std::size_t>(i)];
    const int begin = static_cast<int>(i * field.width() / count);
    const int end = static_cast<int>((i + 1) * field.width() / count);
    // Fewer updates than dots: a level as wide as the update, joined to the one before.
    if (i > 0) draw_line(begin, columns[static_cast<std::size_t>(i - 1)].last, column.first);
    for (int x = begin; x < end; ++x) draw_line(x, column.low, column.high);
  }
}

// The x axis with its ticks, and the labels below them.
std::string x_axis(const std::vector<std::int64_t>& ticks, std::int64_t num_updates, int columns, int margin,
                   Glyphs glyphs) {
  const bool unicode = glyphs == Glyphs::kUnicode;
  const std::string_view corner = unicode ? "\u2514" : "+";
  const std::string_view line = unicode ? "\u2500" : "-";
  const std::string_view mark = unicode ? "\u252c" : "+";
  std::vector<std::string_view> axis(static_cast<std::size_t>(columns), line);
  std::string labels(static_cast<std::size_t>(margin + 1), ' ');
  for (const std::int64_t tick : ticks) {
    const auto column = static_cast<std::size_t>(num_updates <= 1 ? 0 : tick * (columns - 1) / (num_updates - 1));
    axis[column] = mark;
    const std::string label = format_step(tick);
    std::size_t start = static_cast<std::size_t>(margin) + 1 + column;
    start -= std::min(start, label.size() / 2);
    const std::size_t last_start = static_cast<std::size_t>(margin + 1 + columns) -
                                   std::min<std::size_t>(label.size(), static_cast<std::size_t>(columns));
    start = std::min(start, last_start);
    // A label that would touch the one before it is left out.
    if (start < labels.size() + (tick == 0 ? 0 : 1) && tick != 0) continue;
    labels.resize(std::max(labels.size(), start), ' ');
    labels.erase(start);
    labels += label;
  }
  std::string text = std::string(static_cast<std::size_t>(margin), ' ') + std::string(corner);
  for (const std::string_view piece : axis) text += piece;
  return text + "\n" + labels + "\n";
}

std::string value_line(const LearningRateSchedule& schedule, std::int64_t num_updates) {
  std::string percents = fmt::format("{:<14}", "run");
  std::string updates = fmt::format("{:<14}", "update");
  std::string rates = fmt::format("{:<14}", "learning rate");
  std::string betas = fmt::format("{:<14}", "beta1");
  bool has_beta = false;
  int percent = 0;
  for (const std::int64_t update : quarter_updates(num_updates)) {
    const StepRates values = schedule.at(update);
    percents += fmt::format("{:>12}", fmt::format("{} %", percent));
    updates += fmt::format("{:>12}", update);
    rates += fmt::format("{:>12}", fmt::format("{:.4e}", values.learning_rate));
    betas += fmt::format("{:>12.4f}", values.beta1.value_or(0.0));
    has_beta = has_beta || values.beta1.has_value();
    percent += 25;
  }
  return percents + "\n" + updates + "\n" + rates + "\n" + (has_beta ? betas + "\n" : "");
}

}  // namespace

std::string draw_text(const LearningRateSchedule& schedule, const Drawing& drawing, const TextOptions& options) {
  const int rows = std::max(kFewestRows, options.rows);
  const std::vector<ColumnRange> probe = reduce_columns(schedule, drawing.num_updates, 4096);
  double high = probe.front().high;
  for (const ColumnRange& column : probe) high = std::max(high, column.high);
  const std::vector<double> ticks = round_ticks(0.0, high, std::min(6, rows / 2 + 1));

  std::size_t margin = 0;
  for (const double tick : ticks) margin = std::max(margin, format_rate(tick).size());
  margin += 1;
  const int columns = std::max(kFewestColumns, options.columns - static_cast<int>(margin) - 2);

  DotField field(columns, rows, options.glyphs);
  draw_curve(field, reduce_columns(schedule, drawing.num_updates, field.width()), ticks.front(), ticks.back());

  const bool unicode = options.glyphs == Glyphs::kUnicode;
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  for (const double tick : ticks) {
    const double share = (ticks.back() - tick) / (ticks.back() - ticks.front());
    labels[static_cast<std::size_t>(std::lround(share * (rows - 1)))] = format_rate(tick);
  }
  std::string text = drawing.title + "\n\n";
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    const std::string_view wall = unicode ? (label.empty() ? "\u2502" : "\u2524") : (label.empty() ? "|" : "+");
    text += fmt::format("{:>{}} {}{}\n", label, margin - 1, wall, field.row_text(row));
  }
  text += x_axis(step_ticks(drawing.num_updates - 1, std::max(2, columns / 10)), drawing.num_updates, columns,
                 static_cast<int>(margin), options.glyphs);
  return text + "\n" + value_line(schedule, drawing.num_updates);
}

}  // namespace athanor::schedule
