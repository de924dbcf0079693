// Hugging Face Trainer's trainer_state.json: the counters and the log history of a run, with its key names and every number at
// full precision.
//
// Source: transformers 5.23 TrainerState. Keys it has that mean nothing here (hyper-parameter search) are written at their default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace athanor::formats {

struct TrainerState {
  double epoch = 0;
  std::int64_t global_step = 0;  // optimizer steps
  std::int64_t max_steps = 0;
  std::int64_t num_train_epochs = 0;
  double logging_steps = 500;
  double eval_steps = 500;
  double save_steps = 500;
  std::int64_t train_batch_size = 0;  // rows per rank and micro-batch
  std::int64_t num_input_tokens_seen = 0;
  double total_flos = 0;
  std::optional<double> best_metric;
  std::optional<std::int64_t> best_global_step;
  std::optional<std::string> best_model_checkpoint;
  // Each an object: {"epoch", "step", "loss", "grad_norm", "learning_rate"} and whatever else the trainer logs.
  std::vector<base::JsonValue> log_history;
};

// Indented by two, keys sorted, as transformers writes it.
std::string trainer_state_to_text(const TrainerState& state);
// `name` is the file for messages. Fails: UserError for missing or mistyped keys. Keys that older releases lack are optional.
TrainerState parse_trainer_state(const base::JsonValue& json, const std::string& name);

}  // namespace athanor::formats
