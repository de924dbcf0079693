#include "core/formats/pre_tokenizer.h"

#include "core/base/unicode.h"
#include "core/formats/unicode_category.h"

namespace athanor::formats {

namespace {

void add_piece(std::string_view piece, PieceList& out) {
  if (!piece.empty()) out.pieces.push_back(piece);
}

}  // namespace

std::vector<PreTokenizer::Stretch> PreTokenizer::find_stretches(const Regex& regex, std::string_view piece,
                                                                RegexMatcher& matcher) {
  std::vector<Stretch> out;
  std::size_t done = 0;
  std::size_t offset = 0;
  while (offset <= piece.size()) {
    const auto match = matcher.find(regex, piece, offset);
    if (!match) break;
    if (match->begin > done) out.push_back({done, match->begin, false});
    if (match->end > match->begin) out.push_back({match->begin, match->end, true});
    done = match->end;
    offset = match->end;
    if (match->end == match->begin) {  // an empty match cuts, and the search goes on behind the next character
      if (offset >= piece.size()) break;
      base::decode_utf8(piece, offset);
    }
  }
  if (done < piece.size()) out.push_back({done, piece.size(), false});
  return out;
}

void PreTokenizer::apply(const Split& split, std::string_view piece, RegexMatcher& matcher, PieceList& out) {
  std::vector<Stretch> stretches;
  if (split.is_literal) {
    std::size_t done = 0;
    for (std::size_t found; (found = piece.find(split.pattern, done)) != std::string_view::npos;) {
      if (found > done) stretches.push_back({done, found, false});
      done = found + split.pattern.size();
      stretches.push_back({found, done, true});
    }
    if (done < piece.size()) stretches.push_back({done, piece.size(), false});
  } else {
    stretches = find_stretches(split.regex.front(), piece, matcher);
  }
  if (split.invert) {
    for (Stretch& stretch : stretches) stretch.matched = !stretch.matched;
  }
  // Joined stretches: `begin` to the current end, put out when the next one does not belong to it.
  std::vector<Stretch> joined;
  for (const Stretch& stretch : stretches) {
    const bool has_last = !joined.empty();
    bool join = false;
    if (split.behavior == Behavior::kContiguous) join = has_last && joined.back().matched == stretch.matched;
    if (split.behavior == Behavior::kMergedWithPrevious) join = has_last && stretch.matched && !joined.back().matched;
    if (split.behavior == Behavior::kMergedWithNext) join = has_last && !stretch.matched && joined.back().matched;
    if (split.behavior == Behavior::kRemoved && stretch.matched) continue;
    if (join) {
      joined.back().end = stretch.end;
      // A joined piece takes no second neighbour.
      if (split.behavior == Behavior::kMergedWithPrevious) joined.back().matched = true;
      if (split.behavior == Behavior::kMergedWithNext) joined.back().matched = false;
    } else {
      joined.push_back(stretch);
    }
  }
  for (const Stretch& stretch : joined) add_piece(piece.substr(stretch.begin, stretch.end - stretch.begin), out);
}

void PreTokenizer::apply(const Digits& digits, std::string_view piece, RegexMatcher&, PieceList& out) {
  std::size_t begin = 0;
  bool in_digits = false;
  for (std::size_t offset = 0; offset < piece.size();) {
    const std::size_t start = offset;
    const bool is_digit = is_numeric(base::decode_utf8(piece, offset));
    if (start > begin && (is_digit != in_digits || (is_digit && digits.individual))) {
      add_piece(piece.substr(begin, start - begin), out);
      begin = start;
    }
    in_digits = is_digit;
  }
  add_piece(piece.substr(begin), out);
}

void PreTokenizer::apply(const ByteLevel& level, std::string_view piece, RegexMatcher& matcher, PieceList& out) {
  if (level.add_prefix_space && !piece.starts_with(' ')) piece = out.owned.emplace_back(" " + std::string(piece));
  if (level.regex.empty()) return add_piece(piece, out);
  for (const Stretch& stretch : find_stretches(level.regex.front(), piece, matcher)) {
    add_piece(piece.substr(stretch.begin, stretch.end - stretch.begin), out);
  }
}

void PreTokenizer::split(std::string_view text, RegexMatcher& matcher, PieceList& out) const {
  if (scanner_) {
    ScanPosition position;
    std::size_t ends[64];
    std::size_t begin = 0;
    while (const std::size_t count = scanner_->scan(text, position, ends)) {
      for (std::size_t i = 0; i < count; begin = ends[i++]) add_piece(text.substr(begin, ends[i] - begin), out);
    }
    return;
  }
  PieceList current;
  add_piece(text, current);
  for (const Stage& stage : stages_) {
    PieceList next;
    next.owned = std::move(current.owned);
    for (const std::string_view piece : current.pieces) {
      std::visit([&](const auto& s) { apply(s, piece, matcher, next); }, stage);
    }
    current = std::move(next);
  }
  out.pieces.insert(out.pieces.end(), current.pieces.begin(), current.pieces.end());
  out.owned.splice(out.owned.end(), current.owned);  // the strings stay where the pieces point
}

}  // namespace athanor::formats
