#include "core/data/data_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/data/micro_batch.h"
#include "core/data/row_example.h"

namespace athanor::data {

namespace {

constexpr std::size_t kMostPlaces = 5;
// A second BOS among so many first tokens was put there by template and tokenizer both, or by hand.
constexpr std::size_t kDocumentStart = 8;

void measure_lengths(const Dataset& dataset, DataReport& report) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(static_cast<std::size_t>(dataset.num_documents()));
  for (std::int64_t i = 0; i < dataset.num_documents(); ++i) {
    lengths.push_back(static_cast<std::int64_t>(dataset.document(i).tokens.size()));
  }
  if (lengths.empty()) return;
  std::sort(lengths.begin(), lengths.end());
  // The smallest length that so many percent of the documents do not exceed.
  const auto percentile = [&](std::size_t percent) { return lengths[(lengths.size() * percent + 99) / 100 - 1]; };
  report.shortest = lengths.front();
  report.median = percentile(50);
  report.p95 = percentile(95);
  report.longest = lengths.back();
}

void count_ends(const Dataset& dataset, const RowSet& rows, std::int32_t eos, DataReport& report) {
  // Where the last piece of each document ends; 0 for those that are in no row.
  std::vector<std::uint32_t> ends(static_cast<std::size_t>(dataset.num_documents()), 0);
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    for (const Piece& piece : rows.row(row)) {
      std::uint32_t& end = ends[static_cast<std::size_t>(piece.document)];
      end = std::max(end, piece.end);
    }
  }
  std::int64_t num_learnt = 0;
  std::int64_t num_eos = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] == 0) continue;
    const std::int32_t last = dataset.document(static_cast<std::int64_t>(i)).labels[ends[i] - 1];
    num_learnt += last != kNoTarget ? 1 : 0;
    num_eos += last == eos ? 1 : 0;
  }
  if (num_learnt > 0) report.share_ending_in_eos = static_cast<double>(num_eos) / static_cast<double>(num_learnt);
}

void count_double_bos(const Dataset& dataset, std::int32_t bos, bool ends_documents, DataReport& report) {
  for (std::int64_t i = 0; i < dataset.num_documents(); ++i) {
    const auto tokens = dataset.document(i).tokens;
    if (tokens.empty() || tokens.front() != bos) continue;
    // Where one token is BOS and EOS, a short document ends in it.
    const std::size_t num_looked_at = std::min(tokens.size(), ends_documents ? 2 : kDocumentStart);
    if (ends_documents && tokens.size() == 2) continue;
    const auto start = tokens.subspan(1, num_looked_at - 1);
    if (std::find(start.begin(), start.end(), bos) == start.end()) continue;
    if (report.num_double_bos++ == 0) report.double_bos_place = dataset.place_of(i);
  }
}

// The row whose length is nearest to the middle one, the first of them.
std::int64_t representative_row(const RowSet& rows) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(static_cast<std::size_t>(rows.size()));
  for (std::int64_t i = 0; i < rows.size(); ++i) lengths.push_back(rows.row_tokens(i));
  const auto middle = lengths.begin() + (rows.size() - 1) / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < rows.size(); ++i) {
    if (std::abs(rows.row_tokens(i) - *middle) < std::abs(rows.row_tokens(best) - *middle)) best = i;
  }
  return best;
}

}  // namespace

DataReport make_data_report(const Dataset& dataset, const RowSet& rows, const formats::Tokenizer* tokenizer,
                            ExampleMarks marks) {
  const RowStatistics& statistics = rows.statistics();
  DataReport report;
  report.num_documents = dataset.num_documents();
  report.num_rows = rows.size();
  report.num_tokens = statistics.num_tokens;
  report.num_targets = statistics.num_targets;
  report.num_skipped_lines = dataset.num_skipped_lines();
  report.num_cut_documents = statistics.num_cut_documents;
  report.num_cut_tokens = statistics.num_cut_tokens;
  report.num_split_documents = statistics.num_split_documents;
  report.num_without_target = static_cast<std::int64_t>(statistics.without_target.size());
  report.num_cut_before_target = static_cast<std::int64_t>(statistics.documents_cut_before_target.size());
  for (const std::int64_t document : statistics.without_target) {
    if (report.without_target_places.size() == kMostPlaces) break;
    report.without_target_places.push_back(dataset.place_of(document));
  }
  measure_lengths(dataset, report);
  if (tokenizer != nullptr && tokenizer->eos_id().has_value()) {
    count_ends(dataset, rows, *tokenizer->eos_id(), report);
  }
  if (tokenizer != nullptr && tokenizer->bos_id().has_value()) {
    count_double_bos(dataset, *tokenizer->bos_id(), tokenizer->bos_id() == tokenizer->eos_id(), report);
  }
  if (rows.size() > 0) {
    const std::span<const Piece> row = rows.row(representative_row(rows));
    report.example_place = dataset.place_of(row.front().document);
    report.example = mark_row(dataset, row, tokenizer, marks);
  }
  return report;
}

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

base::JsonValue data_report_to_json(const DataReport& report) {
  base::JsonValue json = base::JsonValue::object();
  json.set("num_documents", report.num_documents);
  json.set("num_rows", report.num_rows);
  json.set("num_tokens", report.num_tokens);
  json.set("num_targets", report.num_targets);
  json.set("num_skipped_lines", report.num_skipped_lines);
  base::JsonValue& lengths = json.set("document_length", base::JsonValue::object());
  lengths.set("shortest", report.shortest);
  lengths.set("median", report.median);
  lengths.set("p95", report.p95);
  lengths.set("longest", report.longest);
  json.set("num_cut_documents", report.num_cut_documents);
  json.set("num_cut_tokens", report.num_cut_tokens);
  json.set("num_split_documents", report.num_split_documents);
  json.set("num_without_target", report.num_without_target);
  json.set("num_cut_before_target", report.num_cut_before_target);
  base::JsonValue places = base::JsonValue::array();
  for (const std::string& place : report.without_target_places) places.push_back(place);
  json.set("without_target_places", std::move(places));
  json.set("share_ending_in_eos",
           report.share_ending_in_eos.has_value() ? base::JsonValue(*report.share_ending_in_eos) : base::JsonValue());
  json.set("num_double_bos", report.num_double_bos);
  json.set("double_bos_place", report.double_bos_place);
  json.set("example_place", report.example_place);
  std::string example = report.example;
  replace_all(example, kColourBegin, kLearntBegin);
  replace_all(example, kColourEnd, kLearntEnd);
  json.set("example", std::move(example));
  return json;
}

}  // namespace athanor::data
