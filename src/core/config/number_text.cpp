#include "core/config/number_text.h"

#include <charconv>
#include <cmath>

#include "core/base/json.h"

namespace athanor::config::detail {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <typename T>
std::optional<T> parse_all(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

// Without what Python allows and from_chars does not: a plus sign, and underscores between digits.
std::string plain_spelling(const std::string& text) {
  std::string plain = trimmed(text);
  if (plain.size() > 1 && plain[0] == '+' && plain[1] != '-') plain.erase(0, 1);
  std::string digits;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool between_digits = i > 0 && i + 1 < plain.size() &&
                                std::isdigit(static_cast<unsigned char>(plain[i - 1])) &&
                                std::isdigit(static_cast<unsigned char>(plain[i + 1]));
    if (plain[i] != '_' || !between_digits) digits += plain[i];
  }
  return digits;
}

}  // namespace

std::optional<double> parse_number(const std::string& text) {
  const std::optional<double> value = parse_all<double>(plain_spelling(text));
  return value.has_value() && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> parse_whole_number(const std::string& text) {
  if (const auto whole = parse_all<std::int64_t>(plain_spelling(text))) return whole;
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  const std::optional<double> value = parse_number(text);
  if (!value.has_value() || *value != std::floor(*value) || std::fabs(*value) > kLargestExact) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string format_number(double value) {
  std::string text;
  base::append_json_double(text, value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace athanor::config::detail
