// JsonValue itself: kinds, access, editing. Parsing is in json_strict.cpp and json_hjson.cpp, writing in json_write.cpp.
#include "core/base/json.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include "core/base/file.h"

namespace athanor::base {

const char* json_kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "true/false";
    case JsonKind::kNumber:
      return "number";
    case JsonKind::kString:
      return "text";
    case JsonKind::kArray:
      return "list";
    case JsonKind::kObject:
      return "object";
  }
  return "value";
}

JsonValue JsonValue::array() {
  JsonValue value;
  value.kind_ = JsonKind::kArray;
  return value;
}

JsonValue JsonValue::array(std::vector<JsonValue> items) {
  JsonValue value = array();
  value.items_ = std::move(items);
  return value;
}

JsonValue JsonValue::object() {
  JsonValue value;
  value.kind_ = JsonKind::kObject;
  return value;
}

JsonValue JsonValue::parsed_number(std::string text) {
  JsonValue value;
  value.kind_ = JsonKind::kNumber;
  value.text_ = std::move(text);
  const char* const begin = value.text_.data();
  const char* const end = begin + value.text_.size();
  if (value.text_ == "NaN") {
    value.number_ = std::numeric_limits<double>::quiet_NaN();
  } else if (value.text_ == "Infinity") {
    value.number_ = std::numeric_limits<double>::infinity();
  } else if (value.text_ == "-Infinity") {
    value.number_ = -std::numeric_limits<double>::infinity();
  } else if (const auto integer = std::from_chars(begin, end, value.integer_);
             integer.ec == std::errc() && integer.ptr == end) {
    value.is_integer_ = true;
    value.number_ = static_cast<double>(value.integer_);
    // The sign of -0 exists only as a double.
    if (value.integer_ == 0 && *begin == '-') value.number_ = -0.0;
  } else {
    value.integer_ = 0;
    const auto number = std::from_chars(begin, end, value.number_);
    // Too large or too small for a double: strtod gives infinity or zero, as Python does (the "C" locale is never left).
    if (number.ec == std::errc::result_out_of_range) value.number_ = std::strtod(begin, nullptr);
  }
  return value;
}

bool JsonValue::as_bool() const {
  ATHANOR_CHECK(is_bool(), "the JSON value is no true/false");
  return bool_;
}

double JsonValue::as_double() const {
  ATHANOR_CHECK(is_number(), "the JSON value is no number");
  return number_;
}

std::int64_t JsonValue::as_integer() const {
  ATHANOR_CHECK(is_integer(), "the JSON value is no integer");
  return integer_;
}

const std::string& JsonValue::as_string() const {
  ATHANOR_CHECK(is_string(), "the JSON value is no text");
  return text_;
}

const std::vector<JsonValue>& JsonValue::items() const {
  ATHANOR_CHECK(is_array(), "the JSON value is no list");
  return items_;
}

const std::vector<JsonMember>& JsonValue::members() const {
  ATHANOR_CHECK(is_object(), "the JSON value is no object");
  return members_;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    if (member->key == key) return &member->value;
  }
  return nullptr;
}

JsonValue& JsonValue::set(std::string key, JsonValue value) {
  ATHANOR_CHECK(is_object(), "the JSON value is no object");
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    if (member->key == key) return member->value = std::move(value);
  }
  return add_member(std::move(key), std::move(value), {});
}

bool JsonValue::erase(std::string_view key) {
  ATHANOR_CHECK(is_object(), "the JSON value is no object");
  return std::erase_if(members_, [&](const JsonMember& member) { return member.key == key; }) > 0;
}

void JsonValue::push_back(JsonValue value) {
  ATHANOR_CHECK(is_array(), "the JSON value is no list");
  items_.push_back(std::move(value));
}

JsonValue& JsonValue::add_member(std::string key, JsonValue value, Position key_position) {
  ATHANOR_CHECK(is_object(), "the JSON value is no object");
  members_.push_back({std::move(key), std::move(value), key_position});
  return members_.back().value;
}

JsonValue parse_json_file(const std::string& path, JsonDialect dialect) {
  return parse_json(read_file(path), path, dialect);
}

}  // namespace athanor::base
