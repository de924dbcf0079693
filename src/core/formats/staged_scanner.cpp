// The scanner of the first DeepSeek generations, where seven stages cut one after the other.
#include <algorithm>

#include "core/formats/code_point_classes.h"
#include "core/formats/piece_scanner.h"

namespace athanor::formats {

namespace {

using Byte = unsigned char;

// The low bits say what the first stages see; the flags what the later ones do. DeepSeek LLM's punctuation set has the ASCII
// letters in it (":-~"), so its stage also cuts inside words: between a letter of that set and one outside.
enum Class : std::uint8_t { kOther, kWord, kPunctuation, kWhitePunctuation, kWhite, kNewline, kEnd };
constexpr std::uint8_t kClassMask = 0x0f;
constexpr std::uint8_t kPunctuationFlag = 0x20;
constexpr std::uint8_t kHanFlag = 0x40;
constexpr std::uint8_t kDigitFlag = 0x80;

std::vector<CodePointRange> intersection(const std::vector<CodePointRange>& a, const std::vector<CodePointRange>& b) {
  std::vector<CodePointRange> out;
  for (const CodePointRange& x : a) {
    for (const CodePointRange& y : b) {
      const char32_t first = std::max(x.first, y.first);
      const char32_t last = std::min(x.last, y.last);
      if (first <= last) out.push_back({first, last});
    }
  }
  return out;
}

class StagedScanner final : public PieceScanner {
 public:
  explicit StagedScanner(const StagedScannerSets& sets) : isolate_trailing_space_(sets.isolate_trailing_space) {
    classes_.paint(white_space_ranges(), kWhite);
    classes_.paint(sets.punctuation, kPunctuation);
    classes_.paint(intersection(sets.punctuation, white_space_ranges()), kWhitePunctuation);
    classes_.paint(sets.word, kWord);
    classes_.paint({{0x0a, 0x0a}, {0x0d, 0x0d}}, kNewline);
    classes_.add_flag(sets.punctuation, kPunctuationFlag);
    classes_.add_flag(sets.han, kHanFlag);
    classes_.add_flag(numeric_ranges(), kDigitFlag);
  }

  std::size_t scan(std::string_view text, ScanPosition& position, std::span<std::size_t> ends) const override {
    const Byte* begin = reinterpret_cast<const Byte*>(text.data());
    const Text classified{classes_, begin + text.size()};
    const Byte* p = begin + position.offset;
    const Byte* outer_end = begin + position.outer_end;
    std::size_t count = 0;
    for (; p < classified.end && count < ends.size(); ++count) {
      if (p == outer_end) outer_end = first_stages(classified, p);
      p = last_stages(p, outer_end);
      ends[count] = static_cast<std::size_t>(p - begin);
    }
    position.offset = static_cast<std::size_t>(p - begin);
    position.outer_end = static_cast<std::size_t>(outer_end - begin);
    return count;
  }

 private:
  struct Text {
    const CodePointClasses& classes;
    const Byte* end;

    std::uint8_t stage_class(const Byte* p) const { return p < end ? classes.at(p).value & kClassMask : kEnd; }
    const Byte* after(const Byte* p) const { return p + classes.at(p).length; }
    bool is_before_word(const Byte* p) const { return stage_class(after(p)) == kWord; }
    // Does a run of punctuation go on, or begin, at `p`? White punctuation before a word belongs to the word.
    bool is_punctuation(const Byte* p) const {
      const std::uint8_t c = stage_class(p);
      return c == kPunctuation || (c == kWhitePunctuation && !is_before_word(p));
    }
  };

  // The end of the piece at `p` after line breaks, words, punctuation and trailing space have been cut.
  const Byte* first_stages(const Text& text, const Byte* p) const {
    const std::uint8_t c = text.stage_class(p);
    if (c == kNewline) return p + 1;
    if (c == kWord) return word_end(text, p);
    if (c == kPunctuation) return punctuation_end(text, p, p);
    if (c == kWhite || c == kWhitePunctuation) {
      const Byte* after = text.after(p);
      if (text.stage_class(after) == kWord) return word_end(text, after);
      if (c == kWhitePunctuation) return punctuation_end(text, p, p);
      if (text.is_punctuation(after)) return punctuation_end(text, p, after);
    }
    return rest_end(text, p);
  }

  static const Byte* word_end(const Text& text, const Byte* p) {
    while (text.stage_class(p) == kWord) p = text.after(p);
    return p;
  }

  // The piece begins at `start`, its punctuation at `p`. Trailing white punctuation is cut off by \s+$.
  const Byte* punctuation_end(const Text& text, const Byte* start, const Byte* p) const {
    const Byte* solid_end = start;
    while (text.is_punctuation(p)) {
      const bool is_white = text.stage_class(p) == kWhitePunctuation;
      p = text.after(p);
      if (!is_white) solid_end = p;
    }
    return isolate_trailing_space_ && solid_end > start ? solid_end : p;
  }

  // What neither words nor punctuation match: up to the next of them, whose leading white character goes with it.
  const Byte* rest_end(const Text& text, const Byte* p) const {
    const Byte* solid_end = p;
    const Byte* before_last_white = nullptr;
    const Byte* q = p;
    while (true) {
      const std::uint8_t c = text.stage_class(q);
      if (c == kEnd || c == kNewline) break;
      if (c == kWord || text.is_punctuation(q)) {
        if (before_last_white != nullptr) q = before_last_white;
        break;
      }
      if (c == kWhitePunctuation) break;
      const Byte* after = text.after(q);
      before_last_white = c == kWhite ? q : nullptr;
      if (c != kWhite) solid_end = after;
      q = after;
    }
    return isolate_trailing_space_ && solid_end > p ? solid_end : q;
  }

  // Runs inside or outside the punctuation and the Han ranges, each digit alone.
  const Byte* last_stages(const Byte* p, const Byte* outer_end) const {
    auto c = classes_.at(p);
    p += c.length;
    if ((c.value & kDigitFlag) != 0) return p;
    std::uint8_t kind = c.value & (kPunctuationFlag | kHanFlag);
    // A white character before a word or punctuation goes with either.
    if ((c.value & kClassMask) == kWhite && p < outer_end) kind |= classes_.at(p).value & kPunctuationFlag;
    while (p < outer_end) {
      c = classes_.at(p);
      if ((c.value & (kPunctuationFlag | kHanFlag | kDigitFlag)) != kind) break;
      p += c.length;
    }
    return p;
  }

  CodePointClasses classes_;
  bool isolate_trailing_space_;
};

}  // namespace

std::unique_ptr<PieceScanner> make_staged_scanner(const StagedScannerSets& sets) {
  const std::vector<CodePointRange> newlines = {{0x0a, 0x0a}, {0x0d, 0x0d}};
  const auto overlap = [](const auto& a, const auto& b) { return !intersection(a, b).empty(); };
  if (overlap(sets.word, white_space_ranges()) || overlap(sets.punctuation, newlines)) return nullptr;
  return std::make_unique<StagedScanner>(sets);
}

}  // namespace athanor::formats
