#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "programs/athanor/command.h"

namespace athanor::command {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"train", "train a model from flags, a run file and a DeepSpeed JSON",
       "usage: athanor train [run.yaml | run.json] [--ARGUMENT VALUE ...]\n\n"
       "Takes Hugging Face TrainingArguments' names, as flags or in a YAML or JSON run file; flags win. A DeepSpeed "
       "JSON\n"
       "goes to --deepspeed. `athanor explain NAME` says what an argument does.\n\n"
       "what is needed\n"
       "  --model_name_or_path FOLDER     a local Hugging Face folder; or --config_name config.json to begin from "
       "scratch\n"
       "  --train_file FILE ...           .jsonl, .json, .txt, .bin/.idx, globs (also spelt --data_path)\n"
       "  --output_dir FOLDER\n"
       "what is often set\n"
       "  --per_device_train_batch_size 8   --gradient_accumulation_steps 1   --max_steps N | --num_train_epochs 3\n"
       "  --learning_rate 5e-5   --lr_scheduler_type linear   --warmup_steps 0   --weight_decay 0   --max_grad_norm 1\n"
       "  --bf16 | --fp16 | --mixed_precision auto   --gradient_checkpointing   --packing   --model_max_length N\n"
       "  --validation_file FILE --eval_strategy steps --eval_steps N   --save_steps 500 --save_total_limit N\n"
       "  --resume_from_checkpoint true   --report_to tensorboard   --deepspeed ds.json\n\n"
       "examples\n"
       "  athanor train examples/quickstart/run.yaml\n"
       "  athanor train run.yaml --learning_rate 1e-5 --output_dir out2\n"
       "  athanor train --model_name_or_path deepseek-coder-1.3b --data_path rows.jsonl --output_dir out --bf16 true "
       "\\\n"
       "      --deepspeed ds_config_zero3.json\n\n"
       "SIGTERM and SIGINT finish the step, save a checkpoint and exit with code 6.",
       run_train},
      {"config", "show or check a configuration without touching a model",
       "usage: athanor config show  [run.yaml] [--ARGUMENT VALUE ...] [--json]\n"
       "       athanor config check [run.yaml] [--ARGUMENT VALUE ...]\n\n"
       "show prints every resolved value and where it came from: file:line, flag, default, or auto and why.\n"
       "check prints what is wrong and exits with 2, or says that it is in order.\n\n"
       "examples\n"
       "  athanor config show run.yaml --deepspeed ds.json --nproc_per_node 8\n"
       "  athanor config check --deepspeed ds.json",
       run_config},
      {"explain", "say what an argument or a DeepSpeed key means",
       "usage: athanor explain NAME ... | athanor explain --list\n\n"
       "Prints meaning, default, range, source, what else it touches, and whether it is done here.\n\n"
       "examples\n"
       "  athanor explain warmup_steps\n"
       "  athanor explain zero_optimization.stage\n"
       "  athanor explain --list",
       run_explain},
      {"lr", "draw a learning-rate schedule before training",
       "usage: athanor lr [run.yaml] [--ARGUMENT VALUE ...] [--svg FILE] [--csv | --json]\n\n"
       "Draws the schedule of a run as text, or as SVG. The run's length is max_steps.\n\n"
       "examples\n"
       "  athanor lr --lr_scheduler_type cosine --max_steps 100 --warmup_steps 10 --learning_rate 1e-3\n"
       "  athanor lr run.yaml --max_steps 1000 --deepspeed ds.json --svg lr.svg",
       run_lr},
      {"tokenize", "show token ids and pieces; build .bin/.idx files",
       "usage: athanor tokenize --tokenizer FOLDER [TEXT ...] [--file FILE] [--json] [--decode] "
       "[--add_special_tokens]\n"
       "       athanor tokenize build --tokenizer FOLDER --output PREFIX FILE ...\n\n"
       "FOLDER holds tokenizer.json; `bytes` is the built-in byte tokenizer. Without TEXT and --file standard input is "
       "read.\n"
       "--decode takes ids in place of text.\n\n"
       "build writes PREFIX.bin and PREFIX.idx from .jsonl, .json and .txt files (globs too), in parallel; the pair "
       "appears\n"
       "whole or not at all. It puts BOS and EOS where training does.\n"
       "  --text_column text   --no_bos   --no_eos   --skip_bad_lines   --num_workers N (every core)\n\n"
       "examples\n"
       "  athanor tokenize --tokenizer model \"Hello, world!\"\n"
       "  athanor tokenize --tokenizer bytes --json < poem.txt\n"
       "  athanor tokenize --tokenizer model --decode 19923 14 2058 3\n"
       "  athanor tokenize build --tokenizer model --output data/train a.jsonl b.txt",
       run_tokenize},
      {"generate", "continue a text with a trained model",
       "usage: athanor generate MODEL --prompt TEXT [--max_new_tokens 128] [--temperature T] [--top_p P] [--seed N]\n\n"
       "Without --temperature the most likely token is taken (greedy). MODEL is an output_dir, a checkpoint or any "
       "folder\n"
       "with config.json, safetensors and a tokenizer. --prompt - reads standard input.\n"
       "  --tokenizer_name FOLDER    another tokenizer than the model's\n"
       "  --precision fp32 | bf16 | fp16   --device cpu | cuda   --num_threads N\n"
       "  --ignore_eos               go on behind the end of the text\n"
       "  --prompt_ids 1,15,27       token ids in place of text    --output_ids   show ids; with both no tokenizer is "
       "read\n\n"
       "examples\n"
       "  athanor generate runs/quickstart --prompt \"Once\" --temperature 0.8 --top_p 0.95 --seed 7\n"
       "  athanor generate out/checkpoint-500 --prompt \"def add(a, b):\" --max_new_tokens 64",
       run_generate},
      {"completion", "print shell completion",
       "usage: athanor completion bash | zsh\n\n"
       "examples\n"
       "  source <(athanor completion bash)\n"
       "  athanor completion zsh > ~/.zfunc/_athanor",
       run_completion},
  };
  return all;
}

void print_usage(const Command& command) {
  fmt::print("athanor {}: {}\n\n{}\n", command.name, command.summary, command.usage);
}

bool CommandLine::take_switch(const std::string& flag) {
  const auto found = std::find(words.begin(), words.end(), flag);
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

std::string CommandLine::take_value(const std::string& flag) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].rfind(flag + "=", 0) == 0) {
      const std::string value = words[i].substr(flag.size() + 1);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      return value;
    }
    if (words[i] != flag) continue;
    if (i + 1 == words.size()) throw base::UserError(flag + " has no value", flag, "write " + flag + " VALUE");
    const std::string value = words[i + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return value;
  }
  return "";
}

}  // namespace athanor::command
