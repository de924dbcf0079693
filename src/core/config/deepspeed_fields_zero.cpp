// The zero_optimization section of the DeepSpeed schema.
#include "core/config/deepspeed_rows.h"

namespace athanor::config {
namespace {

using enum FieldType;
constexpr AutoFilled kFilled = AutoFilled::kYes;
constexpr AutoFilled kNotFilled = AutoFilled::kNo;
constexpr const char* kZero = "zero_optimization";
constexpr const char* kTuning = "it tunes communication and memory of sharded training and changes no result";
constexpr const char* kQuantized =
    "Training with quantized weights or gradients gives other results and is not done here. Remove it.";

void add_sharding_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "",
           {{kZero, kObject, "", "", "", "What is sharded over ranks, and what lives in host memory."}});
  add_rows(
      rows, kZero, Support::kHonoured, "",
      {
          {"stage", kInteger, "0", "0..3", "",
           "0: nothing is sharded; 1: optimizer states; 2: gradients too; 3: parameters too.", kNotFilled, "",
           "zero_optimization.offload_optimizer zero_optimization.offload_param"},
          {"offload_optimizer", kObject, "null", "", "", "Where optimizer states live.", kNotFilled, "",
           "zero_optimization.stage"},
          {"offload_optimizer.device", kChoice, "none", "none|cpu|nvme", "", "none, cpu, or nvme (not done here)."},
          {"offload_param", kObject, "null", "", "", "Where parameters live when they are not in use; stage 3 only.",
           kNotFilled, "", "zero_optimization.stage"},
          {"offload_param.device", kChoice, "none", "none|cpu|nvme", "", "none, cpu, or nvme (not done here)."},
          {"stage3_gather_16bit_weights_on_model_save", kBool, "false", "", "",
           "Writes whole 16-bit weights at the end of training at stage 3.", kNotFilled,
           "gather_16bit_weights_on_model_save"},
          // Honoured as values: "auto" is filled in and shown.
          {"reduce_bucket_size", kInteger, "500000000", "> 0", "elements", "Gradients that are reduced at a time.",
           kFilled},
          {"stage3_prefetch_bucket_size", kInteger, "50000000", ">= 0", "elements",
           "Parameters that are gathered ahead.", kFilled, "prefetch_bucket_size"},
          {"stage3_param_persistence_threshold", kInteger, "100000", ">= 0", "elements",
           "Parameters up to this size are not sharded.", kFilled, "param_persistence_threshold"},
          {"cpu_offload", kBool, "null", "", "", "Older spelling of \"offload_optimizer\": {\"device\": \"cpu\"}.",
           kNotFilled, "", "zero_optimization.offload_optimizer"},
          {"cpu_offload_param", kBool, "null", "", "", "Older spelling of \"offload_param\": {\"device\": \"cpu\"}.",
           kNotFilled, "", "zero_optimization.offload_param"},
          {"stage3_gather_fp16_weights_on_model_save", kBool, "false", "", "",
           "Older spelling of stage3_gather_16bit_weights_on_model_save.", kNotFilled, "",
           "zero_optimization.stage3_gather_16bit_weights_on_model_save"},
      });
}

void add_tuning_rows(std::vector<Field>& rows) {
  add_rows(
      rows, kZero, Support::kHarmless, kTuning,
      {
          {"contiguous_gradients", kBool, "true", "", "", "Copies gradients into one buffer as they come."},
          {"reduce_scatter", kBool, "true", "", "", "Reduces gradients to their owner only."},
          {"use_multi_rank_bucket_allreduce", kBool, "true", "", "", "Reduces the buckets of several ranks at once."},
          {"allgather_partitions", kBool, "true", "", "", "Gathers updated parameters with all-gather."},
          {"allgather_bucket_size", kInteger, "500000000", ">= 0", "elements",
           "Parameters that are gathered at a time."},
          {"overlap_comm", kBool, "null", "", "", "Reduces gradients during backward; null is on at stage 3."},
          {"round_robin_gradients", kBool, "false", "", "", "Spreads gradient copies to host memory over ranks."},
          {"parameter_alignment", kBool, "false", "", "", "Aligns each parameter in the flat buffers."},
          {"sub_group_size", kInteger, "1000000000", ">= 0", "elements", "Parameters updated at a time at stage 3."},
          {"stage3_model_persistence_threshold", kInteger, "9223372036854775807", ">= 0", "elements",
           "Most parameters that are not sharded.", kNotFilled, "model_persistence_threshold"},
          {"stage3_max_live_parameters", kInteger, "1000000000", ">= 0", "elements",
           "Parameters gathered at the same time.", kNotFilled, "max_live_parameters"},
          {"stage3_max_reuse_distance", kInteger, "1000000000", ">= 0", "elements",
           "Parameters used again within this distance stay gathered.", kNotFilled, "max_reuse_distance"},
          {"stage3_module_granularity_threshold", kInteger, "0", "", "elements",
           "Modules finer than this are gathered whole.", kNotFilled, "module_granularity_threshold"},
          {"stage3_use_all_reduce_for_fetch_params", kBool, "false", "", "", "Gathers parameters with all-reduce.",
           kNotFilled, "use_all_reduce_for_fetch_params"},
          {"stage3_allgather_sequential", kBool, "false", "", "", "Gathers parameters one by one.", kNotFilled,
           "allgather_sequential"},
          {"zero_hpz_partition_size", kInteger, "1", ">= 0", "ranks",
           "Ranks of a second, nearer partition of parameters."},
          {"memory_efficient_linear", kBool, "true", "", "", "Linear layers that keep less for backward."},
          {"pipeline_loading_checkpoint", kBool, "false", "", "", "Loads checkpoints in parts."},
          {"override_module_apply", kBool, "true", "", "", "Gathers parameters in Module.apply."},
          {"log_trace_cache_warnings", kBool, "false", "", "", "Reports changes in the order of modules."},
          {"enable_sanity_checks", kBool, "false", "", "", "Checks the internal state."},
          {"save_muon_momentum_buffer_in_memory", kBool, "false", "", "", "Keeps Muon's momentum off the disk."},
          {"leaf_module", kObject, "", "", "", "Modules that are gathered whole."},
          {"cpu_offload_use_pin_memory", kBool, "null", "", "", "Older spelling of pin_memory."},
      });
  add_rows(rows, kZero, Support::kHarmless, "the gradient norm is always computed",
           {{"compute_grad_norm", kBool, "true", "", "", "Computes the global gradient norm.", kNotFilled, "",
             "zero_optimization.stage gradient_clipping"}});
  add_rows(rows, kZero, Support::kHarmless, "checkpoints hold fp32 master weights, and these are loaded",
           {
               {"load_from_fp32_weights", kBool, "true", "", "",
                "Restores master weights from fp32 instead of 16-bit weights."},
               {"elastic_checkpoint", kBool, "false", "", "", "Older format of checkpoints for changing ranks."},
           });
  add_rows(rows, kZero, Support::kHarmless, "every parameter of the models trained here gets a gradient",
           {{"ignore_unused_parameters", kBool, "true", "", "", "Lets parameters without a gradient pass."}});
}

