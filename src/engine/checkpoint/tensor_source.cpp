#include "engine/checkpoint/tensor_source.h"

#include <algorithm>

#include "core/base/error.h"
#include "engine/shard/master_weights.h"

namespace athanor::checkpoint {

namespace {

// Elements converted at a time.
constexpr std::int64_t kBlock = 65536;

// Calls with consecutive blocks of the exact fp32 values of a parameter.
template <typename Use>
void for_each_master_block(const shard::FlatStore& store, const shard::FlatParameter& parameter, const Use& use) {
  std::vector<float> values;
  for (std::int64_t begin = 0; begin < parameter.num_elements; begin += kBlock) {
    values.resize(static_cast<std::size_t>(std::min(kBlock, parameter.num_elements - begin)));
    store.read_master(parameter, begin, values);
    use(values);
  }
}

std::function<void(const ByteSink&)> emit_fp32(const shard::FlatStore& store, const shard::FlatParameter& parameter) {
  return [&store, &parameter](const ByteSink& sink) {
    for_each_master_block(store, parameter, [&](std::span<const float> values) { sink(std::as_bytes(values)); });
  };
}

std::function<void(const ByteSink&)> emit_narrowed(const shard::FlatStore& store, const shard::FlatParameter& parameter,
                                                   formats::Dtype type, BfloatRounding rounding) {
  return [&store, &parameter, type, rounding](const ByteSink& sink) {
    std::vector<std::uint16_t> narrow(static_cast<std::size_t>(kBlock));
    std::vector<std::int16_t> unused(narrow.size());
    for_each_master_block(store, parameter, [&](std::span<const float> values) {
      if (type == formats::Dtype::kFloat16) {
        shard::narrow_float16(values.data(), narrow.data(), values.size());
      } else if (rounding == BfloatRounding::kTiesAway) {
        shard::split_bfloat16(values.data(), narrow.data(), unused.data(), values.size());
      } else {
        shard::narrow_bfloat16(values.data(), narrow.data(), values.size());
      }
      sink(std::as_bytes(std::span(narrow).first(values.size())));
    });
  };
}

std::function<void(const ByteSink&)> emit_residual(const shard::FlatStore& store,
                                                   const shard::FlatParameter& parameter) {
  return [&store, &parameter](const ByteSink& sink) {
    std::vector<std::uint16_t> unused(static_cast<std::size_t>(kBlock));
    std::vector<std::int16_t> residual(unused.size());
    for_each_master_block(store, parameter, [&](std::span<const float> values) {
      shard::split_bfloat16(values.data(), unused.data(), residual.data(), values.size());
      sink(std::as_bytes(std::span(residual).first(values.size())));
    });
  };
}

std::function<void(const ByteSink&)> emit_state(const at::Tensor& flat, const shard::FlatParameter& parameter) {
  return [flat, &parameter](const ByteSink& sink) {
    const at::Tensor values = flat.narrow(0, parameter.offset, parameter.num_elements).to(at::kCPU);
    sink(std::as_bytes(std::span(values.data_ptr<float>(), static_cast<std::size_t>(parameter.num_elements))));
  };
}

}  // namespace

std::vector<TensorSource> weight_sources(const shard::FlatStore& store, formats::Dtype type, BfloatRounding rounding) {
  std::vector<TensorSource> sources;
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    sources.push_back({{parameter.spec.name, type, parameter.spec.shape},
                       type == formats::Dtype::kFloat32 ? emit_fp32(store, parameter)
                                                        : emit_narrowed(store, parameter, type, rounding)});
  }
  return sources;
}

std::vector<TensorSource> optimizer_sources(const shard::FlatStore& store, const optim::Optimizer& optimizer,
                                            formats::Dtype weight_type) {
  std::vector<TensorSource> sources;
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    const std::string& name = parameter.spec.name;
    for (int i = 0; i < optimizer.num_states(); ++i) {
      sources.push_back(
          {{name + "." + optim::state_name(optimizer.config(), i), formats::Dtype::kFloat32, parameter.spec.shape},
           emit_state(optimizer.state(parameter.unit, i), parameter)});
    }
    if (weight_type == formats::Dtype::kBfloat16) {
      sources.push_back(
          {{name + ".master_residual", formats::Dtype::kInt16, parameter.spec.shape}, emit_residual(store, parameter)});
    } else if (weight_type == formats::Dtype::kFloat16) {
      sources.push_back(
          {{name + ".master", formats::Dtype::kFloat32, parameter.spec.shape}, emit_fp32(store, parameter)});
    }
  }
  return sources;
}

std::string optimizer_kind_name(config::OptimizerKind kind) {
  switch (kind) {
    case config::OptimizerKind::kAdamW:
      return "adamw";
    case config::OptimizerKind::kAdam:
      return "adam";
    case config::OptimizerKind::kSgd:
      return "sgd";
    case config::OptimizerKind::kLion:
      return "lion";
    case config::OptimizerKind::kAdafactor:
      break;
  }
  ATHANOR_CHECK(false, "this optimizer is refused when the configuration is resolved");
}

}  // namespace athanor::checkpoint
