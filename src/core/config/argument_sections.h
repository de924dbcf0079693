// The sections of RunConfig as the arguments alone give them, before the DeepSpeed JSON. Internal to resolution.
#pragma once

#include <string>

#include "core/config/run_config.h"
#include "core/config/value_reader.h"

namespace athanor::config::detail {

// `home_folder` stands for a leading ~ in paths; empty leaves them as they are.
RunConfig read_sections(ValueReader& read, const std::string& home_folder);

// Their parts, in argument_step.cpp.
OptimizerConfig read_optimizer(ValueReader& read);
ScheduleConfig read_schedule(ValueReader& read);
PrecisionConfig read_precision(ValueReader& read);

// "~/runs" with a home folder; anything else as it is.
std::string expand_home(const std::string& path, const std::string& home_folder);

}  // namespace athanor::config::detail
