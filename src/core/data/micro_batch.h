// What one forward and backward pass works on: whole sequences laid end to end. Padding does not exist here.
//
// The rows of a micro-batch (padded by other trainers) and the documents of a packed row are the same thing to the model:
// independent sequences with positions from zero that never see each other. Everything but attention is per token; attention
// takes `sequence_starts`.
#pragma once

#include <cstdint>
#include <vector>

namespace athanor::data {

inline constexpr std::int32_t kNoTarget = -100;

struct MicroBatch {
  std::vector<std::int32_t> tokens;     // [num_tokens] input ids
  std::vector<std::int32_t> positions;  // [num_tokens] restart at 0 in each sequence
  std::vector<std::int32_t> targets;  // [num_tokens] the token to predict at this place (already shifted), or kNoTarget
  std::vector<std::int32_t> sequence_starts;  // [num_sequences + 1] ascending, first 0, last num_tokens (cu_seqlens)
  std::int64_t num_targets = 0;               // targets that are not kNoTarget
  std::int64_t num_padded_tokens = 0;  // rows x longest row: what a padded batch would hold (for HF's token count)
  std::vector<std::int64_t> row_ids;   // rows of the data set this came from, for reports and anomaly records
};

}  // namespace athanor::data
