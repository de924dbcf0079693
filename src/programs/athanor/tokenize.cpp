// `athanor tokenize`: the ids and pieces of a text, or the text of ids.
#include "programs/athanor/tokenize.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/nearest.h"
#include "core/base/unicode.h"

namespace athanor::command {

namespace {

using formats::Tokenizer;

std::string read_standard_input() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// A token's bytes on one line; parts of characters as \x escapes.
std::string shown(std::string_view bytes) { return fmt::format("{:?}", bytes); }

void print_for_a_person(const Tokenizer& tokenizer, std::string_view text, const std::vector<std::int32_t>& ids) {
  for (const std::int32_t id : ids) {
    fmt::print("{:>7}  {}{}\n", id, shown(tokenizer.token_bytes(id)), tokenizer.is_special(id) ? "  special" : "");
  }
  fmt::print("{} tokens, {} bytes", ids.size(), text.size());
  if (!ids.empty()) {
    fmt::print(", {:.2f} bytes a token", static_cast<double>(text.size()) / static_cast<double>(ids.size()));
  }
  fmt::print("\n");
}

void print_json(const Tokenizer& tokenizer, std::string_view text, const std::vector<std::int32_t>& ids) {
  base::JsonValue ids_json = base::JsonValue::array();
  base::JsonValue pieces = base::JsonValue::array();
  for (const std::int32_t id : ids) {
    ids_json.push_back(id);
    pieces.push_back(tokenizer.token_text(id));
  }
  base::JsonValue root = base::JsonValue::object();
  root.set("text", base::replace_invalid_utf8(text));
  root.set("ids", std::move(ids_json));
  root.set("pieces", std::move(pieces));
  fmt::print("{}\n", root.dump());
}

// Whole numbers with anything of " \t\n,[]" between them.
std::vector<std::int32_t> parse_ids(const Tokenizer& tokenizer, std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<std::int32_t> ids;
  std::size_t offset = 0;
  while ((offset = text.find_first_not_of(kBetween, offset)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBetween, offset), text.size());
    const std::string_view word = text.substr(offset, end - offset);
    std::int32_t id = -1;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
      throw base::UserError(fmt::format("{} is no token id", shown(word)), "athanor tokenize --decode",
                            "give whole numbers with spaces or commas between them");
    }
    if (!tokenizer.has_token(id)) {
      throw base::UserError(fmt::format("no token has the id {}", id), "athanor tokenize --decode",
                            fmt::format("give ids of this tokenizer, which are below {}", tokenizer.vocab_size()));
    }
    ids.push_back(id);
    offset = end;
  }
  return ids;
}

}  // namespace

Tokenizer take_tokenizer(CommandLine& line) {
  const std::string path = line.take_value("--tokenizer");
  if (path.empty()) {
    throw base::UserError("no tokenizer is named", "athanor tokenize",
                          "give --tokenizer FOLDER (with tokenizer.json), or --tokenizer bytes");
  }
  return Tokenizer::load(path);
}

void refuse_flags(const CommandLine& line, const std::vector<std::string>& known) {
  for (const std::string& word : line.words) {
    if (!word.starts_with("--")) continue;
    const std::string flag = word.substr(0, word.find('='));
    const auto nearest = base::nearest_name(flag, known);
    throw base::UserError(
        fmt::format("there is no flag {}", flag), "athanor tokenize",
        nearest ? fmt::format("did you mean {}? A text that begins with -- goes after a lone --", *nearest)
                : "see `athanor tokenize --help`; a text that begins with -- goes after a lone --");
  }
}

int run_tokenize(CommandLine line) {
  if (!line.words.empty() && line.words.front() == "build") {
    line.words.erase(line.words.begin());
    return run_tokenize_build(std::move(line));
  }
  // What stands after a lone -- is text, whatever it looks like.
  const auto separator = std::find(line.words.begin(), line.words.end(), "--");
  const bool has_separator = separator != line.words.end();
  const std::vector<std::string> literal(has_separator ? separator + 1 : separator, line.words.end());
  line.words.erase(separator, line.words.end());

  const Tokenizer tokenizer = take_tokenizer(line);
  const std::string file = line.take_value("--file");
  const bool as_json = line.take_switch("--json");
  const bool decode = line.take_switch("--decode");
  const bool add_special = line.take_switch("--add_special_tokens");
  refuse_flags(line, {"--tokenizer", "--file", "--json", "--decode", "--add_special_tokens"});
  line.words.insert(line.words.end(), literal.begin(), literal.end());
  if (!file.empty() && !line.words.empty()) {
    throw base::UserError("both a text and --file are given", "athanor tokenize", "give one of them");
  }
  const std::string text = !file.empty()        ? base::read_file(file)
                           : line.words.empty() ? read_standard_input()
                                                : fmt::format("{}", fmt::join(line.words, " "));
  for (const std::string& note : tokenizer.notes()) fmt::print(stderr, "athanor: note: {}\n", note);
  if (decode) {
    const std::string decoded = tokenizer.decode(parse_ids(tokenizer, text));
    fmt::print("{}\n", as_json ? base::JsonValue(decoded).dump() : decoded);
    return 0;
  }
  std::vector<std::int32_t> ids =
      tokenizer.encode(text, add_special ? formats::SpecialTokens::kAdd : formats::SpecialTokens::kNone);
  if (as_json) {
    print_json(tokenizer, text, ids);
  } else {
    print_for_a_person(tokenizer, text, ids);
  }
  return 0;
}

}  // namespace athanor::command
