#include "engine/ops/attention.h"

#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/ops/attention_blocked.h"
#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::leaf;
using testing::normal;
using testing::tolerance;

// Plain causal attention of each sequence in double, with a stored score matrix. [T, N D].
at::Tensor reference(const at::Tensor& qkv, std::span<const std::int32_t> starts, const AttentionShape& shape) {
  const std::int64_t d = shape.head_dim;
  const std::int64_t group = shape.num_heads / shape.num_kv_heads;
  std::vector<at::Tensor> sequences;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const at::Tensor rows = qkv.narrow(0, starts[s], starts[s + 1] - starts[s]);
    const at::Tensor hidden = at::ones({rows.size(0), rows.size(0)}, at::kDouble).triu(1).mul(-1e300);
    std::vector<at::Tensor> heads;
    for (std::int64_t h = 0; h < shape.num_heads; ++h) {
      const at::Tensor q = rows.narrow(1, h * d, d);
      const at::Tensor k = rows.narrow(1, (shape.num_heads + h / group) * d, d);
      const at::Tensor v = rows.narrow(1, (shape.num_heads + shape.num_kv_heads + h / group) * d, d);
      const at::Tensor scores = at::add(at::mul(at::matmul(q, k.t()), shape.scale), hidden);
      heads.push_back(at::matmul(at::softmax(scores, 1), v));
    }
    sequences.push_back(at::cat(heads, 1));
  }
  return at::cat(sequences, 0);
}

struct Case {
  AttentionShape shape;
  std::vector<std::int32_t> starts;
};

AttentionShape shape_of(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  return {heads, kv_heads, head_dim, 1.0 / std::sqrt(static_cast<double>(head_dim))};
}

std::vector<Case> cases() {
  return {
      {shape_of(2, 2, 64), {0, 128, 256}},            // whole blocks
      {shape_of(4, 2, 16), {0, 1, 2, 65, 130, 260}},  // single tokens, one past a block, grouped queries
      {shape_of(3, 1, 8), {0, 7, 70, 71, 199}},       // odd lengths, one key head
      {shape_of(2, 2, 80), {0, 97}},                  // a head size that is no multiple of a tile
      {shape_of(8, 4, 128), {0, 33, 33, 66}},         // an empty sequence between two
  };
}

struct Pass {
  at::Tensor out;
  at::Tensor logsumexp;
  at::Tensor qkv_gradient;
};

enum class Path { kChosen, kAten };

Pass run(const at::Tensor& qkv, const at::Tensor& gradient, const Case& c, Path path) {
  const std::int64_t tokens = qkv.size(0);
  Pass pass{at::empty({tokens, c.shape.num_heads * c.shape.head_dim}, qkv.scalar_type()),
            at::empty({c.shape.num_heads, tokens}, at::kFloat), at::empty_like(qkv).fill_(6e4)};
  if (path == Path::kChosen) {
    attention_forward(qkv, c.starts, c.shape, pass.out, pass.logsumexp);
    attention_backward(gradient, qkv, pass.out, pass.logsumexp, c.starts, c.shape, pass.qkv_gradient);
  } else {
    detail::attention_forward_aten(qkv, c.starts, c.shape, pass.out, pass.logsumexp);
    detail::attention_backward_aten(gradient, qkv, pass.out, pass.logsumexp, c.starts, c.shape, pass.qkv_gradient);
  }
  return pass;
}

class Attention : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, Attention, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_P(Attention, BothPathsAgreeWithPlainAttentionAndAutograd) {
  std::uint64_t seed = 1;
  for (const Case& c : cases()) {
    const std::int64_t tokens = c.starts.back();
    const std::int64_t width = (c.shape.num_heads + 2 * c.shape.num_kv_heads) * c.shape.head_dim;
    const at::Tensor qkv = normal({tokens, width}, seed++, GetParam());
    const at::Tensor gradient = normal({tokens, c.shape.num_heads * c.shape.head_dim}, seed++, GetParam());
    const at::Tensor qkv_leaf = leaf(qkv);
    const at::Tensor expected = reference(qkv_leaf, c.starts, c.shape);
    expected.backward(gradient.to(at::kDouble));
    for (const Path path : {Path::kChosen, Path::kAten}) {
      const Pass pass = run(qkv, gradient, c, path);
      const double allowed = GetParam() == at::kFloat ? 5e-6 : tolerance(GetParam());
      EXPECT_LT(distance(pass.out, expected), allowed) << tokens << " tokens";
      EXPECT_LT(distance(pass.qkv_gradient, qkv_leaf.grad()), 1.5 * allowed) << tokens << " tokens";
    }
  }
}

