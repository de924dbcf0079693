// The loop over optimizer steps, and what happens between them: logging, evaluation, saving, stopping.
//
// Order:   after a step: log, evaluate, save, as Hugging Face Trainer does. A signal ends the run at the edge of a step, after a
//          checkpoint.
// Threads: confined to the training thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/data/loader.h"
#include "engine/trainer/cadence.h"
#include "engine/trainer/console.h"
#include "engine/trainer/evaluate.h"
#include "engine/trainer/progress.h"
#include "engine/trainer/run_log.h"
#include "engine/trainer/run_state.h"
#include "engine/trainer/saver.h"
#include "engine/trainer/train_step.h"

namespace athanor::trainer {

// Everything the loop works on; all of it outlives the loop.
struct RunParts {
  const config::RunConfig& config;
  const ModelInput& input;
  const model::ModelOptions& model_options;
  const data::Loader& loader;
  const data::StepPlan& plan;
  const std::optional<EvaluationSet>& evaluation_set;
  const Cadence& cadence;
  StepParts step;
  Saver& saver;
  Console& console;
};

enum class RunEnd { kFinished, kInterrupted };

class RunLoop {
 public:
  RunLoop(const RunParts& parts, RunState& state, RunLog& log);

  // Fails: NumericStop when going on cannot help; EnvironmentError when the checkpoint of an interrupted run cannot be written.
  RunEnd run();
  // Seconds since run() began.
  double seconds() const;
  // Input tokens since run() began.
  std::int64_t num_tokens() const { return num_tokens_; }

 private:
  StepRecord take_step();
  void react_to_skip(const StepResult& result, std::span<const data::MicroBatch> global_batch);
  void after_step(const Actions& actions);
  void log_now();
  void evaluate_now();
  void adjust_learning_rate(const Metrics& metrics);
  void note_best(const Metrics& metrics);
  void save_now();
  void save_for_interruption();
  void show_step(const StepRecord& record);
  // Runs what may meet a full disk without ending the run for it; says what failed. Returns whether it went well.
  bool survive_disk(const std::string& what, const std::function<void()>& action);

  RunParts parts_;
  RunState& state_;
  RunLog& log_;
  base::Clock::time_point start_;
  Progress progress_;
  base::Clock::time_point last_line_;
  base::Clock::time_point last_state_file_;
  std::int64_t tokens_at_start_;
  double flops_per_token_;
  std::int64_t num_tokens_ = 0;
  std::int64_t last_saved_step_ = -1;
};

}  // namespace athanor::trainer
