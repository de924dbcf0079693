#include "engine/checkpoint/loader.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <set>

#include "core/base/error.h"
#include "core/formats/weight_files.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/shard/master_weights.h"

namespace athanor::checkpoint {

namespace {

// Elements converted at a time.
constexpr std::int64_t kBlock = 65536;

using Tensor = formats::WeightFiles::Tensor;

// Copies elements out of a file, where nothing is aligned.
template <typename Element>
void copy_block(const Tensor& tensor, std::int64_t begin, Element* to, std::int64_t n) {
  std::memcpy(to, tensor.bytes().data() + begin * static_cast<std::int64_t>(sizeof(Element)),
              static_cast<std::size_t>(n) * sizeof(Element));
}

void widen_block(const Tensor& tensor, std::int64_t begin, float* to, std::int64_t n) {
  if (tensor.info->dtype == formats::Dtype::kFloat32) {
    copy_block(tensor, begin, to, n);
    return;
  }
  std::vector<std::uint16_t> narrow(static_cast<std::size_t>(n));
  copy_block(tensor, begin, narrow.data(), n);
  tensor.info->dtype == formats::Dtype::kBfloat16 ? shard::widen_bfloat16(narrow.data(), to, narrow.size())
                                                  : shard::widen_float16(narrow.data(), to, narrow.size());
}

// The fp32 master out of a BF16 weight and its int16 residual.
void join_block(const Tensor& weight, const Tensor& residual, std::int64_t begin, float* to, std::int64_t n) {
  std::vector<std::uint16_t> copy(static_cast<std::size_t>(n));
  std::vector<std::int16_t> rest(static_cast<std::size_t>(n));
  copy_block(weight, begin, copy.data(), n);
  copy_block(residual, begin, rest.data(), n);
  shard::join_bfloat16(copy.data(), rest.data(), to, copy.size());
}

bool all_finite(const std::vector<float>& values) {
  // An infinity or a NaN times zero is NaN, and NaN stays in the sum.
  float sum = 0.0f;
  for (const float value : values) sum += value * 0.0f;
  return !std::isnan(sum);
}

// fill(begin, to, n) gives elements of the parameter. Returns false when one of them is not finite.
template <typename Fill>
bool fill_parameter(shard::FlatStore& store, const shard::FlatParameter& parameter, const Fill& fill) {
  std::atomic<bool> finite = true;
  const std::int64_t n = parameter.num_elements;
  at::parallel_for(0, (n + kBlock - 1) / kBlock, 1, [&](std::int64_t from, std::int64_t to) {
    std::vector<float> values;
    for (std::int64_t block = from; block < to; ++block) {
      const std::int64_t begin = block * kBlock;
      values.resize(static_cast<std::size_t>(std::min(kBlock, n - begin)));
      fill(begin, values.data(), static_cast<std::int64_t>(values.size()));
      if (!all_finite(values)) finite = false;
      store.write_master(parameter, begin, values);
    }
  });
  return finite;
}

void throw_if_not_finite(const std::vector<std::string>& names, const std::string& where) {
  if (names.empty()) return;
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  throw base::UserError(
      fmt::format("{} weight tensor{} hold NaN or infinity: {}{}", names.size(), names.size() == 1 ? "" : "s",
                  fmt::join(shown, ", "), names.size() > kShown ? ", ..." : ""),
      where, "get the weights again, or go back to an earlier checkpoint");
}

const Tensor* need(const std::optional<Tensor>& found, const std::string& name, const std::string& where) {
  if (found) return &*found;
  throw base::UserError(fmt::format("{} is missing", name), where, "use a whole model folder or checkpoint");
}

void load_states(const formats::WeightFiles& files, const shard::FlatParameter& parameter,
                 const optim::Optimizer& optimizer, const std::string& where) {
  for (int i = 0; i < optimizer.num_states(); ++i) {
    const std::string name = parameter.spec.name + "." + optim::state_name(optimizer.config(), i);
    const std::optional<Tensor> tensor = files.find(name);
    need(tensor, name, where);
    const at::Tensor flat = optimizer.state(parameter.unit, i).narrow(0, parameter.offset, parameter.num_elements);
    const at::Tensor host = flat.is_cpu() ? flat : flat.to(at::kCPU);
    copy_block(*tensor, 0, host.data_ptr<float>(), parameter.num_elements);
    if (!flat.is_cpu()) flat.copy_(host);
  }
}

// What differs between the model in files and the one in the store; empty when nothing does.
std::string first_difference(const formats::WeightFiles& files, const shard::FlatLayout& layout) {
  for (const shard::FlatParameter& parameter : layout.parameters()) {
    const std::optional<Tensor> tensor = files.find(parameter.spec.name);
    if (!tensor) return fmt::format("it has no {}", parameter.spec.name);
    if (tensor->info->shape != parameter.spec.shape) {
      return fmt::format("{} is {} there and {} here", parameter.spec.name, formats::format_shape(tensor->info->shape),
                         formats::format_shape(parameter.spec.shape));
    }
  }
  for (const auto& [name, tensor] : files.tensors()) {
    if (layout.find(name) == nullptr) return fmt::format("it has {}, which this model lacks", name);
  }
  return "";
}

}  // namespace

void load_weights(shard::FlatStore& store, const architecture::ModelWeights& weights, const std::string& where) {
  std::vector<std::string> not_finite;
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    const Tensor tensor = weights.tensor(parameter.spec.name);
    const bool finite = fill_parameter(
        store, parameter, [&](std::int64_t begin, float* to, std::int64_t n) { widen_block(tensor, begin, to, n); });
    if (!finite) not_finite.push_back(parameter.spec.name);
    tensor.file->drop_pages();
  }
  throw_if_not_finite(not_finite, where);
}

