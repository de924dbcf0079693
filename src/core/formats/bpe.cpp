#include "core/formats/bpe.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace athanor::formats {

namespace {

constexpr std::int32_t kNoCandidate = std::numeric_limits<std::int32_t>::max();
// A candidate of a short piece is rank << kPlaceBits | place: the smallest has the lowest rank and stands leftmost.
constexpr int kPlaceBits = 6;
static_assert(BpeModel::kShortPiece <= 1 << kPlaceBits);
static_assert((static_cast<std::uint64_t>(MergeTable::kMaxRules) << kPlaceBits) <
              static_cast<std::uint64_t>(kNoCandidate));

constexpr std::uint32_t kNowhere = 0xffffffff;

template <std::size_t kSize>
std::int32_t smallest(const std::array<std::int32_t, kSize>& values) {
  // Lanes side by side, so that the compiler turns this into vector comparisons.
  constexpr std::size_t kLanes = 8;
  std::array<std::int32_t, kLanes> lanes;
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = values[i];
  for (std::size_t i = kLanes; i < kSize; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = values[i + lane] < lanes[lane] ? values[i + lane] : lanes[lane];
    }
  }
  std::int32_t best = lanes[0];
  for (const std::int32_t value : lanes) best = value < best ? value : best;
  return best;
}

}  // namespace

BpeModel::BpeModel(BpeVocabulary vocabulary, MergeTable merges, bool ignore_merges)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), ignore_merges_(ignore_merges) {
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary_.find({&text, 1});
  }
  byte_pair_ranks_.assign(1 << 16, MergeTable::kNoRule);
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      if (byte_ids_[first] == kNoToken || byte_ids_[second] == kNoToken) continue;
      byte_pair_ranks_[first << 8 | second] = merges_.rank(byte_ids_[first], byte_ids_[second]);
    }
  }
}

int BpeModel::encode(std::string_view piece, BpeScratch& scratch, std::vector<std::int32_t>& out) const {
  for (const char byte : piece) {
    if (byte_ids_[static_cast<std::uint8_t>(byte)] == kNoToken) return static_cast<std::uint8_t>(byte);
  }
  if (piece.size() == 1) {
    out.push_back(byte_ids_[static_cast<std::uint8_t>(piece[0])]);
    return -1;
  }
  if (ignore_merges_) {
    if (const std::int32_t id = vocabulary_.find(piece); id >= 0) {
      out.push_back(id);
      return -1;
    }
  }
  if (piece.size() <= 16) {
    encode_short<16>(piece, out);
  } else if (piece.size() <= 32) {
    encode_short<32>(piece, out);
  } else if (piece.size() <= kShortPiece) {
    encode_short<kShortPiece>(piece, out);
  } else {
    encode_long(piece, scratch, out);
  }
  return -1;
}

template <std::size_t kCapacity>
void BpeModel::encode_short(std::string_view piece, std::vector<std::int32_t>& out) const {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(piece.data());
  const std::size_t size = piece.size();
  std::array<std::int32_t, kCapacity> ids;
  std::array<std::int32_t, kCapacity> candidates;  // of the pair that begins at each place
  std::array<std::uint8_t, kCapacity + 1> next;
  std::array<std::uint8_t, kCapacity + 1> previous;
  candidates.fill(kNoCandidate);
  const auto candidate = [](std::uint32_t rank, std::size_t place) {
    return rank == MergeTable::kNoRule ? kNoCandidate : static_cast<std::int32_t>(rank << kPlaceBits | place);
  };
  for (std::size_t i = 0; i < size; ++i) {
    ids[i] = byte_ids_[bytes[i]];
    next[i] = static_cast<std::uint8_t>(i + 1);
    previous[i + 1] = static_cast<std::uint8_t>(i);
    if (i + 1 < size) candidates[i] = candidate(byte_pair_ranks_[bytes[i] << 8 | bytes[i + 1]], i);
  }
  while (true) {
    const std::int32_t best = smallest(candidates);
    if (best == kNoCandidate) break;
    const std::size_t place = best & ((1 << kPlaceBits) - 1);
    const std::size_t removed = next[place];
    const std::size_t after = next[removed];
    ids[place] = merges_.merged(static_cast<std::uint32_t>(best) >> kPlaceBits);
    next[place] = static_cast<std::uint8_t>(after);
    previous[after] = static_cast<std::uint8_t>(place);
    candidates[removed] = kNoCandidate;
    candidates[place] = after < size ? candidate(merges_.rank(ids[place], ids[after]), place) : kNoCandidate;
    if (place > 0) {
      const std::size_t before = previous[place];
      candidates[before] = candidate(merges_.rank(ids[before], ids[place]), before);
    }
  }
  for (std::size_t i = 0; i < size; i = next[i]) out.push_back(ids[i]);
}

void BpeModel::encode_long(std::string_view piece, BpeScratch& scratch, std::vector<std::int32_t>& out) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.candidates;
  symbols.clear();
  heap.clear();
  const auto size = static_cast<std::uint32_t>(piece.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    symbols.push_back(
        {byte_ids_[static_cast<std::uint8_t>(piece[i])], i == 0 ? kNowhere : i - 1, i + 1 == size ? kNowhere : i + 1});
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
