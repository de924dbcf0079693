#include "core/config/argument_fields.h"

#include <string>
#include <string_view>

#include "core/config/argument_rows.h"

namespace athanor::config {

namespace {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> list;
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    list.emplace_back(names.substr(0, comma));
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return list;
}

constexpr std::string_view kUnitMark = "unit ";

void add(std::vector<Field>& fields, const std::vector<detail::Row>& rows) {
  for (const detail::Row& row : rows) {
    Field field;
    field.vocabulary = Vocabulary::kTraining;
    field.name = row.name;
    field.type = row.type;
    field.default_text = row.default_text;
    const std::string_view range = row.range;
    if (range.substr(0, kUnitMark.size()) == kUnitMark) {
      field.unit = range.substr(kUnitMark.size());
    } else {
      field.range = range;
    }
    field.doc = row.doc;
    field.aliases = split_names(row.aliases);
    field.touches = split_names(row.touches);
    field.source = "transformers TrainingArguments or its fine-tuning scripts";
    fields.push_back(std::move(field));
  }
}

void add(std::vector<Field>& fields, const std::vector<detail::PlainRow>& rows, Support support) {
  for (const detail::PlainRow& row : rows) {
    Field field;
    field.vocabulary = Vocabulary::kTraining;
    field.name = row.name;
    field.type = row.type;
    field.default_text = row.default_text;
    field.support = support;
    field.doc = support == Support::kHarmless ? "Known, and without effect here." : "Known, and not done here.";
    field.reason = row.reason;
    field.source = "transformers TrainingArguments or its fine-tuning scripts";
    fields.push_back(std::move(field));
  }
}

std::vector<Field> make_fields() {
  std::vector<Field> fields;
  add(fields, detail::model_rows());
  add(fields, detail::data_rows());
  add(fields, detail::step_rows());
  add(fields, detail::output_rows());
  add(fields, detail::harmless_rows(), Support::kHarmless);
  add(fields, detail::refused_rows(), Support::kRefused);
  // Names that no other trainer has.
  for (Field& field : fields) {
    for (const char* own : {"tokens_per_batch", "skip_bad_lines", "allow_unknown_keys", "num_threads", "device",
                            "train_on_prompt", "add_bos", "add_eos"}) {
      if (field.name == own) field.source = "athanor";
    }
  }
  return fields;
}

}  // namespace

const std::vector<Field>& training_fields() {
  static const std::vector<Field> fields = make_fields();
  return fields;
}

}  // namespace athanor::config
