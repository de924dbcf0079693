#include "core/config/resolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/config/argument_fields.h"
#include "core/config/resolution_deepspeed.h"
#include "core/config/rules.h"
#include "core/config/value_reader.h"

namespace athanor::config {

namespace {

using detail::ValueReader;

Interval read_interval(ValueReader& read, const std::string& name) {
  const std::string value = read.choice(name);
  if (value == "steps") return Interval::kSteps;
  if (value == "epoch") return Interval::kEpoch;
  return value == "best" ? Interval::kBest : Interval::kNo;
}

// "a=1,b=2": pairs in order.
std::vector<std::pair<std::string, std::string>> read_pairs(ValueReader& read, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string rest = read.text(name);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string entry = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      read.problem(fmt::format("{} must be key=value pairs, not {}", name, entry), read.where(name),
                   "write key=value,key=value");
      return {};
    }
    pairs.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return pairs;
}

ModelSource read_model(ValueReader& read) {
  ModelSource model;
  model.model_name_or_path = read.text("model_name_or_path");
  model.config_name = read.text("config_name");
  model.config_overrides = read_pairs(read, "config_overrides");
  model.tokenizer_name = read.text("tokenizer_name");
  model.from_scratch = model.model_name_or_path.empty() && !model.config_name.empty();
  return model;
}

DataConfig read_data(ValueReader& read, std::int64_t seed) {
  DataConfig data;
  data.train_files = read.list("train_file");
  data.validation_files = read.list("validation_file");
  data.max_length = read.optional_integer("model_max_length", 2);
  data.packing = read.flag("packing") ? PackingMode::kOn : PackingMode::kOff;
  const std::string sampling = read.choice("train_sampling_strategy");
  const bool grouped = read.flag("group_by_length");
  if (grouped && read.given("train_sampling_strategy") && sampling != "group_by_length") {
    read.problem(fmt::format("group_by_length and train_sampling_strategy {} contradict each other", sampling),
                 read.where("group_by_length"), "keep one of them");
  }
  data.sampling = grouped || sampling == "group_by_length" ? SamplingStrategy::kGroupByLength
                  : sampling == "sequential"               ? SamplingStrategy::kSequential
                                                           : SamplingStrategy::kRandom;
  data.tokens_per_batch = read.optional_integer("tokens_per_batch", 2);
  data.text_column = read.text("text_column");
  data.chat_template = read.text("chat_template");
  data.train_on_prompt = read.flag("train_on_prompt");
  data.add_bos = read.flag("add_bos");
  data.add_eos = read.flag("add_eos");
  data.skip_bad_lines = read.flag("skip_bad_lines");
  data.max_train_samples = read.optional_integer("max_train_samples", 1);
  data.max_eval_samples = read.optional_integer("max_eval_samples", 1);
  data.data_seed = read.optional_integer("data_seed", 0).value_or(seed);
  data.drop_last = read.flag("dataloader_drop_last");
  data.num_workers = static_cast<int>(read.integer("dataloader_num_workers", 0));
  data.cache_dir = read.text("cache_dir");
  return data;
}

struct OptimizerName {
  const char* name;
  OptimizerKind kind;
};
constexpr OptimizerName kOptimizerNames[] = {
    {"adamw_torch_fused", OptimizerKind::kAdamW},
    {"adamw_torch", OptimizerKind::kAdamW},
    {"adamw_hf", OptimizerKind::kAdamW},
    {"adamw", OptimizerKind::kAdamW},
    {"adamw_apex_fused", OptimizerKind::kAdamW},
    {"adam", OptimizerKind::kAdam},
    {"sgd", OptimizerKind::kSgd},
    {"lion", OptimizerKind::kLion},
};

OptimizerKind read_optimizer_kind(ValueReader& read) {
  const std::string name = read.text("optim");
  std::vector<std::string> known;
  for (const OptimizerName& entry : kOptimizerNames) {
    if (name == entry.name) return entry.kind;
    known.emplace_back(entry.name);
  }
  // transformers has many more; they are quantised, paged or need a library of their own.
  const bool is_known_elsewhere = name.find("8bit") != std::string::npos || name.find("paged") != std::string::npos ||
                                  name.rfind("galore", 0) == 0 || name.rfind("apollo", 0) == 0 || name == "adafactor";
  const std::optional<std::string> nearest = base::nearest_name(name, known);
  read.problem(is_known_elsewhere ? fmt::format("the optimizer {} is not done here", name)
                                  : fmt::format("there is no optimizer {}", name),
               read.where("optim"),
               nearest.has_value() && !is_known_elsewhere ? fmt::format("did you mean {}?", *nearest)
                                                          : fmt::format("use one of {}", fmt::join(known, ", ")));
  return OptimizerKind::kAdamW;
}

void read_optimizer_options(ValueReader& read, OptimizerConfig& optimizer) {
  for (const auto& [key, value] : read_pairs(read, "optim_args")) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    const bool is_number = end != value.c_str() && *end == '\0';
    if (optimizer.kind == OptimizerKind::kSgd && key == "momentum" && is_number) {
      optimizer.momentum = number;
    } else if (optimizer.kind == OptimizerKind::kSgd && key == "dampening" && is_number) {
      optimizer.dampening = number;
    } else if (optimizer.kind == OptimizerKind::kSgd && key == "nesterov" && parse_switch(value).has_value()) {
      optimizer.nesterov = *parse_switch(value);
    } else {
      read.problem(fmt::format("optim_args {}={} means nothing to this optimizer", key, value),
                   read.where("optim_args"),
                   "sgd takes momentum, dampening and nesterov; the others have arguments of their own");
    }
  }
}

