// The regular expressions of a tokenizer.json: written for Oniguruma's Ruby syntax, run here by PCRE2 with its JIT compiler.
//
// Differences between the two that matter are taken out when the pattern is translated:
//   \p{..}, \s, \d  become explicit ranges of unicode_category.h (PCRE2 has another Unicode version; its \s also has U+180E)
//   $ and ^         are those of lines, as always in Ruby (PCRE2_MULTILINE, newline = LF)
// and constructs that mean different things in both, or that no known tokenizer uses, are refused by name: nested classes, &&,
// \h \R \X \K \G \b \w, {m,n}+, {,n}, named groups, back references.
// Threads: Regex is immutable; RegexMatcher is confined to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/result.h"
#include "core/formats/unicode_category.h"

namespace athanor::formats {

// The pattern for PCRE2, or what stands in the way.
base::Result<std::string, std::string> translate_regex(std::string_view oniguruma_pattern);

// The code points a pattern stands for when it is a single set ("[a-z]", "\p{L}"); nothing for any other pattern.
std::optional<std::vector<CodePointRange>> regex_as_set(std::string_view oniguruma_pattern);

class Regex {
 public:
  // Fails: UserError with `where` when the pattern is malformed or uses what is refused.
  Regex(std::string_view oniguruma_pattern, const std::string& where);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

 private:
  friend class RegexMatcher;
  struct Code;
  std::unique_ptr<Code> code_;
};

// What one thread needs to run regular expressions: match data and the stack of compiled patterns.
class RegexMatcher {
 public:
  struct Match {
    std::size_t begin;
    std::size_t end;
  };

  RegexMatcher();
  ~RegexMatcher();
  RegexMatcher(const RegexMatcher&) = delete;
  RegexMatcher& operator=(const RegexMatcher&) = delete;

  // The leftmost match at or after `offset` (a code point's start). `text` must be valid UTF-8; what lies before `offset` is
  // seen by look-behind. Fails: UserError when the pattern needs more than the backtracking limit on this text.
  std::optional<Match> find(const Regex& regex, std::string_view text, std::size_t offset);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace athanor::formats
