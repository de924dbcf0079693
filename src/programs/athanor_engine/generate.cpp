// `athanor-engine generate MODEL --prompt TEXT`: continues a text on standard output as it comes.
#include "engine/trainer/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>

#include "core/base/nearest.h"
#include "programs/athanor_engine/engine_command.h"

namespace athanor::engine_program {

namespace {

template <typename Number>
Number parse(const std::string& flag, const std::string& text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    throw base::UserError(fmt::format("a number is wanted, not \"{}\"", text), flag,
                          fmt::format("write {} NUMBER", flag));
  }
  return number;
}

std::string read_standard_input() {
  std::string text;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) text.append(buffer, got);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

using Setter = std::function<void(const std::string& flag, const std::string& value)>;

std::vector<std::int32_t> parse_ids(const std::string& flag, const std::string& text) {
  std::vector<std::int32_t> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    ids.push_back(parse<std::int32_t>(flag, text.substr(at, comma - at)));
    at = comma + 1;
  }
  return ids;
}

bool parse_switch(const std::string& flag, const std::string& value) {
  if (value == "true" || value == "True") return true;
  if (value == "false" || value == "False") return false;
  throw base::UserError(fmt::format("true or false is wanted, not \"{}\"", value), flag,
                        fmt::format("write {} or {} false", flag, flag));
}

bool is_switch(const std::string& flag) { return flag == "--output_ids" || flag == "--ignore_eos"; }

std::map<std::string, Setter> setters(trainer::GenerateRequest& request) {
  const auto choose_precision = [&](const std::string& flag, const std::string& value) {
    if (value == "fp32") request.precision = config::Precision::kFloat32;
    if (value == "bf16") request.precision = config::Precision::kBfloat16;
    if (value == "fp16") request.precision = config::Precision::kFloat16;
    if (!request.precision) throw base::UserError("unknown precision " + value, flag, "use fp32, bf16 or fp16");
  };
  const auto choose_device = [&](const std::string& flag, const std::string& value) {
    if (value != "cpu" && value != "cuda") throw base::UserError("unknown device " + value, flag, "use cpu or cuda");
    request.device = value == "cpu" ? config::DeviceKind::kCpu : config::DeviceKind::kCuda;
  };
  return {
      {"--model", [&](const std::string&, const std::string& value) { request.model_path = value; }},
      {"--prompt", [&](const std::string&,
                       const std::string& value) { request.prompt = value == "-" ? read_standard_input() : value; }},
      {"--prompt_ids", [&](const std::string& f, const std::string& v) { request.prompt_ids = parse_ids(f, v); }},
      {"--output_ids", [&](const std::string& f, const std::string& v) { request.output_ids = parse_switch(f, v); }},
      {"--ignore_eos", [&](const std::string& f, const std::string& v) { request.ignore_eos = parse_switch(f, v); }},
      {"--tokenizer_name", [&](const std::string&, const std::string& value) { request.tokenizer_path = value; }},
      {"--max_new_tokens",
       [&](const std::string& f, const std::string& v) { request.max_new_tokens = parse<std::int64_t>(f, v); }},
      {"--temperature",
       [&](const std::string& f, const std::string& v) { request.sampling.temperature = parse<double>(f, v); }},
      {"--top_p", [&](const std::string& f, const std::string& v) { request.sampling.top_p = parse<double>(f, v); }},
      {"--seed", [&](const std::string& f, const std::string& v) { request.seed = parse<std::uint64_t>(f, v); }},
      {"--num_threads", [&](const std::string& f, const std::string& v) { request.num_threads = parse<int>(f, v); }},
      {"--precision", choose_precision},
      {"--device", choose_device},
  };
}

[[noreturn]] void refuse_flag(const std::string& flag, const std::map<std::string, Setter>& known) {
  std::vector<std::string> names;
  for (const auto& [name, setter] : known) names.push_back(name);
  const std::optional<std::string> nearest = base::nearest_name(flag, names);
  throw base::UserError("unknown argument " + flag, "the command line",
                        nearest ? fmt::format("did you mean {}?", *nearest) : "see `athanor generate --help`");
}

trainer::GenerateRequest read_request(const std::vector<std::string>& words) {
  trainer::GenerateRequest request;
  const std::map<std::string, Setter> known = setters(request);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      if (!request.model_path.empty())
        throw base::UserError("a second model: " + words[i], "the command line", "name one model");
      request.model_path = words[i];
      continue;
    }
    const std::size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    const auto setter = known.find(flag);
    if (setter == known.end()) refuse_flag(flag, known);
    const bool value_follows = i + 1 < words.size() && !words[i + 1].starts_with("--");
    if (equals == std::string::npos && is_switch(flag) && !value_follows) {
      setter->second(flag, "true");
      continue;
    }
    if (equals == std::string::npos && i + 1 == words.size()) {
      throw base::UserError("a value is missing", flag, fmt::format("write {} VALUE", flag));
    }
    setter->second(flag, equals == std::string::npos ? words[++i] : words[i].substr(equals + 1));
  }
  if (request.model_path.empty()) {
    throw base::UserError("no model is named", "the command line", "write `athanor generate MODEL --prompt TEXT`");
  }
  return request;
}

}  // namespace

int run_generate(const std::vector<std::string>& words) {
  const trainer::GenerateRequest request = read_request(words);
  const trainer::Generated generated = trainer::generate(request, [](const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
  std::fputc('\n', stdout);
  std::fflush(stdout);  // before the line to standard error, which is not buffered
  const double speed = static_cast<double>(generated.num_new_tokens) / std::max(generated.seconds, 1e-9);
  fmt::print(stderr, "{} tokens, {:.1f} tokens/s{}\n", generated.num_new_tokens, speed,
             generated.end == trainer::GenerateEnd::kEndOfText ? ", to the end of the text" : "");
  return generated.end == trainer::GenerateEnd::kInterrupted ? static_cast<int>(base::ExitCode::kInterrupted) : 0;
}

}  // namespace athanor::engine_program
