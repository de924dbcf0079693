// Matrix multiplies of one block that fits the cache, on one thread, and the layouts they want.
//
// Source:  oneDNN's brgemm through at::native::cpublas (AMX or AVX-512 bf16 dot products; fp32 by AVX).
// Layout:  a is row-major. b is "interleaved" for 16-bit types: rows 2r and 2r + 1 alternate element by element, so that a 32-bit
//          word holds two neighbours along the inner dimension; plain row-major for fp32. The inner dimension is even.
// Types:   T = float or at::BFloat16; the result is fp32.
// Threads: every function works on the calling thread alone. A thread calls release_block_matmul() when it is done for a while.
#pragma once

#include <cstdint>

namespace athanor::ops {

// Whether this processor's block multiply gives right results for T; found by trying, once.
template <typename T>
bool block_matmul_works();

struct BlockShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
};

enum class BlockResult { kOverwrite, kAccumulate };

// c [rows, columns] = a [rows, inner] b [inner, columns], or is added to it. lda and ldc count elements of a row; b has no gaps.
template <typename T>
void block_matmul(const BlockShape& shape, const T* a, std::int64_t lda, const T* b, float* c, std::int64_t ldc,
                  BlockResult result);

template <typename T>
void release_block_matmul();

// [rows, columns] -> b layout of the same matrix. For fp32 a copy.
template <typename T>
void interleave_rows(const T* source, std::int64_t rows, std::int64_t columns, T* target);

// [rows, columns] -> b layout of the transposed matrix [columns, rows].
template <typename T>
void interleave_transposed(const T* source, std::int64_t rows, std::int64_t columns, T* target);

// [rows, columns] -> [columns, rows], row-major.
template <typename T>
void transpose_block(const T* source, std::int64_t rows, std::int64_t columns, T* target);

}  // namespace athanor::ops