OptimizerConfig read_optimizer(ValueReader& read) {
  OptimizerConfig optimizer;
  optimizer.kind = read_optimizer_kind(read);
  optimizer.learning_rate = read.number("learning_rate", 0.0);
  optimizer.weight_decay = read.number("weight_decay", 0.0);
  optimizer.beta1 = read.number("adam_beta1", 0.0);
  optimizer.beta2 = read.number("adam_beta2", 0.0);
  optimizer.epsilon = read.number("adam_epsilon", 0.0);
  read_optimizer_options(read, optimizer);
  for (const auto& [name, beta] : {std::pair{"adam_beta1", optimizer.beta1}, {"adam_beta2", optimizer.beta2}}) {
    if (beta >= 1.0)
      read.problem(fmt::format("{} must be below 1, not {}", name, beta), read.where(name), "give a value from 0 to 1");
  }
  return optimizer;
}

ScheduleConfig read_schedule(ValueReader& read) {
  ScheduleConfig schedule;
  schedule.type = read.text("lr_scheduler_type");
  schedule.parameters = read.object("lr_scheduler_kwargs");
  schedule.warmup_steps = read.number("warmup_steps", 0.0);
  schedule.warmup_ratio = read.number("warmup_ratio", 0.0);
  if (schedule.warmup_ratio > 1.0) {
    read.problem(fmt::format("warmup_ratio is {}, the most is 1", schedule.warmup_ratio), read.where("warmup_ratio"),
                 "give a share of the run, e.g. 0.03");
  }
  return schedule;
}

PrecisionConfig read_precision(ValueReader& read) {
  PrecisionConfig precision;
  const bool bf16 = read.flag("bf16");
  const bool fp16 = read.flag("fp16");
  const std::string mixed = read.choice("mixed_precision");
  precision.tf32 = read.optional_flag("tf32").value_or(false);
  if (bf16 && fp16) {
    read.problem("bf16 and fp16 cannot both be on", fmt::format("{} and {}", read.where("bf16"), read.where("fp16")),
                 "keep one of them (bf16 needs no loss scaling)");
  }
  const bool contradicts = (mixed == "no" && (bf16 || fp16)) || (mixed == "bf16" && fp16) || (mixed == "fp16" && bf16);
  if (contradicts) {
    read.problem(fmt::format("mixed_precision {} and {} contradict each other", mixed, bf16 ? "bf16" : "fp16"),
                 fmt::format("{} and {}", read.where("mixed_precision"), read.where(bf16 ? "bf16" : "fp16")),
                 "keep one of them");
  }
  precision.automatic = mixed == "auto";
  if (bf16 || mixed == "bf16") precision.compute = Precision::kBfloat16;
  if (fp16 || mixed == "fp16") precision.compute = Precision::kFloat16;
  return precision;
}

std::vector<std::string> read_report_to(ValueReader& read) {
  std::vector<std::string> trackers;
  for (const std::string& name : read.list("report_to")) {
    if (name == "none") continue;
    if (name == "tensorboard" || name == "all") {
      trackers = {"tensorboard"};
      if (name == "all") read.note("report_to all: TensorBoard files are written; other trackers are not");
    } else {
      read.problem(fmt::format("report_to {} is not done", name), read.where("report_to"), "use tensorboard or none");
    }
  }
  return trackers;
}

LoggingConfig read_logging(ValueReader& read) {
  LoggingConfig logging;
  logging.strategy = read_interval(read, "logging_strategy");
  logging.steps = read.number("logging_steps", 0.0);
  logging.first_step = read.flag("logging_first_step");
  logging.directory = read.text("logging_dir");
  logging.report_to = read_report_to(read);
  logging.run_name = read.text("run_name");
  const std::string count = read.choice("include_num_input_tokens_seen");
  logging.count_input_tokens = count == "true" ? "all" : count == "false" ? "no" : count;
  logging.disable_progress = read.optional_flag("disable_tqdm").value_or(false);
  logging.nan_inf_filter = read.flag("logging_nan_inf_filter");
  return logging;
}

