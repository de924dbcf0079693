// DeepSpeed's schedules. Its engine steps them after each applied update, so update k uses index k - 1, and update 0 what the
// constructor set. Because the first index gives the minimum again, the first two updates of a warm-up run at the minimum.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "core/base/nearest.h"
#include "core/schedule/families.h"
#include "core/schedule/options.h"

namespace athanor::schedule {

namespace {

struct Setting {
  double base;               // the optimizer's learning rate
  std::int64_t auto_warmup;  // what "auto" means for warmup_num_steps
  std::int64_t total;        // what "auto" means for total_num_steps
};

using Maker = LearningRateSchedule::Function (*)(const Setting&, Options&);

constexpr double kPi = 3.14159265358979323846;
// DeepSpeed clamps warm-ups to this, so that log(W) is not 0.
constexpr double kSmallestWarmup = 2.0;

StepRates rate(double learning_rate) { return {learning_rate, std::nullopt, std::nullopt}; }

// The warm-up that the three Warmup* schedules share: 0 at the start, 1 from index `steps`.
struct Warmup {
  double steps;
  bool logarithmic;

  double at(double index) const { return logarithmic ? std::log(index + 1.0) / std::log(steps) : index / steps; }
};

Warmup read_warmup(const Setting& setting, Options& options) {
  constexpr std::int64_t kDefaultSteps = 1000;
  const std::int64_t fallback = options.is_auto("warmup_num_steps") ? setting.auto_warmup : kDefaultSteps;
  const auto steps = static_cast<double>(options.integer("warmup_num_steps", fallback));
  if (steps <= 0) options.refuse("warmup_num_steps must be a positive whole number", "give at least 1");
  const std::string type = options.choice("warmup_type", "log", {"log", "linear"});
  return {std::max(kSmallestWarmup, steps), type == "log"};
}

double read_total(const Setting& setting, const Warmup& warmup, Options& options) {
  const auto total = static_cast<double>(options.integer("total_num_steps", setting.total));
  if (total <= 0) options.refuse("total_num_steps must be above 0", "give the steps of the run, or \"auto\"");
  if (total < warmup.steps && total > 0) {
    options.refuse(fmt::format("warmup_num_steps {} are more than total_num_steps {}", warmup.steps, total),
                   "lower warmup_num_steps");
  }
  return total;
}

LearningRateSchedule::Function make_warmup(const Setting& setting, Options& options) {
  const double low = options.number("warmup_min_lr", 0.0);
  const double high = options.number("warmup_max_lr", setting.base);
  const Warmup warmup = read_warmup(setting, options);
  return [=](std::int64_t update) {
    const auto index = static_cast<double>(update - 1);
    if (index < 0) return rate(low);
    return rate(low + (high - low) * (index < warmup.steps ? warmup.at(index) : 1.0));
  };
}

LearningRateSchedule::Function make_warmup_decay(const Setting& setting, Options& options) {
  // Unlike WarmupLR's, an absent warmup_max_lr is 0.001 here and not the optimizer's rate; "auto" is the optimizer's.
  constexpr double kDefaultMaximum = 0.001;
  const double low = options.number("warmup_min_lr", 0.0);
  const double high =
      options.number("warmup_max_lr", options.is_auto("warmup_max_lr") ? setting.base : kDefaultMaximum);
  const Warmup warmup = read_warmup(setting, options);
  const double total = read_total(setting, warmup, options);
  return [=](std::int64_t update) {
    const auto index = static_cast<double>(update - 1);
    if (index < 0) return rate(low);
    const double factor =
        index < warmup.steps ? warmup.at(index) : std::max(0.0, (total - index) / std::max(1.0, total - warmup.steps));
    return rate(low + (high - low) * factor);
  };
}

LearningRateSchedule::Function make_warmup_cosine(const Setting& setting, Options& options) {
  const double first = options.number("warmup_min_ratio", 0.0);
  const double last = options.number("cos_min_ratio", 1e-4);
  const Warmup warmup = read_warmup(setting, options);
  const double total = read_total(setting, warmup, options);
  const double base = setting.base;
  return [=](std::int64_t update) {
    const auto index = static_cast<double>(update - 1);
    if (index < 0) return rate(0.0);
    if (index < warmup.steps) return rate(base * (first + (1.0 - first) * warmup.at(index)));
    const double progress = std::min(1.0, (index - warmup.steps + 1.0) / std::max(1.0, total - warmup.steps));
    const double wave = (1.0 + std::cos(kPi * progress)) / 2.0;
    return rate(base * std::max(0.0, last + (1.0 - last) * wave));
  };
}

LearningRateSchedule::Function make_range_test(const Setting&, Options& options) {
  const double low = options.number("lr_range_test_min_lr", 1e-3);
  const double size = options.number("lr_range_test_step_size", 2000);
  const double step_rate = options.number("lr_range_test_step_rate", 1.0);
  const bool staircase = options.flag("lr_range_test_staircase", false);
  if (size <= 0 || size != std::floor(size)) {
    options.refuse("lr_range_test_step_size must be a positive whole number", "give a number of steps");
  }
  return [=](std::int64_t update) {
    if (update == 0) return rate(low);
    const double interval = static_cast<double>(update) / size;
    return rate(low * (1.0 + step_rate * (staircase ? std::floor(interval) : interval)));
  };
}

// One cycle's shape; momentum runs opposite to the learning rate, and the second Adam beta becomes 0.99.
struct OneCycle {
  double low, high, first, second, first_stairs, second_stairs, decay_size, decay_rate;
  bool moves_momentum;
  double momentum_low, momentum_high, momentum_decay_rate;

