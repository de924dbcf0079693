// Follows transformers' HfTrainerDeepSpeedConfig: "auto" takes the argument, a value must agree with an argument that was given. Where
// nobody gave the argument, the JSON's value is taken and said (transformers compares with the default and stops).
#include "core/config/resolution_deepspeed.h"

#include <fmt/format.h>

#include <cmath>

#include "core/config/deepspeed_batch.h"

namespace athanor::config::detail {

namespace {

std::string text_of(double value) { return format_number(value); }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }

class Merger {
 public:
  Merger(const DeepSpeedReading& reading, ValueReader& read, RunConfig& config)
      : reading_(reading), deepspeed_(reading.config), read_(read), config_(config) {}

  void merge() {
    merge_precision();
    merge_batch();
    merge_clipping();
    merge_optimizer();
    merge_scheduler();
    merge_zero();
    merge_rest();
  }

 private:
  // One value that the JSON and the arguments share. Gives what holds.
  template <typename T>
  T agree(const std::string& key, const Setting<T>& setting, const std::string& argument, T ours) {
    if (setting.is_auto) {
      read_.record(key, text_of(ours), fmt::format("auto: {} ({})", argument, read_.where(argument)));
      return ours;
    }
    if (!setting.value.has_value()) return ours;
    const T theirs = *setting.value;
    read_.record(key, text_of(theirs), setting.where);
    if (theirs == ours) return ours;
    if (read_.given(argument)) {
      read_.problem(
          fmt::format("{} is {} in the DeepSpeed file and {} is {}", key, text_of(theirs), argument, text_of(ours)),
          fmt::format("{} and {}", setting.where, read_.where(argument)),
          fmt::format("write the same value in both, or \"auto\" for {} in the DeepSpeed file", key));
      return ours;
    }
    read_.record(argument, text_of(theirs), setting.where);
    return theirs;
  }

  void merge_precision() {
    const bool bf16 =
        agree("bf16.enabled", deepspeed_.bf16.enabled, "bf16", config_.precision.compute == Precision::kBfloat16);
    const bool fp16 =
        agree("fp16.enabled", deepspeed_.fp16.enabled, "fp16", config_.precision.compute == Precision::kFloat16);
    if (bf16 && fp16) {
      read_.problem("bf16 and fp16 are both on, with what the DeepSpeed file and the arguments say together",
                    fmt::format("{} and {}", place_or(deepspeed_.bf16.enabled, "bf16"),
                                place_or(deepspeed_.fp16.enabled, "fp16")),
                    "keep one of them (bf16 needs no loss scaling)");
    }
    config_.precision.compute = bf16 ? Precision::kBfloat16 : fp16 ? Precision::kFloat16 : Precision::kFloat32;
    if (config_.precision.automatic && (bf16 || fp16)) {
      read_.problem("mixed_precision auto and a precision in the DeepSpeed file contradict each other",
                    read_.where("mixed_precision"),
                    "write \"auto\" for bf16.enabled and fp16.enabled, or leave mixed_precision out");
    }
    if (deepspeed_.torch_autocast.enabled.value_or(false) && !bf16 && !fp16) {
      config_.precision.compute = deepspeed_.torch_autocast.dtype.value_or(Precision::kBfloat16);
      read_.record("torch_autocast.enabled", "true", deepspeed_.torch_autocast.enabled.where);
    }
    config_.precision.scaler = deepspeed_.fp16.scaler();
    config_.precision.skip_non_finite_steps = deepspeed_.bf16.check_grad_overflow.value_or(true);
  }

  template <typename T>
  std::string place_or(const Setting<T>& setting, const std::string& argument) const {
    return setting.where.empty() ? read_.where(argument) : setting.where;
  }

