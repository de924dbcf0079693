// Keys and values of one sequence, layer by layer, for generation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/model/model.h"

namespace athanor::model {

class KvCache {
 public:
  struct Layer {
    at::Tensor k_TKD;  // [room, K, D], rotated
    at::Tensor v_TKD;
  };

  KvCache(const architecture::ModelConfig& config, std::int64_t room, const at::TensorOptions& options);

  Layer& layer(std::int64_t index) { return layers_[static_cast<std::size_t>(index)]; }
  std::int64_t room() const { return room_; }
  std::int64_t num_tokens() const { return num_tokens_; }
  void advance(std::int64_t num_tokens) { num_tokens_ += num_tokens; }

 private:
  std::vector<Layer> layers_;
  std::int64_t room_;
  std::int64_t num_tokens_ = 0;
};

}  // namespace athanor::model
