// `athanor lr`: the learning-rate schedule of a run, drawn or listed before training.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/config/resolution.h"
#include "core/schedule/axis.h"
#include "core/schedule/draw.h"
#include "programs/athanor/command.h"

namespace athanor::command {
namespace {

constexpr int kPlainColumns = 80;  // where standard output is no terminal
constexpr int kMostColumns = 140;

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kPlainColumns;
  return std::min<int>(size.ws_col, kMostColumns);
}

// The locale decides, as it does for every other program that draws; without one most terminals of today take UTF-8.
schedule::Glyphs terminal_glyphs() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    const bool plain = locale == "C" || locale == "POSIX" || locale.find("8859") != std::string_view::npos;
    return plain ? schedule::Glyphs::kAscii : schedule::Glyphs::kUnicode;
  }
  return schedule::Glyphs::kUnicode;
}

// max_steps, or the total a DeepSpeed scheduler carries itself.
std::int64_t planned_updates(const config::RunConfig& config) {
  if (config.length.max_steps > 0) return config.length.max_steps;
  const base::JsonValue* total = config.schedule.parameters.find("total_num_steps");
  if (total != nullptr && total->is_integer() && total->as_integer() > 0) return total->as_integer();
  throw base::UserError("the length of the run is not known: with num_train_epochs it follows from the data",
                        "max_steps", "add --max_steps N to draw the schedule of N optimizer steps");
}

struct Plan {
  config::ScheduleConfig config;
  double base_learning_rate = 0;
  std::int64_t num_updates = 0;
  schedule::LearningRateSchedule schedule;

  bool is_deepspeed() const { return config.family == config::ScheduleFamily::kDeepSpeed; }
  std::string title() const {
    return fmt::format("{}{}, {} updates, learning rate {}", config.type, is_deepspeed() ? " (DeepSpeed)" : "",
                       num_updates, schedule::format_rate(base_learning_rate));
  }
};

void print_csv(const Plan& plan) {
  const bool moves_betas = plan.schedule.at(0).beta1.has_value();
  fmt::print("update,learning_rate{}\n", moves_betas ? ",beta1,beta2" : "");
  for (std::int64_t update = 0; update < plan.num_updates; ++update) {
    const schedule::StepRates rates = plan.schedule.at(update);
    fmt::print("{},{}", update, rates.learning_rate);
    if (moves_betas) fmt::print(",{},{}", rates.beta1.value_or(0), rates.beta2.value_or(0));
    fmt::print("\n");
  }
}

void print_json(const Plan& plan) {
  base::JsonValue rates = base::JsonValue::array();
  base::JsonValue first_betas = base::JsonValue::array();
  for (std::int64_t update = 0; update < plan.num_updates; ++update) {
    const schedule::StepRates values = plan.schedule.at(update);
    rates.push_back(values.learning_rate);
    if (values.beta1.has_value()) first_betas.push_back(*values.beta1);
  }
  base::JsonValue json = base::JsonValue::object();
  json.set("schedule", plan.config.type);
  json.set("family", plan.is_deepspeed() ? "deepspeed" : "huggingface");
  json.set("base_learning_rate", plan.base_learning_rate);
  json.set("num_updates", plan.num_updates);
  json.set("warmup_steps", plan.schedule.warmup_steps());
  json.set("learning_rate", std::move(rates));
  if (!first_betas.items().empty()) json.set("beta1", std::move(first_betas));
  fmt::print("{}\n", json.dump());
}

}  // namespace

int run_lr(CommandLine line) {
  const std::string svg_path = line.take_value("--svg");
  const bool as_csv = line.take_switch("--csv");
  const bool as_json = line.take_switch("--json");
  if (as_csv && as_json) {
    throw base::UserError("--csv and --json ask for two forms of one output", "the command line", "give one of them");
  }
  const config::Resolution resolution = resolve_words(line.words);
  const std::vector<base::Problem> problems = problems_of_settings(resolution);
  if (!problems.empty()) throw base::UserError(problems);

  const config::RunConfig& config = resolution.config;
  const std::int64_t num_updates = planned_updates(config);
  const Plan plan{config.schedule, config.optimizer.learning_rate, num_updates,
                  schedule::make_schedule(config.schedule, config.optimizer.learning_rate, num_updates)};
  const schedule::Drawing drawing{plan.title(), num_updates};

  if (!svg_path.empty()) base::write_whole(svg_path, schedule::draw_svg(plan.schedule, drawing));
  if (as_csv) {
    print_csv(plan);
  } else if (as_json) {
    print_json(plan);
  } else {
    const schedule::TextOptions options{.columns = terminal_columns(), .glyphs = terminal_glyphs()};
    fmt::print("{}", schedule::draw_text(plan.schedule, drawing, options));
    for (const std::string& note : resolution.notes) fmt::print("note: {}\n", note);
    for (const std::string& note : plan.schedule.notes()) fmt::print("note: {}\n", note);
    if (!svg_path.empty()) fmt::print("\nwritten: {}\n", svg_path);
  }
  return 0;
}

}  // namespace athanor::command
