// Rows: what the loader shuffles and a micro-batch is made of. Without packing a row is one document, cut to the longest allowed
// length; with packing it is several documents that never see each other.
//
// Rules:   a whole text file, and with packing any text, that is longer than a row is split into pieces, each a sequence of its own;
//          no piece is left with a single token (rows of 3 and more), so that only the first token of a piece is no target.
//          Conversations and already tokenised rows are cut at the end. A document with no target left is dropped and counted.
//          Packing is best-fit decreasing (Johnson 1974) with random order; with sequential order rows are filled in file order.
// Threads: immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config/run_config.h"
#include "core/data/dataset.h"

namespace athanor::data {

// Tokens [begin, end) of one document: one sequence.
struct Piece {
  std::int64_t document = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t length() const { return end - begin; }
};

struct RowStatistics {
  std::int64_t num_documents = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_tokens = 0;  // in rows
  std::int64_t num_targets = 0;
  std::int64_t num_cut_documents = 0;
  std::int64_t num_cut_tokens = 0;
  std::int64_t num_split_documents = 0;
  std::vector<std::int64_t> without_target;               // documents dropped because nothing is left to learn
  std::vector<std::int64_t> documents_cut_before_target;  // those of them that had a target before the cut
};

class RowSet {
 public:
  RowSet(std::vector<Piece> pieces, std::vector<std::int64_t> first_piece, RowStatistics statistics);

  std::int64_t size() const { return static_cast<std::int64_t>(first_piece_.size()) - 1; }
  std::span<const Piece> row(std::int64_t index) const;
  std::int64_t row_tokens(std::int64_t index) const { return row_tokens_[static_cast<std::size_t>(index)]; }
  const RowStatistics& statistics() const { return statistics_; }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> first_piece_;  // [rows + 1]
  std::vector<std::int64_t> row_tokens_;   // [rows]
  RowStatistics statistics_;
};

struct RowOptions {
  std::int64_t max_length = 0;  // tokens of a row; 0: no limit (not with packing)
  config::PackingMode packing = config::PackingMode::kOff;
  config::SamplingStrategy sampling = config::SamplingStrategy::kRandom;
};

// Fails: UserError when no row is left.
RowSet make_rows(const Dataset& dataset, const RowOptions& options);

}  // namespace athanor::data
