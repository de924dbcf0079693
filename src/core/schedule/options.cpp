#include "core/schedule/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "core/base/nearest.h"

namespace athanor::schedule {

namespace {

// A number, or a number written as text (people quote them).
std::optional<double> read_number(const base::JsonValue& value) {
  if (value.is_number()) return value.as_double();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.as_string();
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Options::Options(const base::JsonValue& values, std::string owner) : values_(values), owner_(std::move(owner)) {
  if (!values.is_object()) {
    problems_.add(fmt::format("{} must be an object of named options", owner_), "", "write {\"name\": value}");
  }
}

const base::JsonValue* Options::find(const std::string& name) {
  known_.insert(name);
  return has(name) ? values_.find(name) : nullptr;
}

bool Options::is_auto(const std::string& name) const {
  const base::JsonValue* value = values_.find(name);
  return value != nullptr && value->is_string() && value->as_string() == "auto";
}

bool Options::has(const std::string& name) const {
  const base::JsonValue* value = values_.find(name);
  return value != nullptr && !value->is_null() && !is_auto(name);
}

std::string Options::where(const std::string& name) const { return fmt::format("{} in {}", name, owner_); }

std::optional<double> Options::optional_number(const std::string& name) {
  const base::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<double> number = read_number(*value);
  if (!number.has_value() || !std::isfinite(*number)) {
    problems_.add(fmt::format("{} must be a finite number, not {}", name, value->dump()), where(name), "give a number");
    return std::nullopt;
  }
  return number;
}

double Options::number(const std::string& name, double fallback) { return optional_number(name).value_or(fallback); }

double Options::required_number(const std::string& name) {
  if (!has(name)) {
    known_.insert(name);
    problems_.add(fmt::format("{} is needed", name), owner_, fmt::format("add \"{}\": a number", name));
    return 0.0;
  }
  return number(name, 0.0);
}

std::optional<std::int64_t> Options::optional_integer(const std::string& name) {
  const std::optional<double> value = optional_number(name);
  if (!value.has_value()) return std::nullopt;
  if (*value != std::floor(*value) || std::fabs(*value) > 1e15) {
    problems_.add(fmt::format("{} must be a whole number, not {}", name, *value), where(name), "give a whole number");
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::int64_t Options::integer(const std::string& name, std::int64_t fallback) {
  return optional_integer(name).value_or(fallback);
}

bool Options::flag(const std::string& name, bool fallback) {
  const base::JsonValue* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->as_bool();
  problems_.add(fmt::format("{} must be true or false, not {}", name, value->dump()), where(name),
                "give true or false");
  return fallback;
}

std::string Options::choice(const std::string& name, const std::string& fallback,
                            const std::vector<std::string>& choices) {
  const base::JsonValue* value = find(name);
  if (value == nullptr) return fallback;
  if (value->is_string()) {
    for (const std::string& candidate : choices) {
      if (candidate == value->as_string()) return candidate;
    }
  }
  problems_.add(fmt::format("{} does not know {}", name, value->dump()), where(name),
                fmt::format("use one of {}", fmt::join(choices, ", ")));
  return fallback;
}

void Options::refuse(const std::string& what, const std::string& remedy) { problems_.add(what, owner_, remedy); }

void Options::finish() {
  if (values_.is_object()) {
    const std::vector<std::string> names(known_.begin(), known_.end());
    for (const base::JsonMember& member : values_.members()) {
      if (known_.count(member.key) != 0) continue;
      const std::optional<std::string> nearest = base::nearest_name(member.key, names);
      problems_.add(fmt::format("unknown option {}", member.key), owner_,
                    nearest.has_value() ? fmt::format("did you mean {}?", *nearest)
                    : names.empty()     ? "remove it: this schedule has no options"
                                        : fmt::format("remove it, or use one of {}", fmt::join(names, ", ")));
    }
  }
  problems_.throw_if_any();
}

}  // namespace athanor::schedule
