// How the rows of the DeepSpeed schema are written down; internal to deepspeed_fields*.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "core/config/field.h"

namespace athanor::config {

enum class AutoFilled { kNo, kYes };  // does the Hugging Face integration fill "auto" in?

struct RowText {
  const char* name;
  FieldType type;
  const char* default_text;
  const char* range;
  const char* unit;
  const char* doc;
  AutoFilled auto_filled = AutoFilled::kNo;
  const char* aliases = "";  // names with blanks between
  const char* touches = "";
};

// Appends rows that share support and reason. Names are relative to `section` ("" is the top level).
void add_rows(std::vector<Field>& rows, const std::string& section, Support support, const std::string& reason,
              std::initializer_list<RowText> texts);

// The same for keys that DeepSpeed has removed.
void add_removed(std::vector<Field>& rows, const std::string& section, const std::string& reason,
                 std::initializer_list<RowText> texts);

void add_top_level_rows(std::vector<Field>& rows);
void add_optimizer_rows(std::vector<Field>& rows);
void add_scheduler_rows(std::vector<Field>& rows);
void add_precision_rows(std::vector<Field>& rows);
void add_zero_rows(std::vector<Field>& rows);
void add_monitor_rows(std::vector<Field>& rows);
void add_checkpoint_rows(std::vector<Field>& rows);
void add_parallel_rows(std::vector<Field>& rows);
void add_removed_rows(std::vector<Field>& rows);

}  // namespace athanor::config