TEST_P(Attention, ASequenceNeverSeesAnother) {
  const Case c = {shape_of(4, 2, 32), {0, 70, 145, 200}};
  const at::Tensor qkv = normal({200, 256}, 1, GetParam());
  const at::Tensor gradient = normal({200, 128}, 2, GetParam());
  const Pass before = run(qkv, gradient, c, Path::kChosen);
  const at::Tensor changed = qkv.clone();
  changed.narrow(0, 70, 75).copy_(normal({75, 256}, 3, GetParam()).mul_(1e3));
  const Pass after = run(changed, gradient, c, Path::kChosen);
  for (const auto& [first, count] : {std::pair<int, int>{0, 70}, {145, 55}}) {
    EXPECT_TRUE(testing::same_bits(after.out.narrow(0, first, count), before.out.narrow(0, first, count)));
    EXPECT_TRUE(
        testing::same_bits(after.qkv_gradient.narrow(0, first, count), before.qkv_gradient.narrow(0, first, count)));
  }
  EXPECT_FALSE(testing::same_bits(after.out.narrow(0, 70, 75), before.out.narrow(0, 70, 75)));
}

TEST_P(Attention, TheFirstTokenOfASequenceReturnsItsOwnValue) {
  const Case c = {shape_of(2, 2, 16), {0, 5, 6}};
  const at::Tensor qkv = normal({6, 96}, 1, GetParam());
  const Pass pass = run(qkv, normal({6, 32}, 2, GetParam()), c, Path::kChosen);
  for (const std::int64_t token : {0, 5}) {
    EXPECT_TRUE(testing::same_bits(pass.out[token], qkv[token].narrow(0, 64, 32)));
  }
}

TEST_P(Attention, LargeScoresStayFinite) {
  const Case c = {shape_of(2, 1, 64), {0, 130}};
  const at::Tensor qkv = normal({130, 256}, 1, GetParam()).mul_(40.0);
  const Pass pass = run(qkv, normal({130, 128}, 2, GetParam()), c, Path::kChosen);
  EXPECT_TRUE(pass.out.isfinite().all().item<bool>());
  EXPECT_TRUE(pass.qkv_gradient.isfinite().all().item<bool>());
}

TEST_P(Attention, TwoRunsGiveTheSameBits) {
  const Case c = cases()[1];
  const at::Tensor qkv = normal({260, 128}, 1, GetParam());
  const at::Tensor gradient = normal({260, 64}, 2, GetParam());
  const Pass first = run(qkv, gradient, c, Path::kChosen);
  const Pass second = run(qkv, gradient, c, Path::kChosen);
  EXPECT_TRUE(testing::same_bits(first.out, second.out));
  EXPECT_TRUE(testing::same_bits(first.qkv_gradient, second.qkv_gradient));
}

TEST_P(Attention, DecodingTheLastTokenEqualsTheWholeSequence) {
  const Case c = {shape_of(4, 2, 16), {0, 40}};
  const at::Tensor qkv = normal({40, 128}, 1, GetParam());
  const Pass pass = run(qkv, normal({40, 64}, 2, GetParam()), c, Path::kChosen);
  const at::Tensor out = at::empty({1, 64}, GetParam());
  attention_decode(qkv.narrow(0, 39, 1).narrow(1, 0, 64), qkv.narrow(1, 64, 32).unflatten(1, {2, 16}),
                   qkv.narrow(1, 96, 32).unflatten(1, {2, 16}), c.shape, out);
  EXPECT_LT(distance(out, pass.out.narrow(0, 39, 1)), GetParam() == at::kFloat ? 5e-6 : tolerance(GetParam()));
}

}  // namespace
}  // namespace athanor::ops
