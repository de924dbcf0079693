// Sizes that oneDNN meets again.
#pragma once

#include <cstdint>

namespace athanor::model {

// Note [Round sizes]
// oneDNN compiles and keeps a kernel for every shape it meets. Micro-batches of whole sequences have a new number of tokens, and of
// tokens with a target, each time, which would cost a compilation a step and memory for each. So both are rounded up: the tokens added
// are sequences of their own without a target, the rows added to the head have no target either, and the gradients of both are exactly
// zero.
inline std::int64_t round_size(std::int64_t size) {
  constexpr std::int64_t kSmall = 256;
  const std::int64_t multiple = size <= kSmall ? 16 : size <= 4 * kSmall ? 64 : 128;
  return (size + multiple - 1) / multiple * multiple;
}

}  // namespace athanor::model
