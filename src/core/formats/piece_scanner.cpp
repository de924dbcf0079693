#include "core/formats/piece_scanner.h"

#include <algorithm>

#include "core/formats/code_point_classes.h"

namespace athanor::formats {

namespace {

using Byte = unsigned char;

// Letters here are what the family's "word" takes: letters, for DeepSeek-V3 with marks. The last three before kEnd are the same
// things in DeepSeek-V3's Han ranges, whose runs an earlier stage cuts out.
enum Class : std::uint8_t {
  kOther,
  kLetter,
  kPunctuation,
  kSpace,
  kWhite,
  kNewline,
  kNumber,
  kHanOther,
  kHanLetter,
  kHanPunctuation,
  kEnd
};

bool is_white(std::uint8_t c) { return c == kSpace || c == kWhite || c == kNewline; }

const std::vector<CodePointRange> newlines = {{0x0a, 0x0a}, {0x0d, 0x0d}};

void paint_white(CodePointClasses& classes) {
  classes.paint(white_space_ranges(), kWhite);
  classes.paint({{' ', ' '}}, kSpace);
  classes.paint(newlines, kNewline);
}

struct WhiteRun {
  const Byte* end;
  const Byte* last;           // start of the last character
  const Byte* after_newline;  // after the last line break, nullptr without one
};

WhiteRun white_run(const ClassifiedText& text, const Byte* p) {
  WhiteRun run{p, p, nullptr};
  while (run.end < text.end) {
    const auto c = text.classes.at(run.end);
    if (!is_white(c.value)) break;
    run.last = run.end;
    run.end += c.length;
    if (c.value == kNewline) run.after_newline = run.end;
  }
  return run;
}

// \s*[\r\n]+|\s+(?!\S)|\s+ at a white character. `border` says whether the character after the run ends the piece.
template <typename Border>
const Byte* white_piece(const ClassifiedText& text, const Byte* p, Border border) {
  const WhiteRun run = white_run(text, p);
  if (run.after_newline != nullptr) return run.after_newline;
  if (run.end == text.end || border(text.classes.at(run.end).value)) return run.end;
  return run.last > p ? run.last : run.end;
}

bool is_ascii_letter(Byte c) { return static_cast<Byte>((c | 0x20) - 'a') < 26; }

// Runs `next(text, p)`, the end of the piece at p, until the text or the room is used up.
template <typename Next>
std::size_t scan_with(const CodePointClasses& classes, std::string_view text, ScanPosition& position,
                      std::span<std::size_t> ends, Next next) {
  const Byte* begin = reinterpret_cast<const Byte*>(text.data());
  const ClassifiedText classified{classes, begin + text.size()};
  const Byte* p = begin + position.offset;
  std::size_t count = 0;
  while (p < classified.end && count < ends.size()) {
    p = next(classified, p);
    ends[count++] = static_cast<std::size_t>(p - begin);
  }
  position.offset = static_cast<std::size_t>(p - begin);
  return count;
}

class WholeScanner final : public PieceScanner {
 public:
  std::size_t scan(std::string_view text, ScanPosition& position, std::span<std::size_t> ends) const override {
    if (position.offset == text.size()) return 0;
    ends[0] = position.offset = text.size();
    return 1;
  }
};

class DeepSeekV3Scanner final : public PieceScanner {
 public:
  explicit DeepSeekV3Scanner(const std::vector<CodePointRange>& han) {
    for (const char* name : {"L", "M"}) classes_.paint(*property_ranges(name), kLetter);
    for (const char* name : {"P", "S"}) classes_.paint(*property_ranges(name), kPunctuation);
    paint_white(classes_);
    classes_.paint(*property_ranges("N"), kNumber);
    classes_.replace(han, kOther, kHanOther);
    classes_.replace(han, kLetter, kHanLetter);
    classes_.replace(han, kPunctuation, kHanPunctuation);
  }

  std::size_t scan(std::string_view text, ScanPosition& position, std::span<std::size_t> ends) const override {
    return scan_with(classes_, text, position, ends, next);
  }

 private:
  static bool is_border(std::uint8_t c) { return c == kNumber || (c >= kHanOther && c <= kHanPunctuation); }

  static const Byte* punctuation_piece(const ClassifiedText& text, const Byte* p) {
    return text.run_end(text.run_end(p, kPunctuation), kNewline);
  }

  // Characters that no alternative matches stay together, up to the one that can begin a word.
  static const Byte* unmatched(const ClassifiedText& text, const Byte* p, std::uint8_t other, std::uint8_t letter) {
    while (p < text.end) {
      const auto c = text.classes.at(p);
      if (c.value != other || text.class_at(p + c.length, kEnd) == letter) break;
      p += c.length;
    }
    return p;
  }

