#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/schedule/axis.h"
#include "core/schedule/draw.h"

namespace athanor::schedule {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 450;
constexpr double kLeft = 76;
constexpr double kRight = 28;
constexpr double kTop = 76;
constexpr double kBottom = 58;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;

// Plain colours, for viewers that know no more, and dark ones where the viewer asks for them.
constexpr std::string_view kStyle = R"(<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; font-size: 12px; fill: #667085; }
  .title { font-size: 17px; font-weight: 600; fill: #1c2330; }
  .page { fill: #ffffff; }
  .shade { fill: #fdf1e7; }
  .grid { stroke: #e3e7ee; stroke-width: 1; }
  .axis { stroke: #98a2b3; stroke-width: 1; }
  .curve { fill: none; stroke: #c2410c; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
  .dot { fill: #c2410c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #98a2b3; }
    .title { fill: #e8ebf1; }
    .page { fill: #131821; }
    .shade { fill: #2a2119; }
    .grid { stroke: #2b3342; }
    .axis { stroke: #667085; }
    .curve { stroke: #fb923c; }
    .dot { fill: #fb923c; }
  }
</style>
)";

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

class SvgPlot {
 public:
  SvgPlot(const LearningRateSchedule& schedule, const Drawing& drawing)
      : schedule_(schedule),
        drawing_(drawing),
        // About two columns a pixel, so that a line of one column is not seen as a step.
        columns_(reduce_columns(schedule, drawing.num_updates, 2 * static_cast<int>(kPlotWidth))) {
    double high = columns_.front().high;
    for (const ColumnRange& column : columns_) high = std::max(high, column.high);
    ticks_ = round_ticks(0.0, high, 6);
  }

  std::string text() {
    out_ = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">)", kWidth,
        kHeight);
    out_ += fmt::format("\n<title>{}</title>\n", escape_xml(drawing_.title));
    out_ += kStyle;
    out_ += fmt::format("<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n", kWidth, kHeight);
    out_ += fmt::format("<text class=\"title\" x=\"{}\" y=\"32\">{}</text>\n", kLeft, escape_xml(drawing_.title));
    out_ += fmt::format("<text x=\"{}\" y=\"54\">{}</text>\n", kLeft, escape_xml(summary()));
    add_warmup();
    add_grid();
    add_curve();
    add_peak_and_end();
    return out_ + "</svg>\n";
  }

 private:
  double x_of(std::int64_t update) const {
    const double last = static_cast<double>(std::max<std::int64_t>(1, drawing_.num_updates - 1));
    return kLeft + kPlotWidth * static_cast<double>(update) / last;
  }
  double y_of(double rate) const {
    return kTop + kPlotHeight * (ticks_.back() - rate) / (ticks_.back() - ticks_.front());
  }

  std::string summary() const {
    std::string text;
    if (schedule_.warmup_steps() > 0) text = fmt::format("warm-up of {} updates, ", schedule_.warmup_steps());
    return text + fmt::format("highest {} at update {}, last {}", format_rate(peak()->high), peak()->high_update,
                              format_rate(columns_.back().last));
  }

  void add_warmup() {
    const std::int64_t end = std::min(schedule_.warmup_steps(), drawing_.num_updates - 1);
    if (end <= 0) return;
    out_ += fmt::format("<rect class=\"shade\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", kLeft,
                        kTop, x_of(end) - kLeft, kPlotHeight);
  }

  void add_grid() {
    for (const double tick : ticks_) {
      const double y = y_of(tick);
      out_ += fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                          tick == ticks_.front() ? "axis" : "grid", kLeft, y, kLeft + kPlotWidth, y);
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 10, y + 4,
                          format_rate(tick));
    }
    const double floor = kTop + kPlotHeight;
    for (const std::int64_t tick : step_ticks(drawing_.num_updates - 1, 8)) {
      const double x = x_of(tick);
      out_ += fmt::format(R"(<line class="axis" x1="{0:.1f}" y1="{1:.1f}" x2="{0:.1f}" y2="{2:.1f}"/>)", x, floor,
                          floor + 5);
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, floor + 20,
                          format_step(tick));
    }
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">update</text>\n",
                        kLeft + kPlotWidth / 2, kHeight - 12);
    out_ += fmt::format(
        "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">learning "
        "rate</text>\n",
        kTop + kPlotHeight / 2);
  }

  void add_curve() {
    std::string path;
    const auto add_point = [&](std::int64_t update, double rate) {
      path += fmt::format("{}{:.2f} {:.2f}", path.empty() ? "M" : " L", x_of(update), y_of(rate));
    };
    const std::int64_t last_update = drawing_.num_updates - 1;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ColumnRange& column = columns_[i];
      const std::int64_t next = i + 1 < columns_.size() ? columns_[i + 1].first_update : last_update + 1;
      add_point(column.first_update, column.first);
      if (next - column.first_update == 1) continue;
      // Several updates in a column: its extremes on the way, in either order, half a pixel apart at most.
      const std::int64_t middle = (column.first_update + next - 1) / 2;
      if (column.low < std::min(column.first, column.last)) add_point(middle, column.low);
      if (column.high > std::max(column.first, column.last)) add_point(middle, column.high);
      add_point(next - 1, column.last);
    }
    out_ += fmt::format("<path class=\"curve\" d=\"{}\"/>\n", path);
  }

  std::vector<ColumnRange>::const_iterator peak() const {
    return std::max_element(columns_.begin(), columns_.end(),
                            [](const ColumnRange& a, const ColumnRange& b) { return a.high < b.high; });
  }

  void add_peak_and_end() {
    add_dot(peak()->high_update, peak()->high);
    add_dot(drawing_.num_updates - 1, columns_.back().last);
  }

  void add_dot(std::int64_t update, double rate) {
    out_ += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", x_of(update), y_of(rate));
  }

  const LearningRateSchedule& schedule_;
  const Drawing& drawing_;
  std::vector<ColumnRange> columns_;
  std::vector<double> ticks_;
  std::string out_;
};

}  // namespace

std::string draw_svg(const LearningRateSchedule& schedule, const Drawing& drawing) {
  return SvgPlot(schedule, drawing).text();
}

}  // namespace athanor::schedule
