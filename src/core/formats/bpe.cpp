#include "core/formats/bpe.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/formats/whole_characters.h"

namespace athanor::formats {

namespace {

constexpr std::uint32_t kNowhere = 0xffffffff;

}  // namespace

BpeModel::BpeModel(BpeVocabulary vocabulary, MergeTable merges, bool ignore_merges)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), ignore_merges_(ignore_merges) {
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary_.find({&text, 1});
  }
  whole_characters_ = find_whole_characters(vocabulary_, merges_);
}

std::int32_t BpeModel::first_symbol(std::string_view piece, std::size_t& offset) const {
  const auto* p = reinterpret_cast<const std::uint8_t*>(piece.data()) + offset;
  const std::size_t left = piece.size() - offset;
  const auto continues = [p](std::size_t i) { return (p[i] & 0xc0) == 0x80; };
  if (p[0] >= 0xe0 && p[0] < 0xf0 && left >= 3 && continues(1) && continues(2)) {
    const std::int32_t id = whole_characters_[(p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)];
    if (id != kNoToken) {
      offset += 3;
      return id;
    }
  } else if (p[0] >= 0xc2 && p[0] < 0xe0 && left >= 2 && continues(1)) {
    const std::int32_t id = whole_characters_[(p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)];
    if (id != kNoToken) {
      offset += 2;
      return id;
    }
  }
  ++offset;
  return byte_ids_[p[0]];
}

int BpeModel::encode(std::string_view piece, BpeScratch& scratch, std::vector<std::int32_t>& out) const {
  if (ignore_merges_) {
    if (const std::int32_t id = vocabulary_.find(piece); id >= 0) {
      out.push_back(id);
      return -1;
    }
  }
  std::array<std::int32_t, kShortPiece> symbols;
  std::size_t count = 0;
  std::size_t offset = 0;
  while (offset < piece.size() && count < kShortPiece) {
    symbols[count] = first_symbol(piece, offset);
    if (symbols[count++] == kNoToken) return static_cast<std::uint8_t>(piece[offset - 1]);
  }
  const std::span<std::int32_t> whole(symbols.data(), count);
  if (offset == piece.size()) {
    merge_short(whole, out);
    return -1;
  }
  scratch.symbols.clear();
  for (const std::int32_t id : whole) scratch.symbols.push_back({id, 0, 0});
  while (offset < piece.size()) {
    scratch.symbols.push_back({first_symbol(piece, offset), 0, 0});
    if (scratch.symbols.back().id == kNoToken) return static_cast<std::uint8_t>(piece[offset - 1]);
  }
  merge_long(scratch, out);
  return -1;
}

void BpeModel::merge_short(std::span<std::int32_t> ids, std::vector<std::int32_t>& out) const {
  std::size_t size = ids.size();
  std::array<std::uint32_t, kShortPiece> ranks;  // of the pair that begins at each place
  for (std::size_t i = 0; i + 1 < size; ++i) ranks[i] = merges_.rank(ids[i], ids[i + 1]);
  while (size > 1) {
    std::uint32_t best = MergeTable::kNoRule;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < size; ++i) {
      place = ranks[i] < best ? i : place;
      best = ranks[i] < best ? ranks[i] : best;
    }
    if (best == MergeTable::kNoRule) break;
    --size;
    ids[place] = merges_.merged(best);
    for (std::size_t i = place + 1; i < size; ++i) {
      ids[i] = ids[i + 1];
      ranks[i] = ranks[i + 1];
    }
    if (place + 1 < size) ranks[place] = merges_.rank(ids[place], ids[place + 1]);
    if (place > 0) ranks[place - 1] = merges_.rank(ids[place - 1], ids[place]);
  }
  out.insert(out.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(size));
}

void BpeModel::merge_long(BpeScratch& scratch, std::vector<std::int32_t>& out) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.candidates;
  heap.clear();
  const auto size = static_cast<std::uint32_t>(symbols.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    symbols[i].previous = i == 0 ? kNowhere : i - 1;
    symbols[i].next = i + 1 == size ? kNowhere : i + 1;
  }
  const auto rank_at = [&](std::uint32_t place) {
    const std::uint32_t next = symbols[place].next;
    return next == kNowhere ? MergeTable::kNoRule : merges_.rank(symbols[place].id, symbols[next].id);
  };
  const auto entry_at = [&](std::uint32_t place, std::uint32_t rank) { return std::uint64_t{rank} << 32 | place; };
  for (std::uint32_t i = 0; i + 1 < size; ++i) {
    if (const std::uint32_t rank = rank_at(i); rank != MergeTable::kNoRule) heap.push_back(entry_at(i, rank));
  }
  const auto offer = [&](std::uint32_t place) {
    const std::uint32_t rank = rank_at(place);
    if (rank == MergeTable::kNoRule) return;
    heap.push_back(entry_at(place, rank));
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const auto place = static_cast<std::uint32_t>(heap.back());
    const auto rank = static_cast<std::uint32_t>(heap.back() >> 32);
    heap.pop_back();
    BpeScratch::Symbol& symbol = symbols[place];
    // An entry is stale when its place was merged away or its pair has changed since.
    if (symbol.id == kNoToken || rank_at(place) != rank) continue;
    BpeScratch::Symbol& removed = symbols[symbol.next];
    symbol.id = merges_.merged(rank);
    symbol.next = removed.next;
    removed.id = kNoToken;
    if (symbol.next != kNowhere) symbols[symbol.next].previous = place;
    offer(place);
    if (symbol.previous != kNowhere) offer(symbol.previous);
  }
  for (std::uint32_t i = 0; i != kNowhere; i = symbols[i].next) out.push_back(symbols[i].id);
}

}  // namespace athanor::formats
