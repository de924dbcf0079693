// A decoder layer's parameters or gradients by their role, out of the flat list of a unit.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "core/architecture/model_config.h"

namespace athanor::model {

// O outputs, I inputs. An undefined bias is none.
struct LinearTensors {
  at::Tensor weight_OI;
  at::Tensor bias_O;
};

// Linear maps that share their input are joined when their tensors lie next to each other in memory; else they stay apart.
struct JoinedLinear {
  std::vector<LinearTensors> parts;  // one when joined
};

struct LayerTensors {
  JoinedLinear qkv;
  LinearTensors output;
  JoinedLinear gate_up;
  LinearTensors down;
  at::Tensor input_norm_H;
  at::Tensor post_attention_norm_H;
};

// `tensors` in the order of architecture::list_units.
LayerTensors pick_layer_tensors(const architecture::ModelConfig& config, std::span<const at::Tensor> tensors);

}  // namespace athanor::model
