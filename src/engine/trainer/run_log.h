// The log of a run: Hugging Face Trainer's log_history in trainer_state.json, and TensorBoard event files under HF's tag names.
//
// Source:  transformers 5.23 Trainer.log, speed_metrics, TensorBoardCallback. A training entry holds the mean loss of the steps
//          since the last entry, the gradient norm of the last step before clipping, and the learning rate it was taken with.
// State:   the sums between two entries are part of a checkpoint, so a resumed run logs what an unbroken one does.
// Threads: confined to the training thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/run_config.h"
#include "core/formats/tensorboard_events.h"
#include "core/formats/trainer_state.h"
#include "engine/trainer/step_decision.h"

namespace athanor::trainer {

// What one optimizer step came to.
struct StepRecord {
  std::int64_t step = 0;  // 1-based, skipped ones counted
  double epoch = 0.0;     // done after it
  StepAction action = StepAction::kApply;
  std::string reason;          // when it was not applied
  double loss = 0.0;           // mean over the target tokens of the global batch; NaN-free unless the model's is not
  double gradient_norm = 0.0;  // before clipping
  double clip_coefficient = 1.0;
  double learning_rate = 0.0;  // that it was taken with
  double loss_scale = 1.0;     // fp16
  std::int64_t num_targets = 0;
  std::int64_t num_input_tokens = 0;    // real ones
  std::int64_t num_counted_tokens = 0;  // as include_num_input_tokens_seen counts
  double flos = 0.0;
};

// The sums since the last entry and over the whole run.
struct LogSums {
  double loss = 0.0;  // since the last entry
  std::int64_t num_losses = 0;
  std::int64_t last_logged_step = 0;
  double total_loss = 0.0;  // over the run
  std::int64_t num_total_losses = 0;
  std::int64_t skipped_steps = 0;  // over the run: overflow
  std::int64_t empty_steps = 0;    // over the run: no targets
};
base::JsonValue log_sums_to_json(const LogSums& sums);
LogSums log_sums_from_json(const base::JsonValue& json);

class RunLog {
 public:
  RunLog(const config::LoggingConfig& config, config::Precision compute, formats::TrainerState state, LogSums sums);

  // Event files go to `folder` from now on; `resumed_step` supersedes later points of earlier files.
  void open_events(const std::string& folder, const formats::EventFileName& name,
                   std::optional<std::int64_t> resumed_step);

  void add_step(const StepRecord& record);
  // Writes the entry for the steps since the last one; nothing when there were none.
  void log_training(double seconds_since_start, std::int64_t tokens_at_start, double unix_seconds);
  // Any metrics ("eval_loss", "train_runtime", ...), with epoch and step.
  void log_metrics(const std::vector<std::pair<std::string, double>>& metrics, double unix_seconds);
  void write_text(const std::string& tag, const std::string& markdown, double unix_seconds);
  void close_events();

  const StepRecord& last_step() const { return last_step_; }
  const LogSums& sums() const { return sums_; }
  formats::TrainerState& state() { return state_; }
  const formats::TrainerState& state() const { return state_; }

 private:
  void append(base::JsonValue entry, double unix_seconds);

  config::LoggingConfig config_;
  config::Precision compute_;
  formats::TrainerState state_;
  LogSums sums_;
  StepRecord last_step_;
  std::optional<formats::EventWriter> events_;
};

// "eval_loss" -> "eval/loss", "loss" -> "train/loss".
std::string tensorboard_tag(const std::string& key);

}  // namespace athanor::trainer
