#include "core/schedule/learning_rate.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/schedule/families.h"

namespace athanor::schedule {

std::int64_t resolve_warmup_steps(const config::ScheduleConfig& config, std::int64_t total_steps) {
  if (config.warmup_steps >= 1) return static_cast<std::int64_t>(config.warmup_steps);
  const double share = config.warmup_steps > 0 ? config.warmup_steps : config.warmup_ratio;
  return static_cast<std::int64_t>(std::ceil(share * static_cast<double>(total_steps)));
}

LearningRateSchedule make_schedule(const config::ScheduleConfig& config, double base_learning_rate,
                                   std::int64_t total_steps) {
  if (total_steps <= 0) {
    throw base::UserError(fmt::format("a schedule needs at least one step, not {}", total_steps), "max_steps",
                          "give max_steps, or data and num_train_epochs that make one step");
  }
  return config.family == config::ScheduleFamily::kHuggingFace
             ? make_huggingface_schedule(config, base_learning_rate, total_steps)
             : make_deepspeed_schedule(config, base_learning_rate, total_steps);
}

}  // namespace athanor::schedule
