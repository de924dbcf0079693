#include "engine/optim/gradient_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>

#include "engine/optim/sum_of_squares.h"

namespace athanor::optim {

namespace {

// Part of the definition of the result: another value gives other last bits.
constexpr std::int64_t kChunk = 65536;

struct Chunk {
  std::size_t parameter;
  std::int64_t begin;  // elements from the start of the parameter
  std::int64_t size;
};

std::vector<double> squares_on_cpu(shard::FlatStore& store) {
  const std::vector<shard::FlatParameter>& parameters = store.layout().parameters();
  std::vector<Chunk> chunks;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    store.gradient(parameters[p].unit);
    for (std::int64_t at = 0; at < parameters[p].num_elements; at += kChunk) {
      chunks.push_back({p, at, std::min(kChunk, parameters[p].num_elements - at)});
    }
  }
  std::vector<double> sums(chunks.size());
  at::parallel_for(0, static_cast<std::int64_t>(chunks.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Chunk& chunk = chunks[static_cast<std::size_t>(i)];
      const shard::FlatParameter& parameter = parameters[chunk.parameter];
      const at::Tensor& flat = store.gradient(parameter.unit);
      const char* data =
          static_cast<const char*>(flat.data_ptr()) + (parameter.offset + chunk.begin) * flat.element_size();
      sums[static_cast<std::size_t>(i)] =
          sum_of_squares(data, flat.scalar_type(), static_cast<std::size_t>(chunk.size));
    }
  });
  std::vector<double> squares(parameters.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) squares[chunks[i].parameter] += sums[i];
  return squares;
}

std::vector<double> squares_on_device(shard::FlatStore& store) {
  std::vector<at::Tensor> parts;
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    const at::Tensor flat = store.gradient(parameter.unit).narrow(0, parameter.offset, parameter.num_elements);
    parts.push_back(flat.to(at::kFloat).square().sum(at::kDouble));
  }
  const at::Tensor all = at::stack(parts).to(at::kCPU);
  return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
}

}  // namespace

GradientNorms gradient_norms(shard::FlatStore& store, double factor) {
  const std::vector<double> squares =
      store.options().device.is_cpu() ? squares_on_cpu(store) : squares_on_device(store);
  GradientNorms norms;
  double total = 0.0;
  for (std::size_t p = 0; p < squares.size(); ++p) {
    total += squares[p];
    norms.by_parameter.push_back(std::sqrt(squares[p]) * factor);
    if (!std::isfinite(squares[p])) norms.last_non_finite = p;
  }
  norms.total = std::sqrt(total) * factor;
  return norms;
}

}  // namespace athanor::optim
