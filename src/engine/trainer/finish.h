// The end of a run that took all its steps: the best weights if asked for, the summary, the final folder.
//
// Fails:   EnvironmentError when the final model cannot be written: the run then has not done what it was for.
// Threads: confined to the training thread.
#pragma once

#include "engine/trainer/console.h"
#include "engine/trainer/evaluate.h"
#include "engine/trainer/reports.h"
#include "engine/trainer/run_log.h"
#include "engine/trainer/saver.h"

namespace athanor::trainer {

struct FinishParts {
  const config::RunConfig& config;
  const ModelInput& input;
  shard::FlatStore& store;
  const Saver& saver;
  Console& console;
};

void finish_run(const FinishParts& parts, const RunTotals& totals, RunLog& log);

// Of all steps that had a loss.
double mean_loss(const LogSums& sums);

}  // namespace athanor::trainer
