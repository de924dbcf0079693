#include "core/config/argument_fields.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "core/config/argument_rows.h"

namespace athanor::config {

namespace {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> list;
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    list.emplace_back(names.substr(0, comma));
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return list;
}

// TrainingArguments of transformers 4 that release 5 no longer has.
constexpr std::string_view kTransformers4[] = {"adafactor",
                                               "dispatch_batches",
                                               "evaluate_during_training",
                                               "fp16_backend",
                                               "fp16_opt_level",
                                               "fsdp_min_num_params",
                                               "fsdp_transformer_layer_cls_to_wrap",
                                               "group_by_length",
                                               "half_precision_backend",
                                               "include_inputs_for_metrics",
                                               "include_tokens_per_second",
                                               "jit_mode_eval",
                                               "logging_dir",
                                               "mp_parameters",
                                               "overwrite_output_dir",
                                               "past_index",
                                               "push_to_hub_model_id",
                                               "push_to_hub_organization",
                                               "push_to_hub_token",
                                               "ray_scope",
                                               "save_safetensors",
                                               "sharded_ddp",
                                               "split_batches",
                                               "torchdynamo",
                                               "tp_size",
                                               "tpu_metrics_debug",
                                               "tpu_num_cores",
                                               "use_ipex",
                                               "use_legacy_prediction_loop",
                                               "use_mps_device",
                                               "warmup_ratio",
                                               "xpu_backend"};

// What fine-tuning scripts add for model, data and adapters.
constexpr std::string_view kScripts[] = {"attn_implementation",
                                         "cache_dir",
                                         "chat_template",
                                         "config_name",
                                         "config_overrides",
                                         "dataset",
                                         "dataset_config_name",
                                         "dataset_dir",
                                         "dataset_name",
                                         "finetuning_type",
                                         "flash_attn",
                                         "ignore_pad_token_for_loss",
                                         "keep_linebreaks",
                                         "lazy_preprocess",
                                         "line_by_line",
                                         "load_in_4bit",
                                         "load_in_8bit",
                                         "lora_alpha",
                                         "lora_dropout",
                                         "lora_rank",
                                         "lora_target",
                                         "low_cpu_mem_usage",
                                         "max_eval_samples",
                                         "max_train_samples",
                                         "mlm",
                                         "model_max_length",
                                         "model_name_or_path",
                                         "model_revision",
                                         "model_type",
                                         "overwrite_cache",
                                         "packing",
                                         "pad_to_max_length",
                                         "plot_loss",
                                         "predict_with_generate",
                                         "preprocessing_batch_size",
                                         "q_lora",
                                         "quantization_bit",
                                         "stage",
                                         "streaming",
                                         "text_column",
                                         "token",
                                         "tokenizer_name",
                                         "torch_dtype",
                                         "train_file",
                                         "train_on_prompt",
                                         "trust_remote_code",
                                         "use_auth_token",
                                         "use_fast_tokenizer",
                                         "use_flash_attn",
                                         "use_lora",
                                         "use_peft",
                                         "val_size",
                                         "validation_file",
                                         "validation_split_percentage"};

constexpr std::string_view kLaunchers[] = {"hostfile",        "machine_rank", "master_addr", "master_port",
                                           "mixed_precision", "nnodes",       "node_rank",   "nproc_per_node",
                                           "num_machines",    "num_nodes"};

constexpr std::string_view kOwn[] = {"add_bos",     "add_eos",        "allow_unknown_keys", "device",
                                     "num_threads", "skip_bad_lines", "text_separator",     "tokens_per_batch"};

std::string source_of(const std::string& name) {
  const auto is_in = [&](std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_in(kTransformers4)) return "transformers 4 (TrainingArguments)";
  if (is_in(kScripts)) return "fine-tuning scripts";
  if (is_in(kLaunchers)) return "launchers (torchrun, deepspeed, accelerate)";
  return is_in(kOwn) ? "athanor" : "transformers 5 (TrainingArguments)";
}

Field make_field(const char* name, FieldType type, const char* default_text) {
  Field field;
  field.vocabulary = Vocabulary::kTraining;
  field.name = name;
  field.type = type;
  field.default_text = default_text;
  field.source = source_of(field.name);
  return field;
}

constexpr std::string_view kUnitMark = "unit ";

void add(std::vector<Field>& fields, const std::vector<detail::Row>& rows) {
  for (const detail::Row& row : rows) {
    Field field = make_field(row.name, row.type, row.default_text);
    std::string range = row.range;
    if (range.starts_with(kUnitMark)) {
      const std::size_t end = std::min(range.find("; "), range.size());
      field.unit = range.substr(kUnitMark.size(), end - kUnitMark.size());
      range = end == range.size() ? "" : range.substr(end + 2);
    }
    field.range = range;
    field.doc = row.doc;
    field.aliases = split_names(row.aliases);
    field.touches = split_names(row.touches);
    fields.push_back(std::move(field));
  }
}

void add(std::vector<Field>& fields, const std::vector<detail::PlainRow>& rows, Support support) {
  for (const detail::PlainRow& row : rows) {
    Field field = make_field(row.name, row.type, row.default_text);
    field.support = support;
    field.doc = support == Support::kHarmless ? "Known, and without effect here." : "Known, and not done here.";
    field.reason = row.reason;
    fields.push_back(std::move(field));
  }
}

std::vector<Field> make_fields() {
  std::vector<Field> fields;
  add(fields, detail::model_rows());
  add(fields, detail::data_rows());
  add(fields, detail::step_rows());
  add(fields, detail::output_rows());
  add(fields, detail::harmless_rows(), Support::kHarmless);
  add(fields, detail::refused_rows(), Support::kRefused);
  return fields;
}

}  // namespace

const std::vector<Field>& training_fields() {
  static const std::vector<Field> fields = make_fields();
  return fields;
}

}  // namespace athanor::config
