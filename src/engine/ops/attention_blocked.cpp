// T tokens, N query heads, K key heads, D head size padded to kHeadMultiple, M queries of a block, B keys of a block.
#include "engine/ops/attention_blocked.h"

#include <cmath>
#include <limits>

#include "engine/ops/attention_blocks.h"
#include "engine/ops/element_type.h"
#include "engine/ops/lanes.h"

namespace athanor::ops::detail {
namespace {

constexpr std::int64_t M = kQueryBlock;
constexpr std::int64_t B = kKeyBlock;

// Running maximum and sum of one query's scores, and the factor that brings what was summed before to the new maximum.
struct RunningSoftmax {
  float maximum = -std::numeric_limits<float>::infinity();
  float sum = 0.0F;
};

// Turns `visible` scores of one query into exp(scale * score - maximum), zeros after them; gives the correction factor.
template <typename T>
ATHANOR_VECTOR_CLONES float softmax_row(const float* scores_B, std::int64_t visible, float scale, RunningSoftmax* state,
                                        T* probabilities_B) {
  float maximum = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : maximum)
  for (std::int64_t i = 0; i < visible; ++i) maximum = scores_B[i] > maximum ? scores_B[i] : maximum;
  maximum *= scale;
  // A NaN score loses every comparison; it comes back through the exponential below.
  maximum = state->maximum > maximum ? state->maximum : maximum;
  const float shift = maximum > -std::numeric_limits<float>::infinity() ? maximum : 0.0F;
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < visible; ++i) {
    const float p = lanes::exp(scores_B[i] * scale - shift);
    sum += p;
    probabilities_B[i] = lanes::from_float<T>(p);
  }
  for (std::int64_t i = visible; i < B; ++i) probabilities_B[i] = T{};
  const float correction = lanes::exp(state->maximum - shift);
  state->sum = state->sum * correction + sum;
  state->maximum = maximum;
  return correction;
}

ATHANOR_VECTOR_CLONES void scale_row(float* row, float factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) row[i] *= factor;
}

template <typename T>
ATHANOR_VECTOR_CLONES void store_scaled(const float* row, float factor, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = lanes::from_float<T>(row[i] * factor);
}

template <typename T>
struct ForwardPointers {
  const T* qkv = nullptr;
  T* out = nullptr;
  float* logsumexp = nullptr;
  std::int64_t num_tokens = 0;
};

template <typename T>
class ForwardHead {
 public:
  ForwardHead(const ForwardPointers<T>& pointers, const AttentionShape& shape, const HeadTask& task, Scratch& scratch)
      : pointers_(pointers), shape_(shape), task_(task), head_dim_(round_up(shape.head_dim, kHeadMultiple)) {
    const std::int64_t keys = round_up(task.length, B) * head_dim_;
    scratch.reserve(2 * Scratch::num_bytes<T>(keys) + 2 * Scratch::num_bytes<T>(std::max(M, B) * head_dim_) +
                    Scratch::num_bytes<float>(M * B) + Scratch::num_bytes<T>(M * B) +
                    Scratch::num_bytes<float>(M * head_dim_));
    keys_ = scratch.take<T>(keys);
    values_ = scratch.take<T>(keys);
    plain_ = scratch.take<T>(std::max(M, B) * head_dim_);
    queries_ = scratch.take<T>(std::max(M, B) * head_dim_);
    scores_MB_ = scratch.take<float>(M * B);
    probabilities_MB_ = scratch.take<T>(M * B);
    sum_MD_ = scratch.take<float>(M * head_dim_);
  }

  void run() {
    pack_keys_and_values();
    for (std::int64_t first = 0; first < task_.length; first += M) attend(first);
  }

 private:
  std::int64_t row_stride() const { return (shape_.num_heads + 2 * shape_.num_kv_heads) * shape_.head_dim; }

