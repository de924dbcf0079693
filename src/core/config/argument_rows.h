// How the rows of training_fields() are written down, by topic. Internal to the argument table.
#pragma once

#include <initializer_list>
#include <vector>

#include "core/config/field.h"

namespace athanor::config::detail {

struct Row {
  const char* name;
  FieldType type;
  const char* default_text;
  const char* range;  // as in value_range.h, after the unit if there is one: "unit tokens; >= 2"
  const char* doc;
  const char* aliases;  // comma-separated
  const char* touches;  // comma-separated
};

// A name that is known and has no effect here, or is refused when it asks for something.
struct PlainRow {
  const char* name;
  FieldType type;
  const char* default_text;
  const char* reason;
};

std::vector<Row> model_rows();
std::vector<Row> data_rows();
std::vector<Row> step_rows();
std::vector<Row> output_rows();
std::vector<PlainRow> harmless_rows();
std::vector<PlainRow> refused_rows();

}  // namespace athanor::config::detail
