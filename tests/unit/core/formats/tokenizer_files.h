// Tokenizer files that the tests read: fetched ones under .deps/tokenizers, small ones under tests/parity/tokenizer/small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/formats/pre_tokenizer.h"
#include "core/formats/tokenizer.h"

namespace athanor::formats::testing {

// A folder with DeepSeek's tokenizer.json: "v2", "v3" or "v4". A missing one is a failure, not a skip.
inline std::string deepseek_folder(const std::string& generation) {
  const std::string folder = std::string(ATHANOR_SOURCE_DIR) + "/.deps/tokenizers/" + generation;
  if (!std::filesystem::exists(folder + "/tokenizer.json")) {
    throw std::runtime_error(folder + " is missing: run scripts/fetch-tokenizers");
  }
  return folder;
}

// Sanitizers make every step many times slower: loops over random cases do this share of them then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kShare = 10;
#else
inline constexpr int kShare = 1;
#endif

// Loaded once for all tests.
inline const Tokenizer& deepseek(const std::string& generation) {
  static std::map<std::string, Tokenizer> loaded;
  auto found = loaded.find(generation);
  if (found == loaded.end()) found = loaded.emplace(generation, Tokenizer::load(deepseek_folder(generation))).first;
  return found->second;
}

inline std::string parity_file(const std::string& name) {
  return std::string(ATHANOR_SOURCE_DIR) + "/tests/parity/tokenizer/" + name;
}

inline const std::vector<std::string>& small_pipelines() {
  static const std::vector<std::string> kNames = {"llama3",       "qwen2",     "deepseek_coder", "gpt2",
                                                  "prefix_space", "behaviors", "whole"};
  return kNames;
}

// "v2" and the like, or the name of a small pipeline.
inline std::string tokenizer_path(const std::string& name) {
  return name.size() == 2 ? deepseek_folder(name) + "/tokenizer.json" : parity_file("small/" + name + ".json");
}

// The pre-tokenizer alone: "model", nearly the whole file, stands last and is left out.
inline PreTokenizer read_pre_tokenizer(const std::string& name, PreTokenizerEngine engine) {
  const std::string content = base::read_file(tokenizer_path(name));
  std::string head = content.substr(0, content.find("\"model\": {"));
  head.erase(head.rfind(','));
  const base::JsonValue root = base::parse_json(head + "}", name);
  base::Problems problems;
  PreTokenizer out(*root.find("pre_tokenizer"), name, problems, engine);
  problems.throw_if_any();
  return out;
}

inline std::vector<base::JsonValue> read_json_lines(const std::string& path) {
  const std::string text = base::read_file(path);
  std::vector<base::JsonValue> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(base::parse_json(std::string_view(text).substr(begin, end - begin), path));
    begin = end + 1;
  }
  return out;
}

inline std::vector<std::int32_t> ids_of(const base::JsonValue& value) {
  std::vector<std::int32_t> out;
  for (const base::JsonValue& item : value.items()) out.push_back(static_cast<std::int32_t>(item.as_integer()));
  return out;
}

inline std::vector<std::string> texts_of(const base::JsonValue& value) {
  std::vector<std::string> out;
  for (const base::JsonValue& item : value.items()) out.push_back(item.as_string());
  return out;
}

}  // namespace athanor::formats::testing