  void pack_keys_and_values() {
    const std::int64_t kv_head = task_.head / (shape_.num_heads / shape_.num_kv_heads);
    const T* k = pointers_.qkv + task_.start * row_stride() + (shape_.num_heads + kv_head) * shape_.head_dim;
    const T* v = k + shape_.num_kv_heads * shape_.head_dim;
    for (std::int64_t first = 0; first < task_.length; first += B) {
      const std::int64_t rows = std::min(B, task_.length - first);
      copy_padded(k + first * row_stride(), row_stride(), rows, shape_.head_dim, B, head_dim_, plain_);
      interleave_transposed(plain_, B, head_dim_, keys_ + first * head_dim_);
      copy_padded(v + first * row_stride(), row_stride(), rows, shape_.head_dim, B, head_dim_, plain_);
      interleave_rows(plain_, B, head_dim_, values_ + first * head_dim_);
    }
  }

  // Queries [first, first + M) of the sequence against all keys up to the last of them.
  void attend(std::int64_t first) {
    const std::int64_t rows = std::min(M, task_.length - first);
    const T* q = pointers_.qkv + (task_.start + first) * row_stride() + task_.head * shape_.head_dim;
    copy_padded(q, row_stride(), rows, shape_.head_dim, M, head_dim_, queries_);
    RunningSoftmax state[M];
    for (std::int64_t key = 0; key < first + rows; key += B) {
      block_matmul<T>({M, B, head_dim_}, queries_, head_dim_, keys_ + key * head_dim_, scores_MB_, B,
                      BlockResult::kOverwrite);
      for (std::int64_t m = 0; m < M; ++m) {
        const std::int64_t visible = std::clamp<std::int64_t>(first + m + 1 - key, 0, B);
        const float correction = softmax_row(scores_MB_ + m * B, visible, static_cast<float>(shape_.scale), &state[m],
                                             probabilities_MB_ + m * B);
        if (key > 0 && correction != 1.0F) scale_row(sum_MD_ + m * head_dim_, correction, head_dim_);
      }
      block_matmul<T>({M, head_dim_, B}, probabilities_MB_, B, values_ + key * head_dim_, sum_MD_, head_dim_,
                      key == 0 ? BlockResult::kOverwrite : BlockResult::kAccumulate);
    }
    for (std::int64_t m = 0; m < rows; ++m) {
      const std::int64_t token = task_.start + first + m;
      T* out = pointers_.out + (token * shape_.num_heads + task_.head) * shape_.head_dim;
      store_scaled(sum_MD_ + m * head_dim_, 1.0F / state[m].sum, out, shape_.head_dim);
      pointers_.logsumexp[task_.head * pointers_.num_tokens + token] = state[m].maximum + std::log(state[m].sum);
    }
  }

  const ForwardPointers<T>& pointers_;
  const AttentionShape& shape_;
  HeadTask task_;
  std::int64_t head_dim_;
  T *keys_, *values_, *plain_, *queries_, *probabilities_MB_;
  float *scores_MB_, *sum_MD_;
};

template <typename T>
void forward(const ForwardPointers<T>& pointers, std::span<const std::int32_t> sequence_starts,
             const AttentionShape& shape) {
  run_head_tasks(list_head_tasks(sequence_starts, shape.num_heads), [&](const HeadTask& task) {
    thread_local Scratch scratch;
    ForwardHead<T>(pointers, shape, task, scratch).run();
    release_block_matmul<T>();
  });
}

}  // namespace

bool attention_blocked_works(at::ScalarType type) {
  if (type == at::kFloat) return block_matmul_works<float>();
  return type == at::kBFloat16 && block_matmul_works<at::BFloat16>();
}

void attention_forward_blocked(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                               const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT) {
  const std::int64_t num_tokens = qkv_TQ.size(0);
  float* logsumexp = logsumexp_NT.data_ptr<float>();
  if (qkv_TQ.scalar_type() == at::kFloat) {
    forward<float>({qkv_TQ.data_ptr<float>(), out_TA.data_ptr<float>(), logsumexp, num_tokens}, sequence_starts, shape);
  } else {
    forward<at::BFloat16>({qkv_TQ.data_ptr<at::BFloat16>(), out_TA.data_ptr<at::BFloat16>(), logsumexp, num_tokens},
                          sequence_starts, shape);
  }
}

}  // namespace athanor::ops::detail
