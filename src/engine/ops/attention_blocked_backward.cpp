// T tokens, N query heads, K key heads, D head size padded to kHeadMultiple, M queries of a block, B keys of a block.
//
// For one key head: key blocks hold K, V, K^T; for each of its query heads, query block by query block:
//   S^T [B, M] = K Q^T;  P^T = exp(scale S^T - logsumexp);  dP^T [B, M] = V dO^T;  dS^T = scale P^T (dP^T - delta)
//   dV += P^T dO;  dK += dS^T Q;  dQ^T [D, M] += K^T dS^T
#include <cmath>
#include <limits>

#include "engine/ops/attention_blocked.h"
#include "engine/ops/attention_blocks.h"
#include "engine/ops/lanes.h"

namespace athanor::ops::detail {
namespace {

constexpr std::int64_t M = kQueryBlock;
constexpr std::int64_t B = kKeyBlock;

// Two rows (keys) of the block. Query m sees key n of this block when m >= first_visible + n.
struct PairOfRows {
  const float* scores;     // [2, M]
  const float* dp;         // [2, M]
  const float* logsumexp;  // [M]
  const float* delta;      // [M]
  float scale;
  std::int64_t first_visible[2];  // first query that sees the key
};

// P^T and dS^T, row-major, and for a 16-bit T dS^T interleaved for the product with K^T.
template <typename T>
ATHANOR_VECTOR_CLONES void backward_pair(const PairOfRows& in, T* p_BM, T* ds_BM, T* ds_interleaved) {
  for (std::int64_t row = 0; row < 2; ++row) {
    const float* scores = in.scores + row * M;
    const float* dp = in.dp + row * M;
    const std::int64_t first = in.first_visible[row];
    T* p_M = p_BM + row * M;
    T* ds_M = ds_BM + row * M;
#pragma omp simd
    for (std::int64_t m = 0; m < M; ++m) {
      const float exponential = lanes::exp(scores[m] * in.scale - in.logsumexp[m]);
      const float p = m >= first ? exponential : 0.0F;
      p_M[m] = lanes::from_float<T>(p);
      ds_M[m] = lanes::from_float<T>(p * (dp[m] - in.delta[m]) * in.scale);
    }
  }
  if constexpr (sizeof(T) == 2) {
#pragma omp simd
    for (std::int64_t m = 0; m < M; ++m) {
      const std::uint32_t even = lanes::bits_as<std::uint16_t>(ds_BM[m]);
      const std::uint32_t odd = lanes::bits_as<std::uint16_t>(ds_BM[M + m]);
      reinterpret_cast<std::uint32_t*>(ds_interleaved)[m] = even | (odd << 16);
    }
  }
}

template <typename T>
ATHANOR_VECTOR_CLONES float dot_row(const T* a, const T* b, std::int64_t n) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += lanes::to_float(a[i]) * lanes::to_float(b[i]);
  return sum;
}

template <typename T>
ATHANOR_VECTOR_CLONES void store_row(const float* row, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = lanes::from_float<T>(row[i]);
}

template <typename T>
struct BackwardPointers {
  const T* out_gradient = nullptr;
  const T* qkv = nullptr;
  const T* out = nullptr;
  const float* logsumexp = nullptr;
  T* qkv_gradient = nullptr;
  std::int64_t num_tokens = 0;
};

// One key head of one sequence with all its query heads.
template <typename T>
class BackwardHead {
 public:
  BackwardHead(const BackwardPointers<T>& pointers, const AttentionShape& shape, const HeadTask& task, Scratch& scratch)
      : pointers_(pointers), shape_(shape), task_(task), head_dim_(round_up(shape.head_dim, kHeadMultiple)) {
    const std::int64_t keys = round_up(task.length, B) * head_dim_;
    const std::int64_t queries = M * head_dim_;
    scratch.reserve(3 * Scratch::num_bytes<T>(keys) + 2 * Scratch::num_bytes<float>(keys) +
                    6 * Scratch::num_bytes<T>(queries) + 2 * Scratch::num_bytes<float>(queries) +
                    2 * Scratch::num_bytes<float>(B * M) + 3 * Scratch::num_bytes<T>(B * M) +
                    2 * Scratch::num_bytes<float>(M));
    for (T** keys_array : {&k_, &v_, &k_transposed_}) *keys_array = scratch.take<T>(keys);
    for (float** keys_array : {&k_gradient_, &v_gradient_}) *keys_array = scratch.take<float>(keys);
    for (T** block : {&q_MD_, &do_MD_, &q_transposed_, &do_transposed_, &q_interleaved_, &do_interleaved_}) {
      *block = scratch.take<T>(queries);
    }
    for (float** block : {&q_gradient_DM_, &q_gradient_MD_}) *block = scratch.take<float>(queries);
    for (float** block : {&scores_BM_, &dp_BM_}) *block = scratch.take<float>(B * M);
    for (T** block : {&p_BM_, &ds_BM_, &ds_interleaved_}) *block = scratch.take<T>(B * M);
    if constexpr (sizeof(T) == 4) ds_interleaved_ = ds_BM_;
    for (float** row : {&logsumexp_M_, &delta_M_}) *row = scratch.take<float>(M);
  }

