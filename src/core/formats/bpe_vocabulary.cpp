#include "core/formats/bpe_vocabulary.h"

#include <bit>

#include "core/formats/byte_hash.h"

namespace athanor::formats {

void BpeVocabulary::reserve(std::size_t num_tokens, std::size_t num_bytes) {
  tokens_.reserve(num_tokens);
  bytes_.reserve(num_bytes);
  rehash(std::bit_ceil(num_tokens * 2 + 16));
}

std::uint64_t BpeVocabulary::hash_of(std::string_view text, Spelling kind) {
  return hash_bytes(text) + static_cast<std::uint64_t>(kind);
}

// The place of the token's slot, or of the empty one where it belongs.
std::size_t BpeVocabulary::place_of(std::uint64_t hash, std::string_view text, Spelling kind) const {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::size_t place = hash & mask;
  while (slots_[place].id >= 0) {
    const Slot& slot = slots_[place];
    if (slot.tag == tag && spelling(slot.id) == kind && bytes(slot.id) == text) break;
    place = (place + 1) & mask;
  }
  return place;
}

void BpeVocabulary::rehash(std::size_t num_slots) {
  slots_.assign(num_slots, Slot{});
  for (std::int32_t id = 0; id < id_end(); ++id) {
    if (!contains(id)) continue;
    const std::uint64_t hash = hash_of(bytes(id), spelling(id));
    slots_[place_of(hash, bytes(id), spelling(id))] = {static_cast<std::uint32_t>(hash >> 32), id};
  }
}

bool BpeVocabulary::add(std::int32_t id, std::string_view text, Spelling kind) {
  if (contains(id)) return false;
  if ((num_tokens_ + 1) * 2 > slots_.size()) rehash(std::bit_ceil(num_tokens_ * 4 + 16));
  const std::uint64_t hash = hash_of(text, kind);
  const std::size_t place = place_of(hash, text, kind);
  if (slots_[place].id >= 0) return false;
  if (id >= id_end()) tokens_.resize(static_cast<std::size_t>(id) + 1);
  tokens_[id] = {static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(text.size()), kind};
  bytes_ += text;
  slots_[place] = {static_cast<std::uint32_t>(hash >> 32), id};
  ++num_tokens_;
  return true;
}

std::int32_t BpeVocabulary::find(std::string_view text, Spelling kind) const {
  return slots_.empty() ? -1 : slots_[place_of(hash_of(text, kind), text, kind)].id;
}

}  // namespace athanor::formats
