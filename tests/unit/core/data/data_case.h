// What the data tests share: small tokenizers, data sets from rows written in the test, ids back to text.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/data/dataset.h"
#include "core/data/micro_batch.h"
#include "core/data/rows.h"
#include "core/formats/tokenizer.h"
#include "tests/support/temporary_folder.h"

namespace athanor::data {

using Ids = std::vector<std::int32_t>;

// The fixture tokenizer's ids (tests/fixtures/data/generate.py): bytes, then merges, then these.
inline constexpr std::int32_t kBos = 259, kEos = 260, kUser = 261, kAssistant = 262, kEot = 263;
inline const std::string kBosText =
    "<\xef\xbd\x9c"
    "begin\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>";
inline const std::string kEosText =
    "<\xef\xbd\x9c"
    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>";
inline const std::string kUserText = "<\xef\xbd\x9cUser\xef\xbd\x9c>";
inline const std::string kAssistantText =
    "<\xef\xbd\x9c"
    "Assistant\xef\xbd\x9c>";
inline const std::string kEotText = "<|EOT|>";

inline std::string fixture_tokenizer_path() {
  return std::string(ATHANOR_SOURCE_DIR) + "/tests/fixtures/data/deepseek_like";
}

inline formats::Tokenizer deepseek_like() { return formats::Tokenizer::load(fixture_tokenizer_path()); }

// The same without some marker tokens, as older tokenizers of the family are, or with a normalizer (JSON; empty: none).
inline formats::Tokenizer deepseek_like_without(const std::vector<std::string>& markers,
                                                const std::string& normalizer = "") {
  const testing::TemporaryFolder folder;
  base::JsonValue json = base::parse_json_file(fixture_tokenizer_path() + "/tokenizer.json");
  base::JsonValue added = base::JsonValue::array();
  for (const base::JsonValue& token : json.find("added_tokens")->items()) {
    const std::string& content = token.find("content")->as_string();
    if (std::find(markers.begin(), markers.end(), content) == markers.end()) added.push_back(token);
  }
  json.set("added_tokens", std::move(added));
  if (!normalizer.empty()) json.set("normalizer", base::parse_json(normalizer, "normalizer"));
  folder.write("tokenizer.json", json.dump());
  folder.write("tokenizer_config.json", base::read_file(fixture_tokenizer_path() + "/tokenizer_config.json"));
  return formats::Tokenizer::load(folder.path());
}

inline Ids bytes_of(const std::string& text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// What is learnt of a document, as text.
inline std::string learnt_text(const formats::Tokenizer& tokenizer, std::span<const std::int32_t> labels) {
  Ids learnt;
  for (const std::int32_t label : labels) {
    if (label != kNoTarget) learnt.push_back(label);
  }
  return tokenizer.decode(learnt);
}

// A row of already tokenised ids: `learnt_from` and later are learnt.
inline std::string ids_row(const Ids& ids, std::size_t learnt_from = 0) {
  base::JsonValue tokens = base::JsonValue::array();
  base::JsonValue labels = base::JsonValue::array();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    tokens.push_back(static_cast<std::int64_t>(ids[i]));
    labels.push_back(static_cast<std::int64_t>(i < learnt_from ? kNoTarget : ids[i]));
  }
  base::JsonValue row = base::JsonValue::object();
  row.set("input_ids", std::move(tokens));
  row.set("labels", std::move(labels));
  return row.dump() + "\n";
}

// A folder of input files and a cache, and what is asked of open_dataset().
struct DataCase {
  testing::TemporaryFolder folder;
  config::DataConfig config;
  DatasetRequest request;

  DataCase() {
    request.config = &config;
    request.cache_folder = folder.file("cache");
  }
  explicit DataCase(const std::string& jsonl) : DataCase() { add_file("rows.jsonl", jsonl); }
  DataCase(const DataCase&) = delete;
  DataCase& operator=(const DataCase&) = delete;

  std::string add_file(const std::string& name, const std::string& content) {
    request.patterns.push_back(folder.write(name, content));
    return request.patterns.back();
  }
  Dataset open(const DatasetCallbacks& callbacks = {}) const {
    std::optional<Dataset> dataset = open_dataset(request, callbacks);
    if (!dataset.has_value()) throw std::runtime_error("the data set was not opened");
    return std::move(*dataset);
  }
};

// A data set of documents made by hand, without files and tokenizer; document i is line i + 1.
inline Dataset dataset_of(const std::vector<Document>& documents) {
  const testing::TemporaryFolder folder;
  ChunkBuilder builder;
  for (std::size_t i = 0; i < documents.size(); ++i) builder.add(documents[i], static_cast<std::uint32_t>(i + 1));
  CacheIndex::Chunk entry{"chunk", 0, builder.write(folder.file("chunk")), 0};
  entry.num_bytes = std::filesystem::file_size(folder.file("chunk"));
  std::vector<TokenChunk> chunks;
  chunks.push_back(TokenChunk::open(folder.file("chunk"), entry).value());  // stays mapped when the file goes
  return Dataset({"made.jsonl"}, std::move(chunks), 0);
}

// A document whose tokens are first, first + 1, ...: `learnt_from` and later are learnt.
inline Document document_of(DocumentKind kind, std::int32_t first, std::size_t num_tokens,
                            std::size_t learnt_from = 0) {
  Document document;
  document.kind = kind;
  for (std::size_t i = 0; i < num_tokens; ++i) {
    document.tokens.push_back(first + static_cast<std::int32_t>(i));
    document.labels.push_back(i < learnt_from ? kNoTarget : document.tokens.back());
  }
  return document;
}

inline Ids ids_of(std::span<const std::int32_t> ids) { return {ids.begin(), ids.end()}; }

}  // namespace athanor::data
