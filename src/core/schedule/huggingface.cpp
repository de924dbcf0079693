// transformers' schedules: factors on the initial learning rate, as LambdaLR applies them. Update k uses index k, so with a plain
// warm-up the first update has learning rate 0.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "core/base/nearest.h"
#include "core/schedule/families.h"
#include "core/schedule/metric_schedule.h"
#include "core/schedule/options.h"

namespace athanor::schedule {

namespace {

// What every schedule is made from. Steps are doubles because the formulas divide them.
struct Setting {
  double base;    // initial learning rate
  double warmup;  // steps
  double total;   // steps
};

using Factor = std::function<double(double step)>;
using Maker = Factor (*)(const Setting&, Options&);

constexpr double kPi = 3.14159265358979323846;

double plain_warmup(const Setting& setting, double step) { return step / std::max(1.0, setting.warmup); }

double progress_after_warmup(const Setting& setting, double step) {
  return (step - setting.warmup) / std::max(1.0, setting.total - setting.warmup);
}

double cosine_wave(double num_cycles, double progress) {
  return 0.5 * (1.0 + std::cos(kPi * num_cycles * 2.0 * progress));
}

Factor make_constant(const Setting&, Options&) {
  return [](double) { return 1.0; };
}

Factor make_constant_with_warmup(const Setting& setting, Options&) {
  return [setting](double step) { return step < setting.warmup ? plain_warmup(setting, step) : 1.0; };
}

Factor make_linear(const Setting& setting, Options&) {
  return [setting](double step) {
    if (step < setting.warmup) return plain_warmup(setting, step);
    return std::max(0.0, (setting.total - step) / std::max(1.0, setting.total - setting.warmup));
  };
}

Factor make_cosine(const Setting& setting, Options& options) {
  const double num_cycles = options.number("num_cycles", 0.5);
  return [setting, num_cycles](double step) {
    if (step < setting.warmup) return plain_warmup(setting, step);
    return std::max(0.0, cosine_wave(num_cycles, progress_after_warmup(setting, step)));
  };
}

Factor make_cosine_with_restarts(const Setting& setting, Options& options) {
  const double num_cycles = options.number("num_cycles", 1.0);
  if (num_cycles <= 0) options.refuse("num_cycles must be above 0", "give the number of cosine cycles, e.g. 2");
  return [setting, num_cycles](double step) {
    if (step < setting.warmup) return plain_warmup(setting, step);
    const double progress = progress_after_warmup(setting, step);
    if (progress >= 1.0) return 0.0;
    return std::max(0.0, 0.5 * (1.0 + std::cos(kPi * std::fmod(num_cycles * progress, 1.0))));
  };
}

Factor make_polynomial(const Setting& setting, Options& options) {
  const double end = options.number("lr_end", 1e-7);
  const double power = options.number("power", 1.0);
  if (end >= setting.base) {
    options.refuse(fmt::format("lr_end {} must be below the learning rate {}", end, setting.base), "lower lr_end");
  }
  if (setting.warmup >= setting.total) {
    options.refuse("polynomial has no step left after the warm-up to decay in",
                   "lower warmup_steps or raise max_steps");
  }
  return [setting, end, power](double step) {
    if (step < setting.warmup) return plain_warmup(setting, step);
    if (step > setting.total) return end / setting.base;
    const double remaining = 1.0 - (step - setting.warmup) / (setting.total - setting.warmup);
    return ((setting.base - end) * std::pow(remaining, power) + end) / setting.base;
  };
}

Factor make_inverse_sqrt(const Setting& setting, Options& options) {
  constexpr double kTimescaleWithoutWarmup = 10000.0;
  const double timescale = options.number("timescale", setting.warmup > 0 ? setting.warmup : kTimescaleWithoutWarmup);
  if (timescale <= 0) options.refuse("timescale must be above 0", "give a number of steps");
  return [setting, timescale](double step) {
    if (step < setting.warmup) return plain_warmup(setting, step);
    return 1.0 / std::sqrt((step + timescale - setting.warmup) / timescale);
  };
}

// The floor of the min_lr schedules, as a share of the learning rate.
double minimum_rate(const Setting& setting, Options& options) {
  const std::optional<double> rate = options.optional_number("min_lr");
  const std::optional<double> share = options.optional_number("min_lr_rate");
  if (rate.has_value() == share.has_value()) {
    options.refuse("exactly one of min_lr and min_lr_rate is needed", "give one of them, e.g. {\"min_lr_rate\": 0.1}");
    return 0.0;
  }
  return share.has_value() ? *share : *rate / setting.base;
}

Factor make_cosine_with_min_lr(const Setting& setting, Options& options) {
  const double num_cycles = options.number("num_cycles", 0.5);
  const double floor = minimum_rate(setting, options);
  return [setting, num_cycles, floor](double step) {
    if (step < setting.warmup) return plain_warmup(setting, step);
    const double wave = cosine_wave(num_cycles, progress_after_warmup(setting, step));
    return std::max(0.0, wave * (1.0 - floor) + floor);
  };
}

Factor make_cosine_warmup_with_min_lr(const Setting& setting, Options& options) {
  const double num_cycles = options.number("num_cycles", 0.5);
  const double floor = minimum_rate(setting, options);
  const std::optional<double> first = options.optional_number("warmup_lr_rate");
  return [setting, num_cycles, floor, first](double step) {
    if (step < setting.warmup) {
      if (!first.has_value()) return (step + 1.0) / std::max(1.0, setting.warmup);
      return *first + (1.0 - *first) * step / std::max(1.0, setting.warmup - 1.0);
    }
    const double progress = (step - setting.warmup + 1.0) / std::max(1.0, setting.total - setting.warmup);
    return std::max(0.0, cosine_wave(num_cycles, progress) * (1.0 - floor) + floor);
  };
}

Factor make_warmup_stable_decay(const Setting& setting, Options& options) {
  const std::vector<std::string> shapes = {"linear", "cosine", "1-sqrt"};
  const std::string warmup_type = options.choice("warmup_type", "linear", shapes);
  const std::string decay_type = options.choice("decay_type", "cosine", shapes);
  const double floor = options.number("min_lr_ratio", 0.0);
  const double num_cycles = options.number("num_cycles", 0.5);
  const double decay = options.required_number("num_decay_steps");
  const double stable = options.number("num_stable_steps", setting.total - setting.warmup - decay);
  const auto above_floor = [floor](double factor) { return std::max(0.0, factor * (1.0 - floor) + floor); };
  return [=](double step) {
    if (step < setting.warmup) {
      const double progress = plain_warmup(setting, step);
      if (warmup_type == "cosine") return above_floor(0.5 * (1.0 - std::cos(kPi * progress)));
      return above_floor(warmup_type == "linear" ? progress : 1.0 - std::sqrt(1.0 - progress));
    }
    if (step < setting.warmup + stable) return 1.0;
    if (step >= setting.warmup + stable + decay) return floor;
    const double progress = (step - setting.warmup - stable) / std::max(1.0, decay);
    if (decay_type == "cosine") return above_floor(cosine_wave(num_cycles, progress));
    return above_floor(decay_type == "linear" ? 1.0 - progress : 1.0 - std::sqrt(progress));
  };
}

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> table = {
      {"linear", make_linear},
      {"cosine", make_cosine},
      {"cosine_with_restarts", make_cosine_with_restarts},
      {"polynomial", make_polynomial},
      {"constant", make_constant},
      {"constant_with_warmup", make_constant_with_warmup},
      {"inverse_sqrt", make_inverse_sqrt},
      {"cosine_with_min_lr", make_cosine_with_min_lr},
      {"cosine_warmup_with_min_lr", make_cosine_warmup_with_min_lr},
      {"warmup_stable_decay", make_warmup_stable_decay},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& huggingface_schedule_names() {
  static const std::vector<std::string> names = {"linear",
                                                 "cosine",
                                                 "cosine_with_restarts",
                                                 "polynomial",
                                                 "constant",
                                                 "constant_with_warmup",
                                                 "inverse_sqrt",
                                                 "cosine_with_min_lr",
                                                 "cosine_warmup_with_min_lr",
                                                 "warmup_stable_decay",
                                                 "reduce_lr_on_plateau",
                                                 "greedy"};
  return names;
}

LearningRateSchedule make_huggingface_schedule(const config::ScheduleConfig& config, double base_learning_rate,
                                               std::int64_t total_steps) {
  if (follows_metric(config)) {
    MetricSchedule(config, base_learning_rate);  // refuses wrong options
    return {[base_learning_rate](std::int64_t) {
              return StepRates{base_learning_rate, std::nullopt, std::nullopt};
            },
            0,
            {fmt::format("{} begins here and changes after evaluations; it has no warm-up", config.type)}};
  }
  const auto found = makers().find(config.type);
  if (found == makers().end()) {
    const std::vector<std::string>& names = huggingface_schedule_names();
    const std::optional<std::string> nearest = base::nearest_name(config.type, names);
    throw base::UserError(fmt::format("there is no schedule {}", config.type), "lr_scheduler_type",
                          nearest.has_value() ? fmt::format("did you mean {}?", *nearest)
                                              : fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  const std::int64_t warmup = resolve_warmup_steps(config, total_steps);
  Options options(config.parameters, fmt::format("lr_scheduler_kwargs of {}", config.type));
  if (warmup > total_steps && config.type != "constant") {
    options.refuse(fmt::format("warmup_steps {} are more than the {} steps of the run", warmup, total_steps),
                   fmt::format("lower warmup_steps to at most {} or train longer", total_steps));
  }
  const Setting setting{base_learning_rate, static_cast<double>(warmup), static_cast<double>(total_steps)};
  const Factor factor = found->second(setting, options);
  options.finish();
  return {[factor, base_learning_rate](std::int64_t update) {
            return StepRates{base_learning_rate * factor(static_cast<double>(update)), std::nullopt, std::nullopt};
          },
          config.type == "constant" ? 0 : warmup,
          {}};
}

}  // namespace athanor::schedule
