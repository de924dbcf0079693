// The tokens of a byte-level vocabulary: their bytes by id, and their ids by bytes.
//
// Memory:  all bytes in one block; about 4 MB for 128,000 tokens.
// Threads: immutable after the last add().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace athanor::formats {

class BpeVocabulary {
 public:
  static constexpr std::int32_t kMaxId = (1 << 21) - 2;  // what a merge rule's key has room for

  enum class Spelling : std::uint8_t {
    kBytes,    // made of the byte alphabet: can take part in merges
    kLiteral,  // has other characters; stands for its own text
  };

  void reserve(std::size_t num_tokens, std::size_t num_bytes);
  // Adds a token; false when the id or the token is there already. 0 <= id <= kMaxId.
  bool add(std::int32_t id, std::string_view bytes, Spelling spelling);

  // The id of a token, or -1.
  std::int32_t find(std::string_view bytes, Spelling spelling = Spelling::kBytes) const;

  bool contains(std::int32_t id) const {
    return id >= 0 && static_cast<std::size_t>(id) < tokens_.size() && tokens_[id].length != kAbsent;
  }
  // The bytes of a token that contains(id).
  std::string_view bytes(std::int32_t id) const { return {bytes_.data() + tokens_[id].offset, tokens_[id].length}; }
  Spelling spelling(std::int32_t id) const { return tokens_[id].spelling; }

  std::size_t num_tokens() const { return num_tokens_; }
  // One past the largest id.
  std::int32_t id_end() const { return static_cast<std::int32_t>(tokens_.size()); }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;
  struct Token {
    std::uint32_t offset = 0;
    std::uint32_t length = kAbsent;
    Spelling spelling = Spelling::kBytes;
  };

  struct Slot {
    std::uint32_t tag = 0;  // bits of the hash that the place does not use
    std::int32_t id = -1;   // -1: empty
  };

  static std::uint64_t hash_of(std::string_view bytes, Spelling spelling);
  std::size_t place_of(std::uint64_t hash, std::string_view bytes, Spelling spelling) const;
  void rehash(std::size_t num_slots);

  std::string bytes_;
  std::vector<Token> tokens_;
  std::vector<Slot> slots_;  // open addressing, a power of two
  std::size_t num_tokens_ = 0;
};

}  // namespace athanor::formats
