#include "core/formats/unicode_normalization.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/unicode.h"

namespace athanor::formats {

namespace {

constexpr char32_t kComposedAgain = char32_t{1} << 31;

// Hangul syllables are composed by arithmetic (Unicode chapter 3.12).
constexpr char32_t kSyllableBase = 0xac00, kLeadBase = 0x1100, kVowelBase = 0x1161, kTailBase = 0x11a7;
constexpr char32_t kNumLeads = 19, kNumVowels = 21, kNumTails = 28;
constexpr char32_t kNumSyllables = kNumLeads * kNumVowels * kNumTails;

struct Element {
  char32_t code_point;
  std::uint8_t combining_class;
};

std::uint8_t combining_class(char32_t code_point) {
  if (code_point < 0x300) return 0;
  const auto classes = detail::combining_classes();
  const auto after = std::ranges::upper_bound(classes, code_point, {}, &detail::CombiningRange::first);
  if (after == classes.begin() || code_point > (after - 1)->last) return 0;
  return (after - 1)->combining_class;
}

// The row of a table of `width` numbers a row whose first number, without the top bit, is the code point.
const std::uint32_t* find_row(std::span<const std::uint32_t> table, std::size_t width, char32_t key) {
  std::size_t low = 0;
  std::size_t high = table.size() / width;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const char32_t found = table[middle * width] & ~kComposedAgain;
    if (found == key) return &table[middle * width];
    if (found < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

void decompose(char32_t code_point, std::vector<Element>& out) {
  if (code_point >= kSyllableBase && code_point < kSyllableBase + kNumSyllables) {
    const char32_t index = code_point - kSyllableBase;
    out.push_back({kLeadBase + index / (kNumVowels * kNumTails), 0});
    out.push_back({kVowelBase + index % (kNumVowels * kNumTails) / kNumTails, 0});
    if (index % kNumTails != 0) out.push_back({kTailBase + index % kNumTails, 0});
    return;
  }
  if (code_point >= 0xc0) {
    if (const auto* pair = find_row(detail::decomposition_pairs(), 3, code_point)) {
      decompose(pair[1], out);
      out.push_back({pair[2], combining_class(pair[2])});
      return;
    }
    if (const auto* single = find_row(detail::decomposition_singles(), 2, code_point)) {
      decompose(single[1], out);
      return;
    }
  }
  out.push_back({code_point, combining_class(code_point)});
}

struct Composition {
  char32_t first;
  char32_t second;
  char32_t composed;
};

const std::vector<Composition>& compositions() {
  static const std::vector<Composition> all = [] {
    std::vector<Composition> found;
    const auto rows = detail::decomposition_pairs();
    for (std::size_t i = 0; i < rows.size(); i += 3) {
      if ((rows[i] & kComposedAgain) != 0) found.push_back({rows[i + 1], rows[i + 2], rows[i] & ~kComposedAgain});
    }
    std::ranges::sort(found, [](const Composition& a, const Composition& b) {
      return std::pair(a.first, a.second) < std::pair(b.first, b.second);
    });
    return found;
  }();
  return all;
}

std::optional<char32_t> compose(char32_t first, char32_t second) {
  if (first - kLeadBase < kNumLeads && second - kVowelBase < kNumVowels) {
    return kSyllableBase + ((first - kLeadBase) * kNumVowels + (second - kVowelBase)) * kNumTails;
  }
  const bool is_open_syllable = first - kSyllableBase < kNumSyllables && (first - kSyllableBase) % kNumTails == 0;
  if (is_open_syllable && second > kTailBase && second - kTailBase < kNumTails) return first + (second - kTailBase);
  const auto found =
      std::ranges::lower_bound(compositions(), std::pair(first, second), {},
                               [](const Composition& entry) { return std::pair(entry.first, entry.second); });
  if (found == compositions().end() || found->first != first || found->second != second) return std::nullopt;
  return found->composed;
}

void order_marks(std::vector<Element>& elements) {
  for (auto start = elements.begin(); start != elements.end();) {
    if (start->combining_class == 0) {
      ++start;
      continue;
    }
    const auto end = std::find_if(start, elements.end(), [](const Element& e) { return e.combining_class == 0; });
    std::stable_sort(start, end,
                     [](const Element& a, const Element& b) { return a.combining_class < b.combining_class; });
    start = end;
  }
}

// Composes in place; a mark is blocked when something of its class or higher stands between it and the starter.
void compose_all(std::vector<Element>& elements) {
  std::size_t kept = 0;
  std::optional<std::size_t> starter;
  int last_class = -1;  // class of the last element kept after the starter; -1: none
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element element = elements[i];
    if (starter && last_class < static_cast<int>(element.combining_class)) {
      if (const auto composed = compose(elements[*starter].code_point, element.code_point)) {
        elements[*starter].code_point = *composed;
        continue;
      }
    }
    if (element.combining_class == 0) {
      starter = kept;
      last_class = -1;
    } else {
      last_class = element.combining_class;
    }
    elements[kept++] = element;
  }
  elements.resize(kept);
}

// The length in bytes of a well-formed sequence at `p` that is in form C whatever surrounds it, or 0.
std::size_t sure_length(const unsigned char* p, std::size_t left) {
  const unsigned char lead = p[0];
  if (lead < 0x80) return 1;
  if (lead < 0xcc) return 2;  // below U+0300
  if (left < 3) return 0;
  if (lead >= 0xe4 && lead <= 0xe9) return 3;                    // CJK
  if (lead == 0xeb || lead == 0xec) return 3;                    // Hangul syllables
  if (lead == 0xe3 && p[1] == 0x80 && p[2] < 0xaa) return 3;     // CJK punctuation
  if (lead == 0xe3 && (p[1] == 0x81 || p[1] == 0x83)) return 3;  // kana
  if (lead == 0xe3 && p[1] == 0x82 && p[2] != 0x99 && p[2] != 0x9a) return 3;
  if (lead == 0xe2 && p[1] == 0x80 && p[2] >= 0x82) return 3;  // general punctuation
  if (lead == 0xef && p[1] == 0xbc) return 3;                  // fullwidth forms
  return 0;
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sure_length(bytes + i, text.size() - i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string normalize_nfc(std::string_view text) {
  std::vector<Element> elements;
  elements.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) decompose(base::decode_utf8(text, offset), elements);
  order_marks(elements);
  compose_all(elements);
  std::string out;
  out.reserve(text.size());
  for (const Element& element : elements) base::append_utf8(out, element.code_point);
  return out;
}

}  // namespace athanor::formats
