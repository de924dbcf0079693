// Top-level keys of the DeepSpeed schema.
#include "core/config/deepspeed_rows.h"

namespace athanor::config {
namespace {

using enum FieldType;
constexpr AutoFilled kFilled = AutoFilled::kYes;

void add_batch_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "",
           {
               {"train_batch_size", kInteger, "", "> 0", "rows",
                "Rows of one optimizer step over all ranks: micro-batch x accumulation x ranks.", kFilled, "",
                "train_micro_batch_size_per_gpu gradient_accumulation_steps"},
               {"train_micro_batch_size_per_gpu", kInteger, "", "> 0", "rows",
                "Rows that one rank takes through the model at a time.", kFilled, "",
                "train_batch_size gradient_accumulation_steps"},
               {"gradient_accumulation_steps", kInteger, "", "> 0", "micro-batches",
                "Micro-batches whose gradients are added up before an optimizer step.", kFilled, "",
                "train_batch_size train_micro_batch_size_per_gpu"},
               {"gradient_clipping", kNumber, "1.0", ">= 0", "L2 norm",
                "Largest global gradient norm; a larger one is scaled down to it. 0 switches clipping off.", kFilled},
               {"dataloader_drop_last", kBool, "false", "", "",
                "Leaves out the last batch of an epoch when it is not full."},
               {"communication_data_type", kChoice, "null", "bf16|fp16|fp32", "",
                "Number format in which gradients travel between ranks; null follows the precision."},
               {"data_parallel_size", kInteger, "null", "> 0", "ranks",
                "Ranks that work on different data; it must be the number of ranks."},
           });
  add_rows(rows, "", Support::kRefused,
           "Gradients are always added up over gradient_accumulation_steps micro-batches. Remove the key, and set "
           "gradient_accumulation_steps to 1 for a step per micro-batch.",
           {{"managed_gradient_accumulation", kBool, "true", "", "",
             "Whether the engine itself finds the end of an accumulation."}});
  add_rows(rows, "", Support::kRefused,
           "Gradients are averaged over all target tokens of the global batch, so that batch sizes can change without "
           "changing the learning rate. Write \"mean\" and scale the learning rate instead.",
           {{"gradient_allreduce_op", kChoice, "mean", "mean|sum", "", "How the ranks' gradients are combined."}});
}

void add_communication_rows(std::vector<Field>& rows) {
  add_rows(
      rows, "", Support::kHarmless,
      "it guards the sum of gradients over ranks against overflow; here the sum is in fp32",
      {
          {"prescale_gradients", kBool, "false", "", "",
           "Divides gradients by the number of ranks before they are summed instead of after.", AutoFilled::kNo, "",
           "zero_optimization.stage zero_optimization.reduce_scatter"},
          {"gradient_predivide_factor", kNumber, "1.0", "> 0", "", "Part of that division that is done before the sum.",
           AutoFilled::kNo, "", "zero_optimization.stage zero_optimization.reduce_scatter"},
      });
  add_rows(rows, "", Support::kHarmless, "it tunes communication between ranks and changes no result",
           {
               {"disable_allgather", kBool, "false", "", "", "Sends updated parameters by broadcast."},
               {"allgather_size", kInteger, "500000000", "> 0", "elements",
                "Older spelling of the gather size, used with \"zero_optimization\": true."},
               {"use_data_before_expert_parallelism", kBool, "false", "", "",
                "Order of data-parallel and expert-parallel ranks."},
               {"seq_parallel_communication_data_type", kChoice, "fp32", "bf16|fp16|fp32", "",
                "Number format of communication in sequence parallelism."},
           });
}

void add_console_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, "progress is shown by the live line and every --logging_steps steps",
           {
               {"steps_per_print", kInteger, "null", "> 0", "optimizer steps", "Steps between two progress lines."},
               {"log_level", kText, "null", "", "", "Level of the console messages."},
           });
  add_rows(
      rows, "", Support::kHarmless, "times and memory are part of every progress line",
      {
          {"wall_clock_breakdown", kBool, "false", "", "", "Prints the time of forward, backward and step."},
          {"memory_breakdown", kBool, "false", "", "", "Prints memory at the same places."},
          {"timers", kObject, "", "", "", "Settings of the timers."},
          {"timers.throughput", kObject, "", "", "", "Settings of the throughput timer."},
          {"timers.throughput.enabled", kBool, "true", "", "", "Measures rows per second."},
          {"timers.throughput.synchronized", kBool, "true", "", "", "Waits for the device before reading the clock."},
      });
  add_rows(rows, "", Support::kHarmless, "`athanor config show` prints every resolved value and where it came from",
           {{"dump_state", kBool, "false", "", "", "Prints the whole configuration at start."}});
  add_rows(rows, "", Support::kHarmless, "there is no Python here",
           {{"disable_python_gc", kBool, "false", "", "", "Switches Python's cycle collector off."}});
  add_rows(rows, "", Support::kHarmless, "the vocabulary comes from the model's config.json",
           {{"vocabulary_size", kInteger, "null", "> 0", "tokens", "Used for a warning about alignment."}});
}

