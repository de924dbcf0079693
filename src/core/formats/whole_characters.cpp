#include "core/formats/whole_characters.h"

#include <algorithm>
#include <optional>

#include "core/base/unicode.h"

namespace athanor::formats {

namespace {

constexpr char32_t kNumCodePoints = 0x10000;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The lowest ranks of the rules that a token takes part in.
struct RankBounds {
  std::uint32_t to_next_character = MergeTable::kNoRule;  // the token on the left, a new character on the right
  std::uint32_t to_previous_character =
      MergeTable::kNoRule;  // the token on the right, an old character's end on the left
  std::uint32_t any = MergeTable::kNoRule;
};

class Finder {
 public:
  Finder(const BpeVocabulary& vocabulary, const MergeTable& merges)
      : vocabulary_(vocabulary), merges_(merges), bounds_(static_cast<std::size_t>(vocabulary.id_end())) {
    merges.for_each([&](std::int32_t left, std::int32_t right, std::uint32_t rank) {
      const bool starts_character = !is_continuation(vocabulary_.bytes(right).front());
      RankBounds& of_left = bounds_[static_cast<std::size_t>(left)];
      RankBounds& of_right = bounds_[static_cast<std::size_t>(right)];
      of_left.any = std::min(of_left.any, rank);
      of_right.any = std::min(of_right.any, rank);
      if (!starts_character) return;
      of_left.to_next_character = std::min(of_left.to_next_character, rank);
      of_right.to_previous_character = std::min(of_right.to_previous_character, rank);
    });
  }

  bool qualifies(std::int32_t id) const {
    std::vector<std::int32_t> symbols;
    for (const char& byte : vocabulary_.bytes(id)) symbols.push_back(vocabulary_.find({&byte, 1}));
    if (std::ranges::count(symbols, -1) > 0) return false;
    std::uint32_t highest = 0;
    std::uint32_t lowest_across = bounds_[static_cast<std::size_t>(id)].any;
    while (symbols.size() > 1) {
      lowest_across = std::min({lowest_across, bounds_[static_cast<std::size_t>(symbols.front())].to_previous_character,
                                bounds_[static_cast<std::size_t>(symbols.back())].to_next_character});
      std::size_t place = 0;
      std::uint32_t lowest = MergeTable::kNoRule;
      for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
        const std::uint32_t rank = merges_.rank(symbols[i], symbols[i + 1]);
        if (rank < lowest) {
          lowest = rank;
          place = i;
        }
      }
      if (lowest == MergeTable::kNoRule) return false;
      highest = std::max(highest, lowest);
      symbols[place] = merges_.merged(lowest);
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    return symbols.front() == id && lowest_across > highest;
  }

 private:
  const BpeVocabulary& vocabulary_;
  const MergeTable& merges_;
  std::vector<RankBounds> bounds_;
};

// The code point of a token that is one character of two or three bytes.
std::optional<char32_t> single_character(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.size() > 3 || base::find_invalid_utf8(bytes) != std::string_view::npos)
    return std::nullopt;
  std::size_t offset = 0;
  const char32_t code_point = base::decode_utf8(bytes, offset);
  return offset == bytes.size() ? std::optional(code_point) : std::nullopt;
}

}  // namespace

std::vector<std::int32_t> find_whole_characters(const BpeVocabulary& vocabulary, const MergeTable& merges) {
  std::vector<std::int32_t> out(kNumCodePoints, -1);
  const Finder finder(vocabulary, merges);
  for (std::int32_t id = 0; id < vocabulary.id_end(); ++id) {
    if (!vocabulary.contains(id) || vocabulary.spelling(id) != BpeVocabulary::Spelling::kBytes) continue;
    const auto code_point = single_character(vocabulary.bytes(id));
    if (code_point && finder.qualifies(id)) out[*code_point] = id;
  }
  return out;
}

}  // namespace athanor::formats
