// The optimizer pass over one slice of a unit on the CPU: block by block through the first-level cache, so that main memory is
// read and written once.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/optim/update_rule.h"

namespace athanor::optim {

// Slices of a unit's buffers, [n] each, contiguous. Which are defined says how the master is kept (shard::MasterKind):
// neither master nor residual: compute is the fp32 master.
struct UnitSlice {
  at::Tensor gradient;  // fp32 or the compute type
  at::Tensor compute;
  at::Tensor master;    // fp32
  at::Tensor residual;  // int16
  std::vector<at::Tensor> states;
};

void update_fused(const UnitSlice& slice, const RuleConstants& constants, float gradient_factor);

}  // namespace athanor::optim
