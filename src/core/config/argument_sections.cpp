#include "core/config/argument_sections.h"

#include <fmt/format.h>

#include "core/config/argument_pairs.h"
#include "core/config/number_text.h"

namespace athanor::config::detail {

std::string expand_home(const std::string& path, const std::string& home_folder) {
  if (home_folder.empty() || (path != "~" && !path.starts_with("~/"))) return path;
  return home_folder + path.substr(1);
}

namespace {

class SectionReader {
 public:
  SectionReader(ValueReader& read, const std::string& home_folder) : read_(read), home_folder_(home_folder) {}

  RunConfig read_all() {
    RunConfig config;
    config.seed = read_.integer("seed");
    config.model = read_model();
    config.data = read_data(config.seed);
    config.batch = read_batch();
    config.length.num_train_epochs = read_.number("num_train_epochs");
    config.length.max_steps = read_.integer("max_steps");
    config.optimizer = read_optimizer(read_);
    config.schedule = read_schedule(read_);
    config.clipping.max_norm = read_.number("max_grad_norm");
    config.precision = read_precision(read_);
    config.recompute_activations = read_.flag("gradient_checkpointing");
    config.neftune_noise_alpha = read_.optional_number("neftune_noise_alpha").value_or(0.0);
    config.logging = read_logging();
    config.evaluation = read_evaluation(config.logging);
    config.checkpoint = read_checkpoint();
    config.device = read_device();
    config.num_threads = static_cast<int>(read_.integer("num_threads"));
    return config;
  }

 private:
  std::string path(const std::string& name) { return expand_home(read_.text(name), home_folder_); }

  std::vector<std::string> paths(const std::string& name) {
    std::vector<std::string> list = read_.list(name);
    for (std::string& entry : list) entry = expand_home(entry, home_folder_);
    return list;
  }

  Interval interval(const std::string& name) {
    const std::string value = read_.choice(name);
    if (value == "steps") return Interval::kSteps;
    if (value == "epoch") return Interval::kEpoch;
    return value == "best" ? Interval::kBest : Interval::kNo;
  }

  void contradiction(const std::string& one, const std::string& other) {
    const auto text = [&](const std::string& name) { return fmt::format("{} ({})", name, read_.where(name)); };
    read_.problem(fmt::format("{} and {} contradict each other", one, other),
                  fmt::format("{} and {}", text(one), text(other)), "keep one of them");
  }

  ModelSource read_model() {
    ModelSource model;
    model.model_name_or_path = path("model_name_or_path");
    model.config_name = path("config_name");
    model.config_overrides = read_pairs(read_, "config_overrides");
    model.tokenizer_name = path("tokenizer_name");
    model.from_scratch = model.model_name_or_path.empty() && !model.config_name.empty();
    return model;
  }

  SamplingStrategy read_sampling() {
    const std::string sampling = read_.choice("train_sampling_strategy");
    const bool grouped = read_.flag("group_by_length");
    if (grouped && read_.given("train_sampling_strategy") && sampling != "group_by_length") {
      contradiction("group_by_length", "train_sampling_strategy");
    }
    if (grouped || sampling == "group_by_length") return SamplingStrategy::kGroupByLength;
    return sampling == "sequential" ? SamplingStrategy::kSequential : SamplingStrategy::kRandom;
  }

  DataConfig read_data(std::int64_t seed) {
    DataConfig data;
    data.train_files = paths("train_file");
    data.validation_files = paths("validation_file");
    data.max_length = read_.optional_integer("model_max_length");
    data.packing = read_.flag("packing") ? PackingMode::kOn : PackingMode::kOff;
    data.sampling = read_sampling();
    data.tokens_per_batch = read_.optional_integer("tokens_per_batch");
    data.text_column = read_.text("text_column");
    data.text_separator = read_.text("text_separator");
    data.chat_template = read_.text("chat_template");
    data.train_on_prompt = read_.flag("train_on_prompt");
    data.add_bos = read_.flag("add_bos");
    data.add_eos = read_.flag("add_eos");
    data.skip_bad_lines = read_.flag("skip_bad_lines");
    data.max_train_samples = read_.optional_integer("max_train_samples");
    data.max_eval_samples = read_.optional_integer("max_eval_samples");
    const std::optional<std::int64_t> data_seed = read_.optional_integer("data_seed");
    if (!data_seed.has_value()) read_.record("data_seed", std::to_string(seed), "auto: seed");
    data.data_seed = data_seed.value_or(seed);
    data.drop_last = read_.flag("dataloader_drop_last");
    data.num_workers = static_cast<int>(read_.integer("dataloader_num_workers"));
    data.cache_dir = path("cache_dir");
    return data;
  }

