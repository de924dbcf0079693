// The same optimizer pass written with whole-tensor operations: what runs on devices other than the CPU, and the plain statement
// of the formulas that tests hold fused_update.h to.
#pragma once

#include "engine/optim/fused_update.h"

namespace athanor::optim {

void update_with_tensors(const UnitSlice& slice, const RuleConstants& constants, float gradient_factor);

}  // namespace athanor::optim
