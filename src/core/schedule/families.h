// The two families of schedules behind make_schedule(); nobody else includes this.
#pragma once

#include "core/schedule/learning_rate.h"

namespace athanor::schedule {

LearningRateSchedule make_huggingface_schedule(const config::ScheduleConfig& config, double base_learning_rate,
                                               std::int64_t total_steps);
LearningRateSchedule make_deepspeed_schedule(const config::ScheduleConfig& config, double base_learning_rate,
                                             std::int64_t total_steps);

}  // namespace athanor::schedule