void check_same_model(const std::string& folder, const Manifest& manifest, const shard::FlatStore& store,
                      const optim::Optimizer& optimizer) {
  const std::string difference = first_difference(formats::WeightFiles::open(folder), store.layout());
  if (!difference.empty()) {
    throw base::UserError("the checkpoint is of another model: " + difference, folder,
                          "resume with the model that was trained, or start anew with another --output_dir");
  }
  const std::string kind = optimizer_kind_name(optimizer.config().kind);
  if (manifest.optimizer_kind != kind) {
    throw base::UserError(
        fmt::format("the checkpoint was trained with {}, this run asks for {}", manifest.optimizer_kind, kind), folder,
        fmt::format("set --optim to {}, or start from its weights with --model_name_or_path", manifest.optimizer_kind));
  }
}

void load_checkpoint(const std::string& folder, const Manifest& manifest, shard::FlatStore& store,
                     optim::Optimizer& optimizer) {
  const formats::WeightFiles weights = formats::WeightFiles::open(folder);
  const std::string optimizer_path = folder + "/" + kOptimizerFile;
  const formats::WeightFiles states = formats::WeightFiles::open(optimizer_path);
  std::vector<std::string> not_finite;
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    const std::string& name = parameter.spec.name;
    const std::optional<Tensor> weight = weights.find(name);
    need(weight, name, folder);
    const std::optional<Tensor> residual = states.find(name + ".master_residual");
    const std::optional<Tensor> master = states.find(name + ".master");
    const bool finite = fill_parameter(store, parameter, [&](std::int64_t begin, float* to, std::int64_t n) {
      if (residual) {
        join_block(*weight, *residual, begin, to, n);
      } else {
        widen_block(master ? *master : *weight, begin, to, n);
      }
    });
    if (!finite) not_finite.push_back(name);
    load_states(states, parameter, optimizer, optimizer_path);
  }
  throw_if_not_finite(not_finite, folder);
  optimizer.set_num_steps(manifest.optimizer_steps);
}

}  // namespace athanor::checkpoint
