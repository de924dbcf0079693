// The members of every section of RunConfig with their names, for a visitor. Internal to run_config_json.cpp.
//
// The structured bindings name each member: one that is added to a section and not here does not compile.
#pragma once

#include <array>
#include <utility>

#include "core/config/run_config.h"

namespace athanor::config::detail {

template <typename... Names>
constexpr std::array<const char*, sizeof...(Names)> names(Names... list) {
  return {list...};
}

template <typename Visitor>
void visit(Visitor& visitor, ModelSource& section) {
  auto& [model_name_or_path, config_name, config_overrides, tokenizer_name, from_scratch] = section;
  visitor.members(names("model_name_or_path", "config_name", "config_overrides", "tokenizer_name", "from_scratch"),
                  model_name_or_path, config_name, config_overrides, tokenizer_name, from_scratch);
}

template <typename Visitor>
void visit(Visitor& visitor, DataConfig& section) {
  auto& [train_files, validation_files, chat_template, text_column, text_separator, max_length, packing, sampling,
         tokens_per_batch, max_train_samples, max_eval_samples, data_seed, drop_last, skip_bad_lines, train_on_prompt,
         add_bos, add_eos, cache_dir, num_workers] = section;
  visitor.members(
      names("train_files", "validation_files", "chat_template", "text_column", "text_separator", "max_length",
            "packing", "sampling", "tokens_per_batch", "max_train_samples", "max_eval_samples", "data_seed",
            "drop_last", "skip_bad_lines", "train_on_prompt", "add_bos", "add_eos", "cache_dir", "num_workers"),
      train_files, validation_files, chat_template, text_column, text_separator, max_length, packing, sampling,
      tokens_per_batch, max_train_samples, max_eval_samples, data_seed, drop_last, skip_bad_lines, train_on_prompt,
      add_bos, add_eos, cache_dir, num_workers);
}

template <typename Visitor>
void visit(Visitor& visitor, BatchConfig& section) {
  auto& [micro_batch_size, accumulation_steps, world_size, eval_batch_size] = section;
  visitor.members(names("micro_batch_size", "accumulation_steps", "world_size", "eval_batch_size"), micro_batch_size,
                  accumulation_steps, world_size, eval_batch_size);
}

template <typename Visitor>
void visit(Visitor& visitor, LengthConfig& section) {
  auto& [num_train_epochs, max_steps] = section;
  visitor.members(names("num_train_epochs", "max_steps"), num_train_epochs, max_steps);
}

template <typename Visitor>
void visit(Visitor& visitor, OptimizerConfig& section) {
  auto& [kind, learning_rate, beta1, beta2, epsilon, weight_decay, bias_correction, momentum, dampening, nesterov,
         decay_groups, adafactor] = section;
  visitor.members(names("kind", "learning_rate", "beta1", "beta2", "epsilon", "weight_decay", "bias_correction",
                        "momentum", "dampening", "nesterov", "decay_groups", "adafactor"),
                  kind, learning_rate, beta1, beta2, epsilon, weight_decay, bias_correction, momentum, dampening,
                  nesterov, decay_groups, adafactor);
}

template <typename Visitor>
void visit(Visitor& visitor, ScheduleConfig& section) {
  auto& [family, type, parameters, warmup_steps, warmup_ratio] = section;
  visitor.members(names("family", "type", "parameters", "warmup_steps", "warmup_ratio"), family, type, parameters,
                  warmup_steps, warmup_ratio);
}

template <typename Visitor>
void visit(Visitor& visitor, ScalerConfig& section) {
  auto& [rule, initial_scale, growth_interval, growth_factor, backoff_factor, hysteresis, consecutive_hysteresis,
         minimum_scale] = section;
  visitor.members(names("rule", "initial_scale", "growth_interval", "growth_factor", "backoff_factor", "hysteresis",
                        "consecutive_hysteresis", "minimum_scale"),
                  rule, initial_scale, growth_interval, growth_factor, backoff_factor, hysteresis,
                  consecutive_hysteresis, minimum_scale);
}

template <typename Visitor>
void visit(Visitor& visitor, PrecisionConfig& section) {
  auto& [compute, automatic, tf32, skip_non_finite_steps, scaler] = section;
  visitor.members(names("compute", "automatic", "tf32", "skip_non_finite_steps", "scaler"), compute, automatic, tf32,
                  skip_non_finite_steps, scaler);
}

template <typename Visitor>
void visit(Visitor& visitor, ClippingConfig& section) {
  auto& [max_norm] = section;
  visitor.members(names("max_norm"), max_norm);
}

template <typename Visitor>
void visit(Visitor& visitor, ZeroConfig& section) {
  auto& [stage, offload_optimizer, offload_parameters] = section;
  visitor.members(names("stage", "offload_optimizer", "offload_parameters"), stage, offload_optimizer,
                  offload_parameters);
}

template <typename Visitor>
void visit(Visitor& visitor, EvaluationConfig& section) {
  auto& [strategy, steps, delay, on_start] = section;
  visitor.members(names("strategy", "steps", "delay", "on_start"), strategy, steps, delay, on_start);
}

template <typename Visitor>
void visit(Visitor& visitor, LoggingConfig& section) {
  auto& [strategy, steps, first_step, directory, report_to, run_name, count_input_tokens, disable_progress,
         nan_inf_filter] = section;
  visitor.members(names("strategy", "steps", "first_step", "directory", "report_to", "run_name", "count_input_tokens",
                        "disable_progress", "nan_inf_filter"),
                  strategy, steps, first_step, directory, report_to, run_name, count_input_tokens, disable_progress,
                  nan_inf_filter);
}

template <typename Visitor>
void visit(Visitor& visitor, CheckpointConfig& section) {
  auto& [output_dir, overwrite_output_dir, strategy, save_steps, save_total_limit, save_only_model, resume_from,
         load_best_at_end, metric_for_best, greater_is_better, saved_precision, saved_precision_as_loaded] = section;
  visitor.members(names("output_dir", "overwrite_output_dir", "strategy", "save_steps", "save_total_limit",
                        "save_only_model", "resume_from", "load_best_at_end", "metric_for_best", "greater_is_better",
                        "saved_precision", "saved_precision_as_loaded"),
                  output_dir, overwrite_output_dir, strategy, save_steps, save_total_limit, save_only_model,
                  resume_from, load_best_at_end, metric_for_best, greater_is_better, saved_precision,
                  saved_precision_as_loaded);
}

template <typename Visitor>
void visit(Visitor& visitor, RunConfig& config) {
  auto& [model, data, batch, length, optimizer, schedule, precision, clipping, zero, evaluation, logging, checkpoint,
         device, recompute_activations, seed, neftune_noise_alpha, num_threads] = config;
  visitor.members(
      names("model", "data", "batch", "length", "optimizer", "schedule", "precision", "clipping", "zero", "evaluation",
            "logging", "checkpoint", "device", "recompute_activations", "seed", "neftune_noise_alpha", "num_threads"),
      model, data, batch, length, optimizer, schedule, precision, clipping, zero, evaluation, logging, checkpoint,
      device, recompute_activations, seed, neftune_noise_alpha, num_threads);
}

// Names of the enumerations in the file; frozen by a test.
template <typename Enum>
struct EnumNames;

template <>
struct EnumNames<Precision> {
  static constexpr std::pair<Precision, const char*> kList[] = {
      {Precision::kFloat32, "fp32"}, {Precision::kBfloat16, "bf16"}, {Precision::kFloat16, "fp16"}};
};
template <>
struct EnumNames<DeviceKind> {
  static constexpr std::pair<DeviceKind, const char*> kList[] = {
      {DeviceKind::kAuto, "auto"}, {DeviceKind::kCpu, "cpu"}, {DeviceKind::kCuda, "cuda"}};
};
template <>
struct EnumNames<SamplingStrategy> {
  static constexpr std::pair<SamplingStrategy, const char*> kList[] = {
      {SamplingStrategy::kRandom, "random"},
      {SamplingStrategy::kSequential, "sequential"},
      {SamplingStrategy::kGroupByLength, "group_by_length"}};
};
template <>
struct EnumNames<PackingMode> {
  static constexpr std::pair<PackingMode, const char*> kList[] = {{PackingMode::kOff, "off"}, {PackingMode::kOn, "on"}};
};
template <>
struct EnumNames<OptimizerKind> {
  static constexpr std::pair<OptimizerKind, const char*> kList[] = {{OptimizerKind::kAdamW, "adamw"},
                                                                    {OptimizerKind::kAdam, "adam"},
                                                                    {OptimizerKind::kSgd, "sgd"},
                                                                    {OptimizerKind::kLion, "lion"},
                                                                    {OptimizerKind::kAdafactor, "adafactor"}};
};
template <>
struct EnumNames<DecayGroups> {
  static constexpr std::pair<DecayGroups, const char*> kList[] = {{DecayGroups::kHuggingFace, "huggingface"},
                                                                  {DecayGroups::kAll, "all"}};
};
template <>
struct EnumNames<ScheduleFamily> {
  static constexpr std::pair<ScheduleFamily, const char*> kList[] = {{ScheduleFamily::kHuggingFace, "huggingface"},
                                                                     {ScheduleFamily::kDeepSpeed, "deepspeed"}};
};
template <>
struct EnumNames<ScalerRule> {
  static constexpr std::pair<ScalerRule, const char*> kList[] = {
      {ScalerRule::kDeepSpeed, "deepspeed"}, {ScalerRule::kTorch, "torch"}, {ScalerRule::kStatic, "static"}};
};
template <>
struct EnumNames<Interval> {
  static constexpr std::pair<Interval, const char*> kList[] = {
      {Interval::kNo, "no"}, {Interval::kSteps, "steps"}, {Interval::kEpoch, "epoch"}, {Interval::kBest, "best"}};
};

}  // namespace athanor::config::detail
