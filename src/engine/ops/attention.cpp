// T tokens, N query heads, K key heads, D head size; R sequences of equal length S in a run.
#include "engine/ops/attention.h"

#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.h"
#include "engine/ops/attention_blocked.h"
#include "engine/ops/attention_varlen.h"
#include "engine/ops/product_type.h"

namespace athanor::ops {
namespace {

// Sequences of equal length that follow each other: one batch without a copy.
struct Run {
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::int64_t count = 0;
};

std::vector<Run> list_runs(std::span<const std::int32_t> sequence_starts) {
  std::vector<Run> runs;
  for (std::size_t s = 0; s + 1 < sequence_starts.size(); ++s) {
    const std::int64_t length = sequence_starts[s + 1] - sequence_starts[s];
    if (length == 0) continue;
    if (runs.empty() || runs.back().length != length) runs.push_back({sequence_starts[s], length, 0});
    ++runs.back().count;
  }
  return runs;
}

// Columns [first, first + heads * D) of a token-major tensor as [R, heads, S, D].
at::Tensor heads_of(const at::Tensor& x_TQ, const Run& run, std::int64_t first, std::int64_t heads,
                    std::int64_t head_dim) {
  return x_TQ.narrow(0, run.start, run.count * run.length)
      .view({run.count, run.length, x_TQ.size(1)})
      .narrow(2, first, heads * head_dim)
      .unflatten(2, {heads, head_dim})
      .transpose(1, 2);
}

struct QueriesKeysValues {
  at::Tensor q_RNSD, k_RKSD, v_RKSD;
};

QueriesKeysValues split_heads(const at::Tensor& qkv_TQ, const Run& run, const AttentionShape& shape) {
  const std::int64_t d = shape.head_dim;
  return {heads_of(qkv_TQ, run, 0, shape.num_heads, d),
          heads_of(qkv_TQ, run, shape.num_heads * d, shape.num_kv_heads, d),
          heads_of(qkv_TQ, run, (shape.num_heads + shape.num_kv_heads) * d, shape.num_kv_heads, d)};
}

// [R, K, S, D] -> [R, N, S, D]: every key head as often as query heads use it.
at::Tensor repeat_heads(const at::Tensor& x_RKSD, std::int64_t num_heads) {
  const std::int64_t group = num_heads / x_RKSD.size(1);
  if (group == 1) return x_RKSD;
  return x_RKSD.unsqueeze(2).expand({-1, -1, group, -1, -1}).flatten(1, 2);
}

// The other way: gradients of the copies are summed, in fp32.
at::Tensor sum_heads(const at::Tensor& x_RNSD, std::int64_t num_kv_heads) {
  if (x_RNSD.size(1) == num_kv_heads) return x_RNSD;
  return x_RNSD.unflatten(1, {num_kv_heads, -1}).sum(at::IntArrayRef{2}, false, at::kFloat);
}

at::Tensor run_logsumexp(const at::Tensor& logsumexp_NT, const Run& run) {
  return logsumexp_NT.narrow(1, run.start, run.count * run.length).view({-1, run.count, run.length}).transpose(0, 1);
}

// The efficient kernel's logsumexp has rows padded to a multiple of 32.
at::Tensor pad_logsumexp(const at::Tensor& logsumexp_RNS) {
  const std::int64_t length = logsumexp_RNS.size(2);
  const at::Tensor padded =
      at::zeros({logsumexp_RNS.size(0), logsumexp_RNS.size(1), (length + 31) / 32 * 32}, logsumexp_RNS.options());
  padded.narrow(2, 0, length).copy_(logsumexp_RNS);
  return padded;
}

}  // namespace

void attention_forward(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                       const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT) {
  if (wants_wide_products(qkv_TQ)) {
    const at::Tensor wide_TA = at::empty(out_TA.sizes(), out_TA.options().dtype(at::kFloat));
    attention_forward(qkv_TQ.to(at::kFloat), sequence_starts, shape, wide_TA, logsumexp_NT);
    out_TA.copy_(wide_TA);
  } else if (qkv_TQ.is_cpu() && detail::attention_blocked_works(qkv_TQ.scalar_type())) {
    detail::attention_forward_blocked(qkv_TQ, sequence_starts, shape, out_TA, logsumexp_NT);
  } else if (qkv_TQ.is_cuda() && qkv_TQ.scalar_type() != at::kFloat) {
    detail::attention_forward_varlen(qkv_TQ, sequence_starts, shape, out_TA, logsumexp_NT);
  } else {
    detail::attention_forward_aten(qkv_TQ, sequence_starts, shape, out_TA, logsumexp_NT);
  }
}

void attention_backward(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                        const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                        const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ) {
  if (wants_wide_products(qkv_TQ)) {
    const at::Tensor wide_TQ = at::empty(qkv_TQ.sizes(), qkv_TQ.options().dtype(at::kFloat));
    attention_backward(out_gradient_TA.to(at::kFloat), qkv_TQ.to(at::kFloat), out_TA.to(at::kFloat), logsumexp_NT,
                       sequence_starts, shape, wide_TQ);
    qkv_gradient_TQ.copy_(wide_TQ);
  } else if (qkv_TQ.is_cpu() && detail::attention_blocked_works(qkv_TQ.scalar_type())) {
    detail::attention_backward_blocked(out_gradient_TA, qkv_TQ, out_TA, logsumexp_NT, sequence_starts, shape,
                                       qkv_gradient_TQ);
  } else if (qkv_TQ.is_cuda() && qkv_TQ.scalar_type() != at::kFloat) {
    detail::attention_backward_varlen(out_gradient_TA, qkv_TQ, out_TA, logsumexp_NT, sequence_starts, shape,
                                      qkv_gradient_TQ);
  } else {
    detail::attention_backward_aten(out_gradient_TA, qkv_TQ, out_TA, logsumexp_NT, sequence_starts, shape,
                                    qkv_gradient_TQ);
  }
}

void attention_decode(const at::Tensor& q_1A, const at::Tensor& k_TKD, const at::Tensor& v_TKD,
                      const AttentionShape& shape, const at::Tensor& out_1A) {
  const at::Tensor q_1N1D = q_1A.view({1, shape.num_heads, 1, shape.head_dim});
  const at::Tensor k_1NTD = repeat_heads(k_TKD.transpose(0, 1).unsqueeze(0), shape.num_heads);
  const at::Tensor v_1NTD = repeat_heads(v_TKD.transpose(0, 1).unsqueeze(0), shape.num_heads);
  out_1A.copy_(at::scaled_dot_product_attention(q_1N1D, k_1NTD, v_1NTD, {}, 0.0, false, shape.scale).reshape({1, -1}));
}

namespace detail {

void attention_forward_aten(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                            const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT) {
  for (const Run& run : list_runs(sequence_starts)) {
    const QueriesKeysValues heads = split_heads(qkv_TQ, run, shape);
    const at::Tensor k_RNSD = repeat_heads(heads.k_RKSD, shape.num_heads);
    const at::Tensor v_RNSD = repeat_heads(heads.v_RKSD, shape.num_heads);
    at::Tensor out_RNSD;
    at::Tensor logsumexp_RNS;
    if (qkv_TQ.is_cpu()) {
      std::tie(out_RNSD, logsumexp_RNS) =
          at::_scaled_dot_product_flash_attention_for_cpu(heads.q_RNSD, k_RNSD, v_RNSD, 0.0, true, {}, shape.scale);
    } else {
      const auto results =
          at::_scaled_dot_product_efficient_attention(heads.q_RNSD, k_RNSD, v_RNSD, {}, true, 0.0, true, shape.scale);
      out_RNSD = std::get<0>(results);
      logsumexp_RNS = std::get<1>(results).narrow(2, 0, run.length);
    }
    heads_of(out_TA, run, 0, shape.num_heads, shape.head_dim).copy_(out_RNSD);
    run_logsumexp(logsumexp_NT, run).copy_(logsumexp_RNS);
  }
}

void attention_backward_aten(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                             const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                             const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ) {
  for (const Run& run : list_runs(sequence_starts)) {
    const QueriesKeysValues heads = split_heads(qkv_TQ, run, shape);
    const at::Tensor k_RNSD = repeat_heads(heads.k_RKSD, shape.num_heads);
    const at::Tensor v_RNSD = repeat_heads(heads.v_RKSD, shape.num_heads);
    const at::Tensor out_RNSD = heads_of(out_TA, run, 0, shape.num_heads, shape.head_dim);
    const at::Tensor out_gradient_RNSD = heads_of(out_gradient_TA, run, 0, shape.num_heads, shape.head_dim);
    const at::Tensor logsumexp_RNS = run_logsumexp(logsumexp_NT, run);
    at::Tensor q_gradient, k_gradient, v_gradient;
    if (qkv_TQ.is_cpu()) {
      // The kernel wants [R, N, S] in [R, S, N] order, as its forward gives it.
      const at::Tensor ordered = logsumexp_RNS.transpose(1, 2).contiguous().transpose(1, 2);
      std::tie(q_gradient, k_gradient, v_gradient) = at::_scaled_dot_product_flash_attention_for_cpu_backward(
          out_gradient_RNSD, heads.q_RNSD, k_RNSD, v_RNSD, out_RNSD, ordered, 0.0, true, {}, shape.scale);
    } else {
      const at::Tensor no_random = at::zeros({}, qkv_TQ.options().dtype(at::kLong));
      std::tie(q_gradient, k_gradient, v_gradient, std::ignore) = at::_scaled_dot_product_efficient_attention_backward(
          out_gradient_RNSD, heads.q_RNSD, k_RNSD, v_RNSD, {}, out_RNSD, pad_logsumexp(logsumexp_RNS), no_random,
          no_random, 0.0, {true, true, true, false}, true, shape.scale);
    }
    const QueriesKeysValues targets = split_heads(qkv_gradient_TQ, run, shape);
    targets.q_RNSD.copy_(q_gradient);
    targets.k_RKSD.copy_(sum_heads(k_gradient, shape.num_kv_heads));
    targets.v_RKSD.copy_(sum_heads(v_gradient, shape.num_kv_heads));
  }
}

}  // namespace detail
}  // namespace athanor::ops
