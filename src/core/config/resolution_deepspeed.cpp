#include "core/config/resolution_deepspeed.h"

#include <fmt/format.h>

#include "core/config/argument_sections.h"
#include "core/config/deepspeed_batch.h"
#include "core/config/resolution_agreement.h"

namespace athanor::config::detail {

namespace {

class Merger {
 public:
  Merger(const DeepSpeedReading& reading, ValueReader& read, RunConfig& config)
      : agreement_(reading, read), deepspeed_(reading.config), reading_(reading), read_(read), config_(config) {}

  void merge() {
    merge_precision();
    merge_batch();
    merge_clipping();
    merge_step(agreement_, config_);
    merge_zero();
    merge_drop_last();
    merge_tensorboard();
    agreement_.note_taken();
  }

 private:
  // Which argument speaks of bf16 or fp16.
  std::string precision_argument(const std::string& name) const {
    return !read_.given(name) && read_.given("mixed_precision") ? "mixed_precision" : name;
  }

  bool merge_switch(const std::string& name, const Setting<bool>& setting, bool ours) {
    const std::string argument = precision_argument(name);
    // transformers fills "auto" with (bf16 or bf16_full_eval).
    if (setting.is_auto && !ours && read_.given(name + "_full_eval") && read_.flag(name + "_full_eval")) {
      agreement_.fill(name + ".enabled", "true", name + "_full_eval");
      return true;
    }
    if (config_.precision.automatic && setting.is_auto) {
      read_.record(name + ".enabled", "from the hardware at start", "auto: mixed_precision auto");
      return false;
    }
    if (argument == "mixed_precision" && setting.value.has_value() &&
        (config_.precision.automatic || *setting.value != ours)) {
      agreement_.contradict(name + ".enabled", text_of(*setting.value), setting.where, argument,
                            read_.value_of("mixed_precision"));
      return ours;
    }
    return agreement_.agree(name + ".enabled", setting, argument, ours);
  }

  template <typename T>
  std::string place_or(const Setting<T>& setting, const std::string& argument) const {
    return setting.where.empty() ? read_.where(argument) : setting.where;
  }

  void merge_precision() {
    PrecisionConfig& precision = config_.precision;
    const std::size_t num_problems = read_.num_problems();
    const bool bf16 = merge_switch("bf16", deepspeed_.bf16.enabled, precision.compute == Precision::kBfloat16);
    const bool fp16 = merge_switch("fp16", deepspeed_.fp16.enabled, precision.compute == Precision::kFloat16);
    if (bf16 && fp16 && read_.num_problems() == num_problems) {
      read_.problem("bf16 and fp16 are both on, with what the DeepSpeed file and the arguments say together",
                    fmt::format("{} and {}", place_or(deepspeed_.bf16.enabled, precision_argument("bf16")),
                                place_or(deepspeed_.fp16.enabled, precision_argument("fp16"))),
                    "keep one of them (bf16 needs no loss scaling)");
    }
    precision.compute = bf16 ? Precision::kBfloat16 : fp16 ? Precision::kFloat16 : Precision::kFloat32;
    const DeepSpeedAutocast& autocast = deepspeed_.torch_autocast;
    if (autocast.enabled.value_or(false) && !bf16 && !fp16) {
      precision.compute = autocast.dtype.value_or(Precision::kBfloat16);
      read_.record("torch_autocast.enabled", "true", autocast.enabled.where);
    }
    precision.scaler = deepspeed_.fp16.scaler();
    precision.skip_non_finite_steps = deepspeed_.bf16.check_grad_overflow.value_or(true);
  }

