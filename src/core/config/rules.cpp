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

// Shares of the run are compared as transformers does it, in millionths.
bool is_multiple(double save_steps, double eval_steps) {
  if (save_steps >= 1) return std::fmod(save_steps, eval_steps) == 0.0;
  constexpr double kMillion = 1e6;
  return std::fmod(save_steps * kMillion, eval_steps * kMillion) == 0.0;
}

void best_needs_evaluation(const RunConfig& config, Problems& problems) {
  const Interval save = config.checkpoint.strategy;
  const Interval evaluate = config.evaluation.strategy;
  if (!config.checkpoint.load_best_at_end || (save == Interval::kBest && evaluate != Interval::kNo)) return;
  const auto refuse = [&](const std::string& what, const char* remedy) {
    problems.push_back({"C005: " + what, "load_best_model_at_end", remedy});
  };
  if (evaluate == Interval::kNo) return refuse("load_best_model_at_end needs evaluation", "set eval_strategy");
  if (save != evaluate) {
    return refuse("load_best_model_at_end needs the same eval_strategy and save_strategy",
                  "set both to steps, or both to epoch");
  }
  const double save_steps = config.checkpoint.save_steps;
  const double eval_steps = config.evaluation.steps;
  if (save != Interval::kSteps || save_steps <= 0 || eval_steps <= 0) return;
  if ((save_steps < 1) != (eval_steps < 1)) {
    return refuse(fmt::format("save_steps {} and eval_steps {}: one is a share of the run, the other counts steps, so "
                              "the best model might not be saved",
                              save_steps, eval_steps),
                  "write both as steps, or both as shares");
  }
  if (!is_multiple(save_steps, eval_steps)) {
    refuse(fmt::format("save_steps {} is no multiple of eval_steps {}, so the best model might not be saved",
                       save_steps, eval_steps),
           "make save_steps a multiple of eval_steps");
  }
}

void saving_best_needs_evaluation(const RunConfig& config, Problems& problems) {
  if (config.checkpoint.strategy != Interval::kBest || config.evaluation.strategy != Interval::kNo) return;
  problems.push_back({"C006: save_strategy best needs evaluation", "save_strategy", "set eval_strategy"});
}

void row_fits_budget(const RunConfig& config, Problems& problems) {
  const DataConfig& data = config.data;
  if (!data.tokens_per_batch || !data.max_length || *data.tokens_per_batch >= *data.max_length) return;
  problems.push_back({fmt::format("C007: tokens_per_batch {} is less than a row of model_max_length {}",
                                  *data.tokens_per_batch, *data.max_length),
                      "tokens_per_batch", "raise tokens_per_batch or lower model_max_length"});
}

void warmup_fits(const RunConfig& config, Problems& problems) {
  const std::int64_t total = config.length.max_steps;
  const ScheduleConfig& schedule = config.schedule;
  if (total <= 0 || schedule.family != ScheduleFamily::kHuggingFace || schedule.type == "constant") return;
  if (schedule.warmup_steps <= static_cast<double>(total)) return;
  problems.push_back({fmt::format("C008: warmup_steps {} are more than max_steps {}", schedule.warmup_steps, total),
                      "warmup_steps", fmt::format("lower warmup_steps to at most {} or train longer", total)});
}

void has_length(const RunConfig& config, Problems& problems) {
  if (config.length.max_steps == 0) {
    problems.push_back({"C009: max_steps is 0, so there is no step to take", "max_steps",
                        "give at least 1, or -1 for num_train_epochs to decide"});
  } else if (config.length.max_steps < 0 && config.length.num_train_epochs <= 0) {
    problems.push_back(
        {"C009: num_train_epochs is 0, so there is no step to take", "num_train_epochs", "give more than 0"});
  }
}

void intervals_can_be_met(const RunConfig& config, Problems& problems) {
  const auto check = [&](Interval strategy, double steps, const char* name) {
    if (strategy != Interval::kSteps) return;
    const bool is_share = steps > 0 && steps < 1;
    if (is_share || (steps >= 1 && steps == std::floor(steps))) return;
    problems.push_back({fmt::format("C010: {} is {}, with its strategy set to steps", name, steps), name,
                        fmt::format("give {} a whole number, or a share of the run below 1", name)});
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

void overrides_begin_from_scratch(const RunConfig& config, Problems& problems) {
  if (config.model.config_overrides.empty() || config.model.from_scratch) return;
  problems.push_back({"C012: config_overrides change the shape of loaded weights", "config_overrides",
                      "use it with config_name, from scratch"});
}

void best_metric_is_known(const RunConfig& config, Problems& problems) {
  const std::string& metric = config.checkpoint.metric_for_best;
  if (metric.empty() || metric == "loss" || metric == "eval_loss") return;
  problems.push_back({fmt::format("C013: evaluation computes the loss alone, not {}", metric), "metric_for_best_model",
                      "set --metric_for_best_model loss"});
}

void model_only_checkpoints_end_a_run(const RunConfig& config, Problems& problems) {
  if (!config.checkpoint.save_only_model || config.checkpoint.resume_from != "true") return;
  problems.push_back(
      {"C014: resume_from_checkpoint true looks for a checkpoint to go on from, and save_only_model "
       "writes none",
       "save_only_model", "leave save_only_model out, or name an older, whole checkpoint"});
}

void packing_needs_no_grouping(const RunConfig& config, Problems& problems) {
  if (config.data.packing != PackingMode::kOn || config.data.sampling != SamplingStrategy::kGroupByLength) return;
  problems.push_back({"C015: packing fills every row to one length, so there is nothing to group by length", "packing",
                      "keep packing, or group_by_length with padding"});
}

void metric_schedules_need_evaluation(const RunConfig& config, Problems& problems) {
  const ScheduleConfig& schedule = config.schedule;
  const bool follows_metric = schedule.type == "reduce_lr_on_plateau" || schedule.type == "greedy";
  if (!follows_metric || config.evaluation.strategy != Interval::kNo) return;
  problems.push_back(
      {fmt::format("C016: lr_scheduler_type {} follows the evaluation, and there is none", schedule.type),
       "lr_scheduler_type", "set eval_strategy and a validation_file"});
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"C001", "output_dir is given", needs_output},
      {"C002", "a model to load or a configuration to begin from, not both", needs_model},
      {"C003", "training data is given", needs_data},
      {"C004", "evaluation has validation data", evaluation_needs_data},
      {"C005", "load_best_model_at_end: every best model is saved", best_needs_evaluation},
      {"C006", "save_strategy best has evaluation", saving_best_needs_evaluation},
      {"C007", "a row fits into tokens_per_batch", row_fits_budget},
      {"C008", "the warm-up fits into the run", warmup_fits},
      {"C009", "the run has a length", has_length},
      {"C010", "intervals are whole steps or shares of the run", intervals_can_be_met},
      {"C011", "resuming and overwriting exclude each other", resume_or_overwrite},
      {"C012", "config_overrides are for models from scratch", overrides_begin_from_scratch},
      {"C013", "metric_for_best_model is something that evaluation computes", best_metric_is_known},
      {"C014", "a run that is to be resumed writes whole checkpoints", model_only_checkpoints_end_a_run},
      {"C015", "packing and grouping by length exclude each other", packing_needs_no_grouping},
      {"C016", "a learning rate that follows the evaluation has one", metric_schedules_need_evaluation},
  };
  return all;
}

void check_rules(const RunConfig& config, std::vector<base::Problem>& problems) {
  for (const Rule& rule : rules()) rule.check(config, problems);
}

}  // namespace athanor::config
