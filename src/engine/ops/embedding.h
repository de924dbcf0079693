// Token embedding: rows of a table, their gradient, and NEFTune's noise.
//
// Shapes:  T tokens, V vocabulary, H hidden. tokens [T] int32, table [V, H], x [T, H]; gradient of the table fp32 or the compute type.
// Source:  noise: Jain et al. 2023, "NEFTune": uniform in [-alpha, alpha] / sqrt(length x hidden).
// Types:   rows of one token are summed in fp32, in the order of the tokens, and rounded once.
// Threads: splits the work over ATen's threads; bits do not depend on their number.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "engine/ops/gradient_mode.h"

namespace athanor::ops {

void embedding_forward(const at::Tensor& tokens_T, const at::Tensor& table_VH, const at::Tensor& x_TH);

// kOverwrite sets the rows of tokens that do not occur to zero.
void embedding_backward(const at::Tensor& x_gradient_TH, const at::Tensor& tokens_T, GradientMode mode,
                        const at::Tensor& table_gradient_VH);

struct EmbeddingNoise {
  double alpha = 0.0;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  // the micro-batch
};

// x += noise; each sequence [starts[i], starts[i + 1]) has its own size. The value at (token, element) is a pure function of
// (seed, stream, token, element).
void add_embedding_noise(const at::Tensor& x_TH, std::span<const std::int32_t> sequence_starts,
                         const EmbeddingNoise& noise);

namespace detail {
// The same through ATen operators, on any device.
void embedding_backward_aten(const at::Tensor& x_gradient_TH, const at::Tensor& tokens_T, GradientMode mode,
                             const at::Tensor& table_gradient_VH);
}  // namespace detail

}  // namespace athanor::ops
