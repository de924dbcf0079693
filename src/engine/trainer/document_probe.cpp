#include "engine/trainer/document_probe.h"

#include <ATen/ops/all.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>

#include <algorithm>

namespace athanor::trainer {

namespace {

constexpr std::int32_t kLongest = 64;  // tokens of a probed document

void append(data::MicroBatch& batch, const data::MicroBatch& from, std::size_t sequence) {
  const std::int32_t begin = from.sequence_starts[sequence];
  const std::int32_t end = std::min(from.sequence_starts[sequence + 1], begin + kLongest);
  for (std::int32_t i = begin; i < end; ++i) {
    batch.tokens.push_back(from.tokens[static_cast<std::size_t>(i)]);
    batch.positions.push_back(i - begin);
    batch.targets.push_back(data::kNoTarget);
  }
  batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
}

}  // namespace

ProbeResult probe_documents(model::Model& model, model::UnitStore& store, const data::MicroBatch& micro_batch,
                            std::int64_t vocab_size) {
  if (micro_batch.sequence_starts.size() < 3) return ProbeResult::kNothingToProve;
  data::MicroBatch pair;
  pair.sequence_starts.push_back(0);
  append(pair, micro_batch, 0);
  append(pair, micro_batch, 1);
  const std::int64_t border = pair.sequence_starts[1];
  const std::int64_t second = pair.sequence_starts[2] - border;
  const auto part = [&](const at::Tensor& logits, std::int64_t begin, std::int64_t n) {
    return logits.narrow(0, begin, n).clone();
  };

  const at::Tensor before = model.logits(pair, store);
  if (!before.isfinite().all().item<bool>()) return ProbeResult::kNothingToProve;
  const at::Tensor first_before = part(before, 0, border);
  const at::Tensor second_before = part(before, border, second);
  for (std::int64_t i = 0; i < border; ++i) {
    std::int32_t& token = pair.tokens[static_cast<std::size_t>(i)];
    token = static_cast<std::int32_t>((token + 1) % vocab_size);
  }
  const at::Tensor after = model.logits(pair, store);
  if (at::equal(first_before, part(after, 0, border)))
    return ProbeResult::kLeak;  // the change had no effect: nothing is proven
  return at::equal(second_before, part(after, border, second)) ? ProbeResult::kProven : ProbeResult::kLeak;
}

}  // namespace athanor::trainer
