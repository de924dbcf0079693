// format_data_report(): the report as lines of at most 80 columns.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/unicode.h"
#include "core/data/data_report.h"
#include "core/data/row_example.h"

namespace athanor::data {

namespace {

constexpr int kColumns = 80;
constexpr int kLabelColumns = 19;
constexpr const char* kExampleIndent = "  | ";

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string counted(std::int64_t number, const char* noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

// The end of a path, which names the file and line, where the whole is too long.
std::string shortened_place(const std::string& place, int columns) {
  if (base::display_width(place) <= columns) return place;
  std::size_t begin = 0;
  while (3 + base::display_width(std::string_view(place).substr(begin)) > columns) base::decode_utf8(place, begin);
  return "..." + place.substr(begin);
}

// "  label             text", the text broken at spaces.
void append_line(std::string& out, const std::string& label, const std::string& text) {
  std::string line = fmt::format("\n  {:<{}}", label, kLabelColumns - 2);
  bool is_empty = true;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t space = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, space - begin);
    begin = space + 1;
    if (!is_empty && base::display_width(line) + 1 + base::display_width(word) > kColumns) {
      out += line;
      line = "\n" + std::string(kLabelColumns, ' ');
      is_empty = true;
    }
    line += is_empty ? word : " " + word;
    is_empty = false;
  }
  out += line;
}

void append_places(std::string& out, const std::vector<std::string>& places, std::int64_t total) {
  for (const std::string& place : places) {
    out += "\n" + std::string(kLabelColumns, ' ') + shortened_place(place, kColumns - kLabelColumns);
  }
  const std::int64_t more = total - static_cast<std::int64_t>(places.size());
  if (more > 0) out += fmt::format("\n{}and {} more", std::string(kLabelColumns, ' '), grouped(more));
}

// Breaks the example into lines; a colour ends with its line and begins again on the next.
class ExampleLines {
 public:
  std::string wrap(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      if (take_colour(text, at, kColourBegin, true) || take_colour(text, at, kColourEnd, false)) continue;
      const std::size_t begin = at;
      if (base::decode_utf8(text, at) == U'\n') {
        end_line();
        continue;
      }
      const std::string_view character = text.substr(begin, at - begin);
      const int width = base::display_width(character);
      if (column_ + width > kColumns) end_line();
      begin_line();
      lines_ += character;
      column_ += width;
    }
    end_line();
    return std::move(lines_);
  }

 private:
  bool take_colour(std::string_view text, std::size_t& at, std::string_view code, bool begins) {
    if (!text.substr(at).starts_with(code)) return false;
    at += code.size();
    begin_line();
    lines_ += code;
    in_colour_ = begins;
    return true;
  }

  void begin_line() {
    if (column_ > 0) return;
    lines_ += "\n";
    lines_ += kExampleIndent;
    column_ = base::display_width(kExampleIndent);
    if (in_colour_) lines_ += kColourBegin;
  }

  void end_line() {
    begin_line();
    if (lines_.ends_with(' ')) lines_.erase(lines_.find_last_not_of(' ') + 1);
    if (in_colour_) lines_ += kColourEnd;
    column_ = 0;
  }

  std::string lines_;
  int column_ = 0;
  bool in_colour_ = false;
};

std::string cut_text(const DataReport& report) {
  if (report.num_cut_documents == 0 && report.num_split_documents == 0) return "nothing";
  std::string text;
  if (report.num_cut_documents > 0) {
    text = fmt::format("{} lost {} at the end", counted(report.num_cut_documents, "document"),
                       counted(report.num_cut_tokens, "token"));
  }
  if (report.num_split_documents > 0) {
    text += fmt::format("{}{} split into pieces of their own", text.empty() ? "" : "; ",
                        counted(report.num_split_documents, "document"));
  }
  return text;
}

std::string without_target_text(const DataReport& report) {
  if (report.num_without_target == 0) return "none";
  return fmt::format("{} left out, {} because the cut took it; first:", counted(report.num_without_target, "document"),
                     grouped(report.num_cut_before_target));
}

}  // namespace

std::string format_data_report(const DataReport& report) {
  const double share = report.num_tokens > 0
                           ? 100.0 * static_cast<double>(report.num_targets) / static_cast<double>(report.num_tokens)
                           : 0.0;
  std::string out = "training data";
  append_line(out, "documents",
              fmt::format("{} in {}", grouped(report.num_documents), counted(report.num_rows, "row")));
  append_line(
      out, "tokens",
      fmt::format("{}, of them {} learnt ({:.1f} %)", grouped(report.num_tokens), grouped(report.num_targets), share));
  append_line(out, "document length",
              fmt::format("shortest {}, median {}, 95 % up to {}, longest {} tokens", grouped(report.shortest),
                          grouped(report.median), grouped(report.p95), grouped(report.longest)));
  append_line(out, "cut", cut_text(report));
  append_line(out, "nothing to learn", without_target_text(report));
  append_places(out, report.without_target_places, report.num_without_target);
  append_line(
      out, "end in EOS",
      report.share_ending_in_eos.has_value()
          ? fmt::format("{:.1f} % of the documents that are learnt to their end", 100.0 * *report.share_ending_in_eos)
          : "not known: no tokenizer with EOS, or no document is learnt to its end");
  if (report.num_double_bos == 0) {
    append_line(out, "double BOS", "none");
  } else {
    append_line(out, "double BOS", fmt::format("{}, the first:", counted(report.num_double_bos, "document")));
    append_places(out, {report.double_bos_place}, report.num_double_bos);
  }
  if (report.num_skipped_lines > 0) append_line(out, "skipped", counted(report.num_skipped_lines, "bad line"));
  if (report.example.empty()) return out;
  const bool in_colour = report.example.find(kColourBegin) != std::string::npos;
  append_line(out, "one row", in_colour ? "learnt parts in colour" : "learnt parts in [[ ]]");
  append_places(out, {report.example_place}, 1);
  return out + ExampleLines().wrap(report.example);
}

}  // namespace athanor::data
