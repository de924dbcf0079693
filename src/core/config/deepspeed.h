// A DeepSpeed JSON configuration, read as DeepSpeed 0.19 reads it, but with nothing passed over in silence: every key is taken,
// or said to have no effect here, or refused with its place and what to write instead.
//
// Source:  DeepSpeed 0.19.8 (runtime/config.py and the sections it reads). The schema is the table of deepspeed_fields.h.
// Leaves:  "auto" is kept as such wherever the Hugging Face integration fills it; resolve.h does the filling and compares the
//          JSON with the arguments. Elsewhere "auto" means the default, and a note says so.
// Threads: pure functions; read_deepspeed reads one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/run_config.h"

namespace athanor::config {

// One key: absent (neither value nor is_auto), "auto", or set.
template <typename T>
struct Setting {
  std::optional<T> value;
  bool is_auto = false;
  std::string where;  // file:line:column of the value; empty when absent

  bool given() const { return value.has_value() || is_auto; }
  T value_or(T otherwise) const { return value.value_or(std::move(otherwise)); }
};

struct DeepSpeedBatch {
  Setting<std::int64_t> train_batch_size;                // rows of an optimizer step, all ranks
  Setting<std::int64_t> train_micro_batch_size_per_gpu;  // rows
  Setting<std::int64_t> gradient_accumulation_steps;
};

// A supported optimizer. `values` holds what is written, and DeepSpeed's defaults for what is absent or "auto"; the settings
// tell which is which.
struct DeepSpeedOptimizer {
  std::string type;   // AdamW, Adam, SGD or Lion: DeepSpeed's name in its usual capitals
  std::string where;  // of optimizer.type
  OptimizerConfig values;
  Setting<double> learning_rate;
  Setting<std::vector<double>> betas;  // two
  Setting<double> epsilon;
  Setting<double> weight_decay;
};

// A supported schedule: WarmupLR, WarmupDecayLR, WarmupCosineLR, LRRangeTest or OneCycle.
struct DeepSpeedSchedule {
  std::string type;
  std::string where;  // of scheduler.type
  // Checked parameters under their DeepSpeed names: numbers and booleans, or "auto". Each value keeps its position.
  base::JsonValue parameters = base::JsonValue::object();
};

struct DeepSpeedFp16 {
  Setting<bool> enabled;
  Setting<double> loss_scale;  // 0: dynamic
  Setting<std::int64_t> initial_scale_power;
  Setting<std::int64_t> loss_scale_window;  // optimizer steps
  Setting<std::int64_t> hysteresis;
  Setting<bool> consecutive_hysteresis;
  Setting<std::int64_t> min_loss_scale;

  // The scaler of this section with DeepSpeed's defaults for what is absent (kStatic when loss_scale > 0).
  ScalerConfig scaler() const;
};

struct DeepSpeedBf16 {
  Setting<bool> enabled;
  Setting<bool> check_grad_overflow;  // default true: a step with non-finite gradients is skipped
};

// Low precision through torch.autocast: fp32 weights, compute in `dtype`.
struct DeepSpeedAutocast {
  Setting<bool> enabled;
  Setting<Precision> dtype;
};

enum class OffloadDevice { kNone, kCpu };

struct DeepSpeedZero {
  Setting<std::int64_t> stage;  // 0..3
  Setting<OffloadDevice> offload_optimizer_device;
  Setting<OffloadDevice> offload_param_device;
  Setting<std::int64_t> reduce_bucket_size;                  // elements
  Setting<std::int64_t> stage3_prefetch_bucket_size;         // elements
  Setting<std::int64_t> stage3_param_persistence_threshold;  // elements
  Setting<bool> stage3_gather_16bit_weights_on_model_save;
};

struct DeepSpeedTensorBoard {
  Setting<bool> enabled;
  Setting<std::string> output_path;  // default "": the working directory
  Setting<std::string> job_name;     // default "DeepSpeedJobName"; files go to output_path/job_name
};

// Every key that means something to a run. Keys that are harmless or refused appear in notes and problems only.
struct DeepSpeedConfig {
  DeepSpeedBatch batch;
  Setting<double> gradient_clipping;  // default 1.0; 0: off
  std::optional<DeepSpeedOptimizer> optimizer;
  std::optional<DeepSpeedSchedule> scheduler;
  DeepSpeedFp16 fp16;
  DeepSpeedBf16 bf16;
  DeepSpeedAutocast torch_autocast;
  DeepSpeedZero zero_optimization;
  Setting<std::string> communication_data_type;  // fp16, bf16 or fp32; absent: as the precision
  Setting<std::int64_t> data_parallel_size;      // ranks
  Setting<bool> dataloader_drop_last;
  DeepSpeedTensorBoard tensorboard;
};

inline constexpr double kDeepSpeedDefaultGradientClipping = 1.0;

enum class NoteKind {
  kHarmless,    // known; changes nothing here that a person could notice
  kIgnored,     // not known, or inside a section that is off: not used
  kMapped,      // read as another key or value
  kDeprecated,  // an older spelling
  kDefaulted,   // "auto" where nobody fills it: the default is used
};

// Something to say once. Keys with one and the same reason share a note.
struct DeepSpeedNote {
  NoteKind kind = NoteKind::kHarmless;
  std::string what;                // a sentence that holds for each key
  std::vector<std::string> keys;   // dotted paths, in file order
  std::vector<std::string> where;  // file:line:column of each key

  bool operator==(const DeepSpeedNote&) const = default;
};

// "overlap_comm (ds.json:14:5), reduce_bucket_size (ds.json:15:5): what".
std::string format_note(const DeepSpeedNote& note);

enum class UnknownKeys { kRefuse, kWarn };

struct DeepSpeedReadOptions {
  UnknownKeys unknown_keys = UnknownKeys::kRefuse;
};

struct DeepSpeedReading {
  std::string name;  // the file name, or "--deepspeed (base64)"
  DeepSpeedConfig config;
  std::vector<DeepSpeedNote> notes;
  std::vector<base::Problem> problems;  // all of them; `config` is whole only when there are none
  base::JsonValue raw = base::JsonValue::object();

  // "name:line:column" of a value of `raw` or of a schedule parameter.
  std::string place(base::Position position) const;
};

// Reads a file, or JSON in URL-safe base64 in place of a path. Nothing is thrown for what is wrong with the configuration: a
// missing or malformed file is one of `problems`.
DeepSpeedReading read_deepspeed(const std::string& path_or_base64, const DeepSpeedReadOptions& options = {});

// The same from text that is at hand; `name` is used in places.
DeepSpeedReading read_deepspeed_text(std::string_view text, const std::string& name,
                                     const DeepSpeedReadOptions& options = {});

// The same from a parsed object, e.g. inside a run file; the positions of its values are in the file `name`.
DeepSpeedReading read_deepspeed_value(base::JsonValue value, const std::string& name,
                                      const DeepSpeedReadOptions& options = {});

}  // namespace athanor::config
