// Token files of Megatron-LM: PREFIX.bin holds the ids of all sequences end to end, PREFIX.idx says where each begins.
//
// Format:  docs/formats/indexed_tokens.md (MMapIndexedDataset, version 1).
// Threads: IndexedTokens is immutable; IndexedTokensWriter is externally synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"

namespace athanor::formats {

// The codes on disk; only those that can hold token ids.
enum class TokenType : std::uint8_t {
  kUint8 = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUint16 = 8,
};
std::size_t token_bytes(TokenType type);
// uint16 below 65,500 ids, else int32: what Megatron-LM chooses.
TokenType smallest_token_type(std::int64_t vocab_size);

// `prefix` of the two files for a path that a person gives: with or without .bin or .idx.
std::string indexed_tokens_prefix(const std::string& path);

class IndexedTokens {
 public:
  // Maps both files and checks every field. Fails: UserError with path and byte offset (missing, torn, another type or version,
  // sizes that disagree with each other or with the .bin file).
  static IndexedTokens open(const std::string& prefix);

  std::int64_t num_sequences() const { return num_sequences_; }
  std::int64_t num_documents() const { return num_documents_; }
  std::int64_t num_tokens() const { return num_tokens_; }
  TokenType type() const { return type_; }

  std::int64_t sequence_length(std::int64_t sequence) const;  // tokens
  // The document's sequences are [first, last).
  std::pair<std::int64_t, std::int64_t> document_sequences(std::int64_t document) const;
  // Reads out.size() ids of a sequence from its token `first` on. Fails: UserError for an id that is negative or does not fit 31
  // bits.
  void read(std::int64_t sequence, std::int64_t first, std::span<std::int32_t> out) const;
  // All ids of a sequence.
  std::vector<std::int32_t> sequence(std::int64_t sequence) const;

 private:
  explicit IndexedTokens(const std::string& prefix);
  void read_header();
  std::int64_t check_sequences() const;
  void check_documents() const;
  std::int64_t pointer(std::int64_t sequence) const;  // bytes from the start of .bin
  std::int64_t document_start(std::int64_t i) const;  // in sequences

  std::string index_path_;
  std::string data_path_;
  base::MappedFile index_;
  base::MappedFile data_;
  TokenType type_ = TokenType::kInt32;
  std::int64_t num_sequences_ = 0;
  std::int64_t num_documents_ = 0;
  std::int64_t num_tokens_ = 0;
};

// Writes a pair of files, each sequence its own document unless told otherwise. Nothing is at PREFIX until commit(), which
// puts the .idx there last: a writer that is killed at any time leaves no pair that can be read (an earlier pair stays until the
// commit, or is gone).
class IndexedTokensWriter {
 public:
  IndexedTokensWriter(const std::string& prefix, TokenType type);
  ~IndexedTokensWriter();

  // A sequence of the current document. Fails: UserError when an id does not fit the type.
  void add_sequence(std::span<const std::int32_t> ids);
  void end_document();
  // The whole document in one sequence.
  void add_document(std::span<const std::int32_t> ids) {
    add_sequence(ids);
    end_document();
  }
  // Ends an open document, syncs both files and renames them into place.
  void commit();

  std::int64_t num_sequences() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t num_documents() const { return static_cast<std::int64_t>(document_starts_.size()) - 1; }
  std::int64_t num_tokens() const { return num_tokens_; }

 private:
  void write_index(const std::string& path) const;

  std::string prefix_;
  TokenType type_;
  std::unique_ptr<base::FileWriter> data_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> document_starts_ = {0};
  std::int64_t num_tokens_ = 0;
};

}  // namespace athanor::formats