void add_offload_rows(std::vector<Field>& rows) {
  constexpr const char* kBuffers = "it tunes transfers to host memory or disk and changes no result";
  add_rows(
      rows, "zero_optimization.offload_optimizer", Support::kHarmless, kBuffers,
      {
          {"nvme_path", kPath, "null", "", "", "Folder on the disk."},
          {"buffer_count", kInteger, "4", ">= 0", "", "Buffers for the disk."},
          {"pin_memory", kBool, "true", "", "", "Page-locked host memory."},
          {"pipeline_read", kBool, "false", "", "", "Reads the next part during the update."},
          {"pipeline_write", kBool, "false", "", "", "Writes the last part during the update."},
          {"fast_init", kBool, "false", "", "", "Faster start with the disk."},
          {"ratio", kNumber, "1.0", "0..1", "", "Share of optimizer states that is offloaded; below 1 at stage 3 only.",
           kNotFilled, "", "zero_optimization.stage"},
          {"super_offload", kBool, "false", "", "", "Offload for superchips."},
          {"cpuadam_cores_perc", kNumber, "0.8", "0..1", "", "Share of cores for the update."},
      });
  add_rows(
      rows, "zero_optimization.offload_param", Support::kHarmless, kBuffers,
      {
          {"nvme_path", kPath, "null", "", "", "Folder on the disk."},
          {"buffer_count", kInteger, "5", ">= 0", "", "Buffers for the disk."},
          {"buffer_size", kInteger, "100000000", ">= 0", "elements", "Size of a buffer."},
          {"max_in_cpu", kInteger, "1000000000", ">= 0", "elements", "Parameters kept in host memory beside the disk."},
          {"pin_memory", kBool, "true", "", "", "Page-locked host memory."},
      });
}

void add_refused_zero_rows(std::vector<Field>& rows) {
  add_rows(rows, kZero, Support::kRefused, kQuantized,
           {
               {"zero_quantized_weights", kBool, "false", "", "", "Gathers quantized weights."},
               {"zero_quantized_nontrainable_weights", kBool, "false", "", "", "Stores frozen weights quantized."},
               {"zero_quantized_gradients", kBool, "false", "", "", "Reduces quantized gradients."},
           });
  add_rows(
      rows, kZero, Support::kRefused,
      "ZenFlow updates part of the parameters late and gives other results; it is not done here. Remove the section.",
      {{"zenflow", kObject, "null", "", "", "Updates important columns at once and the rest later."}});
  add_rows(rows, kZero, Support::kRefused, "DeepSpeed has no other stage 1 any more. Remove it.",
           {{"legacy_stage1", kBool, "false", "", "", "The first implementation of stage 1."}});
  add_removed(rows, kZero, "DeepSpeed removed MiCS sharding. Remove it and use \"stage\": 3.",
              {
                  {"mics_shard_size", kInteger, "-1", "", "ranks", "Ranks of a shard group (removed)."},
                  {"mics_hierarchical_params_gather", kBool, "false", "", "", "Gathers in two levels (removed)."},
              });
  add_removed(rows, kZero, "DeepSpeed removed error feedback for quantized gradients. Remove it.",
              {{"zeropp_loco_param", kObject, "null", "", "", "Error feedback (removed)."}});
}

}  // namespace

void add_zero_rows(std::vector<Field>& rows) {
  add_sharding_rows(rows);
  add_offload_rows(rows);
  add_tuning_rows(rows);
  add_refused_zero_rows(rows);
}

}  // namespace athanor::config