  static const Byte* next(const ClassifiedText& text, const Byte* p) {
    constexpr std::size_t kMaxDigits = 3;
    const auto c = text.classes.at(p);
    const Byte* after = p + c.length;
    switch (c.value) {
      case kLetter:
        return text.run_end(after, kLetter);
      case kHanLetter:
        return text.run_end(after, kHanLetter);
      case kHanPunctuation:
        return text.run_end(after, kHanPunctuation);
      case kHanOther:
        if (text.class_at(after, kEnd) == kHanLetter) return text.run_end(after, kHanLetter);
        return unmatched(text, after, kHanOther, kHanLetter);
      case kNumber:
        return text.run_end(p, kNumber, kMaxDigits);
      case kPunctuation:
        if (c.length == 1 && after < text.end && is_ascii_letter(*after)) {
          return std::find_if_not(after, text.end, is_ascii_letter);
        }
        return punctuation_piece(text, after);
      case kNewline:
        return white_piece(text, p, is_border);
      default:
        break;
    }
    const std::uint8_t following = text.class_at(after, kEnd);
    if (following == kLetter) return text.run_end(after, kLetter);
    if (c.value == kOther) return unmatched(text, after, kOther, kLetter);
    if (c.value == kSpace && following == kPunctuation) return punctuation_piece(text, after);
    return white_piece(text, p, is_border);
  }

  CodePointClasses classes_;
};

// The length of an English contraction ('s 't 're 've 'm 'll 'd) after the apostrophe at `p`, or 0.
std::size_t contraction_length(const ClassifiedText& text, const Byte* p, Byte case_bit) {
  const auto letter = [&](std::size_t i) -> Byte { return p + i < text.end ? static_cast<Byte>(p[i] | case_bit) : 0; };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(2) == 'e' ? 3 : 0;
    case 'l':
      return letter(2) == 'l' ? 3 : 0;
    default:
      return 0;
  }
}

void paint_letters_and_numbers(CodePointClasses& classes) {
  classes.paint(*property_ranges("L"), kLetter);
  classes.paint(*property_ranges("N"), kNumber);
  paint_white(classes);
}

class Llama3Scanner final : public PieceScanner {
 public:
  explicit Llama3Scanner(std::size_t max_digits) : max_digits_(max_digits) { paint_letters_and_numbers(classes_); }

  std::size_t scan(std::string_view text, ScanPosition& position, std::span<std::size_t> ends) const override {
    return scan_with(classes_, text, position, ends,
                     [this](const ClassifiedText& t, const Byte* p) { return next(t, p); });
  }

 private:
  static const Byte* other_piece(const ClassifiedText& text, const Byte* p) {
    return text.run_end(text.run_end(p, kOther), kNewline);
  }

  const Byte* next(const ClassifiedText& text, const Byte* p) const {
    const auto c = text.classes.at(p);
    const Byte* after = p + c.length;
    if (c.value == kLetter) return text.run_end(after, kLetter);
    if (c.value == kNumber) return text.run_end(p, kNumber, max_digits_);
    if (*p == '\'') {
      if (const std::size_t length = contraction_length(text, p, 0x20)) return p + length;
      // U+017F, the long s, is an s to a case-insensitive match.
      if (text.end - after >= 2 && after[0] == 0xc5 && after[1] == 0xbf) return after + 2;
    }
    if (c.value != kNewline) {
      const std::uint8_t following = text.class_at(after, kEnd);
      if (following == kLetter) return text.run_end(after, kLetter);
      if (c.value == kOther) return other_piece(text, after);
      if (c.value == kSpace && following == kOther) return other_piece(text, after);
    }
    return white_piece(text, p, [](std::uint8_t) { return false; });
  }

  CodePointClasses classes_;
  std::size_t max_digits_;
};

class Gpt2Scanner final : public PieceScanner {
 public:
  Gpt2Scanner() { paint_letters_and_numbers(classes_); }

  std::size_t scan(std::string_view text, ScanPosition& position, std::span<std::size_t> ends) const override {
    return scan_with(classes_, text, position, ends, next);
  }

 private:
  static const Byte* next(const ClassifiedText& text, const Byte* p) {
    if (*p == '\'') {
      if (const std::size_t length = contraction_length(text, p, 0)) return p + length;
    }
    const auto c = text.classes.at(p);
    if (!is_white(c.value)) return text.run_end(p, c.value);
    if (c.value == kSpace) {
      const std::uint8_t following = text.class_at(p + 1, kEnd);
      if (following != kEnd && !is_white(following)) return text.run_end(p + 1, following);
    }
    const WhiteRun run = white_run(text, p);
    return run.end == text.end || run.last == p ? run.end : run.last;
  }

  CodePointClasses classes_;
};

}  // namespace

std::unique_ptr<PieceScanner> make_whole_scanner() { return std::make_unique<WholeScanner>(); }

std::unique_ptr<PieceScanner> make_deepseek_v3_scanner(const std::vector<CodePointRange>& han) {
  const bool overlaps = std::ranges::any_of(han, [](const CodePointRange& range) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      if (c < 0x80 || is_white_space(c) || is_numeric(c)) return true;
    }
    return false;
  });
  return overlaps ? nullptr : std::make_unique<DeepSeekV3Scanner>(han);
}

std::unique_ptr<PieceScanner> make_llama3_scanner(std::size_t max_digits) {
  return std::make_unique<Llama3Scanner>(max_digits);
}

std::unique_ptr<PieceScanner> make_gpt2_scanner() { return std::make_unique<Gpt2Scanner>(); }

}  // namespace athanor::formats
