#include "engine/shard/flat_store.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "core/base/error.h"
#include "engine/shard/flat_buffer.h"
#include "engine/shard/master_weights.h"

namespace athanor::shard {

namespace {

MasterKind master_kind_of(at::ScalarType compute_type) {
  switch (compute_type) {
    case at::kFloat:
      return MasterKind::kIsCompute;
    case at::kBFloat16:
      return MasterKind::kResidual;
    case at::kHalf:
      return MasterKind::kSeparate;
    default:
      ATHANOR_CHECK(false, "the compute type is fp32, bf16 or fp16");
  }
}

}  // namespace

FlatStore::FlatStore(const std::vector<architecture::UnitSpec>& units, const StoreOptions& options)
    : layout_(units, 1), options_(options), master_kind_(master_kind_of(options.compute_type)) {
  ATHANOR_CHECK(options.gradient_type == at::kFloat || options.gradient_type == options.compute_type,
                "gradients are fp32 or of the compute type");
  buffers_.resize(layout_.units().size());
  for (std::size_t u = 0; u < buffers_.size(); ++u) {
    const std::int64_t n = layout_.units()[u].num_elements;
    Buffers& buffers = buffers_[u];
    buffers.compute = allocate_flat(n, options.compute_type, options.device);
    if (master_kind_ == MasterKind::kResidual) buffers.residual = allocate_flat(n, at::kShort, options.device);
    if (master_kind_ == MasterKind::kSeparate) buffers.master = allocate_flat(n, at::kFloat, options.device);
    buffers.parameter_views = views_of(buffers.compute, u);
  }
}

std::vector<at::Tensor> FlatStore::views_of(const at::Tensor& flat, std::size_t unit) const {
  const FlatUnit& layout = layout_.units()[unit];
  std::vector<at::Tensor> views;
  for (std::size_t i = 0; i < layout.num_parameters; ++i) {
    const FlatParameter& parameter = layout_.parameters()[layout.first_parameter + i];
    views.push_back(flat.narrow(0, parameter.offset, parameter.num_elements).view(parameter.spec.shape));
  }
  return views;
}

std::span<const at::Tensor> FlatStore::parameters(std::size_t unit) { return buffers_.at(unit).parameter_views; }

void FlatStore::release(std::size_t) {}

std::span<const at::Tensor> FlatStore::gradients(std::size_t unit) {
  gradient(unit);
  return buffers_[unit].gradient_views;
}

void FlatStore::gradients_ready(std::size_t) {}

const at::Tensor& FlatStore::gradient(std::size_t unit) {
  Buffers& buffers = buffers_.at(unit);
  if (!buffers.gradient.defined()) {
    buffers.gradient = allocate_flat(layout_.units()[unit].num_elements, options_.gradient_type, options_.device);
    buffers.gradient_views = views_of(buffers.gradient, unit);
  }
  return buffers.gradient;
}

const at::Tensor& FlatStore::master(std::size_t unit) const {
  ATHANOR_CHECK(master_kind_ != MasterKind::kResidual, "a bf16 master is compute copy and residual");
  return master_kind_ == MasterKind::kIsCompute ? buffers_.at(unit).compute : buffers_.at(unit).master;
}

const at::Tensor& FlatStore::residual(std::size_t unit) const {
  ATHANOR_CHECK(master_kind_ == MasterKind::kResidual, "only bf16 has a residual");
  return buffers_.at(unit).residual;
}

at::Tensor FlatStore::slice(const at::Tensor& flat, const FlatParameter& parameter, std::int64_t begin,
                            std::size_t n) const {
  ATHANOR_CHECK(begin >= 0 && begin + static_cast<std::int64_t>(n) <= parameter.num_elements,
                "elements of the parameter");
  return flat.narrow(0, parameter.offset + begin, static_cast<std::int64_t>(n));
}

void FlatStore::read_master(const FlatParameter& parameter, std::int64_t begin, std::span<float> values) const {
  const auto on_host = [&](const at::Tensor& flat) {
    return slice(flat, parameter, begin, values.size()).to(at::kCPU);
  };
  if (master_kind_ == MasterKind::kResidual) {
    const at::Tensor copy = on_host(buffers_[parameter.unit].compute);
    const at::Tensor rest = on_host(buffers_[parameter.unit].residual);
    join_bfloat16(static_cast<const std::uint16_t*>(copy.data_ptr()), rest.data_ptr<std::int16_t>(), values.data(),
                  values.size());
    return;
  }
  const at::Tensor whole = on_host(master(parameter.unit));
  std::copy_n(whole.data_ptr<float>(), values.size(), values.data());
}

void FlatStore::write_master(const FlatParameter& parameter, std::int64_t begin, std::span<const float> values) {
  const auto part = [&](const at::Tensor& flat) { return slice(flat, parameter, begin, values.size()); };
  // Host copies of the slices: the slices themselves on the CPU.
  const auto on_host = [&](const at::Tensor& flat) { return flat.is_cpu() ? flat : at::empty_like(flat, at::kCPU); };
  const auto put_back = [](const at::Tensor& host, const at::Tensor& flat) {
    if (!flat.is_cpu()) flat.copy_(host);
  };
  const at::Tensor compute = part(buffers_[parameter.unit].compute);
  if (master_kind_ == MasterKind::kResidual) {
    const at::Tensor residual = part(buffers_[parameter.unit].residual);
    const at::Tensor copy = on_host(compute), rest = on_host(residual);
    split_bfloat16(values.data(), static_cast<std::uint16_t*>(copy.data_ptr()), rest.data_ptr<std::int16_t>(),
                   values.size());
    put_back(copy, compute);
    put_back(rest, residual);
    return;
  }
  const at::Tensor whole = part(master(parameter.unit));
  const at::Tensor host = on_host(whole);
  std::copy(values.begin(), values.end(), host.data_ptr<float>());
  put_back(host, whole);
  if (master_kind_ == MasterKind::kSeparate) {
    const at::Tensor copy = on_host(compute);
    narrow_float16(values.data(), static_cast<std::uint16_t*>(copy.data_ptr()), values.size());
    put_back(copy, compute);
  }
}

std::int64_t FlatStore::num_bytes() const {
  std::int64_t total = 0;
  for (const Buffers& buffers : buffers_) {
    for (const at::Tensor* tensor : {&buffers.compute, &buffers.gradient, &buffers.master, &buffers.residual}) {
      if (tensor->defined()) total += static_cast<std::int64_t>(tensor->nbytes());
    }
  }
  return total;
}

}  // namespace athanor::shard
