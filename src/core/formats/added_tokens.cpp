#include "core/formats/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "core/base/unicode.h"
#include "core/formats/unicode_category.h"

namespace athanor::formats {

namespace {

// The start of the code point that ends at `end`.
std::size_t previous_start(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return end;
}

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  std::size_t start = previous_start(text, text.size());
  return is_word(base::decode_utf8(text, start));
}

bool starts_with_word(std::string_view text) {
  std::size_t offset = 0;
  return !text.empty() && is_word(base::decode_utf8(text, offset));
}

std::size_t skip_white_backwards(std::string_view text, std::size_t end, std::size_t limit) {
  while (end > limit) {
    const std::size_t start = previous_start(text, end);
    std::size_t offset = start;
    if (start < limit || !is_white_space(base::decode_utf8(text, offset))) break;
    end = start;
  }
  return end;
}

std::size_t skip_white(std::string_view text, std::size_t offset) {
  while (offset < text.size()) {
    std::size_t after = offset;
    if (!is_white_space(base::decode_utf8(text, after))) break;
    offset = after;
  }
  return offset;
}

}  // namespace

void AddedTokenMatcher::add(const AddedToken& token) {
  if (!token.content.empty()) tokens_.push_back(token);
}

void AddedTokenMatcher::prepare() {
  std::ranges::sort(tokens_, {}, &AddedToken::content);
  nodes_.assign(1, Node{});
  if (tokens_.empty()) return;
  build(0, 0, tokens_.size(), 0);
  for (const AddedToken& token : tokens_) first_bytes_[static_cast<unsigned char>(token.content[0])] = true;
  if (std::ranges::count(first_bytes_, true) == 1) {
    only_first_byte_ = static_cast<unsigned char>(tokens_.front().content[0]);
  }
}

// Makes the subtrie of tokens_[begin, end), which share their first `depth` bytes, below `node`.
void AddedTokenMatcher::build(std::size_t node, std::size_t begin, std::size_t end, std::size_t depth) {
  if (begin < end && tokens_[begin].content.size() == depth) nodes_[node].token = static_cast<std::int32_t>(begin++);
  struct Group {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Group> groups;
  for (std::size_t i = begin; i < end; ++i) {
    if (groups.empty() || tokens_[groups.back().begin].content[depth] != tokens_[i].content[depth])
      groups.push_back({i, i});
    groups.back().end = i + 1;
  }
  const std::size_t first_child = nodes_.size();
  nodes_[node].first_child = static_cast<std::uint32_t>(first_child);
  nodes_[node].num_children = static_cast<std::uint16_t>(groups.size());
  nodes_.resize(first_child + groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    nodes_[first_child + i].byte = static_cast<std::uint8_t>(tokens_[groups[i].begin].content[depth]);
    build(first_child + i, groups[i].begin, groups[i].end, depth + 1);
  }
}

std::optional<AddedTokenMatcher::Candidate> AddedTokenMatcher::longest_at(std::string_view text,
                                                                          std::size_t offset) const {
  std::optional<Candidate> best;
  const Node* node = nodes_.data();
  for (std::size_t i = offset; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const Node* children = nodes_.data() + node->first_child;
    const Node* end = children + node->num_children;
    const Node* child = std::find_if(children, end, [byte](const Node& n) { return n.byte >= byte; });
    if (child == end || child->byte != byte) break;
    node = child;
    if (node->token >= 0) best = Candidate{offset, i + 1, &tokens_[static_cast<std::size_t>(node->token)]};
  }
  return best;
}

std::optional<AddedTokenMatcher::Candidate> AddedTokenMatcher::next_candidate(std::string_view text,
                                                                              std::size_t offset) const {
  while (offset < text.size()) {
    if (only_first_byte_ >= 0) {
      const void* found = std::memchr(text.data() + offset, only_first_byte_, text.size() - offset);
      if (found == nullptr) return std::nullopt;
      offset = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    } else if (!first_bytes_[static_cast<unsigned char>(text[offset])]) {
      ++offset;
      continue;
    }
    if (const auto candidate = longest_at(text, offset)) return candidate;
    ++offset;
  }
  return std::nullopt;
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::find(std::string_view text, std::size_t offset) const {
  if (tokens_.empty()) return std::nullopt;
  std::size_t from = offset;
  while (const auto candidate = next_candidate(text, from)) {
    from = candidate->end;
    const AddedToken& token = *candidate->token;
    if (token.single_word &&
        (ends_with_word(text.substr(0, candidate->begin)) || starts_with_word(text.substr(candidate->end)))) {
      continue;
    }
    Match match{candidate->begin, candidate->end, token.id};
    if (token.lstrip) match.begin = skip_white_backwards(text, match.begin, offset);
    if (token.rstrip) match.end = skip_white(text, match.end);
    return match;
  }
  return std::nullopt;
}

}  // namespace athanor::formats