  void merge_batch() {
    BatchConfig& batch = config_.batch;
    const DeepSpeedBatch& theirs = deepspeed_.batch;
    if (deepspeed_.data_parallel_size.value.has_value() && *deepspeed_.data_parallel_size.value != batch.world_size) {
      read_.problem(fmt::format("data_parallel_size is {}, there are {} processes",
                                *deepspeed_.data_parallel_size.value, batch.world_size),
                    deepspeed_.data_parallel_size.where, "leave it out, or start as many processes");
    }
    const std::int64_t micro = agree("train_micro_batch_size_per_gpu", theirs.train_micro_batch_size_per_gpu,
                                     "per_device_train_batch_size", batch.micro_batch_size);
    const std::int64_t accumulation = agree("gradient_accumulation_steps", theirs.gradient_accumulation_steps,
                                            "gradient_accumulation_steps", batch.accumulation_steps);
    BatchSizeInputs inputs;
    inputs.world_size = batch.world_size;
    inputs.train = theirs.train_batch_size.value;
    // With a total in the JSON, what nobody wrote follows from it; else the arguments' values hold.
    const bool solves = inputs.train.has_value();
    const auto fixed = [&](const Setting<std::int64_t>& setting, const char* argument) {
      return setting.given() || read_.given(argument) || !solves;
    };
    if (fixed(theirs.train_micro_batch_size_per_gpu, "per_device_train_batch_size")) inputs.micro = micro;
    if (fixed(theirs.gradient_accumulation_steps, "gradient_accumulation_steps")) inputs.accumulation = accumulation;
    const base::Result<BatchSizes> solved = solve_batch_sizes(inputs);
    if (!solved.ok()) {
      base::Problem problem = solved.error();
      problem.where = solves ? theirs.train_batch_size.where : reading_.name;
      read_.problem(problem.what, problem.where, problem.remedy);
      return;
    }
    const BatchSizes& sizes = solved.value();
    if (solves && !inputs.micro)
      read_.record("per_device_train_batch_size", text_of(sizes.micro), "auto: from train_batch_size");
    if (solves && !inputs.accumulation) {
      read_.record("gradient_accumulation_steps", text_of(sizes.accumulation), "auto: from train_batch_size");
    }
    read_.record("train_batch_size", text_of(sizes.train),
                 solves ? theirs.train_batch_size.where
                        : fmt::format("auto: {} x {} x {} (micro x accumulation x processes)", sizes.micro,
                                      sizes.accumulation, batch.world_size));
    batch.micro_batch_size = sizes.micro;
    batch.accumulation_steps = sizes.accumulation;
  }

  void merge_clipping() {
    config_.clipping.max_norm =
        agree("gradient_clipping", deepspeed_.gradient_clipping, "max_grad_norm", config_.clipping.max_norm);
  }

  // A parameter of the JSON's optimizer: "auto" takes the argument, absent takes DeepSpeed's default.
  double optimizer_value(const char* key, const Setting<double>& setting, const std::string& argument, double ours,
                         double deepspeed_default) {
    if (!setting.given()) {
      if (read_.given(argument) && ours != deepspeed_default) {
        read_.problem(fmt::format("{} is {} and the DeepSpeed file's optimizer has none, which means {}", argument,
                                  text_of(ours), text_of(deepspeed_default)),
                      fmt::format("{} and {}", deepspeed_.optimizer->where, read_.where(argument)),
                      fmt::format("add {} to optimizer.params (\"auto\" takes the argument)", key));
        return ours;
      }
      read_.record(argument, text_of(deepspeed_default),
                   fmt::format("DeepSpeed's default for optimizer.params.{}", key));
      return deepspeed_default;
    }
    return agree(fmt::format("optimizer.params.{}", key), setting, argument, ours);
  }