  BatchConfig read_batch() {
    BatchConfig batch;
    batch.world_size = read_.integer("nproc_per_node");
    batch.micro_batch_size = read_.integer("per_device_train_batch_size");
    batch.accumulation_steps = read_.integer("gradient_accumulation_steps");
    batch.eval_batch_size = read_.integer("per_device_eval_batch_size");
    return batch;
  }

  std::vector<std::string> read_trackers() {
    std::vector<std::string> trackers;
    for (const std::string& name : read_.list("report_to")) {
      if (name == "none" || name == "None") continue;
      if (name == "tensorboard" || name == "all") {
        trackers = {"tensorboard"};
        if (name == "all") read_.note("report_to all: TensorBoard files are written; other trackers are not");
      } else {
        read_.problem(fmt::format("report_to {} is not done", name), read_.where("report_to"),
                      "use tensorboard or none");
      }
    }
    return trackers;
  }

  LoggingConfig read_logging() {
    LoggingConfig logging;
    logging.strategy = interval("logging_strategy");
    logging.steps = read_.number("logging_steps");
    logging.first_step = read_.flag("logging_first_step");
    logging.directory = path("logging_dir");
    logging.report_to = read_trackers();
    logging.run_name = read_.text("run_name");
    const std::string count = read_.choice("include_num_input_tokens_seen");
    logging.count_input_tokens = count == "true" ? "all" : count == "false" ? "no" : count;
    logging.disable_progress = read_.flag("disable_tqdm");
    logging.nan_inf_filter = read_.flag("logging_nan_inf_filter");
    return logging;
  }

  EvaluationConfig read_evaluation(const LoggingConfig& logging) {
    EvaluationConfig evaluation;
    evaluation.strategy = interval("eval_strategy");
    evaluation.steps = read_.optional_number("eval_steps").value_or(0.0);
    if (evaluation.steps == 0.0) {
      evaluation.steps = logging.steps;
      if (evaluation.strategy == Interval::kSteps) {
        read_.record("eval_steps", format_number(logging.steps), "auto: logging_steps");
      }
    }
    evaluation.delay = read_.number("eval_delay");
    evaluation.on_start = read_.flag("eval_on_start");
    return evaluation;
  }

  CheckpointConfig read_checkpoint() {
    CheckpointConfig checkpoint;
    checkpoint.output_dir = path("output_dir");
    checkpoint.overwrite_output_dir = read_.flag("overwrite_output_dir");
    checkpoint.strategy = interval("save_strategy");
    checkpoint.save_steps = read_.number("save_steps");
    checkpoint.save_total_limit = read_.optional_integer("save_total_limit");
    checkpoint.save_only_model = read_.flag("save_only_model");
    const std::string resume = path("resume_from_checkpoint");
    const std::optional<bool> asks_for_newest = parse_switch(resume);
    checkpoint.resume_from = asks_for_newest.has_value() ? (*asks_for_newest ? "true" : "") : resume;
    checkpoint.load_best_at_end = read_.flag("load_best_model_at_end");
    read_best_metric(checkpoint);
    return checkpoint;
  }

  void read_best_metric(CheckpointConfig& checkpoint) {
    checkpoint.metric_for_best = read_.text("metric_for_best_model");
    if (checkpoint.load_best_at_end && checkpoint.metric_for_best.empty()) {
      checkpoint.metric_for_best = "loss";
      read_.record("metric_for_best_model", "loss", "auto: load_best_model_at_end");
    }
    checkpoint.greater_is_better = read_.optional_flag("greater_is_better");
    if (checkpoint.greater_is_better.has_value() || checkpoint.metric_for_best.empty()) return;
    checkpoint.greater_is_better = !checkpoint.metric_for_best.ends_with("loss");
    read_.record("greater_is_better", *checkpoint.greater_is_better ? "true" : "false", "auto: metric_for_best_model");
  }

  DeviceKind read_device() {
    const std::string device = read_.choice("device");
    const bool use_cpu = read_.flag("use_cpu");
    if (use_cpu && device == "cuda") contradiction("use_cpu", "device");
    if (use_cpu || device == "cpu") return DeviceKind::kCpu;
    return device == "cuda" ? DeviceKind::kCuda : DeviceKind::kAuto;
  }

  ValueReader& read_;
  const std::string& home_folder_;
};

}  // namespace

RunConfig read_sections(ValueReader& read, const std::string& home_folder) {
  return SectionReader(read, home_folder).read_all();
}

}  // namespace athanor::config::detail
