// `athanor config show` and `athanor config check`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/config/resolution.h"
#include "programs/athanor/command.h"
#include "programs/athanor/run_checks.h"

namespace athanor::command {

namespace {

// A configuration can be looked at before model, data and output are known.
bool concerns_the_run(const base::Problem& problem) {
  for (const char* rule : {"C001", "C002", "C003"}) {
    if (problem.what.starts_with(rule)) return true;
  }
  return false;
}

constexpr int kValueColumns = 36;

// Padded to kValueColumns, or cut to them; wide characters count twice.
std::string in_column(const std::string& text) {
  std::string shown;
  int columns = 0;
  const bool fits = base::display_width(text) <= kValueColumns;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    base::decode_utf8(text, at);
    const std::string character = text.substr(begin, at - begin);
    const int width = base::display_width(character);
    if (!fits && columns + width > kValueColumns - 3) {
      shown += "...";
      columns += 3;
      break;
    }
    shown += character;
    columns += width;
  }
  return shown + std::string(static_cast<std::size_t>(std::max(0, kValueColumns - columns)), ' ');
}

void print_table(const config::Resolution& resolution) {
  std::size_t name_columns = 4;
  for (const config::ResolvedValue& value : resolution.values) name_columns = std::max(name_columns, value.name.size());
  for (const config::ResolvedValue& value : resolution.values) {
    fmt::print("{:<{}}  {}  {}{}\n", value.name, name_columns, in_column(value.value), value.origin,
               value.beat.empty() ? "" : ", over " + value.beat);
  }
}

base::JsonValue list_of(const std::vector<std::string>& texts) {
  base::JsonValue list = base::JsonValue::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

void print_json(const config::Resolution& resolution, const std::vector<base::Problem>& problems) {
  base::JsonValue json = base::JsonValue::object();
  json.set("values", config::resolution_to_json(resolution));
  json.set("notes", list_of(resolution.notes));
  base::JsonValue list = base::JsonValue::array();
  for (const base::Problem& problem : problems) {
    base::JsonValue row = base::JsonValue::object();
    row.set("what", problem.what);
    row.set("where", problem.where);
    row.set("remedy", problem.remedy);
    list.push_back(std::move(row));
  }
  json.set("problems", std::move(list));
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

config::Resolution resolve_words(const std::vector<std::string>& words) {
  config::ResolveOptions options;
  if (const char* home = std::getenv("HOME")) options.home_folder = home;
  return config::resolve(config::read_arguments(words), options);
}

std::vector<base::Problem> problems_of_settings(const config::Resolution& resolution) {
  std::vector<base::Problem> problems;
  for (const base::Problem& problem : resolution.problems) {
    if (!concerns_the_run(problem)) problems.push_back(problem);
  }
  return problems;
}

int run_config(CommandLine line) {
  const std::string action = line.words.empty() ? "" : line.words.front();
  if (action != "show" && action != "check") {
    throw base::UserError(action.empty() ? "config needs an action" : fmt::format("config does not know {}", action),
                          "the command line", "write `athanor config show ...` or `athanor config check ...`");
  }
  line.words.erase(line.words.begin());
  const bool as_json = line.take_switch("--json");
  const config::Resolution resolution = resolve_words(line.words);
  std::vector<base::Problem> problems = problems_of_settings(resolution);
  if (problems.empty()) problems = problems_of_schedule(resolution.config);
  if (as_json) {
    print_json(resolution, problems);
  } else {
    if (action == "show") print_table(resolution);
    for (const std::string& note : resolution.notes) fmt::print("note: {}\n", note);
  }
  if (!problems.empty()) throw base::UserError(problems);
  if (action == "check" && !as_json) fmt::print("the configuration is in order\n");
  return 0;
}

}  // namespace athanor::command
