#include "programs/athanor/run_checks.h"

#include <functional>

#include "core/architecture/model_folder.h"
#include "core/data/source.h"
#include "core/schedule/learning_rate.h"

namespace athanor::command {

namespace {

std::vector<base::Problem> problems_of(const std::function<void()>& check) {
  try {
    check();
  } catch (const base::UserError& error) {
    return error.problems();
  }
  return {};
}

void append(std::vector<base::Problem>& problems, const std::vector<base::Problem>& more) {
  problems.insert(problems.end(), more.begin(), more.end());
}

}  // namespace

std::vector<base::Problem> problems_of_schedule(const config::RunConfig& config) {
  // While the length is not known: longer than any warm-up, so that only what is wrong in itself is found.
  constexpr std::int64_t kAnyLength = std::int64_t{1} << 40;
  const std::int64_t total = config.length.max_steps > 0 ? config.length.max_steps : kAnyLength;
  return problems_of([&] { schedule::make_schedule(config.schedule, config.optimizer.learning_rate, total); });
}

std::vector<base::Problem> problems_of_files(const config::RunConfig& config) {
  std::vector<base::Problem> problems;
  const config::ModelSource& model = config.model;
  if (!model.model_name_or_path.empty()) {
    append(problems, problems_of([&] { architecture::open_model_folder(model.model_name_or_path); }));
  } else if (!model.config_name.empty()) {
    append(problems, problems_of([&] { architecture::load_model_config(model.config_name, model.config_overrides); }));
  }
  const auto check_data = [&](const std::vector<std::string>& files, const char* name) {
    if (!files.empty()) append(problems, problems_of([&] { data::open_sources(files, name); }));
  };
  check_data(config.data.train_files, "train_file");
  check_data(config.data.validation_files, "validation_file");
  return problems;
}

}  // namespace athanor::command
