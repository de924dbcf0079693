// Gradient clipping by global norm.
//
// Source: torch.nn.utils.clip_grad_norm_ (Pascanu et al. 2013): every gradient times min(1, max_norm / (norm + 1e-6)).
#pragma once

namespace athanor::schedule {

// The factor on every gradient. `norm` is the global L2 norm before clipping; max_norm 0 turns clipping off (factor 1). A
// non-finite norm gives a factor of 1: whether such a step is taken is decided elsewhere.
double clip_coefficient(double norm, double max_norm);

}  // namespace athanor::schedule
