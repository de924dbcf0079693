// The token cache on disk: one folder per content and settings, of mapped chunk files and an index that is committed last.
//
// Format: docs/formats/token_cache.md (version 1). A folder without a valid index is never used; a torn or foreign chunk makes the
//         folder be built again.
// Threads: a TokenChunk is immutable; writing chunks of one folder from several threads is safe (one file each).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/data/document.h"

namespace athanor::data {

struct ChunkDocument {
  std::uint64_t first_token = 0;
  std::uint32_t num_tokens = 0;
  std::uint32_t line = 0;
  DocumentKind kind = DocumentKind::kText;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ChunkDocument) == 24, "the layout is on disk");

// Documents of one piece of one file, in order, as they are written.
class ChunkBuilder {
 public:
  void add(const Document& document, std::uint32_t line);
  std::int64_t num_documents() const { return static_cast<std::int64_t>(documents_.size()); }
  std::int64_t num_tokens() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::int32_t largest_id() const { return largest_id_; }
  const std::vector<ChunkDocument>& documents() const { return documents_; }
  std::span<const std::int32_t> tokens(const ChunkDocument& document) const {
    return std::span(tokens_).subspan(document.first_token, document.num_tokens);
  }
  std::span<const std::int32_t> labels(const ChunkDocument& document) const {
    return std::span(labels_).subspan(document.first_token, document.num_tokens);
  }
  // Writes the file (no promise; the index vouches for it after sync) and gives its CRC-32C.
  std::uint32_t write(const std::string& path) const;

 private:
  std::vector<ChunkDocument> documents_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::int32_t> labels_;
  std::int32_t largest_id_ = -1;
};

// The index: what a whole cache folder holds.
struct CacheIndex {
  struct Chunk {
    std::string name;
    std::uint64_t num_bytes = 0;
    std::uint32_t crc32c = 0;
    std::size_t file = 0;  // which input file
  };
  std::vector<Chunk> chunks;
  std::int64_t num_skipped_lines = 0;
  std::int32_t largest_id = -1;
};

// How much of a chunk is read to check it: header and document table, which are small, or all of it.
enum class ChunkCheck { kTable, kWhole };

class TokenChunk {
 public:
  // Maps the file and checks size, header, document table and, with kWhole, the CRC of the file; no value when it is not what the
  // index says.
  static std::optional<TokenChunk> open(const std::string& path, const CacheIndex::Chunk& entry,
                                        ChunkCheck check = ChunkCheck::kWhole);

  std::int64_t num_documents() const { return static_cast<std::int64_t>(documents_.size()); }
  const ChunkDocument& document(std::int64_t index) const { return documents_[static_cast<std::size_t>(index)]; }
  std::span<const std::int32_t> tokens(const ChunkDocument& document) const {
    return tokens_.subspan(document.first_token, document.num_tokens);
  }
  std::span<const std::int32_t> labels(const ChunkDocument& document) const {
    return labels_.subspan(document.first_token, document.num_tokens);
  }
  std::int64_t num_tokens() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::size_t file() const { return file_; }
  // The first `count` documents only.
  void limit(std::int64_t count) { documents_ = documents_.first(static_cast<std::size_t>(count)); }

 private:
  base::MappedFile mapped_;
  std::span<const ChunkDocument> documents_;
  std::span<const std::int32_t> tokens_;
  std::span<const std::int32_t> labels_;
  std::size_t file_ = 0;
};

inline constexpr const char* kCacheIndexName = "index.json";

void write_cache_index(const std::string& folder, const CacheIndex& index);
// No value when there is no index or it is not valid.
std::optional<CacheIndex> read_cache_index(const std::string& folder);

}  // namespace athanor::data
