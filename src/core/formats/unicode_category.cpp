#include "core/formats/unicode_category.h"

#include <algorithm>
#include <span>

namespace athanor::formats {

namespace {

CategoryGroup group_of(std::uint32_t entry) { return static_cast<CategoryGroup>(entry & 15); }

bool is_in(std::span<const CodePointRange> ranges, char32_t code_point) {
  return std::ranges::any_of(ranges, [code_point](const CodePointRange& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

bool is_number(CategoryGroup group) {
  return group == CategoryGroup::kDecimalNumber || group == CategoryGroup::kLetterNumber ||
         group == CategoryGroup::kOtherNumber;
}

// Does the group belong to the property \p{name}? Nothing for a name that is not known.
std::optional<bool> belongs(CategoryGroup group, std::string_view name) {
  if (name == "L") return group == CategoryGroup::kLetter;
  if (name == "M") return group == CategoryGroup::kMark;
  if (name == "N") return is_number(group);
  if (name == "Nd") return group == CategoryGroup::kDecimalNumber;
  if (name == "Nl") return group == CategoryGroup::kLetterNumber;
  if (name == "No") return group == CategoryGroup::kOtherNumber;
  if (name == "P") return group == CategoryGroup::kPunctuation || group == CategoryGroup::kConnectorPunctuation;
  if (name == "Pc") return group == CategoryGroup::kConnectorPunctuation;
  if (name == "S") return group == CategoryGroup::kSymbol;
  if (name == "Z") return group == CategoryGroup::kSeparator;
  if (name == "C") return group == CategoryGroup::kOther;
  return std::nullopt;
}

void append_range(std::vector<CodePointRange>& ranges, char32_t first, char32_t last) {
  if (!ranges.empty() && ranges.back().last + 1 == first) {
    ranges.back().last = last;
  } else {
    ranges.push_back({first, last});
  }
}

}  // namespace

CategoryGroup category_group(char32_t code_point) {
  if (code_point > kMaxCodePoint) return CategoryGroup::kOther;
  const auto after = std::ranges::upper_bound(detail::category_starts(), static_cast<std::uint32_t>(code_point), {},
                                              [](std::uint32_t entry) { return entry >> 4; });
  return group_of(*(after - 1));
}

bool is_letter(char32_t code_point) { return category_group(code_point) == CategoryGroup::kLetter; }

bool is_white_space(char32_t code_point) { return is_in(white_space_ranges(), code_point); }

bool is_numeric(char32_t code_point) {
  return is_number(category_group(code_point)) || is_in(detail::extra_numeric(), code_point);
}

bool is_word(char32_t code_point) {
  switch (category_group(code_point)) {
    case CategoryGroup::kLetter:
    case CategoryGroup::kMark:
    case CategoryGroup::kDecimalNumber:
    case CategoryGroup::kLetterNumber:
    case CategoryGroup::kConnectorPunctuation:
      return true;
    default:
      return is_in(detail::extra_word(), code_point);
  }
}

std::optional<std::vector<CodePointRange>> property_ranges(std::string_view name) {
  if (!belongs(CategoryGroup::kOther, name)) return std::nullopt;
  std::vector<CodePointRange> ranges;
  for (std::size_t i = 0; i < detail::category_starts().size(); ++i) {
    if (!*belongs(group_of(detail::category_starts()[i]), name)) continue;
    const char32_t last =
        i + 1 < detail::category_starts().size() ? (detail::category_starts()[i + 1] >> 4) - 1 : kMaxCodePoint;
    append_range(ranges, detail::category_starts()[i] >> 4, last);
  }
  return ranges;
}

const std::vector<CodePointRange>& white_space_ranges() {
  static const std::vector<CodePointRange> all = {
      {0x09, 0x0d},     {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
      {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
  return all;
}

std::vector<CodePointRange> numeric_ranges() {
  std::vector<CodePointRange> ranges = *property_ranges("N");
  const auto extra = detail::extra_numeric();
  ranges.insert(ranges.end(), extra.begin(), extra.end());
  std::ranges::sort(ranges, {}, &CodePointRange::first);
  return ranges;
}

std::vector<CodePointRange> complement(const std::vector<CodePointRange>& ranges) {
  std::vector<CodePointRange> out;
  char32_t next = 0;
  const auto add = [&out](char32_t first, char32_t last) {
    if (first <= last) append_range(out, first, last);
  };
  const auto add_without_surrogates = [&add](char32_t first, char32_t last) {
    if (last < 0xd800 || first > 0xdfff) return add(first, last);
    if (first < 0xd800) add(first, 0xd7ff);
    if (last > 0xdfff) add(0xe000, last);
  };
  for (const CodePointRange& range : ranges) {
    if (range.first > next) add_without_surrogates(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= kMaxCodePoint) add_without_surrogates(next, kMaxCodePoint);
  return out;
}

}  // namespace athanor::formats