void add_activation_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless,
           "it configures a function that models may call and, as with Hugging Face, switches nothing on; "
           "--gradient_checkpointing true recomputes each layer",
           {
               {"activation_checkpointing", kObject, "", "", "",
                "How activations are kept or recomputed in models that call DeepSpeed's checkpoint function."},
               {"activation_checkpointing.partition_activations", kBool, "false", "", "",
                "Shares activations out over model-parallel ranks."},
               {"activation_checkpointing.number_checkpoints", kInteger, "null", ">= 0", "",
                "Number of checkpoints in a forward pass, for contiguous memory."},
               {"activation_checkpointing.contiguous_memory_optimization", kBool, "false", "", "",
                "Copies partitioned activations into one buffer."},
               {"activation_checkpointing.cpu_checkpointing", kBool, "false", "", "",
                "Keeps partitioned activations in host memory."},
               {"activation_checkpointing.synchronize_checkpoint_boundary", kBool, "false", "", "",
                "Waits for the device at each boundary."},
               {"activation_checkpointing.profile", kBool, "false", "", "", "Times forward and backward."},
           });
}

void add_profiler_rows(std::vector<Field>& rows) {
  add_rows(
      rows, "", Support::kHarmless, "there is no profiler of modules; tokens/s are part of every progress line",
      {
          {"flops_profiler", kObject, "", "", "", "Counts the operations of each module."},
          {"flops_profiler.enabled", kBool, "false", "", "", "Switches the profiler on."},
          {"flops_profiler.recompute_fwd_factor", kNumber, "0.0", ">= 0", "", "Forward passes that are recomputed."},
          {"flops_profiler.profile_step", kInteger, "1", ">= 0", "optimizer steps", "The step that is profiled."},
          {"flops_profiler.module_depth", kInteger, "-1", ">= -1", "", "Depth to which modules are listed."},
          {"flops_profiler.top_modules", kInteger, "1", ">= 0", "", "Modules that are listed at each depth."},
          {"flops_profiler.detailed", kBool, "true", "", "", "Prints every module."},
          {"flops_profiler.output_file", kPath, "null", "", "", "File for the report."},
      });
  add_rows(rows, "", Support::kHarmless, "there is no profiler of collectives",
           {
               {"comms_logger", kObject, "", "", "", "Logs every collective operation."},
               {"comms_logger.enabled", kBool, "false", "", "", "Switches the log on."},
               {"comms_logger.verbose", kBool, "false", "", "", "Prints each operation."},
               {"comms_logger.prof_all", kBool, "true", "", "", "Logs all operations."},
               {"comms_logger.debug", kBool, "false", "", "", "Adds the caller."},
               {"comms_logger.prof_ops", kList, "[]", "", "", "Names of the operations to log."},
           });
}

void add_autotuning_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, "there is no autotuner; the values written in this file are used",
           {{"autotuning", kObject, "", "", "", "Search for a good configuration by short runs."}});
  add_rows(rows, "autotuning", Support::kHarmless, "there is no autotuner; the values written in this file are used",
           {
               {"enabled", kBool, "false", "", "", "Switches the search on."},
               {"fast", kBool, "true", "", "", "Tunes the micro-batch size only."},
               {"results_dir", kPath, "autotuning_results", "", "", "Folder of the results."},
               {"exps_dir", kPath, "autotuning_exps", "", "", "Folder of the experiments."},
               {"overwrite", kBool, "true", "", "", "Replaces older results."},
               {"start_profile_step", kInteger, "3", ">= 0", "optimizer steps", "First measured step."},
               {"end_profile_step", kInteger, "5", ">= 0", "optimizer steps", "Last measured step."},
               {"metric", kText, "throughput", "", "", "What is made best: throughput, latency or flops."},
               {"metric_path", kPath, "null", "", "", "File with the measured metric."},
               {"tuner_type", kText, "gridsearch", "", "", "gridsearch, random or model_based."},
               {"tuner_early_stopping", kInteger, "5", "", "", "Experiments without improvement before it stops."},
               {"tuner_num_trials", kInteger, "50", "", "", "Most experiments."},
               {"arg_mappings", kObject, "null", "", "", "Which flag of the script sets which key."},
               {"model_info", kObject, "null", "", "", "Size of the model, if known."},
               {"model_info_path", kPath, "null", "", "", "File with the size of the model."},
               {"mp_size", kInteger, "1", "> 0", "ranks", "Model-parallel ranks."},
               {"max_train_batch_size", kInteger, "null", "> 0", "rows", "Largest batch to try."},
               {"min_train_batch_size", kInteger, "1", "> 0", "rows", "Smallest batch to try."},
               {"max_train_micro_batch_size_per_gpu", kInteger, "1024", "> 0", "rows", "Largest micro-batch to try."},
               {"min_train_micro_batch_size_per_gpu", kInteger, "1", "> 0", "rows", "Smallest micro-batch to try."},
               {"num_tuning_micro_batch_sizes", kInteger, "3", "> 0", "", "Micro-batch sizes to try."},
           });
}

}  // namespace

void add_top_level_rows(std::vector<Field>& rows) {
  add_batch_rows(rows);
  add_communication_rows(rows);
  add_console_rows(rows);
  add_activation_rows(rows);
  add_profiler_rows(rows);
  add_autotuning_rows(rows);
}

}  // namespace athanor::config
