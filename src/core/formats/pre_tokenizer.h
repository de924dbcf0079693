// Cuts a text into the pieces that byte-pair encoding works on, as the "pre_tokenizer" section of a tokenizer.json says.
//
// Stages:  Split (regular expression or literal; all behaviours), Digits, ByteLevel (last; with or without its own expression
//          and prefix space), Sequence. What else there is (Metaspace, Whitespace, ...) is refused by name.
// Speed:   known sequences of stages run as one hand-written scanner (piece_scanner.h), all others stage by stage with PCRE2.
// Threads: immutable; split() is confined to the caller's RegexMatcher.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/formats/piece_scanner.h"
#include "core/formats/regex.h"

namespace athanor::formats {

// Pieces in the order of the text. They point into it, or into `owned` where a prefix space was added.
struct PieceList {
  std::vector<std::string_view> pieces;
  std::list<std::string> owned;

  void clear() {
    pieces.clear();
    owned.clear();
  }
};

enum class PreTokenizerEngine {
  kFastest,  // a scanner where there is one
  kRegex,    // stage by stage, whatever there is (the reference in tests)
};

class PreTokenizer {
 public:
  // `section` is the value of "pre_tokenizer"; `name` the file, for messages. What is not supported goes to `problems`.
  PreTokenizer(const base::JsonValue& section, const std::string& name, base::Problems& problems,
               PreTokenizerEngine engine = PreTokenizerEngine::kFastest);

  // The scanner for these stages; nullptr where only split() does.
  const PieceScanner* scanner() const { return scanner_.get(); }

  // Appends the non-empty pieces of `text` (valid UTF-8), with or without a scanner.
  void split(std::string_view text, RegexMatcher& matcher, PieceList& out) const;

 private:
  enum class Behavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };
  struct Split {
    std::string pattern;  // as in the file
    bool is_literal = false;
    Behavior behavior = Behavior::kIsolated;
    bool invert = false;
    std::vector<Regex> regex;  // compiled; empty for a literal or where the scanner is used
  };
  struct Digits {
    bool individual = false;
  };
  struct ByteLevel {
    bool add_prefix_space = true;
    std::vector<Regex> regex;
    bool use_regex = true;
  };
  using Stage = std::variant<Split, Digits, ByteLevel>;
  // A stretch of a piece and whether the pattern matched it.
  struct Stretch {
    std::size_t begin;
    std::size_t end;
    bool matched;
  };

  class Reader;

  std::unique_ptr<PieceScanner> find_scanner() const;
  std::unique_ptr<PieceScanner> find_staged_scanner() const;
  const Split* isolating_split(std::size_t index) const;

  static void apply(const Split& split, std::string_view piece, RegexMatcher& matcher, PieceList& out);
  static void apply(const Digits& digits, std::string_view piece, RegexMatcher& matcher, PieceList& out);
  static void apply(const ByteLevel& level, std::string_view piece, RegexMatcher& matcher, PieceList& out);
  static std::vector<Stretch> find_stretches(const Regex& regex, std::string_view piece, RegexMatcher& matcher);

  std::vector<Stage> stages_;
  std::unique_ptr<PieceScanner> scanner_;
};

}  // namespace athanor::formats
