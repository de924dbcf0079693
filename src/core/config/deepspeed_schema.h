// Walks a parsed DeepSpeed JSON along the rows of its schema and collects values, notes and problems. Internal to deepspeed_*.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/deepspeed.h"
#include "core/config/deepspeed_coerce.h"
#include "core/config/field.h"

namespace athanor::config {

// How pydantic or look-ups check the keys directly in `section`.
Strictness strictness_of(const std::string& section);

// Source text of rows that DeepSpeed has removed: accepted with a word when they are off.
inline constexpr const char* kRemovedSource = "DeepSpeed before 0.19";

struct CheckedValue {
  base::JsonValue value;  // in its row's type
  bool is_auto = false;
  std::string where;
};

// What to write in place of an unknown key: a known misunderstanding, the section it belongs to, the nearest name, or nothing.
std::string unknown_key_remedy(const std::string& section, const std::string& key);

class SchemaCheck {
 public:
  SchemaCheck(std::string name, UnknownKeys unknown_keys);

  void check_document(const base::JsonValue& root);
  // The members of optimizer.params or scheduler.params, of which `owner` ("Lion") takes those in `taken`.
  void check_parameters(const base::JsonValue& object, const std::string& section, const std::string& owner,
                        const std::vector<std::string>& taken);

  const CheckedValue* find(const std::string& path) const;
  void set(const std::string& path, CheckedValue value) { values_[path] = std::move(value); }
  void add_note(NoteKind kind, const std::string& what, const std::string& key, const std::string& where);
  void add_problem(std::string what, std::string where, std::string remedy);
  std::string place(base::Position position) const;

  std::vector<DeepSpeedNote> take_notes() { return std::move(notes_); }
  std::vector<base::Problem> take_problems();  // in the order of the file

 private:
  enum class SectionState { kOn, kOff };  // kOff: "enabled" is false here or above
  struct Seen {
    std::string path;  // as it was spelt
    std::string where;
  };

  void check_duplicates(const base::JsonValue& value, const std::string& path);
  void check_members(const base::JsonValue& object, const std::string& section, SectionState state);
  void check_member(const base::JsonMember& member, const std::string& section, SectionState state,
                    std::map<std::string, Seen>& seen);
  bool pass_over_comment(const base::JsonMember& member, const std::string& path);
  void check_unknown(const base::JsonMember& member, const std::string& section, SectionState state);
  void check_value(const Field& field, const base::JsonValue& value, Strictness strictness, SectionState state);
  bool pass_over_null_or_auto(const Field& field, const base::JsonValue& value, Strictness strictness);
  void check_object(const Field& field, const base::JsonValue& value, SectionState state);
  void judge(const Field& field, const base::JsonValue& value, const std::string& where);
  void refuse(const Field& field, const base::JsonValue& value, const std::string& where);

  std::string name_;
  UnknownKeys unknown_keys_;
  std::map<std::string, CheckedValue> values_;
  std::vector<DeepSpeedNote> notes_;
  std::vector<base::Problem> problems_;
};

}  // namespace athanor::config
