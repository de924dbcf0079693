#include "engine/model/layer_tensors.h"

#include <algorithm>

#include "core/base/error.h"

namespace athanor::model {

namespace {

class Picker {
 public:
  explicit Picker(std::span<const at::Tensor> tensors) : tensors_(tensors) {}

  at::Tensor next() {
    ATHANOR_CHECK(at_ < tensors_.size(), "a unit has fewer tensors than its family");
    return tensors_[at_++];
  }
  LinearTensors linear(bool has_bias) {
    LinearTensors linear;
    linear.weight_OI = next();
    if (has_bias) linear.bias_O = next();
    return linear;
  }
  void finish() const { ATHANOR_CHECK(at_ == tensors_.size(), "a unit has more tensors than its family"); }

 private:
  std::span<const at::Tensor> tensors_;
  std::size_t at_ = 0;
};

bool follows(const at::Tensor& first, const at::Tensor& second) {
  return static_cast<const char*>(first.data_ptr()) + first.nbytes() == second.data_ptr() &&
         first.storage().is_alias_of(second.storage());
}

JoinedLinear join(std::vector<LinearTensors> parts) {
  bool adjacent = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    adjacent =
        adjacent && !parts[i].bias_O.defined() && (i == 0 || follows(parts[i - 1].weight_OI, parts[i].weight_OI));
  }
  if (!adjacent) return {std::move(parts)};
  std::int64_t outputs = 0;
  for (const LinearTensors& part : parts) outputs += part.weight_OI.size(0);
  const at::Tensor& first = parts.front().weight_OI;
  LinearTensors joined;
  joined.weight_OI = first.as_strided({outputs, first.size(1)}, {first.size(1), 1}, first.storage_offset());
  return {{joined}};
}

}  // namespace

LayerTensors pick_layer_tensors(const architecture::ModelConfig& config, std::span<const at::Tensor> tensors) {
  Picker picker(tensors);
  LayerTensors layer;
  const LinearTensors query = picker.linear(config.qkv_bias);
  const LinearTensors key = picker.linear(config.qkv_bias);
  const LinearTensors value = picker.linear(config.qkv_bias);
  layer.qkv = join({query, key, value});
  layer.output = picker.linear(config.output_bias);
  const LinearTensors gate = picker.linear(config.mlp_bias);
  const LinearTensors up = picker.linear(config.mlp_bias);
  layer.gate_up = join({gate, up});
  layer.down = picker.linear(config.mlp_bias);
  layer.input_norm_H = picker.next();
  layer.post_attention_norm_H = picker.next();
  picker.finish();
  return layer;
}

}  // namespace athanor::model
