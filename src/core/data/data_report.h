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
  std::int64_t num_tokens = 0;
  std::int64_t num_targets = 0;
  std::int64_t num_skipped_lines = 0;
  std::int64_t shortest = 0, median = 0, p95 = 0, longest = 0;  // tokens of documents before cutting
  std::int64_t num_cut_documents = 0, num_cut_tokens = 0, num_split_documents = 0;
  std::int64_t num_without_target = 0;             // dropped
  std::vector<std::string> without_target_places;  // file:line of the first few
  double share_ending_in_eos = 0;                  // of documents whose last token is a target: the last target is EOS
  std::int64_t num_double_bos = 0;
  std::string example_place;
  std::string example;  // one decoded row; what is learnt stands between the marks of ExampleMarks
};

// Around learnt text: brackets for files and pipes, colour for a terminal.
enum class ExampleMarks { kBrackets, kColour };

DataReport make_data_report(const Dataset& dataset, const RowSet& rows, const formats::Tokenizer* tokenizer,
                            ExampleMarks marks);
std::string format_data_report(const DataReport& report);
base::JsonValue data_report_to_json(const DataReport& report);

}  // namespace athanor::data
