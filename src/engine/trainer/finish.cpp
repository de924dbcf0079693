#include "engine/trainer/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"
#include "core/formats/weight_files.h"
#include "engine/checkpoint/loader.h"
#include "engine/checkpoint/retention.h"

namespace athanor::trainer {

namespace {

void load_best(const FinishParts& parts, const formats::TrainerState& state) {
  const config::CheckpointConfig& config = parts.config.checkpoint;
  if (!config.load_best_at_end || !state.best_global_step) return;
  const std::string folder = checkpoint::checkpoint_folder(config.output_dir, *state.best_global_step);
  const base::Result<checkpoint::Manifest> manifest =
      checkpoint::check_folder(folder, checkpoint::Thoroughness::kChecksums);
  if (!manifest.ok()) {
    parts.console.line(fmt::format(
        "the best checkpoint cannot be loaded ({}): the model saved is that of the last step", manifest.error().what));
    return;
  }
  const architecture::ModelWeights weights(formats::WeightFiles::open(folder), parts.input.config, folder);
  checkpoint::load_weights(parts.store, weights, folder);
  parts.console.line(fmt::format("the model saved is that of step {}, the best", *state.best_global_step));
}

double rounded(double value, double scale) { return std::round(value * scale) / scale; }

// The entry that Hugging Face Trainer ends log_history with.
Metrics training_summary(const RunTotals& totals, const config::RunConfig& config, double total_flos) {
  const double seconds = std::max(totals.seconds, 1e-9);
  const double rows = static_cast<double>(totals.steps * config.batch.global_batch_size());
  return {{"train_runtime", rounded(totals.seconds, 1e4)},
          {"train_samples_per_second", rounded(rows / seconds, 1e3)},
          {"train_steps_per_second", rounded(static_cast<double>(totals.steps) / seconds, 1e3)},
          {"total_flos", total_flos},
          {"train_loss", totals.train_loss}};
}

}  // namespace

void finish_run(const FinishParts& parts, const RunTotals& totals, RunLog& log) {
  log.log_metrics(training_summary(totals, parts.config, log.state().total_flos), base::wall_time_seconds());
  load_best(parts, log.state());
  parts.console.live("saving the model");
  parts.saver.save_model();
  parts.saver.save_trainer_state(log.state());
  parts.console.end_live();
  for (const std::string& line : describe_end(totals, log)) parts.console.line(line);
}

double mean_loss(const LogSums& sums) {
  return sums.num_total_losses > 0 ? sums.total_loss / static_cast<double>(sums.num_total_losses) : 0.0;
}

}  // namespace athanor::trainer
