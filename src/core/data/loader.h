// The micro-batches of every optimizer step, by position: the same at any time, on any rank, after any restart.
//
// Source:  order as transformers' samplers mean it (random, sequential, group_by_length); the permutation is a function of
//          (data_seed, epoch), see order.h. Micro-batches go to ranks in turn, as accelerate's BatchSamplerShard deals them.
// Threads: immutable; batches() may be called from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/config/run_config.h"
#include "core/data/micro_batch.h"
#include "core/data/rows.h"
#include "core/data/step_plan.h"

namespace athanor::data {

struct LoaderOptions {
  std::int64_t micro_batch_size = 8;  // rows
  std::int64_t tokens_per_batch = 0;  // > 0: micro-batches by token budget instead of by rows
  config::SamplingStrategy sampling = config::SamplingStrategy::kRandom;
  std::int64_t seed = 42;
  bool drop_last = false;  // leave out the last micro-batch of an epoch if it is short of rows
  std::int64_t world_size = 1;
  std::int64_t rank = 0;
};

class Loader {
 public:
  // `dataset` and `rows` must outlive this. Fails: UserError when no micro-batch comes out (drop_last with too few rows, a token
  // budget below the longest row).
  Loader(const Dataset& dataset, const RowSet& rows, const LoaderOptions& options);

  // Micro-batches of an epoch over all ranks: StepPlanInput::num_batches.
  std::int64_t num_batches() const { return static_cast<std::int64_t>(num_batches_); }
  // This rank's micro-batches of optimizer step `step` (from 0) under `plan`; fewer than group_size() when the rank has none left.
  std::vector<MicroBatch> batches(const StepPlan& plan, std::int64_t step) const;
  // Rows that step takes on this rank, in order (reports, tests).
  std::vector<std::vector<std::int64_t>> row_ids(const StepPlan& plan, std::int64_t step) const;

 private:
  // Row indices of the epoch's micro-batches, in order.
  struct EpochOrder {
    std::int64_t epoch = -1;
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> first;  // [num_batches + 1] into rows
  };
  std::shared_ptr<const EpochOrder> order_of(std::int64_t epoch) const;
  EpochOrder make_order(std::int64_t epoch) const;
  EpochOrder make_budget_order(std::int64_t epoch) const;
  EpochOrder make_row_order(std::int64_t epoch) const;

  const Dataset* dataset_;
  const RowSet* rows_;
  LoaderOptions options_;
  std::int64_t num_batches_ = 0;
  mutable std::shared_ptr<const EpochOrder> cached_;  // the epoch used last
};

// One micro-batch from whole rows, in the given order.
MicroBatch assemble_batch(const Dataset& dataset, const RowSet& rows, std::span<const std::int64_t> row_indices);

}  // namespace athanor::data