  void run() {
    load_keys_and_values();
    const std::int64_t group = shape_.num_heads / shape_.num_kv_heads;
    for (std::int64_t g = 0; g < group; ++g) {
      for (std::int64_t first = 0; first < task_.length; first += M) {
        load_queries(task_.head * group + g, first);
        // The first query block that sees a key block writes its gradient, later ones add.
        const auto is_first = [&](std::int64_t key) { return g == 0 && first <= key && key < first + M; };
        for (std::int64_t key = 0; key < std::min(first + M, task_.length); key += B) {
          add_block(first, key, is_first(key) ? BlockResult::kOverwrite : BlockResult::kAccumulate);
        }
        store_query_gradient(task_.head * group + g, first);
      }
    }
    store_key_gradients();
  }

 private:
  std::int64_t row_stride() const { return (shape_.num_heads + 2 * shape_.num_kv_heads) * shape_.head_dim; }
  // Offset of the key head's first row; values lie `value_offset()` elements further.
  std::int64_t key_offset() const {
    return task_.start * row_stride() + (shape_.num_heads + task_.head) * shape_.head_dim;
  }
  std::int64_t value_offset() const { return shape_.num_kv_heads * shape_.head_dim; }

  void load_keys_and_values() {
    const T* k = pointers_.qkv + key_offset();
    const std::int64_t padded = round_up(task_.length, B);
    copy_padded(k, row_stride(), task_.length, shape_.head_dim, padded, head_dim_, k_);
    copy_padded(k + value_offset(), row_stride(), task_.length, shape_.head_dim, padded, head_dim_, v_);
    for (std::int64_t key = 0; key < task_.length; key += B) {
      transpose_block(k_ + key * head_dim_, B, head_dim_, k_transposed_ + key * head_dim_);
    }
  }

  void load_queries(std::int64_t head, std::int64_t first) {
    const std::int64_t rows = std::min(M, task_.length - first);
    const std::int64_t token = task_.start + first;
    const std::int64_t out_stride = shape_.num_heads * shape_.head_dim;
    const std::int64_t offset = token * out_stride + head * shape_.head_dim;
    const T* q = pointers_.qkv + token * row_stride() + head * shape_.head_dim;
    copy_padded(q, row_stride(), rows, shape_.head_dim, M, head_dim_, q_MD_);
    copy_padded(pointers_.out_gradient + offset, out_stride, rows, shape_.head_dim, M, head_dim_, do_MD_);
    interleave_transposed(q_MD_, M, head_dim_, q_transposed_);
    interleave_transposed(do_MD_, M, head_dim_, do_transposed_);
    interleave_rows(q_MD_, M, head_dim_, q_interleaved_);
    interleave_rows(do_MD_, M, head_dim_, do_interleaved_);
    const float* logsumexp = pointers_.logsumexp + head * pointers_.num_tokens + token;
    for (std::int64_t m = 0; m < M; ++m) {
      // Rows past the end: the probability exp(0 - infinity) is zero.
      logsumexp_M_[m] = m < rows ? logsumexp[m] : std::numeric_limits<float>::infinity();
      delta_M_[m] =
          m < rows ? dot_row(do_MD_ + m * head_dim_, pointers_.out + offset + m * out_stride, shape_.head_dim) : 0.0F;
    }
  }

