#include "core/data/tokenize_range.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/data/text_documents.h"
#include "core/formats/indexed_tokens.h"

namespace athanor::data {

namespace {

using Encoded = base::Result<Document, std::string>;

// What a person reads of a malformed line: the first problem without its place, which is the line.
std::string parse_problem(const base::UserError& error, const std::string& name) {
  const base::Problem& problem = error.problems().front();
  if (problem.where.rfind(name, 0) != 0) return problem.what;
  const std::size_t colon = problem.where.rfind(':');
  return fmt::format("{} (column {})", problem.what, problem.where.substr(colon + 1));
}

constexpr const char* kRowName = "row";

// Encodes one row by `encode`, which may throw UserError (malformed JSON, text that the vocabulary cannot write).
template <typename Encode>
void keep(const Encode& encode, std::uint32_t line, TokenizedRange& result) {
  try {
    const Encoded encoded = encode();
    if (encoded.ok()) {
      result.chunk.add(encoded.value(), line);
    } else {
      result.add_bad_line(line, encoded.error());
    }
  } catch (const base::UserError& error) {
    result.add_bad_line(line, parse_problem(error, kRowName));
  }
}

void tokenize_lines(std::string_view text, std::uint32_t line, RowEncoder& encoder, TokenizedRange& result) {
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline;
    const std::string_view row = text.substr(begin, end - begin);
    begin = end + 1;
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    keep([&] { return encoder.encode_object(base::parse_json(row, kRowName)); }, line, result);
  }
}

void tokenize_array(const SourceFile& file, RowEncoder& encoder, TokenizedRange& result) {
  // A file that is one JSON document cannot be read past its first mistake.
  const base::JsonValue rows = base::parse_json(file.bytes.text(), file.path);
  for (const base::JsonValue& row : rows.items()) {
    keep([&] { return encoder.encode_object(row); }, static_cast<std::uint32_t>(row.position().line), result);
  }
}

void tokenize_text(std::string_view text, std::uint32_t first_line, const std::string& separator, RowEncoder& encoder,
                   TokenizedRange& result) {
  for_each_document(text, separator, first_line, [&](std::string_view part, std::uint32_t line) {
    keep(
        [&] {
          Encoded encoded = encoder.encode_text(part);
          if (!encoded.ok()) return encoded;
          Document document = std::move(encoded).value();
          document.kind = separator.empty() ? DocumentKind::kFile : DocumentKind::kText;
          return Encoded(std::move(document));
        },
        line, result);
  });
}

// Line n is document n: these files have no lines.
void tokenize_indexed(const SourceFile& file, const RowRules& rules, TokenizedRange& result) {
  const formats::IndexedTokens indexed = formats::IndexedTokens::open(formats::indexed_tokens_prefix(file.path));
  for (std::int64_t i = 0; i < indexed.num_documents(); ++i) {
    Document document;
    const auto [first, last] = indexed.document_sequences(i);
    for (std::int64_t sequence = first; sequence < last; ++sequence) {
      const std::vector<std::int32_t> ids = indexed.sequence(sequence);
      document.tokens.insert(document.tokens.end(), ids.begin(), ids.end());
    }
    document.labels = document.tokens;
    const auto outside = std::find_if(document.tokens.begin(), document.tokens.end(),
                                      [&](std::int32_t id) { return rules.vocab_size > 0 && id >= rules.vocab_size; });
    const auto line = static_cast<std::uint32_t>(i + 1);
    if (outside == document.tokens.end()) {
      result.chunk.add(document, line);
    } else {
      result.add_bad_line(
          line, fmt::format("the document holds the id {}, the model's vocab_size is {}", *outside, rules.vocab_size));
    }
  }
}

}  // namespace

TokenizedRange tokenize_range(const SourceFile& file, const SourceRange& range, std::uint32_t first_line,
                              const formats::Tokenizer* tokenizer, const RowRules& rules) {
  TokenizedRange result;
  RowEncoder encoder(tokenizer, rules);
  const std::string_view text = file.bytes.text().substr(range.begin, range.end - range.begin);
  switch (file.kind) {
    case SourceKind::kJsonLines:
      tokenize_lines(text, first_line, encoder, result);
      break;
    case SourceKind::kJsonArray:
      tokenize_array(file, encoder, result);
      break;
    case SourceKind::kText:
      tokenize_text(text, first_line, rules.text_separator, encoder, result);
      break;
    case SourceKind::kIndexed:
      tokenize_indexed(file, rules, result);
      break;
  }
  return result;
}

}  // namespace athanor::data
