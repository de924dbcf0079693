// A whole training run in one process: from a resolved configuration to a Hugging Face folder and its checkpoints.
//
// Phases:  output folder -> model and data -> plan -> buffers -> weights (initialised, loaded or resumed) -> steps -> final model.
//          Each is a function that returns values, so a half-built run cannot exist; everything a person got wrong is found before
//          the first buffer is allocated, as far as it can be.
// Writes:  output_dir: config.json, weights, tokenizer, trainer_state.json, checkpoint-N, runs/ (TensorBoard).
// Fails:   UserError (exit 2), EnvironmentError (3), NumericStop (5). An interruption is not a failure: the outcome says so.
// Threads: runs on the calling thread; libtorch's threads work inside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/parallel.h"
#include "core/config/run_config.h"

namespace athanor::trainer {

// What programs/ know about the process and the machine; nothing here is read from the environment by the engine.
struct Environment {
  std::string host = "localhost";
  int process_id = 0;
  bool terminal = false;  // standard output is one: draw a live line
  int columns = 80;
  base::ParallelFor parallel_for = base::serial_for;  // for reading data
};

struct TrainRequest {
  config::RunConfig config;
  std::vector<std::string> notes;  // of the resolution, for a person to read once
  base::JsonValue resolved =
      base::JsonValue::object();  // the table of `config show`, kept in output_dir/athanor_config.json
  Environment environment;
};

struct TrainOutcome {
  base::ExitCode exit_code = base::ExitCode::kSuccess;  // kInterrupted after a signal and a checkpoint
  std::int64_t step = 0;                                // optimizer steps done, skipped ones counted
  double train_loss = 0.0;                              // mean of the steps' losses in this call
};

TrainOutcome train(const TrainRequest& request);

}  // namespace athanor::trainer
