// The buffers of a training run: for each unit one flat buffer per role, and the model's view of them.
//
// Roles:   compute   what forward and backward read, in the compute type
//          gradient  what backward writes; padding stays zero
//          master    the fp32 weight the optimizer updates: the compute buffer itself (fp32), compute + int16 residual (bf16, see
//                    Note [bf16 residual]), or a buffer of its own (fp16)
// Note [Gradient type]
// With one micro-batch a step the gradient has the compute type: that is the rounding a 16-bit backward makes anyway, in half the
// memory. With accumulation it is fp32, because small contributions added to a large 16-bit sum would be lost.
//
// Owns:    all buffers. Gradient buffers come into being at the first use, so evaluation and generation never pay for them.
// Threads: confined to the training thread. Collective: none with one process.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "core/architecture/model_config.h"
#include "engine/model/unit_store.h"
#include "engine/shard/flat_layout.h"

namespace athanor::shard {

enum class MasterKind { kIsCompute, kResidual, kSeparate };

struct StoreOptions {
  at::ScalarType compute_type = at::kFloat;   // kFloat, kBFloat16 or kHalf
  at::ScalarType gradient_type = at::kFloat;  // kFloat or the compute type
  at::Device device = at::kCPU;
};

class FlatStore final : public model::UnitStore {
 public:
  FlatStore(const std::vector<architecture::UnitSpec>& units, const StoreOptions& options);

  std::span<const at::Tensor> parameters(std::size_t unit) override;
  void release(std::size_t unit) override;
  std::span<const at::Tensor> gradients(std::size_t unit) override;
  void gradients_ready(std::size_t unit) override;

  const FlatLayout& layout() const { return layout_; }
  const StoreOptions& options() const { return options_; }
  MasterKind master_kind() const { return master_kind_; }

  // Flat buffers, [unit elements].
  const at::Tensor& compute(std::size_t unit) const { return buffers_[unit].compute; }
  const at::Tensor& gradient(std::size_t unit);
  // fp32; requires kIsCompute (then the compute buffer) or kSeparate.
  const at::Tensor& master(std::size_t unit) const;
  const at::Tensor& residual(std::size_t unit) const;  // int16; requires kResidual

  // Exact fp32 values of elements [begin, begin + values.size()) of a parameter, and the way back, which also makes the compute
  // copy. Calls on different elements may run at the same time.
  void read_master(const FlatParameter& parameter, std::int64_t begin, std::span<float> values) const;
  void write_master(const FlatParameter& parameter, std::int64_t begin, std::span<const float> values);

  // Bytes held now.
  std::int64_t num_bytes() const;

 private:
  struct Buffers {
    at::Tensor compute, gradient, master, residual;
    std::vector<at::Tensor> parameter_views, gradient_views;
  };
  at::Tensor slice(const at::Tensor& flat, const FlatParameter& parameter, std::int64_t begin, std::size_t n) const;
  std::vector<at::Tensor> views_of(const at::Tensor& flat, std::size_t unit) const;

  FlatLayout layout_;
  StoreOptions options_;
  MasterKind master_kind_;
  std::vector<Buffers> buffers_;
};

}  // namespace athanor::shard
