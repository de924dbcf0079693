// Added tokens: texts that are cut out of a document before anything else happens to it.
//
// Source:  Hugging Face tokenizers 0.23.3 (AddedVocabulary): the leftmost longest match, first among the tokens with
//          "normalized": false on the raw text, then among the others on the normalized rest; single_word, lstrip and rstrip.
// Threads: immutable after prepare().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace athanor::formats {

struct AddedToken {
  std::int32_t id = -1;
  std::string content;
  bool special = false;      // left out by decoding without special tokens; says nothing about matching
  bool normalized = true;    // looked for in the normalized text
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
};

// Finds any of a set of texts.
class AddedTokenMatcher {
 public:
  struct Match {
    std::size_t begin;
    std::size_t end;
    std::int32_t id;
  };

  void add(const AddedToken& token);
  // Call once after the last add().
  void prepare();
  bool empty() const { return tokens_.empty(); }

  // The first match at or after `offset`; the white space that it takes before itself begins no earlier than `offset`.
  std::optional<Match> find(std::string_view text, std::size_t offset) const;

 private:
  // A node of the trie: its children are the nodes first_child .. first_child + num_children, ascending by byte.
  struct Node {
    std::uint32_t first_child = 0;
    std::uint16_t num_children = 0;
    std::uint8_t byte = 0;
    std::int32_t token = -1;  // index in tokens_ of the token that ends here
  };
  struct Candidate {
    std::size_t begin;
    std::size_t end;
    const AddedToken* token;
  };

  void build(std::size_t node, std::size_t begin, std::size_t end, std::size_t depth);
  std::optional<Candidate> longest_at(std::string_view text, std::size_t offset) const;
  std::optional<Candidate> next_candidate(std::string_view text, std::size_t offset) const;

  std::vector<AddedToken> tokens_;  // ascending by content after prepare()
  std::vector<Node> nodes_;
  std::array<bool, 256> first_bytes_{};
  int only_first_byte_ = -1;  // when all tokens begin with the same byte
};

}  // namespace athanor::formats
