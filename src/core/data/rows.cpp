#include "core/data/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/data/micro_batch.h"

namespace athanor::data {

RowSet::RowSet(std::vector<Piece> pieces, std::vector<std::int64_t> first_piece, RowStatistics statistics)
    : pieces_(std::move(pieces)), first_piece_(std::move(first_piece)), statistics_(std::move(statistics)) {
  row_tokens_.reserve(static_cast<std::size_t>(size()));
  for (std::int64_t i = 0; i < size(); ++i) {
    std::int64_t tokens = 0;
    for (const Piece& piece : row(i)) tokens += piece.length();
    row_tokens_.push_back(tokens);
    statistics_.num_tokens += tokens;
  }
  statistics_.num_rows = size();
}

std::span<const Piece> RowSet::row(std::int64_t index) const {
  const auto begin = static_cast<std::size_t>(first_piece_[static_cast<std::size_t>(index)]);
  const auto end = static_cast<std::size_t>(first_piece_[static_cast<std::size_t>(index) + 1]);
  return {pieces_.data() + begin, end - begin};
}

namespace {

// Targets of tokens [begin, end): a label counts when the token before it is in the piece too.
std::int64_t count_targets(std::span<const std::int32_t> labels, std::size_t begin, std::size_t end) {
  std::int64_t count = 0;
  for (std::size_t i = begin + 1; i < end; ++i) count += labels[i] != kNoTarget ? 1 : 0;
  return count;
}

// Cuts documents into pieces no longer than a row, and drops those with nothing to learn.
std::vector<Piece> cut_documents(const Dataset& dataset, const RowOptions& options, RowStatistics& statistics) {
  std::vector<Piece> pieces;
  statistics.num_documents = dataset.num_documents();
  const bool packed = options.packing == config::PackingMode::kOn;
  for (std::int64_t index = 0; index < dataset.num_documents(); ++index) {
    const DocumentView document = dataset.document(index);
    const std::size_t length = document.tokens.size();
    const std::size_t limit = options.max_length > 0 ? static_cast<std::size_t>(options.max_length) : length;
    const bool is_split = document.kind == DocumentKind::kFile || (packed && document.kind == DocumentKind::kText);
    const bool splits = is_split && length > limit;
    const std::size_t kept = splits ? length : std::min(length, limit);
    std::int64_t targets = 0;
    const std::size_t first = pieces.size();
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < kept; begin = end) {
      end = std::min(kept, begin + limit);
      // A last piece of one token would have no target: EOS would not be learnt.
      if (kept - end == 1 && end - begin > 2) --end;
      const std::int64_t here = count_targets(document.labels, begin, end);
      if (here == 0) continue;
      targets += here;
      pieces.push_back({index, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    }
    if (kept < length) {
      ++statistics.num_cut_documents;
      statistics.num_cut_tokens += static_cast<std::int64_t>(length - kept);
    }
    if (splits) ++statistics.num_split_documents;
    if (pieces.size() == first) {
      statistics.without_target.push_back(index);
      if (count_targets(document.labels, 0, length) > 0) statistics.documents_cut_before_target.push_back(index);
    }
    statistics.num_targets += targets;
  }
  return pieces;
}

using PieceLists = std::vector<std::vector<Piece>>;

// Best-fit decreasing: the longest piece first, each into the fullest row that still takes it.
PieceLists pack_best_fit(std::vector<Piece> pieces, std::int64_t row_length) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.length() > b.length(); });
  PieceLists rows;
  std::multimap<std::int64_t, std::size_t> rows_by_room;
  for (const Piece& piece : pieces) {
    const auto length = static_cast<std::int64_t>(piece.length());
    const auto found = rows_by_room.lower_bound(length);
    std::size_t row = rows.size();
    std::int64_t room = row_length;
    if (found != rows_by_room.end()) {
      room = found->first;
      row = found->second;
      rows_by_room.erase(found);
    } else {
      rows.emplace_back();
    }
    rows[row].push_back(piece);
    if (room > length) rows_by_room.emplace(room - length, row);
  }
  return rows;
}

PieceLists pack_in_order(const std::vector<Piece>& pieces, std::int64_t row_length) {
  PieceLists rows;
  std::int64_t room = 0;
  for (const Piece& piece : pieces) {
    const auto length = static_cast<std::int64_t>(piece.length());
    if (length > room) {
      rows.emplace_back();
      room = row_length;
    }
    rows.back().push_back(piece);
    room -= length;
  }
  return rows;
}

}  // namespace

RowSet make_rows(const Dataset& dataset, const RowOptions& options) {
  RowStatistics statistics;
  std::vector<Piece> pieces = cut_documents(dataset, options, statistics);
  if (pieces.empty()) {
    const std::string place = dataset.num_documents() > 0 ? dataset.place_of(0) : "";
    throw base::UserError(
        fmt::format("no row has a target left to learn ({} of {} documents lost theirs to the cut at {} tokens)",
                    statistics.documents_cut_before_target.size(), statistics.num_documents, options.max_length),
        place.empty() ? "train_file" : place + " is the first",
        "raise model_max_length, or give data with responses that fit");
  }
  std::vector<Piece> flat;
  std::vector<std::int64_t> first_piece = {0};
  if (options.packing == config::PackingMode::kOff) {
    flat = std::move(pieces);
    for (std::size_t i = 1; i <= flat.size(); ++i) first_piece.push_back(static_cast<std::int64_t>(i));
  } else {
    ATHANOR_CHECK(options.max_length > 0, "packing needs a row length");
    const bool in_order = options.sampling == config::SamplingStrategy::kSequential;
    const PieceLists rows =
        in_order ? pack_in_order(pieces, options.max_length) : pack_best_fit(std::move(pieces), options.max_length);
    for (const std::vector<Piece>& row : rows) {
      flat.insert(flat.end(), row.begin(), row.end());
      first_piece.push_back(static_cast<std::int64_t>(flat.size()));
    }
  }
  return RowSet(std::move(flat), std::move(first_piece), std::move(statistics));
}

}  // namespace athanor::data
