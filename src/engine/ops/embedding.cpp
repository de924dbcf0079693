// T tokens, V vocabulary, H hidden.
#include "engine/ops/embedding.h"

#include <ATen/Parallel.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.h"
#include "engine/ops/element_type.h"
#include "engine/ops/gradient_write.h"
#include "engine/ops/lanes.h"

namespace athanor::ops {
namespace {

// Places of a token in the micro-batch: order[first .. first + count).
struct Occurrences {
  std::int32_t token = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

// Sorted by token; places of one token ascend.
std::vector<Occurrences> group_by_token(std::span<const std::int32_t> tokens, std::vector<std::int32_t>& order) {
  order.resize(tokens.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return tokens[static_cast<std::size_t>(a)] < tokens[static_cast<std::size_t>(b)];
  });
  std::vector<Occurrences> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int32_t token = tokens[static_cast<std::size_t>(order[i])];
    if (groups.empty() || groups.back().token != token) groups.push_back({token, i, 0});
    ++groups.back().count;
  }
  return groups;
}

template <typename T>
ATHANOR_VECTOR_CLONES void add_to_row(const T* x, float* sum, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += lanes::to_float(x[i]);
}

template <typename T>
ATHANOR_VECTOR_CLONES void load_row(const T* x, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = lanes::to_float(x[i]);
}

template <typename T>
ATHANOR_VECTOR_CLONES void store_row(const float* x, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = lanes::from_float<T>(x[i]);
}

// Rows of tokens [begin, end) of the vocabulary.
template <typename X, typename G>
void write_rows(std::span<const Occurrences> groups, std::span<const std::int32_t> order, const X* x, G* table,
                std::int64_t hidden, GradientMode mode, std::int64_t begin, std::int64_t end) {
  std::vector<float> sum(static_cast<std::size_t>(hidden));
  auto group = std::lower_bound(groups.begin(), groups.end(), begin,
                                [](const Occurrences& a, std::int64_t token) { return a.token < token; });
  std::int64_t next = begin;
  for (; group != groups.end() && group->token < end; ++group) {
    G* row = table + group->token * hidden;
    if (mode == GradientMode::kOverwrite) {
      std::fill(table + next * hidden, row, G{});
      std::fill(sum.begin(), sum.end(), 0.0F);
    } else {
      load_row(row, sum.data(), hidden);
    }
    for (std::size_t i = 0; i < group->count; ++i) add_to_row(x + order[group->first + i] * hidden, sum.data(), hidden);
    store_row(sum.data(), row, hidden);
    next = group->token + 1;
  }
  if (mode == GradientMode::kOverwrite) std::fill(table + next * hidden, table + end * hidden, G{});
}

}  // namespace

void embedding_forward(const at::Tensor& tokens_T, const at::Tensor& table_VH, const at::Tensor& x_TH) {
  at::Tensor out_TH = x_TH;
  at::index_select_out(out_TH, table_VH, 0, tokens_T);
}

void embedding_backward(const at::Tensor& x_gradient_TH, const at::Tensor& tokens_T, GradientMode mode,
                        const at::Tensor& table_gradient_VH) {
  if (!x_gradient_TH.is_cpu()) {
    return detail::embedding_backward_aten(x_gradient_TH, tokens_T, mode, table_gradient_VH);
  }
  std::vector<std::int32_t> order;
  const std::span<const std::int32_t> tokens(tokens_T.data_ptr<std::int32_t>(),
                                             static_cast<std::size_t>(tokens_T.size(0)));
  const std::vector<Occurrences> groups = group_by_token(tokens, order);
  const std::int64_t hidden = x_gradient_TH.size(1);
  with_element_type(x_gradient_TH.scalar_type(), [&](auto x_type) {
    with_element_type(table_gradient_VH.scalar_type(), [&](auto gradient_type) {
      using X = decltype(x_type);
      using G = decltype(gradient_type);
      const X* x = x_gradient_TH.data_ptr<X>();
      G* table = table_gradient_VH.data_ptr<G>();
      at::parallel_for(0, table_gradient_VH.size(0), 64, [&](std::int64_t begin, std::int64_t end) {
        write_rows<X, G>(groups, order, x, table, hidden, mode, begin, end);
      });
    });
  });
}

void add_embedding_noise(const at::Tensor& x_TH, std::span<const std::int32_t> sequence_starts,
                         const EmbeddingNoise& noise) {
  const std::int64_t hidden = x_TH.size(1);
  const std::int64_t blocks = (hidden + 3) / 4;
  const at::Tensor noise_TH = at::empty({x_TH.size(0), 4 * blocks}, at::kFloat);
  float* values = noise_TH.data_ptr<float>();
  for (std::size_t s = 0; s + 1 < sequence_starts.size(); ++s) {
    const std::int64_t length = sequence_starts[s + 1] - sequence_starts[s];
    const double size = noise.alpha / std::sqrt(static_cast<double>(length * hidden));
    const auto step = static_cast<float>(size / 2147483648.0);
    at::parallel_for(sequence_starts[s], sequence_starts[s + 1], 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin * blocks; b < end * blocks; ++b) {
        const auto words = base::philox4x32(noise.seed, noise.stream, static_cast<std::uint64_t>(b));
        for (std::int64_t i = 0; i < 4; ++i) {
          values[4 * b + i] = static_cast<float>(static_cast<std::int32_t>(words[static_cast<std::size_t>(i)])) * step;
        }
      }
    });
  }
  const at::Tensor used_TH = noise_TH.narrow(1, 0, hidden);
  x_TH.copy_(x_TH.to(at::kFloat).add_(used_TH.to(x_TH.device())));
}

namespace detail {

void embedding_backward_aten(const at::Tensor& x_gradient_TH, const at::Tensor& tokens_T, GradientMode mode,
                             const at::Tensor& table_gradient_VH) {
  const std::int64_t vocabulary = table_gradient_VH.size(0);
  const at::Tensor wide_TH = x_gradient_TH.to(at::kFloat);
  write_gradient(at::embedding_dense_backward(wide_TH, tokens_T, vocabulary, -1, false), mode, table_gradient_VH);
}

}  // namespace detail
}  // namespace athanor::ops
