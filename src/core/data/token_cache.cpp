#include "core/data/token_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/crc32c.h"
#include "core/base/fault_point.h"
#include "core/base/json.h"

namespace athanor::data {

namespace {

constexpr char kMagic[8] = {'A', 'T', 'H', 'T', 'O', 'K', '\0', '\1'};
constexpr std::int64_t kIndexVersion = 1;

struct ChunkHeader {
  char magic[8];
  std::uint64_t num_documents;
  std::uint64_t num_tokens;
  std::uint64_t reserved;
};
static_assert(sizeof(ChunkHeader) == 32, "the layout is on disk");

std::uint64_t chunk_bytes(std::uint64_t num_documents, std::uint64_t num_tokens) {
  return sizeof(ChunkHeader) + num_documents * sizeof(ChunkDocument) + 2 * num_tokens * sizeof(std::int32_t);
}

constexpr const char* kIndexCrcKey = "crc32c";

// Of the index as it is written without its own CRC.
std::uint32_t crc_of(const base::JsonValue& index) {
  const std::string text = index.dump(1);
  return base::crc32c(0, text.data(), text.size());
}

std::string index_path(const std::string& folder) { return folder + "/" + kCacheIndexName; }

}  // namespace

void ChunkBuilder::add(const Document& document, std::uint32_t line) {
  documents_.push_back({tokens_.size(), static_cast<std::uint32_t>(document.tokens.size()), line, document.kind, 0});
  tokens_.insert(tokens_.end(), document.tokens.begin(), document.tokens.end());
  labels_.insert(labels_.end(), document.labels.begin(), document.labels.end());
  for (const std::int32_t id : document.tokens) largest_id_ = std::max(largest_id_, id);
  for (const std::int32_t id : document.labels) largest_id_ = std::max(largest_id_, id);
}

std::uint32_t ChunkBuilder::write(const std::string& path) const {
  ChunkHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.num_documents = documents_.size();
  header.num_tokens = tokens_.size();
  base::FileWriter writer(path);
  std::uint32_t crc = 0;
  const auto put = [&](const void* data, std::size_t num_bytes) {
    writer.write(data, num_bytes);
    crc = base::crc32c(crc, data, num_bytes);
  };
  put(&header, sizeof header);
  put(documents_.data(), documents_.size() * sizeof(ChunkDocument));
  put(tokens_.data(), tokens_.size() * sizeof(std::int32_t));
  base::fault_point(base::FaultPoint::kCacheMidWrite);
  put(labels_.data(), labels_.size() * sizeof(std::int32_t));
  writer.sync();
  writer.close();
  return crc;
}

std::optional<TokenChunk> TokenChunk::open(const std::string& path, const CacheIndex::Chunk& entry, ChunkCheck check) {
  const std::uint64_t num_bytes = entry.num_bytes;
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return std::nullopt;
  TokenChunk chunk;
  chunk.mapped_ = base::MappedFile(path);
  chunk.file_ = entry.file;
  if (chunk.mapped_.size() != num_bytes || num_bytes < sizeof(ChunkHeader)) return std::nullopt;
  ChunkHeader header;
  std::memcpy(&header, chunk.mapped_.data(), sizeof header);
  // Bounds first, so that the size computed from them cannot overflow.
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.num_documents > num_bytes ||
      header.num_tokens > num_bytes || chunk_bytes(header.num_documents, header.num_tokens) != num_bytes) {
    return std::nullopt;
  }
  const std::byte* at = chunk.mapped_.data() + sizeof header;
  chunk.documents_ = {reinterpret_cast<const ChunkDocument*>(at), header.num_documents};
  at += header.num_documents * sizeof(ChunkDocument);
  chunk.tokens_ = {reinterpret_cast<const std::int32_t*>(at), header.num_tokens};
  at += header.num_tokens * sizeof(std::int32_t);
  chunk.labels_ = {reinterpret_cast<const std::int32_t*>(at), header.num_tokens};
  std::uint64_t next = 0;
  for (const ChunkDocument& document : chunk.documents_) {
    if (document.first_token != next) return std::nullopt;
    next += document.num_tokens;
  }
  if (next != header.num_tokens) return std::nullopt;
  if (check == ChunkCheck::kWhole && base::crc32c(0, chunk.mapped_.data(), num_bytes) != entry.crc32c) {
    return std::nullopt;
  }
  return chunk;
}

void write_cache_index(const std::string& folder, const CacheIndex& index) {
  base::JsonValue json = base::JsonValue::object();
  json.set("version", kIndexVersion);
  json.set("num_skipped_lines", index.num_skipped_lines);
  json.set("largest_id", static_cast<std::int64_t>(index.largest_id));
  base::JsonValue chunks = base::JsonValue::array();
  for (const CacheIndex::Chunk& chunk : index.chunks) {
    base::JsonValue entry = base::JsonValue::object();
    entry.set("name", chunk.name);
    entry.set("num_bytes", static_cast<std::int64_t>(chunk.num_bytes));
    entry.set("crc32c", static_cast<std::int64_t>(chunk.crc32c));
    entry.set("file", static_cast<std::int64_t>(chunk.file));
    chunks.push_back(std::move(entry));
  }
  json.set("chunks", std::move(chunks));
  json.set(kIndexCrcKey, static_cast<std::int64_t>(crc_of(json)));
  base::fault_point(base::FaultPoint::kCacheBeforeCommit);
  base::write_whole(index_path(folder), json.dump(1));
}

namespace {

std::optional<std::int64_t> integer_under(const base::JsonValue& json, const char* key) {
  const base::JsonValue* value = json.find(key);
  if (value == nullptr || !value->is_integer()) return std::nullopt;
  return value->as_integer();
}

std::optional<CacheIndex::Chunk> read_chunk_entry(const base::JsonValue& json) {
  const base::JsonValue* name = json.find("name");
  const auto num_bytes = integer_under(json, "num_bytes");
  const auto crc = integer_under(json, "crc32c");
  const auto file = integer_under(json, "file");
  if (name == nullptr || !name->is_string() || !num_bytes || !crc || !file || *num_bytes < 0 || *file < 0) {
    return std::nullopt;
  }
  return CacheIndex::Chunk{name->as_string(), static_cast<std::uint64_t>(*num_bytes), static_cast<std::uint32_t>(*crc),
                           static_cast<std::size_t>(*file)};
}

}  // namespace

std::optional<CacheIndex> read_cache_index(const std::string& folder) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(index_path(folder), missing)) return std::nullopt;
  base::JsonValue json;
  try {
    json = base::parse_json_file(index_path(folder));
  } catch (const base::UserError&) {
    return std::nullopt;  // torn: the caller builds the cache again
  }
  if (integer_under(json, "version") != kIndexVersion) return std::nullopt;
  const auto crc = integer_under(json, kIndexCrcKey);
  json.erase(kIndexCrcKey);
  if (crc != static_cast<std::int64_t>(crc_of(json))) return std::nullopt;
  const auto skipped = integer_under(json, "num_skipped_lines");
  const auto largest = integer_under(json, "largest_id");
  const base::JsonValue* chunks = json.find("chunks");
  if (!skipped || !largest || chunks == nullptr || !chunks->is_array()) return std::nullopt;
  CacheIndex index;
  index.num_skipped_lines = *skipped;
  index.largest_id = static_cast<std::int32_t>(*largest);
  for (const base::JsonValue& entry : chunks->items()) {
    std::optional<CacheIndex::Chunk> chunk = read_chunk_entry(entry);
    if (!chunk.has_value()) return std::nullopt;
    index.chunks.push_back(std::move(*chunk));
  }
  return index;
}

}  // namespace athanor::data