  void add_block(std::int64_t first, std::int64_t key, BlockResult key_result) {
    const T* k = k_ + key * head_dim_;
    const T* v = v_ + key * head_dim_;
    block_matmul<T>({B, M, head_dim_}, k, head_dim_, q_transposed_, scores_BM_, M, BlockResult::kOverwrite);
    block_matmul<T>({B, M, head_dim_}, v, head_dim_, do_transposed_, dp_BM_, M, BlockResult::kOverwrite);
    for (std::int64_t n = 0; n < B; n += 2) {
      const std::int64_t first_visible = key + n - first;
      backward_pair<T>({scores_BM_ + n * M,
                        dp_BM_ + n * M,
                        logsumexp_M_,
                        delta_M_,
                        static_cast<float>(shape_.scale),
                        {first_visible, first_visible + 1}},
                       p_BM_ + n * M, ds_BM_ + n * M, ds_interleaved_ + n * M);
    }
    block_matmul<T>({B, head_dim_, M}, p_BM_, M, do_interleaved_, v_gradient_ + key * head_dim_, head_dim_, key_result);
    block_matmul<T>({B, head_dim_, M}, ds_BM_, M, q_interleaved_, k_gradient_ + key * head_dim_, head_dim_, key_result);
    block_matmul<T>({head_dim_, M, B}, k_transposed_ + key * head_dim_, B, ds_interleaved_, q_gradient_DM_, M,
                    key == 0 ? BlockResult::kOverwrite : BlockResult::kAccumulate);
  }

  void store_query_gradient(std::int64_t head, std::int64_t first) {
    const std::int64_t rows = std::min(M, task_.length - first);
    transpose_block(q_gradient_DM_, head_dim_, M, q_gradient_MD_);
    T* target = pointers_.qkv_gradient + (task_.start + first) * row_stride() + head * shape_.head_dim;
    for (std::int64_t m = 0; m < rows; ++m) {
      store_row(q_gradient_MD_ + m * head_dim_, target + m * row_stride(), shape_.head_dim);
    }
  }

  void store_key_gradients() {
    T* target = pointers_.qkv_gradient + key_offset();
    for (std::int64_t n = 0; n < task_.length; ++n) {
      store_row(k_gradient_ + n * head_dim_, target + n * row_stride(), shape_.head_dim);
      store_row(v_gradient_ + n * head_dim_, target + n * row_stride() + value_offset(), shape_.head_dim);
    }
  }

  const BackwardPointers<T>& pointers_;
  const AttentionShape& shape_;
  HeadTask task_;
  std::int64_t head_dim_;
  T *k_, *v_, *k_transposed_;
  float *k_gradient_, *v_gradient_;
  T *q_MD_, *do_MD_, *q_transposed_, *do_transposed_, *q_interleaved_, *do_interleaved_;
  float *q_gradient_DM_, *q_gradient_MD_, *scores_BM_, *dp_BM_, *logsumexp_M_, *delta_M_;
  T *p_BM_, *ds_BM_, *ds_interleaved_;
};

template <typename T>
void backward(const BackwardPointers<T>& pointers, std::span<const std::int32_t> sequence_starts,
              const AttentionShape& shape) {
  run_head_tasks(list_head_tasks(sequence_starts, shape.num_kv_heads), [&](const HeadTask& task) {
    thread_local Scratch scratch;
    BackwardHead<T>(pointers, shape, task, scratch).run();
    release_block_matmul<T>();
  });
}

template <typename T>
void backward_tensors(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                      const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                      const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ) {
  backward<T>({out_gradient_TA.data_ptr<T>(), qkv_TQ.data_ptr<T>(), out_TA.data_ptr<T>(),
               logsumexp_NT.data_ptr<float>(), qkv_gradient_TQ.data_ptr<T>(), qkv_TQ.size(0)},
              sequence_starts, shape);
}

}  // namespace

void attention_backward_blocked(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                                const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                                const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ) {
  const auto run = qkv_TQ.scalar_type() == at::kFloat ? backward_tensors<float> : backward_tensors<at::BFloat16>;
  run(out_gradient_TA, qkv_TQ, out_TA, logsumexp_NT, sequence_starts, shape, qkv_gradient_TQ);
}

}  // namespace athanor::ops::detail
