// The batch-size relation: train_batch_size = train_micro_batch_size_per_gpu * gradient_accumulation_steps * ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"

namespace athanor::config {

struct BatchSizeInputs {
  std::optional<std::int64_t> train = {};         // rows of an optimizer step
  std::optional<std::int64_t> micro = {};         // rows per rank and micro-batch
  std::optional<std::int64_t> accumulation = {};  // micro-batches of an optimizer step
  std::int64_t world_size = 1;                    // data-parallel ranks, > 0
};

struct BatchSizes {
  std::int64_t train = 0;
  std::int64_t micro = 0;
  std::int64_t accumulation = 0;
  bool operator==(const BatchSizes&) const = default;
};

// Fills in what is missing as DeepSpeed does: train and micro give accumulation; train and accumulation give micro; micro and
// accumulation give train; train alone means accumulation 1; micro alone means accumulation 1.
// Fails: a problem without `where`, whose remedy names the nearest values that fit.
base::Result<BatchSizes> solve_batch_sizes(const BatchSizeInputs& inputs);

}  // namespace athanor::config
