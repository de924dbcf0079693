// What a person should know about the training data before the first step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/data/dataset.h"
#include "core/data/rows.h"
#include "core/formats/tokenizer.h"

namespace athanor::data {

struct DataReport {
  std::int64_t num_documents = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_tokens = 0;   // in rows
  std::int64_t num_targets = 0;  // in rows
  std::int64_t num_skipped_lines = 0;
  std::int64_t shortest = 0, median = 0, p95 = 0, longest = 0;  // tokens of documents before cutting
  std::int64_t num_cut_documents = 0, num_cut_tokens = 0, num_split_documents = 0;
  std::int64_t num_without_target = 0;             // dropped
  std::int64_t num_cut_before_target = 0;          // of them: the cut took the target
  std::vector<std::string> without_target_places;  // file:line of the first few
  // Of the documents whose last token in a row is learnt: in how many it is EOS. Empty when there are none, or no EOS.
  std::optional<double> share_ending_in_eos;
  // Documents that begin with BOS and hold another among their first tokens.
  std::int64_t num_double_bos = 0;
  std::string double_bos_place;  // of the first
  std::string example_place;
  std::string example;  // one decoded row; what is learnt stands between the marks of ExampleMarks
};

// Around learnt text: brackets for files and pipes, colour for a terminal.
enum class ExampleMarks { kBrackets, kColour };

// `tokenizer` null: the example shows ids, and there is no word on EOS and BOS.
DataReport make_data_report(const Dataset& dataset, const RowSet& rows, const formats::Tokenizer* tokenizer,
                            ExampleMarks marks);
// Lines of at most 80 columns, without a newline at the end.
std::string format_data_report(const DataReport& report);
// Colours in the example become brackets.
base::JsonValue data_report_to_json(const DataReport& report);

}  // namespace athanor::data
