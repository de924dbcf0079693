// The L2 norm of the gradient: of each parameter and of all together, before any clipping.
//
// Source:  torch.nn.utils.clip_grad_norm_ (norm of the norms). Squares are summed in double over blocks of fixed size and the
//          blocks in order, so the result has the same bits whatever the number of threads.
// Units:   of the gradient as it lies in the store, still scaled by the loss scale; factor = 1 / loss scale unscales the result.
// Local:   no communication with one process. Threads: confined to the training thread; parallel inside.
#pragma once

#include <string>
#include <vector>

#include "engine/shard/flat_store.h"

namespace athanor::optim {

struct GradientNorms {
  double total = 0.0;
  std::vector<double> by_parameter;  // FlatLayout::parameters order
  // The first parameter (backward runs from the last to the first, so the last in the list is the first to be computed) whose
  // gradient holds an infinity or a NaN; npos when all are finite.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t last_non_finite = kNone;
  bool finite() const { return last_non_finite == kNone; }
};

GradientNorms gradient_norms(shard::FlatStore& store, double factor);

}  // namespace athanor::optim
