#include "core/schedule/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "core/base/json.h"
#include "core/base/unicode.h"
#include "core/schedule/axis.h"

namespace athanor::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

LearningRateSchedule schedule_of(const std::string& type, std::int64_t total, double warmup = 0,
                                 const std::string& parameters = "{}") {
  config::ScheduleConfig config;
  if (type == "OneCycle") config.family = config::ScheduleFamily::kDeepSpeed;
  config.type = type;
  config.warmup_steps = warmup;
  config.parameters = base::parse_json(parameters, "test");
  return make_schedule(config, 2e-4, total);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Axis, TicksAreRoundAndCoverTheRange) {
  EXPECT_THAT(round_ticks(0, 2e-4, 6), ElementsAre(0, 5e-5, 1e-4, 5e-5 * 3, 2e-4));
  EXPECT_THAT(round_ticks(0, 7, 5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_EQ(round_ticks(0, 0, 5).front(), -1);
  EXPECT_THAT(step_ticks(39, 4), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(step_ticks(3, 8), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(step_ticks(0, 8), ElementsAre(0));
}

TEST(Axis, LabelsAreShort) {
  EXPECT_EQ(format_rate(0), "0");
  EXPECT_EQ(format_rate(2e-4), "2e-4");
  EXPECT_EQ(format_rate(2.5e-5), "2.5e-5");
  EXPECT_EQ(format_rate(9.9999999e-5), "1e-4");
  EXPECT_EQ(format_rate(0.01), "0.01");
  EXPECT_EQ(format_rate(1.0), "1");
  EXPECT_EQ(format_rate(1.23456e-7), "1.235e-7");
  EXPECT_EQ(format_step(950), "950");
  EXPECT_EQ(format_step(1500), "1,500");
  EXPECT_EQ(format_step(20000), "20k");
  EXPECT_EQ(format_step(1500000), "1.5M");
}

TEST(ColumnRanges, AColumnKeepsTheSpikeWithinIt) {
  const LearningRateSchedule spike(
      [](std::int64_t update) {
        return StepRates{update == 777 ? 5.0 : 1.0, std::nullopt, std::nullopt};
      },
      0, {});
  const std::vector<ColumnRange> columns = reduce_columns(spike, 100000, 10);
  ASSERT_EQ(columns.size(), 10u);
  EXPECT_EQ(columns[0].high, 5.0);
  EXPECT_EQ(columns[0].high_update, 777);
  EXPECT_EQ(columns[0].first, 1.0);
  EXPECT_EQ(columns[1].high, 1.0);
  EXPECT_EQ(columns[9].first_update, 90000);
  EXPECT_EQ(reduce_columns(spike, 3, 10).size(), 3u);
  EXPECT_THAT(quarter_updates(1000), ElementsAre(0, 249, 499, 749, 999));
  EXPECT_THAT(quarter_updates(1), ElementsAre(0, 0, 0, 0, 0));
}

TEST(DrawText, HasTitleAxesAndValuesWithinTheWidth) {
  for (const int width : {40, 80, 132}) {
    const std::string text =
        draw_text(schedule_of("cosine", 1000, 100), {"cosine of 1000 updates", 1000}, {width, 16, Glyphs::kUnicode});
    const std::vector<std::string> lines = lines_of(text);
    EXPECT_EQ(lines[0], "cosine of 1000 updates");
    EXPECT_EQ(lines[2].substr(0, 7), "  2e-4 ");
    EXPECT_THAT(text, HasSubstr("     0 "));
    for (std::size_t i = 2; i < 20; ++i) EXPECT_LE(base::display_width(lines[i]), width) << lines[i];
    EXPECT_THAT(text, HasSubstr("update                   0         249         499         749         999"));
    EXPECT_THAT(text, HasSubstr("learning rate   0.0000e+00  1.8678e-04"));
    EXPECT_EQ(text.back(), '\n');
  }
}

TEST(DrawText, AsciiGlyphsStayAscii) {
  const std::string text = draw_text(schedule_of("linear", 50, 5), {"linear", 50}, {80, 12, Glyphs::kAscii});
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) < 0x80);
  EXPECT_THAT(text, HasSubstr("*"));
}

TEST(DrawText, TheCurveTouchesTopAndBottomOfItsRange) {
  const std::vector<std::string> lines =
      lines_of(draw_text(schedule_of("linear", 200), {"linear", 200}, {80, 16, Glyphs::kAscii}));
  EXPECT_EQ(lines[2].substr(0, 9), "  2e-4 +*");
  EXPECT_EQ(lines[17].back(), '*');
  EXPECT_EQ(lines[17].size(), 79u);
}

TEST(DrawText, OneUpdateAndMovedMomentumAreDrawn) {
  EXPECT_THAT(draw_text(schedule_of("constant", 1), {"constant", 1}, {}), HasSubstr("2.0000e-04"));
  const std::string text = draw_text(
      schedule_of("OneCycle", 20, 0, R"({"cycle_min_lr": 1e-5, "cycle_max_lr": 1e-3, "cycle_first_step_size": 5})"),
      {"OneCycle", 20}, {});
  EXPECT_THAT(text, HasSubstr("beta1               0.8000"));
}

TEST(DrawSvg, EveryUpdateOfAShortRunIsAPointInsideThePlot) {
  const std::string svg =
      draw_svg(schedule_of("cosine_with_restarts", 40, 3, R"({"num_cycles": 4})"), {"a < b & \"c\"", 40});
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b &amp; &quot;c&quot;</title>"));
  EXPECT_THAT(svg, HasSubstr("warm-up of 3 updates, highest 2e-4 at update 3, last 5.712e-6"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(svg, HasSubstr("class=\"shade\""));
  const std::string path =
      svg.substr(svg.find(" d=\"M") + 4, svg.find("\"/>", svg.find(" d=\"M")) - svg.find(" d=\"M") - 4);
  const std::regex point("[ML]([0-9.]+) ([0-9.]+)");
  int points = 0;
  for (std::sregex_iterator it(path.begin(), path.end(), point), end; it != end; ++it, ++points) {
    EXPECT_GE(std::stod((*it)[1]), 76.0);
    EXPECT_LE(std::stod((*it)[1]), 832.0);
    EXPECT_GE(std::stod((*it)[2]), 76.0);
    EXPECT_LE(std::stod((*it)[2]), 392.0);
  }
  EXPECT_EQ(points, 40);
}

TEST(DrawSvg, ALongRunStaysSmallAndHasNoWarmupWhereThereIsNone) {
  const std::string svg = draw_svg(schedule_of("linear", 1000000), {"linear", 1000000});
  EXPECT_LT(svg.size(), 100000u);
  EXPECT_THAT(svg, Not(HasSubstr("<rect class=\"shade\"")));
  EXPECT_THAT(svg, HasSubstr("highest 2e-4 at update 0"));
}

}  // namespace
}  // namespace athanor::schedule