  void merge_batch() {
    BatchConfig& batch = config_.batch;
    const DeepSpeedBatch& theirs = deepspeed_.batch;
    if (deepspeed_.data_parallel_size.value.value_or(batch.world_size) != batch.world_size) {
      read_.problem(fmt::format("data_parallel_size is {}, and there are {} processes",
                                *deepspeed_.data_parallel_size.value, batch.world_size),
                    deepspeed_.data_parallel_size.where, "leave it out, or start as many processes");
    }
    // With a total in the JSON, what nobody wrote follows from it; else the arguments' values hold.
    const bool solves = theirs.train_batch_size.value.has_value();
    const auto one = [&](const char* key, const Setting<std::int64_t>& setting, const char* argument,
                         std::int64_t ours) -> std::optional<std::int64_t> {
      if (solves && !setting.value.has_value() && !read_.given(argument)) return std::nullopt;
      return agreement_.agree(key, setting, argument, ours);
    };
    const BatchSizeInputs inputs{.train = theirs.train_batch_size.value,
                                 .micro = one("train_micro_batch_size_per_gpu", theirs.train_micro_batch_size_per_gpu,
                                              "per_device_train_batch_size", batch.micro_batch_size),
                                 .accumulation = one("gradient_accumulation_steps", theirs.gradient_accumulation_steps,
                                                     "gradient_accumulation_steps", batch.accumulation_steps),
                                 .world_size = batch.world_size};
    const base::Result<BatchSizes> solved = solve_batch_sizes(inputs);
    if (!solved.ok()) {
      read_.problem(solved.error().what, batch_places(), solved.error().remedy);
      return;
    }
    const BatchSizes& sizes = solved.value();
    batch.micro_batch_size = sizes.micro;
    batch.accumulation_steps = sizes.accumulation;
    if (!solves) return;
    read_.record("train_batch_size", text_of(sizes.train), theirs.train_batch_size.where);
    const std::string origin = fmt::format("auto: train_batch_size ({})", theirs.train_batch_size.where);
    if (!inputs.micro) read_.record("per_device_train_batch_size", text_of(sizes.micro), origin);
    if (!inputs.accumulation) read_.record("gradient_accumulation_steps", text_of(sizes.accumulation), origin);
  }

  // Everything that takes part in the batch relation and was written by somebody.
  std::string batch_places() const {
    const DeepSpeedBatch& theirs = deepspeed_.batch;
    std::vector<std::string> places;
    for (const auto* setting :
         {&theirs.train_batch_size, &theirs.train_micro_batch_size_per_gpu, &theirs.gradient_accumulation_steps}) {
      if (setting->value.has_value()) places.push_back(setting->where);
    }
    for (const char* argument : {"per_device_train_batch_size", "gradient_accumulation_steps", "nproc_per_node"}) {
      if (read_.given(argument)) places.push_back(read_.where(argument));
    }
    return places.empty() ? reading_.name : fmt::format("{}", fmt::join(places, ", "));
  }

  void merge_clipping() {
    double& max_norm = config_.clipping.max_norm;
    max_norm = agreement_.agree("gradient_clipping", deepspeed_.gradient_clipping, "max_grad_norm", max_norm);
    if (deepspeed_.gradient_clipping.given() || max_norm == kDeepSpeedDefaultGradientClipping) return;
    read_.note(
        fmt::format("max_grad_norm {} ({}) is used; DeepSpeed would clip at {}, its default, because the file has "
                    "no gradient_clipping",
                    text_of(max_norm), read_.where("max_grad_norm"), text_of(kDeepSpeedDefaultGradientClipping)));
  }

  void merge_zero() {
    const DeepSpeedZero& zero = deepspeed_.zero_optimization;
    const auto on_cpu = [](const Setting<OffloadDevice>& device) {
      return device.value_or(OffloadDevice::kNone) == OffloadDevice::kCpu;
    };
    config_.zero.stage = static_cast<int>(zero.stage.value_or(0));
    config_.zero.offload_optimizer = on_cpu(zero.offload_optimizer_device);
    config_.zero.offload_parameters = on_cpu(zero.offload_param_device);
    read_.record("zero_optimization.stage", std::to_string(config_.zero.stage),
                 zero.stage.where.empty() ? "default" : zero.stage.where);
    const bool offloads = config_.zero.offload_optimizer || config_.zero.offload_parameters;
    if (config_.batch.world_size == 1 && (config_.zero.stage > 0 || offloads)) {
      read_.note(fmt::format("ZeRO stage {}{}: with one process there is nothing to shard{}; the result is the same",
                             config_.zero.stage, offloads ? " with offload" : "",
                             offloads ? " and nothing is moved" : ""));
    }
    // Their auto values follow from the model; they are hints for communication and change no result.
    record_hint("zero_optimization.reduce_bucket_size", zero.reduce_bucket_size, "hidden_size squared");
    record_hint("zero_optimization.stage3_prefetch_bucket_size", zero.stage3_prefetch_bucket_size,
                "0.9 x hidden_size squared");
    record_hint("zero_optimization.stage3_param_persistence_threshold", zero.stage3_param_persistence_threshold,
                "10 x hidden_size");
  }