  void merge_optimizer() {
    if (!deepspeed_.optimizer.has_value()) return;
    const DeepSpeedOptimizer& theirs = *deepspeed_.optimizer;
    const OptimizerConfig ours = config_.optimizer;
    OptimizerConfig merged = theirs.values;
    if (read_.given("optim") && ours.kind != merged.kind) {
      read_.problem(fmt::format("the DeepSpeed file's optimizer is {} and optim asks for another", theirs.type),
                    fmt::format("{} and {}", theirs.where, read_.where("optim")), "keep one of them");
    }
    read_.record("optim", theirs.type, theirs.where);
    merged.learning_rate =
        optimizer_value("lr", theirs.learning_rate, "learning_rate", ours.learning_rate, theirs.values.learning_rate);
    merged.epsilon = optimizer_value("eps", theirs.epsilon, "adam_epsilon", ours.epsilon, theirs.values.epsilon);
    merged.weight_decay = optimizer_value("weight_decay", theirs.weight_decay, "weight_decay", ours.weight_decay,
                                          theirs.values.weight_decay);
    Setting<double> beta1, beta2;
    beta1.is_auto = beta2.is_auto = theirs.betas.is_auto;
    beta1.where = beta2.where = theirs.betas.where;
    if (theirs.betas.value.has_value() && theirs.betas.value->size() == 2) {
      beta1.value = theirs.betas.value->at(0);
      beta2.value = theirs.betas.value->at(1);
    }
    merged.beta1 = optimizer_value("betas", beta1, "adam_beta1", ours.beta1, theirs.values.beta1);
    merged.beta2 = optimizer_value("betas", beta2, "adam_beta2", ours.beta2, theirs.values.beta2);
    merged.decay_groups = DecayGroups::kAll;
    if (merged.weight_decay > 0) {
      read_.note(
          "the DeepSpeed file's optimizer decays every parameter, norms and biases too; without an optimizer section "
          "they "
          "are exempt, as in Hugging Face's Trainer");
    }
    config_.optimizer = std::move(merged);
  }

  // A schedule parameter that has an argument of its own must agree with it if that was given.
  void compare_parameter(const std::string& key, const std::string& argument, double ours) {
    const base::JsonValue* value = deepspeed_.scheduler->parameters.find(key);
    if (value == nullptr || !value->is_number() || !read_.given(argument) || value->as_double() == ours) return;
    read_.problem(fmt::format("scheduler.params.{} is {} in the DeepSpeed file and {} is {}", key,
                              text_of(value->as_double()), argument, text_of(ours)),
                  fmt::format("{} and {}", reading_.place(value->position()), read_.where(argument)),
                  fmt::format("write the same value in both, or \"auto\" for {} in the DeepSpeed file", key));
  }

  void merge_scheduler() {
    if (!deepspeed_.scheduler.has_value()) return;
    const DeepSpeedSchedule& theirs = *deepspeed_.scheduler;
    if (read_.given("lr_scheduler_type")) {
      read_.note(fmt::format("the DeepSpeed file's scheduler {} ({}) is used; lr_scheduler_type {} ({}) is not",
                             theirs.type, theirs.where, config_.schedule.type, read_.where("lr_scheduler_type")));
    }
    compare_parameter("warmup_max_lr", "learning_rate", config_.optimizer.learning_rate);
    if (config_.schedule.warmup_steps >= 1)
      compare_parameter("warmup_num_steps", "warmup_steps", config_.schedule.warmup_steps);
    if (config_.length.max_steps > 0) {
      compare_parameter("total_num_steps", "max_steps", static_cast<double>(config_.length.max_steps));
    }
    for (const base::JsonMember& member : theirs.parameters.members()) {
      const bool is_auto = member.value.is_string() && member.value.as_string() == "auto";
      read_.record("scheduler.params." + member.key, auto_text(member.key, is_auto, member.value),
                   is_auto ? auto_origin(member.key) : reading_.place(member.value.position()));
    }
    read_.record("lr_scheduler_type", theirs.type, theirs.where);
    config_.schedule.family = ScheduleFamily::kDeepSpeed;
    config_.schedule.type = theirs.type;
    config_.schedule.parameters = theirs.parameters;
  }

  std::string auto_text(const std::string& key, bool is_auto, const base::JsonValue& value) const {
    if (!is_auto) return value.dump();
    if (key == "warmup_max_lr") return text_of(config_.optimizer.learning_rate);
    if (key == "warmup_min_lr") return "0";
    if (key == "warmup_num_steps" && config_.schedule.warmup_steps >= 1) return text_of(config_.schedule.warmup_steps);
    if (key == "total_num_steps" && config_.length.max_steps > 0) return text_of(config_.length.max_steps);
    return "from the step plan at start";
  }

