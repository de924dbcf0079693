#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "core/base/error.h"
#include "core/formats/indexed_tokens.h"
#include "core/formats/indexed_tokens_layout.h"

namespace athanor::formats {

namespace {

template <typename T>
void write_ids(base::FileWriter& file, std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids) {
    if (id < 0 || std::int64_t{id} > std::int64_t{std::numeric_limits<T>::max()}) {
      throw base::UserError(fmt::format("the id {} does not fit the type of the token file ({} bytes)", id, sizeof(T)),
                            "", "write the file with a larger type (int32 holds every id)");
    }
  }
  std::vector<T> narrow(ids.begin(), ids.end());
  file.write(narrow.data(), narrow.size() * sizeof(T));
}

std::string temporary(const std::string& path) { return path + std::string(base::kTemporarySuffix); }

}  // namespace

IndexedTokensWriter::IndexedTokensWriter(const std::string& prefix, TokenType type)
    : prefix_(prefix), type_(type), data_(std::make_unique<base::FileWriter>(temporary(prefix + ".bin"))) {}

IndexedTokensWriter::~IndexedTokensWriter() = default;

void IndexedTokensWriter::add_sequence(std::span<const std::int32_t> ids) {
  ATHANOR_CHECK(data_ != nullptr, "add_sequence() after commit()");
  if (ids.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw base::UserError(fmt::format("a sequence of {} tokens is too long for a token file", ids.size()), prefix_,
                          "split it into documents below 2^31 tokens");
  }
  switch (type_) {
    case TokenType::kUint8:
      write_ids<std::uint8_t>(*data_, ids);
      break;
    case TokenType::kInt8:
      write_ids<std::int8_t>(*data_, ids);
      break;
    case TokenType::kInt16:
      write_ids<std::int16_t>(*data_, ids);
      break;
    case TokenType::kInt32:
      write_ids<std::int32_t>(*data_, ids);
      break;
    case TokenType::kInt64:
      write_ids<std::int64_t>(*data_, ids);
      break;
    case TokenType::kUint16:
      write_ids<std::uint16_t>(*data_, ids);
      break;
  }
  lengths_.push_back(static_cast<std::int32_t>(ids.size()));
  num_tokens_ += static_cast<std::int64_t>(ids.size());
}

void IndexedTokensWriter::end_document() { document_starts_.push_back(num_sequences()); }

void IndexedTokensWriter::write_index(const std::string& path) const {
  base::FileWriter file(path);
  const auto write = [&file](auto value) { file.write(&value, sizeof(value)); };
  file.write(kIndexMagic);
  write(kIndexVersion);
  write(static_cast<std::uint8_t>(type_));
  write(static_cast<std::uint64_t>(lengths_.size()));
  write(static_cast<std::uint64_t>(document_starts_.size()));
  file.write(lengths_.data(), lengths_.size() * sizeof(std::int32_t));
  std::int64_t pointer = 0;
  for (const std::int32_t length : lengths_) {
    write(pointer);
    pointer += length * static_cast<std::int64_t>(token_bytes(type_));
  }
  file.write(document_starts_.data(), document_starts_.size() * sizeof(std::int64_t));
  file.sync();
  file.close();
}

void IndexedTokensWriter::commit() {
  ATHANOR_CHECK(data_ != nullptr, "commit() a second time");
  if (document_starts_.back() != num_sequences()) end_document();
  const std::string data_path = prefix_ + ".bin";
  const std::string index_path = prefix_ + ".idx";
  data_->sync();
  data_->close();
  write_index(temporary(index_path));
  // An index of an earlier build must not meet the new .bin, so it goes first.
  std::error_code error;
  if (std::filesystem::remove(index_path, error)) {
    const std::string folder = std::filesystem::path(index_path).parent_path().string();
    base::sync_folder(folder);
  }
  base::rename_durably(temporary(data_path), data_path);
  base::rename_durably(temporary(index_path), index_path);
  data_.reset();
}

}  // namespace athanor::formats
