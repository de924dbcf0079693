// JSON out, as Python's json module lays it out (", " and ": "; a double keeps a fraction or an exponent).
#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"

namespace athanor::base {

void append_json_string(std::string& out, std::string_view value) {
  out += '"';
  for (const char c : value) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_json_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "Infinity" : "-Infinity";
  } else {
    const std::size_t begin = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
  }
}

std::string JsonValue::dump(int indent) const {
  std::string out;
  dump_to(out, indent, 0);
  return out;
}

void JsonValue::dump_to(std::string& out, int indent, int level) const {
  const auto break_line = [&](int to_level) {
    if (indent == 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(to_level), ' ');
  };
  const char* const comma = indent == 0 ? ", " : ",";
  switch (kind_) {
    case JsonKind::kNull:
      out += "null";
      return;
    case JsonKind::kBool:
      out += bool_ ? "true" : "false";
      return;
    case JsonKind::kString:
      append_json_string(out, text_);
      return;
    case JsonKind::kNumber:
      if (!text_.empty()) {
        out += text_;  // a parsed number keeps its spelling
      } else if (is_integer_) {
        fmt::format_to(std::back_inserter(out), "{}", integer_);
      } else {
        append_json_double(out, number_);
      }
      return;
    case JsonKind::kArray: {
      out += '[';
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (i > 0) out += comma;
        break_line(level + 1);
        items_[i].dump_to(out, indent, level + 1);
      }
      if (!items_.empty()) break_line(level);
      out += ']';
      return;
    }
    case JsonKind::kObject: {
      out += '{';
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (i > 0) out += comma;
        break_line(level + 1);
        append_json_string(out, members_[i].key);
        out += ": ";
        members_[i].value.dump_to(out, indent, level + 1);
      }
      if (!members_.empty()) break_line(level);
      out += '}';
      return;
    }
  }
}

}  // namespace athanor::base
