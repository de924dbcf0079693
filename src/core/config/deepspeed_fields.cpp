#include "core/config/deepspeed_fields.h"

#include <sstream>

#include "core/config/deepspeed_rows.h"
#include "core/config/deepspeed_schema.h"

namespace athanor::config {
namespace {

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> parts;
  std::istringstream stream(names);
  for (std::string name; stream >> name;) parts.push_back(name);
  return parts;
}

}  // namespace

void add_rows(std::vector<Field>& rows, const std::string& section, Support support, const std::string& reason,
              std::initializer_list<RowText> texts) {
  for (const RowText& text : texts) {
    Field field{.vocabulary = Vocabulary::kDeepSpeed,
                .name = section.empty() ? text.name : section + "." + text.name,
                .type = text.type,
                .default_text = text.default_text,
                .unit = text.unit,
                .range = text.range,
                .allows_auto = text.auto_filled == AutoFilled::kYes,
                .support = support,
                .doc = text.doc,
                .reason = reason,
                .aliases = split_names(text.aliases),
                .touches = split_names(text.touches),
                .source = "DeepSpeed 0.19"};
    rows.push_back(std::move(field));
  }
}

void add_removed(std::vector<Field>& rows, const std::string& section, const std::string& reason,
                 std::initializer_list<RowText> texts) {
  const std::size_t num_before = rows.size();
  add_rows(rows, section, Support::kRefused, reason, texts);
  for (std::size_t i = num_before; i < rows.size(); ++i) rows[i].source = kRemovedSource;
}

const std::vector<Field>& deepspeed_fields() {
  static const std::vector<Field> table = [] {
    std::vector<Field> rows;
    add_top_level_rows(rows);
    add_optimizer_rows(rows);
    add_scheduler_rows(rows);
    add_precision_rows(rows);
    add_zero_rows(rows);
    add_monitor_rows(rows);
    add_checkpoint_rows(rows);
    add_parallel_rows(rows);
    add_removed_rows(rows);
    return rows;
  }();
  return table;
}

const Field* find_deepspeed_field(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string_view section = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot + 1);
  const std::string_view leaf = path.substr(section.size());
  for (const Field& field : deepspeed_fields()) {
    if (field.name == path) return &field;
    const std::string_view name = field.name;
    const std::size_t field_dot = name.rfind('.');
    const std::size_t section_size = field_dot == std::string_view::npos ? 0 : field_dot + 1;
    if (name.substr(0, section_size) != section) continue;
    for (const std::string& alias : field.aliases) {
      if (alias == leaf) return &field;
    }
  }
  return nullptr;
}

}  // namespace athanor::config
