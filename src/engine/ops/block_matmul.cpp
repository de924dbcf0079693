#include "engine/ops/block_matmul.h"

#include <ATen/native/CPUBlas.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "engine/ops/lanes.h"

namespace athanor::ops {
namespace {

constexpr bool is_wide(std::size_t size) { return size == 4; }

// 32-bit words; a tile of both matrices stays in the first-level cache.
ATHANOR_VECTOR_CLONES void transpose_words(const std::uint32_t* source, std::int64_t rows, std::int64_t columns,
                                           std::uint32_t* target) {
  constexpr std::int64_t kTile = 16;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const std::int64_t r1 = r0 + kTile < rows ? r0 + kTile : rows;
      const std::int64_t c1 = c0 + kTile < columns ? c0 + kTile : columns;
      for (std::int64_t c = c0; c < c1; ++c) {
        for (std::int64_t r = r0; r < r1; ++r) target[c * rows + r] = source[r * columns + c];
      }
    }
  }
}

ATHANOR_VECTOR_CLONES void interleave_pair(const std::uint16_t* even, const std::uint16_t* odd, std::int64_t n,
                                           std::uint32_t* target) {
  for (std::int64_t i = 0; i < n; ++i) {
    target[i] = static_cast<std::uint32_t>(even[i]) | (static_cast<std::uint32_t>(odd[i]) << 16);
  }
}

// 16-bit elements, read and written two rows of the result at a time.
ATHANOR_VECTOR_CLONES void transpose_halves(const std::uint32_t* source, std::int64_t rows, std::int64_t word_columns,
                                            std::uint16_t* target) {
  constexpr std::int64_t kTile = 32;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const std::int64_t r1 = r0 + kTile < rows ? r0 + kTile : rows;
    for (std::int64_t c = 0; c < word_columns; ++c) {
      std::uint16_t* even = target + 2 * c * rows;
      std::uint16_t* odd = even + rows;
      for (std::int64_t r = r0; r < r1; ++r) {
        const std::uint32_t word = source[r * word_columns + c];
        even[r] = static_cast<std::uint16_t>(word);
        odd[r] = static_cast<std::uint16_t>(word >> 16);
      }
    }
  }
}

// One small product against plain loops: some processors generate no kernel, and some want another layout.
template <typename T>
bool try_block_matmul() {
  constexpr std::int64_t kSize = 32;
  std::vector<T> a(kSize * kSize);
  std::vector<T> b(kSize * kSize);
  std::vector<T> interleaved(kSize * kSize);
  std::vector<float> c(kSize * kSize);
  for (std::int64_t i = 0; i < kSize * kSize; ++i) {
    a[static_cast<std::size_t>(i)] = lanes::from_float<T>(static_cast<float>(i % 7 - 3));
    b[static_cast<std::size_t>(i)] = lanes::from_float<T>(static_cast<float>(i % 5 - 2));
  }
  interleave_rows(b.data(), kSize, kSize, interleaved.data());
  try {
    block_matmul<T>({kSize, kSize, kSize}, a.data(), kSize, interleaved.data(), c.data(), kSize,
                    BlockResult::kOverwrite);
    release_block_matmul<T>();
  } catch (const c10::Error&) {
    return false;
  } catch (const std::exception&) {
    return false;
  }
  for (std::int64_t row = 0; row < kSize; ++row) {
    for (std::int64_t column = 0; column < kSize; ++column) {
      float sum = 0.0F;
      for (std::int64_t k = 0; k < kSize; ++k) {
        sum += lanes::to_float(a[static_cast<std::size_t>(row * kSize + k)]) *
               lanes::to_float(b[static_cast<std::size_t>(k * kSize + column)]);
      }
      if (std::abs(sum - c[static_cast<std::size_t>(row * kSize + column)]) > 1e-3F) return false;
    }
  }
  return true;
}

}  // namespace

template <typename T>
bool block_matmul_works() {
  static const bool works = try_block_matmul<T>();
  return works;
}

template <typename T>
void block_matmul(const BlockShape& shape, const T* a, std::int64_t lda, const T* b, float* c, std::int64_t ldc,
                  BlockResult result) {
  at::native::cpublas::brgemm(shape.rows, shape.columns, shape.inner, lda, shape.columns, ldc,
                              result == BlockResult::kAccumulate, a, b, c, !std::is_same_v<T, float>);
}

template <typename T>
void release_block_matmul() {
  at::native::cpublas::brgemm_release(!std::is_same_v<T, float>);
}

template <typename T>
void interleave_rows(const T* source, std::int64_t rows, std::int64_t columns, T* target) {
  if constexpr (is_wide(sizeof(T))) {
    std::memcpy(target, source, static_cast<std::size_t>(rows * columns) * sizeof(T));
  } else {
    const auto* words = reinterpret_cast<const std::uint16_t*>(source);
    auto* pairs = reinterpret_cast<std::uint32_t*>(target);
    for (std::int64_t r = 0; r < rows; r += 2) {
      interleave_pair(words + r * columns, words + (r + 1) * columns, columns, pairs + r / 2 * columns);
    }
  }
}

template <typename T>
void interleave_transposed(const T* source, std::int64_t rows, std::int64_t columns, T* target) {
  constexpr std::int64_t kPerWord = is_wide(sizeof(T)) ? 1 : 2;
  transpose_words(reinterpret_cast<const std::uint32_t*>(source), rows, columns / kPerWord,
                  reinterpret_cast<std::uint32_t*>(target));
}

template <typename T>
void transpose_block(const T* source, std::int64_t rows, std::int64_t columns, T* target) {
  if constexpr (is_wide(sizeof(T))) {
    transpose_words(reinterpret_cast<const std::uint32_t*>(source), rows, columns,
                    reinterpret_cast<std::uint32_t*>(target));
  } else {
    transpose_halves(reinterpret_cast<const std::uint32_t*>(source), rows, columns / 2,
                     reinterpret_cast<std::uint16_t*>(target));
  }
}

#define ATHANOR_INSTANTIATE(T)                                                                             \
  template bool block_matmul_works<T>();                                                                   \
  template void block_matmul<T>(const BlockShape&, const T*, std::int64_t, const T*, float*, std::int64_t, \
                                BlockResult);                                                              \
  template void release_block_matmul<T>();                                                                 \
  template void interleave_rows<T>(const T*, std::int64_t, std::int64_t, T*);                              \
  template void interleave_transposed<T>(const T*, std::int64_t, std::int64_t, T*);                        \
  template void transpose_block<T>(const T*, std::int64_t, std::int64_t, T*);
ATHANOR_INSTANTIATE(float)
ATHANOR_INSTANTIATE(at::BFloat16)
#undef ATHANOR_INSTANTIATE

}  // namespace athanor::ops
