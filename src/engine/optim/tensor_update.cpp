#include "engine/optim/tensor_update.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "core/base/error.h"

namespace athanor::optim {

namespace {

// Note [bf16 residual] (shard/master_weights.h) in tensor operations; shifts of int32 are arithmetic, and narrowing to int16 keeps
// the lower half.
at::Tensor joined_master(const UnitSlice& slice) {
  const at::Tensor upper = slice.compute.view(at::kShort).to(at::kInt).__lshift__(16);
  return (upper + slice.residual.to(at::kInt)).view(at::kFloat);
}

void split_master(const at::Tensor& master, const UnitSlice& slice) {
  const at::Tensor bits = at::where(master.isnan(), at::full_like(master, NAN), master).view(at::kInt);
  const at::Tensor upper = (bits + 0x8000).__rshift__(16);
  slice.compute.view(at::kShort).copy_(upper);
  slice.residual.copy_(bits - upper.__lshift__(16));
}

void apply_adam(const RuleConstants& c, at::Tensor& parameter, const at::Tensor& gradient, const UnitSlice& slice) {
  at::Tensor first = slice.states[0], second = slice.states[1];
  first.add_((gradient - first).mul_(c.one_minus_beta1));
  second.mul_(c.beta2).add_((gradient * c.one_minus_beta2).mul_(gradient));
  const at::Tensor denominator = second.sqrt().div_(c.second_correction).add_(c.epsilon);
  parameter.mul_(c.decay_factor).sub_((first * c.step_size).div_(denominator));
}

void apply_lion(const RuleConstants& c, at::Tensor& parameter, const at::Tensor& gradient, const UnitSlice& slice) {
  at::Tensor first = slice.states[0];
  const at::Tensor direction = first * c.beta1 + gradient * c.one_minus_beta1;
  parameter.mul_(c.decay_factor).sub_(direction.sign().mul_(c.learning_rate));
  first.mul_(c.beta2).add_(gradient * c.one_minus_beta2);
}

void apply_sgd(const RuleConstants& c, at::Tensor& parameter, const at::Tensor& gradient, const UnitSlice& slice) {
  at::Tensor direction = gradient;
  if (!slice.states.empty()) {
    at::Tensor buffer = slice.states[0];
    if (c.first_step) {
      buffer.copy_(gradient);
    } else {
      buffer.mul_(c.momentum).add_(gradient * c.one_minus_dampening);
    }
    direction = c.nesterov ? gradient + buffer * c.momentum : buffer;
  }
  parameter.sub_(direction * c.learning_rate);
}

}  // namespace

void update_with_tensors(const UnitSlice& slice, const RuleConstants& constants, float gradient_factor) {
  at::Tensor gradient = slice.gradient.to(at::kFloat).mul(gradient_factor);
  at::Tensor parameter = slice.compute;
  if (slice.residual.defined()) parameter = joined_master(slice);
  if (slice.master.defined()) parameter = slice.master;
  if (constants.l2 != 0.0f) gradient.add_(parameter * constants.l2);
  switch (constants.kind) {
    case config::OptimizerKind::kAdamW:
    case config::OptimizerKind::kAdam:
      apply_adam(constants, parameter, gradient, slice);
      break;
    case config::OptimizerKind::kLion:
      apply_lion(constants, parameter, gradient, slice);
      break;
    case config::OptimizerKind::kSgd:
      apply_sgd(constants, parameter, gradient, slice);
      break;
    case config::OptimizerKind::kAdafactor:
      ATHANOR_CHECK(false, "this optimizer is refused when the configuration is resolved");
  }
  if (slice.residual.defined()) split_master(parameter, slice);
  if (slice.master.defined()) slice.compute.copy_(parameter);
}

}  // namespace athanor::optim
