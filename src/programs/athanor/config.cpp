// `athanor config show` and `athanor config check`.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/config/resolution.h"
#include "programs/athanor/command.h"

namespace athanor::command {

namespace {

// A configuration can be looked at before model, data and output are known.
bool concerns_the_run(const base::Problem& problem) {
  for (const char* rule : {"C001", "C002", "C003"}) {
    if (problem.what.rfind(rule, 0) == 0) return true;
  }
  return false;
}

std::string shortened(const std::string& text, std::size_t columns) {
  return text.size() <= columns ? text : text.substr(0, columns - 3) + "...";
}

void print_table(const config::Resolution& resolution) {
  std::size_t name_columns = 4;
  for (const config::ResolvedValue& value : resolution.values) name_columns = std::max(name_columns, value.name.size());
  constexpr std::size_t kValueColumns = 36;
  for (const config::ResolvedValue& value : resolution.values) {
    fmt::print("{:<{}}  {:<{}}  {}{}\n", value.name, name_columns, shortened(value.value, kValueColumns), kValueColumns,
               value.origin, value.beat.empty() ? "" : ", over " + value.beat);
  }
}

void print_json(const config::Resolution& resolution) {
  base::JsonValue json = base::JsonValue::object();
  json.set("values", config::resolution_to_json(resolution));
  base::JsonValue notes = base::JsonValue::array();
  for (const std::string& note : resolution.notes) notes.push_back(note);
  json.set("notes", std::move(notes));
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

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
  const config::Resolution resolution = config::resolve(config::read_arguments(line.words));
  const std::vector<base::Problem> problems = problems_of_settings(resolution);
  if (!problems.empty()) throw base::UserError(problems);
  if (action == "show" && as_json) {
    print_json(resolution);
    return 0;
  }
  if (action == "show") print_table(resolution);
  for (const std::string& note : resolution.notes) fmt::print("note: {}\n", note);
  if (action == "check") fmt::print("the configuration is in order\n");
  return 0;
}

}  // namespace athanor::command
