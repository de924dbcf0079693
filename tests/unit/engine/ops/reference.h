// What the tests of operations share: seeded inputs, double-precision copies that record autograd, and a distance.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/max.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sub.h>

#include <cstdint>

namespace athanor::ops::testing {

// Standard normal values rounded to `type`; the same for the same seed.
inline at::Tensor normal(at::IntArrayRef shape, std::uint64_t seed, at::ScalarType type = at::kFloat) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::kDouble).to(type);
}

// The same values in double, as a leaf of autograd.
inline at::Tensor leaf(const at::Tensor& x) { return x.to(at::kDouble).clone().requires_grad_(true); }

// Largest difference, relative to the largest expected value.
inline double distance(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor wide = expected.detach().to(at::kDouble);
  const double scale = wide.abs().max().item<double>();
  return at::sub(actual.detach().to(at::kDouble), wide).abs().max().item<double>() / (scale > 0.0 ? scale : 1.0);
}

// What a result rounded to `type` may be off by: its rounding step and a few more in sums.
inline double tolerance(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return 2e-6;
    case at::kHalf:
      return 2e-3;
    default:
      return 1.2e-2;
  }
}

inline bool same_bits(const at::Tensor& a, const at::Tensor& b) { return a.equal(b); }

}  // namespace athanor::ops::testing
