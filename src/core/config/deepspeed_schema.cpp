#include "core/config/deepspeed_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/config/deepspeed_fields.h"

namespace athanor::config {
namespace {

using base::JsonMember;
using base::JsonValue;

std::string join_path(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

std::string leaf_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool has_child_rows(const std::string& section) {
  const std::vector<Field>& rows = deepspeed_fields();
  return std::any_of(rows.begin(), rows.end(), [&](const Field& row) { return row.name.starts_with(section + "."); });
}

// Their members depend on the type beside them and are checked afterwards.
bool is_deferred(const std::string& section) { return section == "optimizer.params" || section == "scheduler.params"; }

// "enabled": false in any of the spellings that switch a section off.
bool is_switched_off(const JsonValue& object) {
  const JsonValue* enabled = object.find("enabled");
  if (enabled == nullptr) return false;
  if (enabled->is_bool()) return !enabled->as_bool();
  if (enabled->is_number()) return enabled->as_double() == 0.0;
  return enabled->is_string() && (enabled->as_string() == "false" || enabled->as_string() == "False");
}

// compression_training has no switch of its own: it is off when all of the switches inside are.
void count_switches(const JsonValue& value, int& num_on, int& num_off) {
  if (!value.is_object()) return;
  for (const JsonMember& member : value.members()) {
    if (member.key == "enabled") {
      is_switched_off(value) ? ++num_off : ++num_on;
    } else {
      count_switches(member.value, num_on, num_off);
    }
  }
}

bool is_off(const Field& field, const JsonValue& value) {
  if (value.is_null() || equals_default(field, value)) return true;
  if (field.type == FieldType::kInteger || field.type == FieldType::kNumber) {
    return value.is_number() && (value.as_double() == 0.0 || value.as_double() == 1.0);
  }
  if (value.is_bool()) return field.default_text != "true" && !value.as_bool();
  if (!value.is_object()) return false;
  if (is_switched_off(value)) return true;
  // An empty section switches its feature on with the defaults, unless DeepSpeed no longer has the feature.
  if (value.members().empty()) return field.source == kRemovedSource;
  if (field.name != "compression_training") return false;
  int num_on = 0;
  int num_off = 0;
  count_switches(value, num_on, num_off);
  return num_on == 0 && num_off > 0;
}

}  // namespace

Strictness strictness_of(const std::string& section) {
  for (const char* strict :
       {"zero_optimization", "fp16", "bf16", "tensorboard", "wandb", "csv_monitor", "comet", "comms_logger", "compile",
        "hybrid_engine", "tensor_parallel", "timers.throughput", "weight_quantization"}) {
    if (section == strict || section.starts_with(std::string(strict) + ".")) return Strictness::kPydantic;
  }
  return Strictness::kLookups;
}

SchemaCheck::SchemaCheck(std::string name, UnknownKeys unknown_keys)
    : name_(std::move(name)), unknown_keys_(unknown_keys) {}

std::string SchemaCheck::place(base::Position position) const {
  return fmt::format("{}:{}:{}", name_, position.line, position.column);
}

const CheckedValue* SchemaCheck::find(const std::string& path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? nullptr : &found->second;
}

void SchemaCheck::add_note(NoteKind kind, const std::string& what, const std::string& key, const std::string& where) {
  const auto same = std::find_if(notes_.begin(), notes_.end(),
                                 [&](const DeepSpeedNote& note) { return note.kind == kind && note.what == what; });
  if (same == notes_.end()) {
    notes_.push_back({.kind = kind, .what = what, .keys = {key}, .where = {where}});
  } else {
    same->keys.push_back(key);
    same->where.push_back(where);
  }
}

std::vector<base::Problem> SchemaCheck::take_problems() {
  // Places end in ":line:column".
  const auto position = [&](const base::Problem& problem) {
    std::pair<int, int> line_and_column{0, 0};
    if (problem.where.size() > name_.size()) {
      std::sscanf(problem.where.c_str() + name_.size(), ":%d:%d", &line_and_column.first, &line_and_column.second);
    }
    return line_and_column;
  };
  std::stable_sort(problems_.begin(), problems_.end(),
                   [&](const base::Problem& a, const base::Problem& b) { return position(a) < position(b); });
  return std::move(problems_);
}

void SchemaCheck::add_problem(std::string what, std::string where, std::string remedy) {
  problems_.push_back({std::move(what), std::move(where), std::move(remedy)});
}

void SchemaCheck::check_document(const JsonValue& root) {
  check_duplicates(root, "");
  check_members(root, "", SectionState::kOn);
}

// At any depth, also in sections whose content is not examined.
void SchemaCheck::check_duplicates(const JsonValue& value, const std::string& path) {
  if (value.is_array()) {
    for (const JsonValue& item : value.items()) check_duplicates(item, path);
  }
  if (!value.is_object()) return;
  std::map<std::string, std::string> first;
  for (const JsonMember& member : value.members()) {
    const std::string where = place(member.key_position);
    const auto [entry, fresh] = first.emplace(member.key, where);
    if (!fresh) {
      add_problem(fmt::format("{} is given twice", join_path(path, member.key)), where,
                  fmt::format("keep one of the two; the other is at {}", entry->second));
    }
    check_duplicates(member.value, join_path(path, member.key));
  }
}

void SchemaCheck::check_members(const JsonValue& object, const std::string& section, SectionState state) {
  std::map<std::string, Seen> seen;
  for (const JsonMember& member : object.members()) check_member(member, section, state, seen);
}

void SchemaCheck::check_member(const JsonMember& member, const std::string& section, SectionState state,
                               std::map<std::string, Seen>& seen) {
  const std::string path = join_path(section, member.key);
  const Field* field = find_deepspeed_field(path);
  const std::string where = place(member.key_position);
  const auto [first, fresh] = seen.emplace(field != nullptr ? field->name : path, Seen{path, where});
  if (!fresh) {
    // The same key twice was found before; here it is two names of one key.
    if (field != nullptr && path != first->second.path) {
      add_problem(fmt::format("{} and {} are one key and both are given", first->second.path, path), where,
                  fmt::format("keep one of the two; the other is at {}", first->second.where));
    }
    return;
  }
  if (field == nullptr) {
    if (!pass_over_comment(member, path)) check_unknown(member, section, state);
    return;
  }
  for (const char* older : {"bfloat16", "check_overflow", "thread_count"}) {
    if (member.key == older) {
      add_note(NoteKind::kDeprecated, fmt::format("older name of {}, and read as that", leaf_of(field->name)), path,
               where);
    }
  }
  check_value(*field, member.value, strictness_of(section), state);
}

void SchemaCheck::check_parameters(const JsonValue& object, const std::string& section, const std::string& owner,
                                   const std::vector<std::string>& taken) {
  std::map<std::string, Seen> seen;
  for (const JsonMember& member : object.members()) {
    const Field* field = find_deepspeed_field(join_path(section, member.key));
    const bool refused_anyway = field != nullptr && field->support == Support::kRefused;
    const bool is_taken = std::find(taken.begin(), taken.end(), member.key) != taken.end();
    if (field == nullptr || is_taken || refused_anyway) {
      check_member(member, section, SectionState::kOn, seen);
    } else if (unknown_keys_ == UnknownKeys::kWarn) {
      add_note(NoteKind::kIgnored, fmt::format("{} has no such parameter; it is not used", owner),
               join_path(section, member.key), place(member.key_position));
    } else {
      add_problem(fmt::format("{} has no parameter \"{}\" (DeepSpeed refuses it too)", owner, member.key),
                  place(member.key_position), fmt::format("remove it; {} takes {}", owner, fmt::join(taken, ", ")));
    }
  }
}

bool SchemaCheck::pass_over_comment(const JsonMember& member, const std::string& path) {
  std::string folded = member.key;
  for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  const bool is_comment = folded.starts_with("_") || folded.starts_with("//") || folded.starts_with("#") ||
                          folded.starts_with("$") || folded.find("comment") != std::string::npos;
  if (!is_comment) return false;
  add_note(NoteKind::kIgnored, "taken as a comment and not used", path, place(member.key_position));
  return true;
}

void SchemaCheck::check_unknown(const JsonMember& member, const std::string& section, SectionState state) {
  const std::string path = join_path(section, member.key);
  const std::string where = place(member.key_position);
  const std::string remedy = unknown_key_remedy(section, member.key);
  if (state == SectionState::kOff) {
    add_note(NoteKind::kIgnored, "unknown key in a section that is off", path, where);
  } else if (unknown_keys_ == UnknownKeys::kWarn) {
    add_note(NoteKind::kIgnored, fmt::format("unknown key, not used: {}", remedy), path, where);
  } else {
    const bool refused_there = strictness_of(section) == Strictness::kPydantic || is_deferred(section);
    const char* habit = refused_there ? "DeepSpeed refuses it too" : "DeepSpeed passes over it in silence";
    add_problem(
        fmt::format("unknown key \"{}\"{} ({})", member.key, section.empty() ? std::string() : " in " + section, habit),
        where, remedy + ", or pass --allow_unknown_keys");
  }
}

void SchemaCheck::check_value(const Field& field, const JsonValue& value, Strictness strictness, SectionState state) {
  if (pass_over_null_or_auto(field, value, strictness)) return;
  const std::string where = place(value.position());
  if (field.name == "zero_optimization" && value.is_bool()) {
    set("zero_optimization.stage", {JsonValue(value.as_bool() ? 1 : 0), false, where});
    add_note(NoteKind::kDeprecated,
             fmt::format("older spelling of \"zero_optimization\": {{\"stage\": {}}}, and read as that",
                         value.as_bool() ? 1 : 0),
             field.name, where);
    return;
  }
  const base::Result<JsonValue> coerced = coerce_value(field, field.name, value, strictness);
  if (!coerced.ok()) {
    if (field.support == Support::kRefused && is_off(field, value)) return judge(field, value, where);
    const bool is_stage = field.name == "zero_optimization" && value.is_number();
    add_problem(coerced.error().what, where,
                is_stage ? fmt::format("write {{\"stage\": {}}}", excerpt(value)) : coerced.error().remedy);
    return;
  }
  set(field.name, {coerced.value(), false, where});
  if (field.type == FieldType::kObject && has_child_rows(field.name)) return check_object(field, value, state);
  if (state == SectionState::kOn) judge(field, coerced.value(), where);
}

bool SchemaCheck::pass_over_null_or_auto(const Field& field, const JsonValue& value, Strictness strictness) {
  const std::string where = place(value.position());
  if (value.is_null()) {
    if (field.support == Support::kRefused) judge(field, value, where);
    const bool nullable = strictness == Strictness::kLookups || field.type == FieldType::kObject ||
                          field.default_text == "null" || field.support == Support::kRefused;
    if (!nullable) add_problem(fmt::format("{} is null", field.name), where, "write a value, or remove the key");
    return true;
  }
  const bool is_text = field.type == FieldType::kText || field.type == FieldType::kPath;
  if (!value.is_string() || value.as_string() != "auto" || (is_text && strictness == Strictness::kLookups))
    return false;
  if (field.allows_auto) {
    set(field.name, {JsonValue(), true, where});
  } else if (strictness == Strictness::kPydantic || field.support != Support::kHonoured) {
    if (field.default_text != "auto") {
      add_note(NoteKind::kDefaulted, "\"auto\" is not filled in here; DeepSpeed's default is used", field.name, where);
    }
  } else {
    add_problem(fmt::format("{} is \"auto\", which is not filled in for this key", field.name), where,
                "write a value, or remove the key");
  }
  return true;
}

void SchemaCheck::check_object(const Field& field, const JsonValue& value, SectionState state) {
  if (is_deferred(field.name)) return;
  check_members(value, field.name, is_switched_off(value) ? SectionState::kOff : state);
}

void SchemaCheck::judge(const Field& field, const JsonValue& value, const std::string& where) {
  if (field.support == Support::kHarmless) {
    const bool empty = value.is_object() && value.members().empty();
    if (!empty && !equals_default(field, value)) {
      add_note(NoteKind::kHarmless, "has no effect here: " + field.reason, field.name, where);
    }
  } else if (field.support == Support::kRefused) {
    if (!is_off(field, value)) {
      refuse(field, value, where);
    } else if (field.source == kRemovedSource) {
      add_note(NoteKind::kDeprecated, "DeepSpeed has removed this and refuses it; it is off here and can be taken out",
               field.name, where);
    }
  }
}

void SchemaCheck::refuse(const Field& field, const JsonValue& value, const std::string& where) {
  // A reason is a sentence that says why and sentences that say what to do.
  const std::size_t end = field.reason.find(". ");
  std::string remedy = field.reason.substr(end + 2);
  remedy[0] = static_cast<char>(remedy[0] | 0x20);
  if (remedy.ends_with('.')) remedy.pop_back();
  add_problem(fmt::format("{} is {}: {}", field.name, excerpt(value), field.reason.substr(0, end)), where,
              std::move(remedy));
}

}  // namespace athanor::config
