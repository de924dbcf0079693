// Whether a step is applied: a pure function of what was computed, which says why.
//
// Source:  DeepSpeed 0.19.8 and torch 2.15 skip a step whose gradients are not finite and lower the loss scale
//          (schedule/loss_scale.h). Where neither skips (fp32, bf16 without check_grad_overflow) the update would make every weight
//          NaN, so the run stops instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/run_config.h"
#include "core/schedule/loss_scale.h"

namespace athanor::trainer {

enum class StepAction {
  kApply,
  kSkipOverflow,   // gradients not finite: nothing moves but the loss scale and the data
  kSkipNoTargets,  // nothing to learn from in the whole global batch
  kStop,           // going on cannot help
};

struct StepFacts {
  std::int64_t num_targets = 0;  // of the global batch
  bool finite = true;            // all gradients
  config::PrecisionConfig precision;
  schedule::ScalerState scaler;  // that this step's backward used; fp16 only
};

struct StepDecision {
  StepAction action = StepAction::kApply;
  std::string reason;            // for everything but kApply
  schedule::ScalerState scaler;  // for the next step
};

StepDecision decide_step(const StepFacts& facts);

// Below this scale the whole range of fp16 lies under its smallest number, so no scale will do.
inline constexpr double kUselessScale = 0x1.0p-24;
// Skips in a row after which the cause is looked for.
inline constexpr int kSkipsBeforeDiagnosis = 3;

}  // namespace athanor::trainer
