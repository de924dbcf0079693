#include "core/config/resolution.h"

#include <fmt/format.h>

#include "core/config/argument_fields.h"
#include "core/config/argument_sections.h"
#include "core/config/number_text.h"
#include "core/config/resolution_deepspeed.h"
#include "core/config/rules.h"
#include "core/config/value_reader.h"

namespace athanor::config {

namespace {

using detail::ValueReader;

// True when a text asks for nothing: the default, or a word that switches off.
bool is_off(const Field& field, const std::string& text) {
  if (text == field.default_text || text.empty() || text == "None" || text == "none" || text == "null") return true;
  const std::optional<double> number = detail::parse_number(text);
  if (number.has_value() && number == detail::parse_number(field.default_text)) return true;
  const std::optional<bool> on = parse_switch(text);
  if (field.type == FieldType::kBool) return on.has_value() && on == parse_switch(field.default_text).value_or(false);
  // `--fsdp false` and the like.
  return on == false && !number.has_value();
}

bool is_off(const Field& field, const Argument& argument) {
  if (argument.object.has_value()) return argument.object->members().empty();
  for (const std::string& text : argument.texts) {
    if (!is_off(field, text)) return false;
  }
  return true;
}

// Names that a launcher or a script always writes; a word about them would be noise.
bool goes_without_saying(const std::string& name) { return name == "do_train" || name == "local_rank"; }

void judge_known_names(const ArgumentSet& arguments, ValueReader& read) {
  for (const Argument& argument : arguments.arguments) {
    const Field& field = *find_training_field(argument.name);
    if (field.support == Support::kHonoured || is_off(field, argument)) continue;
    if (field.support == Support::kRefused) {
      read.problem(fmt::format("{} {} is known and not done here", argument.written, shown(argument)), argument.place(),
                   field.reason);
    } else if (!goes_without_saying(field.name)) {
      read.note(fmt::format("{} ({}) has no effect: {}", argument.written, argument.place(), field.reason));
    }
  }
}

const char* precision_name(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return "fp32";
    case Precision::kBfloat16:
      return "bf16";
    case Precision::kFloat16:
      return "fp16";
  }
  return "";
}

// Which of the values that speak of precision switched it on.
std::string precision_origin(const std::string& name, const ValueReader& read) {
  for (const std::string& deciding : {name + ".enabled", std::string("torch_autocast.enabled"), name}) {
    if (parse_switch(read.value_of(deciding)) == true) return "auto: " + deciding;
  }
  return read.given("mixed_precision") ? "auto: mixed_precision" : "default";
}

// What follows from several values, or from the run itself.
void record_consequences(const RunConfig& config, ValueReader& read) {
  if (config.precision.automatic) {
    read.record("precision", "from the hardware at start", "auto: mixed_precision");
  } else {
    const std::string name = precision_name(config.precision.compute);
    read.record("precision", name, precision_origin(name, read));
  }
  const BatchConfig& batch = config.batch;
  if (!read.recorded("train_batch_size")) {
    read.record("train_batch_size", std::to_string(batch.global_batch_size()),
                fmt::format("auto: {} x {} x {} (micro-batch x accumulation x processes)", batch.micro_batch_size,
                            batch.accumulation_steps, batch.world_size));
  }
  if (config.length.max_steps <= 0) read.record("total_steps", "from the step plan at start", "auto: num_train_epochs");
}

void note_unused(const RunConfig& config, ValueReader& read) {
  if (read.given("logging_dir") && config.logging.report_to.empty()) {
    read.note(fmt::format("logging_dir ({}) has no effect without report_to tensorboard", read.where("logging_dir")));
  }
  if (read.given("num_train_epochs") && config.length.max_steps > 0) {
    read.note(fmt::format("max_steps ({}) decides the length of the run; num_train_epochs ({}) does not",
                          read.where("max_steps"), read.where("num_train_epochs")));
  }
  if (read.given("warmup_ratio") && read.given("warmup_steps") && config.schedule.warmup_steps > 0) {
    read.note(fmt::format("warmup_steps ({}) decides the warm-up; warmup_ratio ({}) does not",
                          read.where("warmup_steps"), read.where("warmup_ratio")));
  }
}

}  // namespace

Resolution resolve(const ArgumentSet& arguments, const ResolveOptions& options) {
  Resolution resolution;
  resolution.problems = arguments.problems;
  resolution.notes = arguments.notes;
  ValueReader read(arguments, resolution);
  judge_known_names(arguments, read);
  RunConfig& config = resolution.config;
  config = detail::read_sections(read, options.home_folder);
  config.batch.world_size = options.world_size.value_or(config.batch.world_size);
  const UnknownKeys unknown = read.flag("allow_unknown_keys") ? UnknownKeys::kWarn : UnknownKeys::kRefuse;
  detail::merge_deepspeed(arguments, {unknown, options.home_folder}, read, config);
  record_consequences(config, read);
  note_unused(config, read);
  check_rules(config, resolution.problems);
  return resolution;
}

base::JsonValue resolution_to_json(const Resolution& resolution) {
  base::JsonValue table = base::JsonValue::array();
  for (const ResolvedValue& value : resolution.values) {
    base::JsonValue row = base::JsonValue::object();
    row.set("name", value.name);
    row.set("value", value.value);
    row.set("origin", value.origin);
    if (!value.beat.empty()) row.set("beat", value.beat);
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace athanor::config
