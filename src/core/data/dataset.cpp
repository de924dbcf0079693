#include "core/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>

namespace athanor::data {

Dataset::Dataset(std::vector<std::string> files, std::vector<TokenChunk> chunks, std::int64_t num_skipped_lines)
    : files_(std::move(files)), chunks_(std::move(chunks)), num_skipped_lines_(num_skipped_lines) {
  first_document_.push_back(0);
  for (const TokenChunk& chunk : chunks_) first_document_.push_back(first_document_.back() + chunk.num_documents());
}

DocumentView Dataset::document(std::int64_t index) const {
  const auto after = std::upper_bound(first_document_.begin(), first_document_.end(), index);
  const auto at = static_cast<std::size_t>(after - first_document_.begin()) - 1;
  const TokenChunk& chunk = chunks_[at];
  const ChunkDocument& document = chunk.document(index - first_document_[at]);
  return {chunk.tokens(document), chunk.labels(document), document.kind, document.line, chunk.file()};
}

std::string Dataset::place_of(std::int64_t index) const {
  const DocumentView view = document(index);
  return fmt::format("{}:{}", files_[view.file], view.line);
}

std::int64_t Dataset::num_tokens() const {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < num_documents(); ++i) total += static_cast<std::int64_t>(document(i).tokens.size());
  return total;
}

void Dataset::limit(std::int64_t count) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const std::int64_t left = std::max<std::int64_t>(0, count - first_document_[i]);
    chunks_[i].limit(std::min(chunks_[i].num_documents(), left));
    first_document_[i + 1] = first_document_[i] + chunks_[i].num_documents();
  }
}

}  // namespace athanor::data