  std::string auto_origin(const std::string& key) const {
    if (key == "warmup_max_lr") return fmt::format("auto: learning_rate ({})", read_.where("learning_rate"));
    if (key == "warmup_num_steps") return "auto: the warm-up, at least 1";
    if (key == "total_num_steps") return "auto: the steps of the run";
    return "auto: as the Hugging Face integration fills it";
  }

  void merge_zero() {
    const DeepSpeedZero& zero = deepspeed_.zero_optimization;
    config_.zero.stage = static_cast<int>(zero.stage.value_or(0));
    config_.zero.offload_optimizer =
        zero.offload_optimizer_device.value_or(OffloadDevice::kNone) == OffloadDevice::kCpu;
    config_.zero.offload_parameters = zero.offload_param_device.value_or(OffloadDevice::kNone) == OffloadDevice::kCpu;
    read_.record("zero_optimization.stage", std::to_string(config_.zero.stage),
                 zero.stage.where.empty() ? "default" : zero.stage.where);
    if (config_.batch.world_size == 1 && config_.zero.stage > 0) {
      read_.note(
          fmt::format("ZeRO stage {} has nothing to shard with one process; the result is the same at every stage",
                      config_.zero.stage));
    }
    if (config_.zero.offload_optimizer || config_.zero.offload_parameters) {
      read_.note("offload to the CPU has no effect where training runs on the CPU");
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

  void merge_rest() {
    if (deepspeed_.dataloader_drop_last.given()) {
      config_.data.drop_last = agree("dataloader_drop_last", deepspeed_.dataloader_drop_last, "dataloader_drop_last",
                                     config_.data.drop_last);
    }
    const DeepSpeedTensorBoard& board = deepspeed_.tensorboard;
    if (!board.enabled.value_or(false)) return;
    config_.logging.report_to = {"tensorboard"};
    const std::string folder = board.output_path.value_or("");
    const std::string job = board.job_name.value_or("DeepSpeedJobName");
    const std::string directory = folder.empty() ? job : folder + (folder.back() == '/' ? "" : "/") + job;
    if (read_.given("logging_dir") && config_.logging.directory != directory) {
      read_.problem(fmt::format("the DeepSpeed file writes TensorBoard files to {} and logging_dir is {}", directory,
                                config_.logging.directory),
                    fmt::format("{} and {}", board.enabled.where, read_.where("logging_dir")), "keep one of them");
    }
    config_.logging.directory = directory;
    read_.record("report_to", "tensorboard", board.enabled.where);
    read_.record("logging_dir", directory, board.enabled.where);
  }

  const DeepSpeedReading& reading_;
  const DeepSpeedConfig& deepspeed_;
  ValueReader& read_;
  RunConfig& config_;
};

}  // namespace

void merge_deepspeed(const ArgumentSet& arguments, UnknownKeys unknown, ValueReader& read, RunConfig& config) {
  const Argument* argument = arguments.find("deepspeed");
  if (argument == nullptr) {
    read.record("deepspeed", "", "default");
    return;
  }
  DeepSpeedReadOptions options;
  options.unknown_keys = unknown;
  DeepSpeedReading reading;
  if (argument->object.has_value()) {
    reading = read_deepspeed_text(argument->object->dump(1), argument->where + " (deepspeed)", options);
  } else if (argument->texts.size() == 1) {
    reading = read_deepspeed(argument->texts.front(), options);
  } else {
    read.problem("deepspeed takes one file", read.where("deepspeed"), "name one file, or base64 of its content");
    return;
  }
  read.record("deepspeed", reading.name, read.where("deepspeed"));
  for (const DeepSpeedNote& note : reading.notes) read.note(format_note(note));
  for (const base::Problem& problem : reading.problems) read.problem(problem.what, problem.where, problem.remedy);
  if (reading.problems.empty()) Merger(reading, read, config).merge();
}

}  // namespace athanor::config::detail