  void record_hint(const std::string& key, const Setting<std::int64_t>& setting, const char* rule) {
    if (setting.is_auto) read_.record(key, rule, "auto: from the model's config.json");
    if (setting.value.has_value()) read_.record(key, text_of(*setting.value), setting.where);
  }

  void merge_drop_last() {
    if (!deepspeed_.dataloader_drop_last.given()) return;
    config_.data.drop_last = agreement_.agree("dataloader_drop_last", deepspeed_.dataloader_drop_last,
                                              "dataloader_drop_last", config_.data.drop_last);
  }

  void merge_tensorboard() {
    const DeepSpeedTensorBoard& board = deepspeed_.tensorboard;
    if (!board.enabled.value_or(false)) return;
    const std::string folder = board.output_path.value_or("");
    const std::string job = board.job_name.value_or("DeepSpeedJobName");
    const std::string directory = folder.empty() || folder.ends_with('/') ? folder + job : folder + "/" + job;
    if (read_.given("logging_dir") && config_.logging.directory != directory) {
      read_.problem(fmt::format("the DeepSpeed file writes TensorBoard files to {} and logging_dir is {}", directory,
                                config_.logging.directory),
                    fmt::format("{} and {}", board.enabled.where, read_.where("logging_dir")), "keep one of them");
    }
    config_.logging.report_to = {"tensorboard"};
    config_.logging.directory = directory;
    read_.record("report_to", "tensorboard", board.enabled.where);
    read_.record("logging_dir", directory, board.enabled.where);
  }

  Agreement agreement_;
  const DeepSpeedConfig& deepspeed_;
  const DeepSpeedReading& reading_;
  ValueReader& read_;
  RunConfig& config_;
};

DeepSpeedReading read_configuration(const Argument& argument, const std::string& run_file,
                                    const DeepSpeedMergeOptions& options) {
  const DeepSpeedReadOptions read_options{.unknown_keys = options.unknown_keys};
  if (argument.object.has_value()) return read_deepspeed_value(*argument.object, run_file, read_options);
  const std::string& text = argument.texts.front();
  if (text.starts_with('{')) return read_deepspeed_text(text, "--deepspeed", read_options);
  return read_deepspeed(expand_home(text, options.home_folder), read_options);
}

}  // namespace

void merge_deepspeed(const ArgumentSet& arguments, const DeepSpeedMergeOptions& options, ValueReader& read,
                     RunConfig& config) {
  const Argument* argument = arguments.find("deepspeed");
  if (argument == nullptr || (argument->texts.size() == 1 && argument->texts[0].empty())) {
    read.record("deepspeed", "", "default");
    return;
  }
  if (!argument->object.has_value() && argument->texts.size() != 1) {
    read.problem("deepspeed takes one file", read.where("deepspeed"), "name one file, or base64 of its content");
    return;
  }
  const DeepSpeedReading reading = read_configuration(*argument, arguments.run_file, options);
  read.record("deepspeed", argument->object.has_value() ? "in the run file" : reading.name, argument->place());
  for (const DeepSpeedNote& note : reading.notes) read.note(format_note(note));
  for (const base::Problem& problem : reading.problems) read.problem(problem.what, problem.where, problem.remedy);
  if (reading.problems.empty()) Merger(reading, read, config).merge();
}

}  // namespace athanor::config::detail
