// A path or base64 text -> DeepSpeedReading.
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/unicode.h"
#include "core/config/base64.h"
#include "core/config/deepspeed.h"
#include "core/config/deepspeed_schema.h"
#include "core/config/deepspeed_sections.h"

namespace athanor::config {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

// The text in base64 if that is what `argument` is: decodable, UTF-8, and an object to look at.
std::optional<std::string> decode_configuration(const std::string& argument) {
  std::optional<std::string> text = decode_base64_url(argument);
  if (!text || base::find_invalid_utf8(*text) != std::string::npos) return std::nullopt;
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*text)[first] != '{') return std::nullopt;
  return text;
}

DeepSpeedReading failed(const std::string& name, const std::vector<base::Problem>& problems) {
  DeepSpeedReading reading;
  reading.name = name;
  reading.problems = problems;
  return reading;
}

}  // namespace

std::string DeepSpeedReading::place(base::Position position) const {
  return fmt::format("{}:{}:{}", name, position.line, position.column);
}

std::string format_note(const DeepSpeedNote& note) {
  std::string text;
  for (std::size_t i = 0; i < note.keys.size(); ++i) {
    text += fmt::format("{}{} ({})", i > 0 ? ", " : "", note.keys[i], note.where[i]);
  }
  return text + ": " + note.what;
}

DeepSpeedReading read_deepspeed_text(std::string_view text, const std::string& name,
                                     const DeepSpeedReadOptions& options) {
  try {
    return read_deepspeed_value(base::parse_json(text, name, base::JsonDialect::kHjson), name, options);
  } catch (const base::UserError& error) {
    return failed(name, error.problems());
  }
}

DeepSpeedReading read_deepspeed_value(base::JsonValue value, const std::string& name,
                                      const DeepSpeedReadOptions& options) {
  DeepSpeedReading reading;
  reading.name = name;
  reading.raw = std::move(value);
  if (!reading.raw.is_object()) {
    return failed(
        name,
        {{fmt::format("a DeepSpeed configuration must be an object in {{ }}, and this is {}", excerpt(reading.raw)),
          reading.place(reading.raw.position()), "write { \"train_batch_size\": ... }"}});
  }
  SchemaCheck check(name, options.unknown_keys);
  check.check_document(reading.raw);
  map_older_spellings(check);
  std::optional<DeepSpeedOptimizer> optimizer = read_optimizer(check);
  std::optional<DeepSpeedSchedule> schedule = read_schedule(check);
  check_rules(check);
  reading.config = bind_config(check);
  reading.config.optimizer = std::move(optimizer);
  reading.config.scheduler = std::move(schedule);
  reading.notes = check.take_notes();
  reading.problems = check.take_problems();
  return reading;
}

DeepSpeedReading read_deepspeed(const std::string& path_or_base64, const DeepSpeedReadOptions& options) {
  if (!exists(path_or_base64)) {
    if (const std::optional<std::string> text = decode_configuration(path_or_base64)) {
      return read_deepspeed_text(*text, "--deepspeed (base64)", options);
    }
    return failed(path_or_base64, {{"there is no such DeepSpeed configuration", path_or_base64,
                                    "give the path of a JSON file, or its content in URL-safe base64"}});
  }
  try {
    return read_deepspeed_text(base::read_file(path_or_base64), path_or_base64, options);
  } catch (const base::UserError& error) {
    return failed(path_or_base64, error.problems());
  }
}

}  // namespace athanor::config
