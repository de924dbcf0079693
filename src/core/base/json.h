// JSON with a memory of where everything stood: each value and each key knows its line and column, so that a message about a
// configuration can point at it.
//
// Source:  RFC 8259 for kStrict; kHjson reads what the Python hjson package reads (comments, trailing commas, newline instead
//          of comma, unquoted keys and strings, single quotes, multi-line ''' strings, missing outer braces).
// Numbers: kept both as double and, when written without fraction or exponent and in range, as int64; `text` is the spelling.
// Threads: values are immutable after parsing and may be shared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace athanor::base {

// 1-based line and column (column counts code points); 0 means "not from a file".
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

enum class JsonKind { kNull, kBool, kNumber, kString, kArray, kObject };
// "null", "true/false", "number", "text", "list", "object": the words that messages use.
const char* json_kind_name(JsonKind kind);

enum class JsonDialect { kStrict, kHjson };

class JsonValue;

struct JsonMember;

class JsonValue {
 public:
  JsonValue() = default;
  JsonValue(std::nullptr_t);
  JsonValue(bool value);
  JsonValue(int value);
  JsonValue(std::int64_t value);
  JsonValue(double value);
  JsonValue(const char* value);
  JsonValue(std::string value);
  static JsonValue array();
  static JsonValue array(std::vector<JsonValue> items);
  static JsonValue object();
  static JsonValue parsed_number(std::string text);  // used by parsers; keeps the spelling

  JsonKind kind() const { return kind_; }
  bool is_null() const { return kind_ == JsonKind::kNull; }
  bool is_bool() const { return kind_ == JsonKind::kBool; }
  bool is_number() const { return kind_ == JsonKind::kNumber; }
  bool is_integer() const {
    return kind_ == JsonKind::kNumber && is_integer_;
  }  // written as an integer that fits int64
  bool is_string() const { return kind_ == JsonKind::kString; }
  bool is_array() const { return kind_ == JsonKind::kArray; }
  bool is_object() const { return kind_ == JsonKind::kObject; }

  // Each requires the matching kind (ATHANOR_CHECK); use the is_... questions first on data from outside.
  bool as_bool() const;
  double as_double() const;
  std::int64_t as_integer() const;  // requires is_integer()
  const std::string& as_string() const;
  const std::vector<JsonValue>& items() const;
  const std::vector<JsonMember>& members() const;  // in file order; duplicates are kept, find() gives the last

  // The spelling in the file for parsed numbers and strings.
  const std::string& text() const { return text_; }
  Position position() const { return position_; }
  void set_position(Position position) { position_ = position; }

  // Object access; nullptr when absent or when this is no object.
  const JsonValue* find(std::string_view key) const;
  JsonValue& set(std::string key, JsonValue value);  // replaces or appends; returns the stored value
  bool erase(std::string_view key);
  void push_back(JsonValue value);
  JsonValue& add_member(std::string key, JsonValue value, Position key_position);  // appends even when the key exists

  // `indent` spaces per level; 0 writes one line. Doubles are written with the fewest digits that read back to the same bits;
  // NaN and infinities as NaN, Infinity, -Infinity (what Python's json writes and reads).
  std::string dump(int indent = 0) const;

 private:
  void dump_to(std::string& out, int indent, int level) const;

  JsonKind kind_ = JsonKind::kNull;
  bool bool_ = false;
  bool is_integer_ = false;
  std::int64_t integer_ = 0;
  double number_ = 0.0;
  std::string text_;
  std::vector<JsonValue> items_;
  std::vector<JsonMember> members_;
  Position position_;
};

struct JsonMember {
  std::string key;
  JsonValue value;
  Position key_position;
};

// Defined where JsonMember is complete, which building and destroying a vector of it needs.
inline JsonValue::JsonValue(std::nullptr_t) {}
inline JsonValue::JsonValue(bool value) : kind_(JsonKind::kBool), bool_(value) {}
inline JsonValue::JsonValue(int value) : JsonValue(static_cast<std::int64_t>(value)) {}
inline JsonValue::JsonValue(std::int64_t value)
    : kind_(JsonKind::kNumber), is_integer_(true), integer_(value), number_(static_cast<double>(value)) {}
inline JsonValue::JsonValue(double value) : kind_(JsonKind::kNumber), number_(value) {}
inline JsonValue::JsonValue(const char* value) : kind_(JsonKind::kString), text_(value) {}
inline JsonValue::JsonValue(std::string value) : kind_(JsonKind::kString), text_(std::move(value)) {}

// Python's json extensions NaN, Infinity and -Infinity are numbers in kStrict; in kHjson they are unquoted texts, as in the
// package. A UTF-8 byte order mark is skipped. A half surrogate (\ud800 alone) and bytes that are not UTF-8 are refused.
// `name` is the file name for messages ("name:line:column"). Fails: UserError with the place.
JsonValue parse_json(std::string_view text, const std::string& name, JsonDialect dialect = JsonDialect::kStrict);

// Reads and parses a file. Fails: UserError (missing, unreadable, malformed).
JsonValue parse_json_file(const std::string& path, JsonDialect dialect = JsonDialect::kStrict);

// Appends `value` as a JSON string literal (quotes, escapes; UTF-8 stays as it is).
void append_json_string(std::string& out, std::string_view value);
// Appends a double with the fewest digits that read back to the same bits.
void append_json_double(std::string& out, double value);

}  // namespace athanor::base
