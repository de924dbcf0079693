#include "core/formats/bpe_vocabulary.h"

#include <bit>

#include "core/formats/byte_hash.h"

namespace athanor::formats {

void BpeVocabulary::reserve(std::size_t num_tokens, std::size_t num_bytes) {
  tokens_.reserve(num_tokens);
  bytes_.reserve(num_bytes);
  rehash(std::bit_ceil(num_tokens * 2 + 16));
}

// The slot that holds the token, or the empty one where it belongs.
std::size_t BpeVocabulary::slot_of(std::string_view text, Spelling kind) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (hash_bytes(text) + static_cast<std::size_t>(kind)) & mask;
  while (slots_[slot] >= 0 && (spelling(slots_[slot]) != kind || bytes(slots_[slot]) != text)) slot = (slot + 1) & mask;
  return slot;
}

void BpeVocabulary::rehash(std::size_t num_slots) {
  slots_.assign(num_slots, -1);
  for (std::int32_t id = 0; id < id_end(); ++id) {
    if (contains(id)) slots_[slot_of(bytes(id), spelling(id))] = id;
  }
}

bool BpeVocabulary::add(std::int32_t id, std::string_view text, Spelling kind) {
  if (contains(id)) return false;
  if ((num_tokens_ + 1) * 2 > slots_.size()) rehash(std::bit_ceil(num_tokens_ * 4 + 16));
  const std::size_t slot = slot_of(text, kind);
  if (slots_[slot] >= 0) return false;
  if (id >= id_end()) tokens_.resize(static_cast<std::size_t>(id) + 1);
  tokens_[id] = {static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(text.size()), kind};
  bytes_ += text;
  slots_[slot] = id;
  ++num_tokens_;
  return true;
}

std::int32_t BpeVocabulary::find(std::string_view text, Spelling kind) const {
  return slots_.empty() ? -1 : slots_[slot_of(text, kind)];
}

}  // namespace athanor::formats
