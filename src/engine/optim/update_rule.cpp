#include "engine/optim/update_rule.h"

#include <cmath>

#include "core/base/error.h"

namespace athanor::optim {

int num_states(const config::OptimizerConfig& config) {
  switch (config.kind) {
    case config::OptimizerKind::kAdamW:
    case config::OptimizerKind::kAdam:
      return 2;
    case config::OptimizerKind::kLion:
      return 1;
    case config::OptimizerKind::kSgd:
      return config.momentum != 0.0 ? 1 : 0;
    case config::OptimizerKind::kAdafactor:
      break;
  }
  ATHANOR_CHECK(false, "this optimizer is refused when the configuration is resolved");
}

const char* state_name(const config::OptimizerConfig& config, int index) {
  if (config.kind == config::OptimizerKind::kSgd) return "momentum_buffer";
  return index == 0 ? "exp_avg" : "exp_avg_sq";
}

Momenta configured_momenta(const config::OptimizerConfig& config) {
  if (config.kind == config::OptimizerKind::kSgd) return {config.momentum, 0.0};
  return {config.beta1, config.beta2};
}

RuleConstants rule_constants(const config::OptimizerConfig& config, const Momenta& momenta, double learning_rate,
                             std::int64_t step, Decay decay) {
  ATHANOR_CHECK(step >= 1, "optimizer steps count from 1");
  const double weight_decay = decay == Decay::kOn ? config.weight_decay : 0.0;
  const bool decoupled = config.kind == config::OptimizerKind::kAdamW || config.kind == config::OptimizerKind::kLion;
  RuleConstants c;
  c.kind = config.kind;
  if (decoupled) {
    c.decay_factor = static_cast<float>(1.0 - learning_rate * weight_decay);
  } else {
    c.l2 = static_cast<float>(weight_decay);
  }
  c.learning_rate = static_cast<float>(learning_rate);
  c.beta1 = static_cast<float>(momenta.beta1);
  c.one_minus_beta1 = static_cast<float>(1.0 - momenta.beta1);
  c.beta2 = static_cast<float>(momenta.beta2);
  c.one_minus_beta2 = static_cast<float>(1.0 - momenta.beta2);
  c.epsilon = static_cast<float>(config.epsilon);
  const double t = static_cast<double>(step);
  const double first_correction = config.bias_correction ? 1.0 - std::pow(momenta.beta1, t) : 1.0;
  const double second_correction = config.bias_correction ? 1.0 - std::pow(momenta.beta2, t) : 1.0;
  c.step_size = static_cast<float>(learning_rate / first_correction);
  c.second_correction = static_cast<float>(std::sqrt(second_correction));
  c.momentum = static_cast<float>(momenta.beta1);
  c.one_minus_dampening = static_cast<float>(1.0 - config.dampening);
  c.first_step = step == 1;
  c.nesterov = config.nesterov;
  return c;
}

}  // namespace athanor::optim
