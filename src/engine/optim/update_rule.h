// One optimizer step on a block of elements: the formulas, as loops over arrays.
//
// Source:  AdamW: Loshchilov & Hutter 2019, Algorithm 2. Adam: Kingma & Ba 2015 with L2 decay. SGD: Sutskever et al. 2013.
//          Lion: Chen et al. 2023, Algorithm 2, with sign(0) = 0. The order of operations is torch.optim's (foreach=False), so that
//          the results agree to the last bits (tests/parity/optimizers).
// Types:   everything fp32. Constants are computed in double and rounded once.
// Step:    1-based; bias correction uses it, so a skipped step must not advance it.
// Threads: pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config/run_config.h"

namespace athanor::optim {

// The number of fp32 state arrays a rule keeps for each parameter.
int num_states(const config::OptimizerConfig& config);
// torch.optim's name for state `index`: "exp_avg", "exp_avg_sq", "momentum_buffer".
const char* state_name(const config::OptimizerConfig& config, int index);

struct RuleConstants {
  config::OptimizerKind kind = config::OptimizerKind::kAdamW;
  float decay_factor = 1.0f;  // decoupled: p *= 1 - lr * weight_decay
  float l2 = 0.0f;            // coupled: g += l2 * p
  float learning_rate = 0.0f;
  float beta1 = 0.0f;
  float one_minus_beta1 = 0.0f;
  float beta2 = 0.0f;
  float one_minus_beta2 = 0.0f;
  float step_size = 0.0f;          // lr / (1 - beta1^t)
  float second_correction = 1.0f;  // sqrt(1 - beta2^t)
  float epsilon = 0.0f;
  float momentum = 0.0f;
  float one_minus_dampening = 1.0f;
  bool first_step = false;  // the momentum buffer begins as the gradient
  bool nesterov = false;
};

// Betas (or the momentum) of one step, which a one-cycle schedule moves.
struct Momenta {
  double beta1 = 0.0;  // SGD: its momentum
  double beta2 = 0.0;
};
Momenta configured_momenta(const config::OptimizerConfig& config);

enum class Decay { kOff, kOn };
// `step` is 1 for the first.
RuleConstants rule_constants(const config::OptimizerConfig& config, const Momenta& momenta, double learning_rate,
                             std::int64_t step, Decay decay);

// to = factor x from; the two may be the same array.
void scale(const float* from, float factor, float* to, std::size_t n);

// parameter, gradient: [n]; the gradient is already unscaled and clipped and may be overwritten. states[i]: [n], unused ones null.
void apply_rule(const RuleConstants& constants, float* parameter, float* gradient, float* const* states, std::size_t n);

}  // namespace athanor::optim