  // 0 at the ends of the cycle, 1 at its peak. `place` counts steps since the cycle's start.
  double height(double place) const {
    const double total = first + second;
    const double offset = std::fmod(place, total);
    const bool rising = offset <= first;
    const double stairs = rising ? first_stairs : second_stairs;
    if (stairs > 0) {
      return std::floor(rising ? offset * stairs / first : (total - offset) * stairs / second) / stairs;
    }
    return rising ? offset / first : (total - offset) / second;
  }

  StepRates at(std::int64_t update) const {
    constexpr double kBeta2 = 0.99;
    const auto with_momentum = [&](double learning_rate, double momentum) {
      if (!moves_momentum) return rate(learning_rate);
      return StepRates{learning_rate, momentum, kBeta2};
    };
    // The constructor sets the low momentum although the cycle starts at the high one.
    if (update == 0) return with_momentum(low, momentum_low);
    const auto index = static_cast<double>(update - 1);
    const double total = first + second;
    if (index < total) {
      const double factor = height(static_cast<double>(update));
      return with_momentum(low + (high - low) * factor, momentum_high - (momentum_high - momentum_low) * factor);
    }
    const double intervals = decay_size > 0 ? (index - total + 1.0) / decay_size : 0.0;
    return with_momentum(low / (1.0 + decay_rate * intervals), momentum_high * (1.0 + momentum_decay_rate * intervals));
  }
};

LearningRateSchedule::Function make_one_cycle(const Setting&, Options& options) {
  OneCycle cycle{};
  cycle.low = options.required_number("cycle_min_lr");
  cycle.high = options.required_number("cycle_max_lr");
  cycle.first = options.number("cycle_first_step_size", 2000);
  cycle.second = options.number("cycle_second_step_size", cycle.first);
  cycle.first_stairs = options.number("cycle_first_stair_count", 0);
  cycle.second_stairs = options.number("cycle_second_stair_count", cycle.first_stairs);
  cycle.decay_size = options.number("decay_step_size", 0);
  cycle.decay_rate = options.number("decay_lr_rate", 0);
  cycle.moves_momentum = options.flag("cycle_momentum", true);
  cycle.momentum_low = options.number("cycle_min_mom", 0.8);
  cycle.momentum_high = options.number("cycle_max_mom", 0.9);
  cycle.momentum_decay_rate = options.number("decay_mom_rate", 0);
  if (cycle.first <= 0) options.refuse("cycle_first_step_size must be above 0", "give a number of steps");
  if (cycle.second < 0) options.refuse("cycle_second_step_size must not be negative", "give a number of steps");
  return [cycle](std::int64_t update) { return cycle.at(update); };
}

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> table = {{"WarmupLR", make_warmup},
                                                     {"WarmupDecayLR", make_warmup_decay},
                                                     {"WarmupCosineLR", make_warmup_cosine},
                                                     {"LRRangeTest", make_range_test},
                                                     {"OneCycle", make_one_cycle}};
  return table;
}

}  // namespace

const std::vector<std::string>& deepspeed_schedule_names() {
  static const std::vector<std::string> names = {"WarmupLR", "WarmupDecayLR", "WarmupCosineLR", "LRRangeTest",
                                                 "OneCycle"};
  return names;
}

LearningRateSchedule make_deepspeed_schedule(const config::ScheduleConfig& config, double base_learning_rate,
                                             std::int64_t total_steps) {
  const auto found = makers().find(config.type);
  if (found == makers().end()) {
    const std::vector<std::string>& names = deepspeed_schedule_names();
    const std::optional<std::string> nearest = base::nearest_name(config.type, names);
    throw base::UserError(
        fmt::format("{} is none of DeepSpeed's own schedulers, and those of torch.optim.lr_scheduler are not supported",
                    config.type),
        "scheduler.type",
        nearest.has_value() ? fmt::format("did you mean {}? (the case matters)", *nearest)
                            : fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  Options options(config.parameters, fmt::format("scheduler.params of {}", config.type));
  // Hugging Face fills "auto" with at least one step.
  const std::int64_t warmup = std::max<std::int64_t>(1, resolve_warmup_steps(config, total_steps));
  const Setting setting{base_learning_rate, warmup, total_steps};
  LearningRateSchedule::Function function = found->second(setting, options);
  options.finish();
  return {std::move(function), 0, {}};
}

}  // namespace athanor::schedule
