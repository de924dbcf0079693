// The one resolved, immutable description of a training run. Everything a component needs is in its own struct here; no
// component sees the whole. Resolution (resolve.h) makes it from flags, run file and DeepSpeed JSON.
//
// Values that depend on the data or the hardware (total steps, mixed precision "auto") are optional here and filled when the
// run starts; what was chosen is recorded with its reason.
// Threads: immutable after resolution.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace athanor::config {

enum class Precision { kFloat32, kBfloat16, kFloat16 };
enum class DeviceKind { kAuto, kCpu, kCuda };

struct ModelSource {
  std::string model_name_or_path;  // a local folder with config.json (+ safetensors); empty when from_config is used
  std::string config_name;         // config.json or folder to initialise from scratch; empty: weights are loaded
  std::vector<std::pair<std::string, std::string>> config_overrides;  // key=value on top of config.json
  std::string
      tokenizer_name;  // folder or tokenizer.json, "bytes" for the built-in byte tokenizer; empty: beside the model
  bool from_scratch = false;
};

enum class SamplingStrategy { kRandom, kSequential, kGroupByLength };
enum class PackingMode { kOff, kOn };

struct DataConfig {
  std::vector<std::string> train_files;  // globs not yet expanded
  std::vector<std::string> validation_files;
  std::string chat_template;  // by name; "" chooses by format and tokenizer
  std::string text_column = "text";
  std::string text_separator;  // the line between documents of a .txt file, or "blank_line"; "": a file is one document
  std::optional<std::int64_t> max_length;  // tokens of one row (model_max_length / cutoff_len)
  PackingMode packing = PackingMode::kOff;
  SamplingStrategy sampling = SamplingStrategy::kRandom;
  std::optional<std::int64_t> tokens_per_batch;  // dynamic sequence length: token budget of a micro-batch
  std::optional<std::int64_t> max_train_samples;
  std::optional<std::int64_t> max_eval_samples;
  std::int64_t data_seed = 42;
  bool drop_last = false;
  bool skip_bad_lines = false;
  bool train_on_prompt = false;  // loss on prompts too
  bool add_bos = true;           // once per document, when the tokenizer has one
  bool add_eos = true;
  std::string cache_dir;  // empty: under output_dir's parent cache
  int num_workers = 0;    // 0: all cores
};

struct BatchConfig {
  std::int64_t micro_batch_size = 8;  // rows per rank and micro-batch (per_device_train_batch_size)
  std::int64_t accumulation_steps = 1;
  std::int64_t world_size = 1;
  std::int64_t eval_batch_size = 8;  // rows
  std::int64_t global_batch_size() const { return micro_batch_size * accumulation_steps * world_size; }
};

struct LengthConfig {
  double num_train_epochs = 3.0;
  std::int64_t max_steps = -1;  // optimizer steps; > 0 wins over epochs
};

enum class OptimizerKind { kAdamW, kAdam, kSgd, kLion, kAdafactor };
enum class DecayGroups {
  kHuggingFace,  // no decay for biases and norm weights (HF Trainer's grouping)
  kAll,          // one group with everything (an optimizer from a DeepSpeed JSON)
};

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdamW;  // kAdam is the classic L2 form
  double learning_rate = 5e-5;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  bool bias_correction = true;
  double momentum = 0.0;   // SGD
  double dampening = 0.0;  // SGD
  bool nesterov = false;   // SGD
  DecayGroups decay_groups = DecayGroups::kHuggingFace;
  std::map<std::string, double> adafactor;  // options by their transformers name
};

enum class ScheduleFamily { kHuggingFace, kDeepSpeed };

// A learning-rate schedule by its reference name. Interpreted by core/schedule.
struct ScheduleConfig {
  ScheduleFamily family = ScheduleFamily::kHuggingFace;
  std::string type = "linear";  // transformers' lr_scheduler_type, or DeepSpeed's scheduler.type
  base::JsonValue parameters = base::JsonValue::
      object();             // lr_scheduler_kwargs, or DeepSpeed's scheduler.params ("auto" filled, or left to the plan)
  double warmup_steps = 0;  // >= 1: steps; between 0 and 1: a share of the total (transformers 5)
  double warmup_ratio = 0.0;  // transformers 4
};

enum class ScalerRule { kDeepSpeed, kTorch, kStatic };

struct ScalerConfig {  // fp16 only
  ScalerRule rule = ScalerRule::kTorch;
  double initial_scale = 65536.0;
  std::int64_t growth_interval = 2000;  // torch: growth_interval; DeepSpeed: loss_scale_window
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  std::int64_t hysteresis = 2;          // DeepSpeed
  bool consecutive_hysteresis = false;  // DeepSpeed
  double minimum_scale = 1.0;           // DeepSpeed
};

struct PrecisionConfig {
  Precision compute = Precision::kFloat32;
  bool automatic = false;              // --mixed_precision auto: chosen by the hardware at start
  bool tf32 = false;                   // CUDA only
  bool skip_non_finite_steps = false;  // DeepSpeed bf16.check_grad_overflow
  ScalerConfig scaler;
};

struct ClippingConfig {
  double max_norm = 1.0;  // 0: off
};

struct ZeroConfig {
  int stage = 0;
  bool offload_optimizer = false;
  bool offload_parameters = false;
};

enum class Interval { kNo, kSteps, kEpoch, kBest };

struct EvaluationConfig {
  Interval strategy = Interval::kNo;
  double steps = 0;  // >= 1 optimizer steps, below 1 a share of the total
  double delay = 0;
  bool on_start = false;
};

struct LoggingConfig {
  Interval strategy = Interval::kSteps;
  double steps = 500;  // >= 1 optimizer steps, below 1 a share of the total
  bool first_step = false;
  std::string directory;               // TensorBoard files; empty: output_dir/runs/<run name>
  std::vector<std::string> report_to;  // "tensorboard"
  std::string run_name;
  std::string count_input_tokens = "no";  // no, all, non_padding
  bool disable_progress = false;
  bool nan_inf_filter = false;
};

struct CheckpointConfig {
  std::string output_dir;
  bool overwrite_output_dir = false;
  Interval strategy = Interval::kSteps;
  double save_steps = 500;  // >= 1 optimizer steps, below 1 a share of the total
  std::optional<std::int64_t> save_total_limit;
  bool save_only_model = false;
  std::string resume_from;  // "": no; "true": newest whole checkpoint of output_dir; else a folder
  bool load_best_at_end = false;
  std::string metric_for_best;  // "" means loss when load_best_at_end
  std::optional<bool> greater_is_better;
  Precision saved_precision = Precision::kFloat32;  // dtype of the final HF weights
  bool saved_precision_as_loaded = true;            // keep the dtype of the loaded weights (config.json's dtype)
};

struct RunConfig {
  ModelSource model;
  DataConfig data;
  BatchConfig batch;
  LengthConfig length;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  PrecisionConfig precision;
  ClippingConfig clipping;
  ZeroConfig zero;
  EvaluationConfig evaluation;
  LoggingConfig logging;
  CheckpointConfig checkpoint;
  DeviceKind device = DeviceKind::kAuto;
  bool recompute_activations = false;  // gradient_checkpointing
  std::int64_t seed = 42;
  double neftune_noise_alpha = 0.0;  // 0: off
  int num_threads = 0;               // 0: OMP_NUM_THREADS or all cores
};

}  // namespace athanor::config
