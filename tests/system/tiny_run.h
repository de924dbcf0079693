// A training run of the shipped worker that takes a second: a model of 20,000 parameters from scratch on a few sentences.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/random.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace athanor::testing {

class TinyRun {
 public:
  TinyRun() {
    folder_.write("config.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 264,
      "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
      "max_position_embeddings": 64, "initializer_range": 0.08, "rms_norm_eps": 1e-6, "bos_token_id": 256, "eos_token_id": 257,
      "pad_token_id": 258, "tie_word_embeddings": false, "torch_dtype": "float32"})");
    folder_.write("train.jsonl", sentences(22, 1));
    folder_.write("validation.jsonl", sentences(5, 2));
  }

  std::string path(const std::string& name) const { return folder_.file(name); }

  // The worker's command line: ten steps over two epochs of six, the last of an epoch with one micro-batch instead of two.
  // `more` is flag, value, flag, value, ...; what it names replaces what stands here, and an empty
  // value leaves the flag out.
  std::vector<std::string> command(const std::string& output, const std::vector<std::string>& more = {}) const {
    std::map<std::string, std::string> flags = {{"--config_name", path("config.json")},
                                                {"--tokenizer_name", "bytes"},
                                                {"--train_file", path("train.jsonl")},
                                                {"--output_dir", path(output)},
                                                {"--cache_dir", path("cache")},
                                                {"--model_max_length", "64"},
                                                {"--per_device_train_batch_size", "2"},
                                                {"--gradient_accumulation_steps", "2"},
                                                {"--max_steps", "10"},
                                                {"--learning_rate", "1e-2"},
                                                {"--lr_scheduler_type", "cosine"},
                                                {"--warmup_steps", "3"},
                                                {"--weight_decay", "0.1"},
                                                {"--logging_steps", "2"},
                                                {"--save_strategy", "no"},
                                                {"--report_to", "none"},
                                                {"--disable_tqdm", "true"}};
    for (std::size_t i = 0; i + 1 < more.size(); i += 2) flags[more[i]] = more[i + 1];
    std::vector<std::string> words = {std::string(ATHANOR_BIN_DIR) + "/athanor-engine", "train"};
    for (const auto& [flag, value] : flags) {
      if (!value.empty()) words.insert(words.end(), {flag, value});
    }
    return words;
  }

  ProgramOutcome train(const std::string& output, const std::vector<std::string>& more = {},
                       const std::string& fault = "") const {
    return run_program(command(output, more), options(fault));
  }

  static ProgramOptions options(const std::string& fault = "") {
    ProgramOptions options;
    options.environment = {{"OMP_NUM_THREADS", "1"}, {"ATHANOR_FAULT", fault}};
    return options;
  }

  // The final weights, bit for bit.
  std::string weights(const std::string& output) const { return base::read_file(path(output) + "/model.safetensors"); }

  // The log, without what is measured in seconds.
  std::string history(const std::string& output) const {
    const base::JsonValue state = base::parse_json_file(path(output) + "/trainer_state.json");
    std::string text;
    for (const base::JsonValue& entry : state.find("log_history")->items()) {
      for (const base::JsonMember& member : entry.members()) {
        const bool measured =
            member.key.find("runtime") != std::string::npos || member.key.find("per_second") != std::string::npos;
        if (!measured) text += member.key + " " + member.value.dump() + "  ";
      }
      text += "\n";
    }
    return text;
  }

  std::vector<std::string> checkpoints(const std::string& output) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(output))) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("checkpoint-")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  // Rows of 10 to 90 bytes, so that some are cut at 64.
  static std::string sentences(int num_rows, std::uint64_t seed) {
    base::RandomStream random(seed, 0);
    std::string text;
    for (int row = 0; row < num_rows; ++row) {
      text += "{\"text\": \"";
      for (std::uint64_t n = 10 + random.below(80); n > 0; --n) text += static_cast<char>('a' + random.below(6));
      text += "\"}\n";
    }
    return text;
  }

  TemporaryFolder folder_;
};

}  // namespace athanor::testing
