#include "core/config/rules.h"

#include <fmt/format.h>

#include <cmath>

namespace athanor::config {

namespace {

using base::Problem;
using Problems = std::vector<Problem>;

void needs_output(const RunConfig& config, Problems& problems) {
  if (!config.checkpoint.output_dir.empty()) return;
  problems.push_back(
      {"C001: output_dir is missing", "output_dir", "give --output_dir FOLDER for the model and its checkpoints"});
}

void needs_model(const RunConfig& config, Problems& problems) {
  if (config.model.model_name_or_path.empty() && config.model.config_name.empty()) {
    problems.push_back(
        {"C002: there is no model", "model_name_or_path",
         "give --model_name_or_path FOLDER to train on, or --config_name config.json to begin from scratch"});
  }
  if (!config.model.model_name_or_path.empty() && !config.model.config_name.empty()) {
    problems.push_back({"C002: model_name_or_path and config_name are both given", "config_name",
                        "keep model_name_or_path to train on its weights, config_name to begin from scratch"});
  }
}

void needs_data(const RunConfig& config, Problems& problems) {
  if (!config.data.train_files.empty()) return;
  problems.push_back({"C003: there is no training data", "train_file", "give --train_file FILE (or --data_path)"});
}

void evaluation_needs_data(const RunConfig& config, Problems& problems) {
  const bool evaluates = config.evaluation.strategy != Interval::kNo || config.evaluation.on_start;
  if (!evaluates || !config.data.validation_files.empty()) return;
  problems.push_back({"C004: evaluation is asked for and there is no validation data", "eval_strategy",
                      "give --validation_file FILE, or --eval_strategy no"});
}

void best_needs_evaluation(const RunConfig& config, Problems& problems) {
  if (!config.checkpoint.load_best_at_end) return;
  const Interval save = config.checkpoint.strategy;
  const Interval evaluate = config.evaluation.strategy;
  if (save != Interval::kBest && save != evaluate) {
    problems.push_back({"C005: load_best_model_at_end needs the same eval_strategy and save_strategy",
                        "load_best_model_at_end", "set both to steps, or both to epoch"});
    return;
  }
  if (evaluate == Interval::kNo) {
    problems.push_back(
        {"C005: load_best_model_at_end needs evaluation", "load_best_model_at_end", "set eval_strategy"});
    return;
  }
  if (save != Interval::kSteps || config.evaluation.steps < 1 || config.checkpoint.save_steps < 1) return;
  if (std::fmod(config.checkpoint.save_steps, config.evaluation.steps) != 0.0) {
    problems.push_back(
        {fmt::format("C005: save_steps {} is no multiple of eval_steps {}, so the best model might not be saved",
                     config.checkpoint.save_steps, config.evaluation.steps),
         "load_best_model_at_end", "make save_steps a multiple of eval_steps"});
  }
}

void saving_best_needs_metric(const RunConfig& config, Problems& problems) {
  if (config.checkpoint.strategy != Interval::kBest) return;
  if (config.evaluation.strategy == Interval::kNo) {
    problems.push_back({"C006: save_strategy best needs evaluation", "save_strategy", "set eval_strategy"});
  }
}

void packing_needs_length(const RunConfig& config, Problems& problems) {
  if (config.data.tokens_per_batch.has_value() && config.data.max_length.has_value() &&
      *config.data.tokens_per_batch < *config.data.max_length) {
    problems.push_back({fmt::format("C007: tokens_per_batch {} is less than a row of model_max_length {}",
                                    *config.data.tokens_per_batch, *config.data.max_length),
                        "tokens_per_batch", "raise tokens_per_batch or lower model_max_length"});
  }
}

void warmup_fits(const RunConfig& config, Problems& problems) {
  const std::int64_t total = config.length.max_steps;
  if (total <= 0 || config.schedule.family != ScheduleFamily::kHuggingFace || config.schedule.type == "constant")
    return;
  if (config.schedule.warmup_steps <= static_cast<double>(total)) return;
  problems.push_back(
      {fmt::format("C008: warmup_steps {} are more than max_steps {}", config.schedule.warmup_steps, total),
       "warmup_steps", fmt::format("lower warmup_steps to at most {} or train longer", total)});
}

void has_length(const RunConfig& config, Problems& problems) {
  if (config.length.max_steps == 0 || config.length.max_steps < -1) {
    problems.push_back({fmt::format("C009: max_steps is {}", config.length.max_steps), "max_steps",
                        "give at least 1, or -1 for num_train_epochs to decide"});
  }
  if (config.length.max_steps <= 0 && config.length.num_train_epochs <= 0) {
    problems.push_back(
        {"C009: num_train_epochs is 0, so there is no step to take", "num_train_epochs", "give more than 0"});
  }
}

void intervals_are_positive(const RunConfig& config, Problems& problems) {
  const auto check = [&](Interval strategy, double steps, const char* name) {
    if (strategy != Interval::kSteps || steps > 0) return;
    problems.push_back({fmt::format("C010: {} is {}, with its strategy set to steps", name, steps), name,
                        fmt::format("give {} at least 1, or a share of the run below 1", name)});
  };
  check(config.logging.strategy, config.logging.steps, "logging_steps");
  check(config.evaluation.strategy, config.evaluation.steps, "eval_steps");
  check(config.checkpoint.strategy, config.checkpoint.save_steps, "save_steps");
}

void resume_or_overwrite(const RunConfig& config, Problems& problems) {
  if (config.checkpoint.resume_from.empty() || !config.checkpoint.overwrite_output_dir) return;
  problems.push_back({"C011: resume_from_checkpoint and overwrite_output_dir contradict each other",
                      "overwrite_output_dir", "keep one of them: the first goes on, the second starts anew"});
}

void scratch_has_tokenizer(const RunConfig& config, Problems& problems) {
  if (!config.model.config_overrides.empty() && !config.model.from_scratch) {
    problems.push_back({"C012: config_overrides change the shape of loaded weights", "config_overrides",
                        "use it with config_name, from scratch"});
  }
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"C001", "output_dir is given", needs_output},
      {"C002", "a model to load or a configuration to begin from, not both", needs_model},
      {"C003", "training data is given", needs_data},
      {"C004", "evaluation has validation data", evaluation_needs_data},
      {"C005", "load_best_model_at_end: evaluation and saving go together", best_needs_evaluation},
      {"C006", "save_strategy best has evaluation", saving_best_needs_metric},
      {"C007", "a row fits into tokens_per_batch", packing_needs_length},
      {"C008", "the warm-up fits into the run", warmup_fits},
      {"C009", "the run has a length", has_length},
      {"C010", "intervals in steps are above 0", intervals_are_positive},
      {"C011", "resuming and overwriting exclude each other", resume_or_overwrite},
      {"C012", "config_overrides are for models from scratch", scratch_has_tokenizer},
  };
  return all;
}

void check_rules(const RunConfig& config, std::vector<base::Problem>& problems) {
  for (const Rule& rule : rules()) rule.check(config, problems);
}

}  // namespace athanor::config