EvaluationConfig read_evaluation(ValueReader& read, const LoggingConfig& logging) {
  EvaluationConfig evaluation;
  evaluation.strategy = read_interval(read, "eval_strategy");
  evaluation.steps = read.optional_number("eval_steps", 0.0).value_or(logging.steps);
  evaluation.delay = read.number("eval_delay", 0.0);
  evaluation.on_start = read.flag("eval_on_start");
  return evaluation;
}

CheckpointConfig read_checkpoint(ValueReader& read) {
  CheckpointConfig checkpoint;
  checkpoint.output_dir = read.text("output_dir");
  checkpoint.overwrite_output_dir = read.flag("overwrite_output_dir");
  checkpoint.strategy = read_interval(read, "save_strategy");
  checkpoint.save_steps = read.number("save_steps", 0.0);
  checkpoint.save_total_limit = read.optional_integer("save_total_limit", 1);
  checkpoint.save_only_model = read.flag("save_only_model");
  const std::string resume = read.text("resume_from_checkpoint");
  const std::optional<bool> resume_switch = parse_switch(resume);
  checkpoint.resume_from = resume_switch.has_value() ? (*resume_switch ? "true" : "") : resume == "None" ? "" : resume;
  checkpoint.load_best_at_end = read.flag("load_best_model_at_end");
  checkpoint.metric_for_best = read.text("metric_for_best_model");
  checkpoint.greater_is_better = read.optional_flag("greater_is_better");
  return checkpoint;
}

DeviceKind read_device(ValueReader& read) {
  const std::string device = read.choice("device");
  const bool use_cpu = read.flag("use_cpu");
  if (use_cpu && device == "cuda") {
    read.problem("use_cpu and device cuda contradict each other", read.where("device"), "keep one of them");
  }
  if (use_cpu || device == "cpu") return DeviceKind::kCpu;
  return device == "cuda" ? DeviceKind::kCuda : DeviceKind::kAuto;
}

// True when a value asks for nothing: the default, or a word that switches off.
bool is_off(const Field& field, const Argument& argument) {
  if (argument.object.has_value()) return argument.object->members().empty();
  for (const std::string& text : argument.texts) {
    if (text == field.default_text || text.empty() || text == "None" || text == "none" || text == "null") continue;
    if (field.default_text != "true" && parse_switch(text) == false) continue;
    return false;
  }
  return true;
}

void judge_known_names(const ArgumentSet& arguments, ValueReader& read) {
  for (const Argument& argument : arguments.arguments) {
    const Field& field = *find_training_field(argument.name);
    if (field.support == Support::kHonoured || is_off(field, argument)) continue;
    if (field.support == Support::kRefused) {
      read.problem(fmt::format("{} is known to Hugging Face and not done here", field.name), read.where(field.name),
                   field.reason);
    } else if (field.name != "do_train" && field.name != "local_rank") {
      read.note(fmt::format("{} ({}) has no effect: {}", field.name, read.where(field.name), field.reason));
    }
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
  config.model = read_model(read);
  config.device = read_device(read);
  config.num_threads = static_cast<int>(read.integer("num_threads", 0));
  config.batch.world_size = options.world_size.value_or(read.integer("nproc_per_node", 1));
  if (options.world_size.has_value() && read.given("nproc_per_node")) read.integer("nproc_per_node", 1);
  config.seed = read.integer("seed", 0);
  config.data = read_data(read, config.seed);
  config.batch.micro_batch_size = read.integer("per_device_train_batch_size", 1);
  config.batch.eval_batch_size = read.integer("per_device_eval_batch_size", 1);
  config.batch.accumulation_steps = read.integer("gradient_accumulation_steps", 1);
  config.length.num_train_epochs = read.number("num_train_epochs", 0.0);
  config.length.max_steps = read.integer("max_steps", -1);
  config.optimizer = read_optimizer(read);
  config.schedule = read_schedule(read);
  config.clipping.max_norm = read.number("max_grad_norm", 0.0);
  config.precision = read_precision(read);
  config.recompute_activations = read.optional_flag("gradient_checkpointing").value_or(false);
  config.neftune_noise_alpha = read.optional_number("neftune_noise_alpha", 0.0).value_or(0.0);
  config.logging = read_logging(read);
  config.evaluation = read_evaluation(read, config.logging);
  config.checkpoint = read_checkpoint(read);
  const bool allow_unknown = read.flag("allow_unknown_keys");
  detail::merge_deepspeed(arguments, allow_unknown ? UnknownKeys::kWarn : UnknownKeys::kRefuse, read, config);
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
