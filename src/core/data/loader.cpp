#include "core/data/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "core/base/error.h"
#include "core/data/order.h"

namespace athanor::data {

namespace {

// Consecutive rows whose tokens together stay within the budget.
std::vector<std::int64_t> cut_by_budget(const RowSet& rows, const std::vector<std::int64_t>& order,
                                        std::int64_t budget) {
  std::vector<std::int64_t> first = {0};
  std::int64_t room = budget;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t tokens = rows.row_tokens(order[i]);
    if (tokens > room) {
      first.push_back(static_cast<std::int64_t>(i));
      room = budget;
    }
    room -= tokens;
  }
  first.push_back(static_cast<std::int64_t>(order.size()));
  return first;
}

std::vector<std::int64_t> cut_by_rows(std::int64_t num_rows, std::int64_t micro_batch_size, bool drop_last) {
  std::vector<std::int64_t> first = {0};
  for (std::int64_t row = micro_batch_size; row <= num_rows; row += micro_batch_size) first.push_back(row);
  if (!drop_last && first.back() < num_rows) first.push_back(num_rows);
  return first;
}

}  // namespace

Loader::Loader(const Dataset& dataset, const RowSet& rows, const LoaderOptions& options)
    : dataset_(&dataset), rows_(&rows), options_(options) {
  if (options.tokens_per_batch > 0) {
    for (std::int64_t row = 0; row < rows.size(); ++row) {
      if (rows.row_tokens(row) <= options.tokens_per_batch) continue;
      throw base::UserError(
          fmt::format("a row has {} tokens, tokens_per_batch is {}", rows.row_tokens(row), options.tokens_per_batch),
          dataset.place_of(rows.row(row).front().document), "raise tokens_per_batch or lower model_max_length");
    }
  }
  num_batches_ = static_cast<std::int64_t>(make_order(0).first.size()) - 1;
  if (num_batches_ == 0) {
    throw base::UserError(fmt::format("{} rows make no whole micro-batch of {}", rows.size(), options.micro_batch_size),
                          "dataloader_drop_last",
                          "lower per_device_train_batch_size or set dataloader_drop_last false");
  }
}

Loader::EpochOrder Loader::make_order(std::int64_t epoch) const {
  return options_.tokens_per_batch > 0 ? make_budget_order(epoch) : make_row_order(epoch);
}

// The micro-batches are put together once, so that every epoch has as many; only their order changes.
Loader::EpochOrder Loader::make_budget_order(std::int64_t epoch) const {
  const bool in_order = options_.sampling == config::SamplingStrategy::kSequential;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(rows_->size()));
  std::iota(rows.begin(), rows.end(), 0);
  if (!in_order) {
    rows = random_order(rows_->size(), options_.seed, -1);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::int64_t a, std::int64_t b) { return rows_->row_tokens(a) > rows_->row_tokens(b); });
  }
  const std::vector<std::int64_t> first = cut_by_budget(*rows_, rows, options_.tokens_per_batch);
  const auto num_batches = static_cast<std::int64_t>(first.size()) - 1;
  std::vector<std::int64_t> batches(static_cast<std::size_t>(num_batches));
  std::iota(batches.begin(), batches.end(), 0);
  if (!in_order) {
    batches = random_order(num_batches, options_.seed, epoch);
    // Micro-batch 0 has the longest rows: it comes first, so that memory is highest at the start.
    std::iter_swap(batches.begin(), std::find(batches.begin(), batches.end(), 0));
  }
  EpochOrder order;
  order.epoch = epoch;
  order.first = {0};
  for (const std::int64_t batch : batches) {
    const auto at = static_cast<std::size_t>(batch);
    order.rows.insert(order.rows.end(), rows.begin() + first[at], rows.begin() + first[at + 1]);
    order.first.push_back(static_cast<std::int64_t>(order.rows.size()));
  }
  return order;
}

Loader::EpochOrder Loader::make_row_order(std::int64_t epoch) const {
  EpochOrder order;
  order.epoch = epoch;
  switch (options_.sampling) {
    case config::SamplingStrategy::kSequential:
      order.rows.resize(static_cast<std::size_t>(rows_->size()));
      std::iota(order.rows.begin(), order.rows.end(), 0);
      break;
    case config::SamplingStrategy::kRandom:
      order.rows = random_order(rows_->size(), options_.seed, epoch);
      break;
    case config::SamplingStrategy::kGroupByLength:
      order.rows = length_grouped_order(
          rows_->size(), options_.micro_batch_size * options_.world_size,
          [this](std::int64_t row) { return rows_->row_tokens(row); }, options_.seed, epoch);
      break;
  }
  order.first = cut_by_rows(rows_->size(), options_.micro_batch_size, options_.drop_last);
  return order;
}

std::shared_ptr<const Loader::EpochOrder> Loader::order_of(std::int64_t epoch) const {
  std::shared_ptr<const EpochOrder> cached = std::atomic_load(&cached_);
  if (cached != nullptr && cached->epoch == epoch) return cached;
  auto made = std::make_shared<const EpochOrder>(make_order(epoch));
  std::atomic_store(&cached_, std::shared_ptr<const EpochOrder>(made));
  return made;
}

std::vector<std::vector<std::int64_t>> Loader::row_ids(const StepPlan& plan, std::int64_t step) const {
  const std::shared_ptr<const EpochOrder> order = order_of(plan.epoch_of(step));
  std::vector<std::vector<std::int64_t>> batches;
  for (std::int64_t part = 0; part < plan.group_size(step); ++part) {
    const std::int64_t batch = plan.batch_index(step, part, options_.rank);
    if (batch < 0) break;
    const auto at = static_cast<std::size_t>(batch);
    batches.emplace_back(order->rows.begin() + order->first[at], order->rows.begin() + order->first[at + 1]);
  }
  return batches;
}

std::vector<MicroBatch> Loader::batches(const StepPlan& plan, std::int64_t step) const {
  std::vector<MicroBatch> batches;
  for (const std::vector<std::int64_t>& rows : row_ids(plan, step)) {
    batches.push_back(assemble_batch(*dataset_, *rows_, rows));
  }
  return batches;
}

namespace {

void append_sequence(const DocumentView& document, const Piece& piece, MicroBatch& batch) {
  for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
    batch.tokens.push_back(document.tokens[i]);
    batch.positions.push_back(static_cast<std::int32_t>(i - piece.begin));
    const std::int32_t target = i + 1 < piece.end ? document.labels[i + 1] : kNoTarget;
    batch.targets.push_back(target);
    batch.num_targets += target != kNoTarget ? 1 : 0;
  }
  batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
}

}  // namespace

MicroBatch assemble_batch(const Dataset& dataset, const RowSet& rows, std::span<const std::int64_t> row_indices) {
  MicroBatch batch;
  batch.sequence_starts.push_back(0);
  std::int64_t longest = 0;
  for (const std::int64_t row : row_indices) {
    longest = std::max(longest, rows.row_tokens(row));
    for (const Piece& piece : rows.row(row)) append_sequence(dataset.document(piece.document), piece, batch);
    batch.row_ids.push_back(row);
  }
  batch.num_padded_tokens = longest * static_cast<std::int64_t>(row_indices.size());
  return batch;
}

}  // namespace athanor::data
