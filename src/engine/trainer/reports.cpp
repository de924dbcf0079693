#include "engine/trainer/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/clock.h"
#include "engine/trainer/progress.h"

namespace athanor::trainer {

std::string describe_model(const ModelInput& input, std::int64_t num_parameters) {
  const char* family = input.config.family == architecture::Family::kLlama ? "Llama" : "Qwen2";
  const std::string origin = input.weights ? "weights from " + input.path : "new, shaped by " + input.path;
  return fmt::format("model    {}, {} parameters, {}", family, with_separators(num_parameters), origin);
}

std::string describe_plan(const config::BatchConfig& batch, const data::StepPlan& plan) {
  std::string text =
      fmt::format("plan     {} steps over {:.3g} epochs of {} steps; ", with_separators(plan.total_steps),
                  plan.epochs_after(plan.total_steps), with_separators(plan.updates_per_epoch));
  text += batch.accumulation_steps == 1
              ? fmt::format("a step is {} rows", batch.global_batch_size())
              : fmt::format("a step is {} rows, {} at a time", batch.global_batch_size(), batch.micro_batch_size);
  const std::int64_t last_group = plan.group_size(plan.updates_per_epoch - 1);
  if (last_group != plan.accumulation_steps) {
    text += fmt::format("; the last of an epoch accumulates {} instead of {}", last_group, plan.accumulation_steps);
  }
  return text;
}

std::string describe_schedule(const config::ScheduleConfig& config, const schedule::LearningRateSchedule& schedule,
                              std::int64_t total_steps) {
  std::string text = fmt::format("rate     {}", config.type);
  if (schedule.warmup_steps() > 0) text += fmt::format(", warm-up {} steps", with_separators(schedule.warmup_steps()));
  text += ":";
  std::int64_t last = -1;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const std::int64_t update =
        std::min(static_cast<std::int64_t>(share * static_cast<double>(total_steps)), total_steps - 1);
    if (update == last) continue;
    last = update;
    text += fmt::format("{} step {} {:.4g}", text.ends_with(':') ? "" : ",", with_separators(update + 1),
                        schedule.at(update).learning_rate);
  }
  return text;
}

std::vector<std::string> describe_end(const RunTotals& totals, const RunLog& log) {
  std::vector<std::string> lines;
  const double seconds = std::max(totals.seconds, 1e-9);
  lines.push_back(
      fmt::format("done     {} steps in {}, {} tokens, {} tokens/s, peak memory {}", with_separators(totals.steps),
                  base::format_duration(base::Seconds(totals.seconds)), with_separators(totals.num_tokens),
                  with_separators(static_cast<std::int64_t>(static_cast<double>(totals.num_tokens) / seconds)),
                  format_bytes(totals.peak_bytes)));
  std::string loss =
      fmt::format("loss     {:.4f} on average, {:.4f} at the last step", totals.train_loss, log.last_step().loss);
  if (log.sums().skipped_steps > 0) loss += fmt::format("; {} steps skipped for overflow", log.sums().skipped_steps);
  if (log.sums().empty_steps > 0) loss += fmt::format("; {} steps had no target", log.sums().empty_steps);
  lines.push_back(loss);
  if (log.state().best_metric && log.state().best_global_step) {
    lines.push_back(fmt::format("best     {:.4f} at step {}", *log.state().best_metric, *log.state().best_global_step));
  }
  lines.push_back("model    " + totals.output_dir);
  return lines;
}

}  // namespace athanor::trainer
