#include <cmath>

#include "core/base/error.h"
#include "core/base/vector_clones.h"
#include "engine/optim/update_rule.h"

namespace athanor::optim {

namespace {

ATHANOR_VECTOR_CLONES
void add_l2(float l2, const float* __restrict parameter, float* __restrict gradient, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) gradient[i] += l2 * parameter[i];
}

ATHANOR_VECTOR_CLONES
void adam(const RuleConstants& c, float* __restrict parameter, const float* __restrict gradient,
          float* __restrict first, float* __restrict second, std::size_t n) {
  const float decay_factor = c.decay_factor, one_minus_beta1 = c.one_minus_beta1, beta2 = c.beta2;
  const float one_minus_beta2 = c.one_minus_beta2, step_size = c.step_size, epsilon = c.epsilon;
  const float second_correction = c.second_correction;
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    const float m = first[i] + one_minus_beta1 * (g - first[i]);
    const float v = second[i] * beta2 + one_minus_beta2 * g * g;
    first[i] = m;
    second[i] = v;
    const float denominator = std::sqrt(v) / second_correction + epsilon;
    parameter[i] = parameter[i] * decay_factor - step_size * m / denominator;
  }
}

ATHANOR_VECTOR_CLONES
void lion(const RuleConstants& c, float* __restrict parameter, const float* __restrict gradient,
          float* __restrict first, std::size_t n) {
  const float decay_factor = c.decay_factor, beta1 = c.beta1, one_minus_beta1 = c.one_minus_beta1, beta2 = c.beta2;
  const float one_minus_beta2 = c.one_minus_beta2, rate = c.learning_rate;
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    const float direction = beta1 * first[i] + one_minus_beta1 * g;
    const float sign = static_cast<float>((direction > 0.0f) - (direction < 0.0f));
    parameter[i] = parameter[i] * decay_factor - rate * sign;
    first[i] = beta2 * first[i] + one_minus_beta2 * g;
  }
}

ATHANOR_VECTOR_CLONES
void sgd_plain(float rate, float* __restrict parameter, const float* __restrict gradient, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) parameter[i] -= rate * gradient[i];
}

ATHANOR_VECTOR_CLONES
void sgd_momentum(const RuleConstants& c, float* __restrict parameter, const float* __restrict gradient,
                  float* __restrict buffer, std::size_t n) {
  // On the first step the buffer is the gradient, undamped.
  const float keep = c.first_step ? 0.0f : c.momentum;
  const float add = c.first_step ? 1.0f : c.one_minus_dampening;
  const float rate = c.learning_rate;
  const float ahead = c.nesterov ? c.momentum : 1.0f;
  const float own = c.nesterov ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    const float b = buffer[i] * keep + add * g;
    buffer[i] = b;
    parameter[i] -= rate * (own * g + ahead * b);
  }
}

}  // namespace

ATHANOR_VECTOR_CLONES
void scale(const float* from, float factor, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] * factor;
}

void apply_rule(const RuleConstants& constants, float* parameter, float* gradient, float* const* states,
                std::size_t n) {
  if (constants.l2 != 0.0f) add_l2(constants.l2, parameter, gradient, n);
  switch (constants.kind) {
    case config::OptimizerKind::kAdamW:
    case config::OptimizerKind::kAdam:
      adam(constants, parameter, gradient, states[0], states[1], n);
      return;
    case config::OptimizerKind::kLion:
      lion(constants, parameter, gradient, states[0], n);
      return;
    case config::OptimizerKind::kSgd:
      if (states[0] == nullptr) {
        sgd_plain(constants.learning_rate, parameter, gradient, n);
      } else {
        sgd_momentum(constants, parameter, gradient, states[0], n);
      }
      return;
    case config::OptimizerKind::kAdafactor:
      break;
  }
  ATHANOR_CHECK(false, "this optimizer is refused when the configuration is resolved");
}

}  // namespace athanor::optim
