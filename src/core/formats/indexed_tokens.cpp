#include "core/formats/indexed_tokens.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "core/base/error.h"
#include "core/formats/indexed_tokens_layout.h"

namespace athanor::formats {

namespace {

constexpr const char* kRebuild = "build the token files again (athanor tokenize build)";

template <typename T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

[[noreturn]] void fail_at(const std::string& path, std::size_t offset, const std::string& what,
                          const char* remedy = kRebuild) {
  throw base::UserError(what, fmt::format("{}, byte {}", path, offset), remedy);
}

base::MappedFile map_part(const std::string& path, const std::string& prefix) {
  if (!std::filesystem::exists(path)) {
    throw base::UserError(fmt::format("token files come in pairs, and {} is missing", path), prefix, kRebuild);
  }
  return base::MappedFile(path);
}

}  // namespace

std::size_t token_bytes(TokenType type) {
  switch (type) {
    case TokenType::kUint8:
    case TokenType::kInt8:
      return 1;
    case TokenType::kInt16:
    case TokenType::kUint16:
      return 2;
    case TokenType::kInt32:
      return 4;
    case TokenType::kInt64:
      return 8;
  }
  ATHANOR_CHECK(false, "a token type that does not exist");
}

TokenType smallest_token_type(std::int64_t vocab_size) {
  constexpr std::int64_t kUint16Limit = 65500;
  return vocab_size < kUint16Limit ? TokenType::kUint16 : TokenType::kInt32;
}

std::string indexed_tokens_prefix(const std::string& path) {
  for (const std::string_view suffix : {".bin", ".idx"}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

IndexedTokens IndexedTokens::open(const std::string& prefix) { return IndexedTokens(prefix); }

IndexedTokens::IndexedTokens(const std::string& prefix)
    : index_path_(prefix + ".idx"),
      data_path_(prefix + ".bin"),
      index_(map_part(index_path_, prefix)),
      data_(map_part(data_path_, prefix)) {
  read_header();
  num_tokens_ = check_sequences();
  check_documents();
}

void IndexedTokens::read_header() {
  if (!index_.text().starts_with(kIndexMagic)) {
    fail_at(index_path_, 0, "this is no index of token files: it does not begin with MMIDIDX",
            "name files that Megatron-LM's preprocessing or athanor tokenize build has written");
  }
  if (index_.size() < kLengthsOffset) fail_at(index_path_, index_.size(), "the index ends inside its header");
  const auto version = load<std::uint64_t>(index_.data() + kVersionOffset);
  if (version != kIndexVersion) {
    fail_at(index_path_, kVersionOffset,
            fmt::format("the index has version {}, this program reads version 1", version));
  }
  const auto code = load<std::uint8_t>(index_.data() + kTypeOffset);
  switch (static_cast<TokenType>(code)) {
    case TokenType::kUint8:
    case TokenType::kInt8:
    case TokenType::kInt16:
    case TokenType::kInt32:
    case TokenType::kInt64:
    case TokenType::kUint16:
      break;
    default:
      fail_at(index_path_, kTypeOffset, fmt::format("the type code {} is not one of whole numbers", code));
  }
  type_ = static_cast<TokenType>(code);
  const auto num_sequences = load<std::uint64_t>(index_.data() + kNumSequencesOffset);
  const auto num_document_starts = load<std::uint64_t>(index_.data() + kNumDocumentStartsOffset);
  const std::size_t rest = index_.size() - kLengthsOffset;
  const std::size_t per_sequence = kLengthBytes + kPointerBytes;
  if (num_sequences > rest / per_sequence || num_document_starts > rest / kDocumentStartBytes ||
      num_sequences * per_sequence + num_document_starts * kDocumentStartBytes > rest) {
    fail_at(index_path_, index_.size(),
            fmt::format("the index is torn: {} sequences and {} documents need more than its {} bytes", num_sequences,
                        num_document_starts, index_.size()));
  }
  const std::size_t used = num_sequences * per_sequence + num_document_starts * kDocumentStartBytes;
  if (used != rest) {
    fail_at(index_path_, kLengthsOffset + used,
            fmt::format("{} bytes follow the end of the index (multimodal files are not supported)", rest - used));
  }
  num_sequences_ = static_cast<std::int64_t>(num_sequences);
  if (num_document_starts == 0) fail_at(index_path_, kNumDocumentStartsOffset, "the list of documents is empty");
  num_documents_ = static_cast<std::int64_t>(num_document_starts) - 1;
}

// Sequences lie end to end, from the start of the .bin file to its end. Gives the number of tokens.
std::int64_t IndexedTokens::check_sequences() const {
  const std::size_t item = token_bytes(type_);
  std::uint64_t expected = 0;
  const std::byte* lengths = index_.data() + kLengthsOffset;
  const std::byte* pointers = lengths + num_sequences_ * static_cast<std::int64_t>(kLengthBytes);
  for (std::int64_t i = 0; i < num_sequences_; ++i) {
    const auto length = load<std::int32_t>(lengths + i * static_cast<std::int64_t>(kLengthBytes));
    const auto start = load<std::int64_t>(pointers + i * static_cast<std::int64_t>(kPointerBytes));
    if (length < 0) {
      fail_at(index_path_,
              static_cast<std::size_t>(lengths - index_.data()) + static_cast<std::size_t>(i) * kLengthBytes,
              fmt::format("the length of sequence {} is {}", i, length));
    }
    if (start < 0 || static_cast<std::uint64_t>(start) != expected) {
      fail_at(index_path_,
              static_cast<std::size_t>(pointers - index_.data()) + static_cast<std::size_t>(i) * kPointerBytes,
              fmt::format("sequence {} begins at byte {} of the .bin file, by the lengths before it at {}", i, start,
                          expected));
    }
    expected += static_cast<std::uint64_t>(length) * item;
  }
  if (expected != data_.size()) {
    fail_at(data_path_, data_.size(),
            fmt::format("the .bin file has {} bytes, its index speaks of {}: they are not of one build, or it is torn",
                        data_.size(), expected));
  }
  return static_cast<std::int64_t>(expected / item);
}

void IndexedTokens::check_documents() const {
  std::int64_t previous = 0;
  for (std::int64_t i = 0; i <= num_documents_; ++i) {
    const std::int64_t start = document_start(i);
    const std::size_t offset = index_.size() - static_cast<std::size_t>(num_documents_ + 1 - i) * kDocumentStartBytes;
    if (i == 0 && start != 0)
      fail_at(index_path_, offset, fmt::format("the first document begins at sequence {}", start));
    if (start < previous || start > num_sequences_) {
      fail_at(index_path_, offset, fmt::format("document {} begins at sequence {}, out of order", i, start));
    }
    previous = start;
  }
  if (previous != num_sequences_) {
    fail_at(index_path_, index_.size() - kDocumentStartBytes,
            fmt::format("the documents end at sequence {} of {}", previous, num_sequences_));
  }
}

std::int64_t IndexedTokens::pointer(std::int64_t sequence) const {
  const std::size_t pointers = kLengthsOffset + static_cast<std::size_t>(num_sequences_) * kLengthBytes;
  return load<std::int64_t>(index_.data() + pointers + static_cast<std::size_t>(sequence) * kPointerBytes);
}

std::int64_t IndexedTokens::document_start(std::int64_t i) const {
  const std::size_t starts = index_.size() - static_cast<std::size_t>(num_documents_ + 1) * kDocumentStartBytes;
  return load<std::int64_t>(index_.data() + starts + static_cast<std::size_t>(i) * kDocumentStartBytes);
}

std::int64_t IndexedTokens::sequence_length(std::int64_t sequence) const {
  ATHANOR_CHECK(sequence >= 0 && sequence < num_sequences_, "a sequence that does not exist");
  return load<std::int32_t>(index_.data() + kLengthsOffset + static_cast<std::size_t>(sequence) * kLengthBytes);
}

std::pair<std::int64_t, std::int64_t> IndexedTokens::document_sequences(std::int64_t document) const {
  ATHANOR_CHECK(document >= 0 && document < num_documents_, "a document that does not exist");
  return {document_start(document), document_start(document + 1)};
}

void IndexedTokens::read(std::int64_t sequence, std::int64_t first, std::span<std::int32_t> out) const {
  ATHANOR_CHECK(first >= 0 && first + static_cast<std::int64_t>(out.size()) <= sequence_length(sequence),
                "a read beyond the end of a sequence");
  const std::size_t item = token_bytes(type_);
  const std::size_t start = static_cast<std::size_t>(pointer(sequence)) + static_cast<std::size_t>(first) * item;
  const auto copy = [&]<typename T>(T) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t offset = start + i * sizeof(T);
      const std::int64_t id = std::int64_t{load<T>(data_.data() + offset)};
      if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
        fail_at(data_path_, offset, fmt::format("{} is no token id", id));
      }
      out[i] = static_cast<std::int32_t>(id);
    }
  };
  switch (type_) {
    case TokenType::kUint8:
      return copy(std::uint8_t{});
    case TokenType::kInt8:
      return copy(std::int8_t{});
    case TokenType::kInt16:
      return copy(std::int16_t{});
    case TokenType::kInt32:
      return copy(std::int32_t{});
    case TokenType::kInt64:
      return copy(std::int64_t{});
    case TokenType::kUint16:
      return copy(std::uint16_t{});
  }
}

std::vector<std::int32_t> IndexedTokens::sequence(std::int64_t sequence) const {
  std::vector<std::int32_t> out(static_cast<std::size_t>(sequence_length(sequence)));
  read(sequence, 0, out);
  return out;
}

}  // namespace athanor::formats
