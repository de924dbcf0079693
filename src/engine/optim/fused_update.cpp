#include "engine/optim/fused_update.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "engine/shard/master_weights.h"

namespace athanor::optim {

namespace {

// Five fp32 arrays of this length (weight, gradient, two moments, and room) stay within a 32 KB first-level cache.
constexpr std::int64_t kBlock = 1024;
// Elements a thread takes at a time: enough work to pay for waking it.
constexpr std::int64_t kGrain = 16 * kBlock;

class SlicePointers {
 public:
  explicit SlicePointers(const UnitSlice& slice)
      : gradient_type_(slice.gradient.scalar_type()),
        gradient_(slice.gradient.data_ptr()),
        compute_(slice.compute.data_ptr()),
        master_(slice.master.defined() ? slice.master.data_ptr<float>() : nullptr),
        residual_(slice.residual.defined() ? slice.residual.data_ptr<std::int16_t>() : nullptr) {
    for (std::size_t i = 0; i < slice.states.size(); ++i) states_[i] = slice.states[i].data_ptr<float>();
  }

  void update_block(const RuleConstants& constants, float factor, std::int64_t at, std::size_t n) const {
    alignas(64) float gradient[kBlock];
    alignas(64) float joined[kBlock];
    load_gradient(factor, at, n, gradient);
    float* parameter = load_parameter(at, n, joined);
    std::array<float*, 2> states = {};
    for (std::size_t i = 0; i < states.size(); ++i) states[i] = states_[i] == nullptr ? nullptr : states_[i] + at;
    apply_rule(constants, parameter, gradient, states.data(), n);
    store_parameter(parameter, at, n);
  }

 private:
  void load_gradient(float factor, std::int64_t at, std::size_t n, float* to) const {
    if (gradient_type_ == at::kFloat) {
      scale(static_cast<const float*>(gradient_) + at, factor, to, n);
      return;
    }
    const std::uint16_t* from = static_cast<const std::uint16_t*>(gradient_) + at;
    gradient_type_ == at::kBFloat16 ? shard::widen_bfloat16(from, to, n) : shard::widen_float16(from, to, n);
    scale(to, factor, to, n);
  }

  float* load_parameter(std::int64_t at, std::size_t n, float* joined) const {
    if (residual_ != nullptr) {
      shard::join_bfloat16(static_cast<const std::uint16_t*>(compute_) + at, residual_ + at, joined, n);
      return joined;
    }
    return master_ != nullptr ? master_ + at : static_cast<float*>(compute_) + at;
  }

  void store_parameter(const float* parameter, std::int64_t at, std::size_t n) const {
    if (residual_ != nullptr) {
      shard::split_bfloat16(parameter, static_cast<std::uint16_t*>(compute_) + at, residual_ + at, n);
    } else if (master_ != nullptr) {
      shard::narrow_float16(parameter, static_cast<std::uint16_t*>(compute_) + at, n);
    }
  }

  at::ScalarType gradient_type_;
  void* gradient_;
  void* compute_;
  float* master_;
  std::int16_t* residual_;
  std::array<float*, 2> states_ = {};
};

}  // namespace

void update_fused(const UnitSlice& slice, const RuleConstants& constants, float gradient_factor) {
  const SlicePointers pointers(slice);
  at::parallel_for(0, slice.compute.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kBlock) {
      pointers.update_block(constants, gradient_factor, at, static_cast<std::size_t>(std::min(kBlock, end - at)));
    }
  });
}

}  // namespace athanor::optim
