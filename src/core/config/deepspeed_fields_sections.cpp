// Monitors, checkpoints, parallelism, data and compiler sections of the DeepSpeed schema, and what it no longer has.
#include "core/config/deepspeed_rows.h"

namespace athanor::config {
namespace {

using enum FieldType;
constexpr AutoFilled kNotFilled = AutoFilled::kNo;

constexpr const char* kNoParallel = "only data parallelism is done here, so the degree is 1";
constexpr const char* kNoDisk = "nothing is offloaded to a disk here";
constexpr const char* kOwnCheckpoints = "checkpoints are written in athanor's own way: beside, synced, renamed";
constexpr const char* kNoCompiler = "there is no graph compiler here; kernels are compiled ahead of time";
constexpr const char* kNoPipeline = "there are no pipeline stages here";

void add_tensorboard_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "", {{"tensorboard", kObject, "", "", "", "TensorBoard event files."}});
  add_rows(rows, "tensorboard", Support::kHonoured, "",
           {
               {"enabled", kBool, "false", "", "", "Writes event files."},
               {"output_path", kPath, "", "", "", "Folder that job_name is put into; empty is the working folder."},
               {"job_name", kText, "DeepSpeedJobName", "", "", "Folder of this run's event files."},
           });
}

void add_other_monitor_rows(std::vector<Field>& rows) {
  constexpr const char* kNotWritten =
      "this monitor is not written; TensorBoard event files are, with \"tensorboard\": {\"enabled\": true} or "
      "--report_to tensorboard, and trainer_state.json holds every logged value";
  add_rows(rows, "", Support::kHarmless, kNotWritten,
           {
               {"wandb", kObject, "", "", "", "Weights & Biases."},
               {"wandb.enabled", kBool, "false", "", "", "Logs to Weights & Biases."},
               {"wandb.group", kText, "null", "", "", "Group of runs."},
               {"wandb.team", kText, "null", "", "", "Team."},
               {"wandb.project", kText, "deepspeed", "", "", "Project."},
               {"csv_monitor", kObject, "", "", "", "One CSV file per metric."},
               {"csv_monitor.enabled", kBool, "false", "", "", "Writes CSV files."},
               {"csv_monitor.output_path", kPath, "", "", "", "Folder that job_name is put into."},
               {"csv_monitor.job_name", kText, "DeepSpeedJobName", "", "", "Folder of this run's files."},
               {"comet", kObject, "", "", "", "Comet."},
               {"comet.enabled", kBool, "false", "", "", "Logs to Comet."},
               {"comet.samples_log_interval", kInteger, "100", "", "rows", "Rows between two values."},
               {"comet.project", kText, "null", "", "", "Project."},
               {"comet.workspace", kText, "null", "", "", "Workspace."},
               {"comet.api_key", kText, "null", "", "", "Key of the account."},
               {"comet.experiment_name", kText, "null", "", "", "Name of the run."},
               {"comet.experiment_key", kText, "null", "", "", "Key of the run."},
               {"comet.online", kBool, "null", "", "", "Sends at once instead of keeping a local file."},
               {"comet.mode", kText, "null", "", "", "get, create or get_or_create."},
           });
}

void add_compile_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, kNoCompiler, {{"compile", kObject, "", "", "", "Graph compiler."}});
  add_rows(rows, "compile", Support::kHarmless, kNoCompiler,
           {
               {"deepcompile", kBool, "false", "", "", "Compiles forward, backward and communication together."},
               {"autoep_non_moe", kBool, "false", "", "", "Compiles the parents of expert layers."},
               {"free_activation", kBool, "false", "", "", "Frees large activations early."},
               {"free_activation_threshold", kInteger, "10485760", "", "bytes", "Size from which they are freed."},
               {"offload_activation", kBool, "false", "", "", "Moves saved activations to host memory."},
               {"offload_activation_pin_memory", kBool, "true", "", "", "Page-locked host memory for them."},
               {"offload_opt_states", kBool, "false", "", "", "Moves optimizer states to host memory during backward."},
               {"double_buffer", kBool, "true", "", "", "Two communication buffers."},
               {"symmetric_memory", kBool, "false", "", "", "Symmetric memory for collectives."},
               {"debug_log", kBool, "false", "", "", "Writes the graphs."},
               {"offload_parameters", kBool, "false", "", "", "Moves parameters to host memory."},
               {"sync_before_reduce", kBool, "false", "", "", "Waits before reducing."},
               {"sync_after_reduce", kBool, "false", "", "", "Waits after reducing."},
               {"sync_before_allgather", kBool, "false", "", "", "Waits before gathering."},
               {"sync_after_allgather", kBool, "false", "", "", "Waits after gathering."},
               {"keep_int_input_tensors", kBool, "true", "", "", "Keeps integer inputs for profiling."},
               {"keep_all_input_tensors", kBool, "false", "", "", "Keeps all inputs for profiling."},
               {"passes", kList, "null", "", "", "Passes of the compiler."},
               {"disable", kBool, "", "", "", "A key of an older DeepSpeed."},
               {"backend", kText, "", "", "", "A key of an older DeepSpeed."},
               {"enabled", kBool, "", "", "", "A key of an older DeepSpeed."},
               {"kwargs", kObject, "", "", "", "A key of an older DeepSpeed."},
           });
}

void add_pipeline_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, kNoPipeline, {{"pipeline", kObject, "", "", "", "Pipeline parallelism."}});
  add_rows(rows, "pipeline", Support::kRefused,
           "Pipeline parallelism is not done here. Write \"stages\": 1 or remove it.",
           {{"stages", kInteger, "auto", ">= 0", "stages", "Stages the model is cut into."}});
  add_rows(rows, "pipeline", Support::kHarmless, kNoPipeline,
           {
               {"partition", kText, "best", "", "", "How layers are shared out."},
               {"seed_layers", kBool, "false", "", "", "Seeds each layer by its number."},
               {"activation_checkpoint_interval", kInteger, "0", ">= 0", "layers", "Layers between two checkpoints."},
               {"pipe_partitioned", kBool, "true", "", "", "Shares activations out over model-parallel ranks."},
               {"grad_partitioned", kBool, "true", "", "", "Shares their gradients out."},
           });
}

void add_tensor_parallel_rows(std::vector<Field>& rows) {
  constexpr const char* kTensor = "Tensor parallelism is not done here. Write 1, or remove the section.";
  add_rows(rows, "", Support::kRefused, "Sequence parallelism is not done here. Write 1, or remove the key.",
           {{"sequence_parallel_size", kInteger, "1", "> 0", "ranks", "Ranks that share one sequence."}});
  add_rows(rows, "", Support::kHarmless, kNoParallel,
           {
               {"tensor_parallel", kObject, "", "", "", "Tensor parallelism."},
               {"tensor_parallel.dtype", kText, "torch.float16", "", "", "Number format of the model."},
               {"tensor_parallel.tp_overlap_comm", kBool, "false", "", "", "Overlaps communication."},
               {"tensor_parallel.vocab_parallel_lm_head", kBool, "null", "", "", "Shares the vocabulary out."},
               {"tensor_parallel.vocab_parallel_ce_backend", kChoice, "torch", "torch|liger", "",
                "Implementation of the loss."},
               {"tensor_parallel.injection_policy_tuple", kList, "null", "", "", "Layers to replace."},
               {"tensor_parallel.partition_config", kObject, "null", "", "", "Rules of sharing out."},
               {"tensor_parallel.preset_model", kText, "null", "", "", "Built-in rules."},
               {"tensor_parallel.keep_module_on_host", kBool, "false", "", "", "Keeps weights in host memory."},
               {"tensor_parallel.replace_with_kernel_inject", kBool, "false", "", "", "Uses inference kernels.",
                kNotFilled, "kernel_inject"},
               {"tensor_parallel.tensor_parallel", kObject, "", "", "", "Degree.", kNotFilled, "tp"},
               {"tensor_parallel.tensor_parallel.tp_grain_size", kInteger, "1", "> 0", "", "Grain of sharing out."},
               {"tensor_parallel.tensor_parallel.mpu", kObject, "null", "", "", "Python object of ranks."},
               {"tensor_parallel.tensor_parallel.tp_group", kObject, "null", "", "", "Python object of ranks."},
           });
  add_rows(rows, "tensor_parallel", Support::kRefused, kTensor,
           {
               {"autotp_size", kInteger, "0", ">= 0", "ranks", "Ranks that share each layer; 0 is off."},
               {"tensor_parallel.tp_size", kInteger, "1", "> 0", "ranks", "Ranks that share each layer."},
           });
}

void add_expert_parallel_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, kNoParallel,
           {{"expert_parallel", kObject, "", "", "", "Expert parallelism."}});
  add_rows(rows, "expert_parallel", Support::kRefused,
           "Expert parallelism is not done here. Write 1, or remove the section.",
           {
               {"autoep_size", kInteger, "1", "> 0", "ranks", "Ranks that share the experts."},
               {"expert_tensor_parallel_size", kInteger, "1", "> 0", "ranks", "Ranks that share each expert."},
           });
  add_rows(rows, "expert_parallel", Support::kRefused, "DeepSpeed refuses it too. Write null, or remove it.",
           {{"load_balance_coeff", kNumber, "null", "", "", "Balancing without a loss."}});
  add_rows(rows, "expert_parallel", Support::kHarmless, kNoParallel,
           {
               {"enabled", kBool, "false", "", "", "Shares experts out."},
               {"validate_folding_routing", kBool, "false", "", "", "Checks routing."},
               {"async_split_plan", kBool, "false", "", "", "Plans the exchange in the background."},
               {"preset_model", kText, "null", "", "", "Built-in rules."},
               {"moe_layer_pattern", kText, "null", "", "", "Names of expert layers."},
               {"expert_pattern", kText, "null", "", "", "Names of experts."},
               {"router_pattern", kText, "null", "", "", "Names of routers."},
               {"use_grouped_mm", kBool, "true", "", "", "Multiplies all experts at once."},
               {"disable_triton_grouped_mm", kBool, "false", "", "", "Not with Triton."},
               {"route_norm", kBool, "null", "", "", "Normalises the routing weights."},
               {"route_scale", kNumber, "1.0", "", "", "Scales the routing weights."},
               {"score_apply", kText, "auto", "", "", "Where the routing weights are applied."},
               {"combine_impl", kText, "auto", "", "", "Implementation of the sum over experts."},
               {"row_weighting_impl", kText, "auto", "", "", "Implementation of the weighting."},
               {"gate_up_impl", kText, "separate", "", "", "Implementation of the first projection."},
               {"comm_backend", kText, "comm", "", "", "Implementation of the exchange."},
               {"comm_num_sm", kInteger, "12", "", "", "Processors for the exchange."},
               {"comm_qp_margin", kInteger, "4", "", "", "Queues for the exchange."},
               {"comm_max_tokens_per_rank", kInteger, "0", "", "tokens", "Largest exchange."},
               {"num_expert_groups", kInteger, "null", "", "", "Groups of experts."},
               {"num_limited_groups", kInteger, "null", "", "", "Groups a token may use."},
               {"score_func", kText, "auto", "", "", "softmax or sigmoid."},
               {"top_k", kInteger, "auto", "", "", "Experts per token."},
               {"routed_scaling_factor", kNumber, "auto", "", "", "Scale of routed experts."},
               {"expert_w1", kText, "null", "", "", "Name of a weight."},
               {"expert_w2", kText, "null", "", "", "Name of a weight."},
               {"expert_w3", kText, "null", "", "", "Name of a weight."},
               {"num_experts_attr", kText, "null", "", "", "Attribute with the number of experts."},
               {"top_k_attr", kText, "null", "", "", "Attribute with the experts per token."},
               {"has_shared_experts", kBool, "null", "", "", "Whether there are shared experts."},
               {"shared_experts_pattern", kText, "null", "", "", "Their names."},
               {"shared_experts_gate_pattern", kText, "null", "", "", "Names of their gates."},
               {"expert_activation", kText, "null", "", "", "Activation of the experts."},
           });
}

void add_data_efficiency_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, "data efficiency is off",
           {
               {"data_efficiency", kObject, "", "", "", "Curriculum, dynamic batches and token dropping."},
               {"data_efficiency.seed", kInteger, "1234", "", "", "Seed of the sampling."},
               {"data_efficiency.data_sampling", kObject, "", "", "", "Curriculum and dynamic batches."},
               {"data_efficiency.data_routing", kObject, "", "", "", "Token dropping."},
           });
  add_rows(
      rows, "data_efficiency", Support::kRefused,
      "Curriculum learning, dynamic batches by metric and token dropping are not done here. Write \"enabled\": false; "
      "--train_sampling_strategy group_by_length groups rows by length.",
      {{"enabled", kBool, "false", "", "", "Switches the section on."}});
}

void add_inference_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, "the hybrid engine is off",
           {
               {"hybrid_engine", kObject, "", "", "", "Training and generation in turn."},
               {"hybrid_engine.max_out_tokens", kInteger, "512", "> 0", "tokens", "Longest sequence."},
               {"hybrid_engine.inference_tp_size", kInteger, "1", "", "ranks", "Tensor parallelism of generation."},
               {"hybrid_engine.release_inference_cache", kBool, "false", "", "", "Frees the cache."},
               {"hybrid_engine.pin_parameters", kBool, "true", "", "", "Page-locked parameters."},
               {"hybrid_engine.tp_gather_partition_size", kInteger, "8", "", "", "Layers gathered at a time."},
               {"hybrid_engine.enable_cuda_graph", kBool, "false", "", "", "Captures graphs."},
           });
  add_rows(
      rows, "hybrid_engine", Support::kRefused,
      "Generation during training is not done here. Write \"enabled\": false and use `athanor generate` afterwards.",
      {{"enabled", kBool, "false", "", "", "Switches the section on."}});
  add_rows(rows, "", Support::kRefused, "Quantized weights are not trained here. Remove the section.",
           {{"weight_quantization", kObject, "null", "", "", "Quantizes weights at start."}});
}

void add_aio_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, kNoDisk, {{"aio", kObject, "null", "", "", "Asynchronous disk access."}});
  add_rows(
      rows, "aio", Support::kHarmless, kNoDisk,
      {
          {"block_size", kInteger, "1048576", "> 0", "bytes", "Size of an access."},
          {"queue_depth", kInteger, "8", "> 0", "", "Accesses at the same time."},
          {"intra_op_parallelism", kInteger, "1", "> 0", "threads", "Threads per access.", kNotFilled, "thread_count"},
          {"single_submit", kBool, "false", "", "", "Submits one access at a time."},
          {"overlap_events", kBool, "true", "", "", "Submits and waits at the same time."},
          {"use_gds", kBool, "false", "", "", "Moves data between disk and GPU directly."},
      });
}

}  // namespace

void add_monitor_rows(std::vector<Field>& rows) {
  add_tensorboard_rows(rows);
  add_other_monitor_rows(rows);
}

void add_checkpoint_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHarmless, kOwnCheckpoints,
           {
               {"checkpoint", kObject, "null", "", "", "How checkpoints are written."},
               {"checkpoint.tag_validation", kChoice, "Warn", "Warn|Ignore|Fail", "",
                "Checks that ranks save under one name."},
               {"checkpoint.use_node_local_storage", kBool, "false", "", "", "Each node writes its own folder."},
               {"checkpoint.parallel_write", kObject, "", "", "", "Who writes."},
               {"checkpoint.parallel_write.pipeline_stage", kBool, "false", "", "", "Each pipeline stage writes."},
               {"checkpoint.checkpoint_serialization", kBool, "true", "", "", "Uses torch's newer file format."},
               {"checkpoint.writer", kObject, "null", "", "", "How files are written."},
               {"checkpoint.writer.type", kChoice, "FAST", "FAST|PYTHON|MOCK", "", "Implementation."},
               {"checkpoint.writer.io_buffer_size", kInteger, "67108864", "> 0", "bytes", "Size of the buffer."},
               {"checkpoint.writer.io_buffer_double", kBool, "true", "", "", "Two buffers."},
               {"checkpoint.writer.io_multiplier", kInteger, "1", "> 0", "", "Parallel files."},
               {"checkpoint.writer.show_statistics", kBool, "false", "", "", "Prints speeds."},
               {"checkpoint.writer.data_parallel", kChoice, "null", "REPLICA|SOCKET|MACHINE", "", "Which ranks write."},
               {"checkpoint.writer.decoupled", kBool, "false", "", "", "Writes behind training."},
               {"datastates_ckpt", kObject, "null", "", "", "Checkpoints by DataStates."},
           });
  add_rows(rows, "checkpoint", Support::kRefused,
           "DeepSpeed's universal checkpoints cannot be read here. Remove it and give the Hugging Face folder as "
           "--model_name_or_path.",
           {{"load_universal", kBool, "false", "", "", "Loads a universal checkpoint."}});
}

void add_parallel_rows(std::vector<Field>& rows) {
  add_pipeline_rows(rows);
  add_tensor_parallel_rows(rows);
  add_expert_parallel_rows(rows);
  add_compile_rows(rows);
  add_data_efficiency_rows(rows);
  add_inference_rows(rows);
  add_aio_rows(rows);
}

void add_removed_rows(std::vector<Field>& rows) {
  struct Removed {
    const char* name;
    FieldType type;
    const char* doc;
    const char* reason;
  };
  const Removed removed[] = {
      {"amp", kObject, "Mixed precision by apex (removed).",
       "DeepSpeed removed apex. Remove the section and write \"bf16\": {\"enabled\": true} or \"fp16\": {\"enabled\": "
       "true}."},
      {"sparse_gradients", kBool, "Sparse gradients of embeddings (removed).",
       "DeepSpeed removed sparse embedding gradients. Remove the key; gradients are dense."},
      {"elasticity", kObject, "Batch sizes for a changing number of ranks (removed).",
       "DeepSpeed removed elastic training. Remove the section and write train_batch_size and "
       "train_micro_batch_size_per_gpu."},
      {"sparse_attention", kObject, "Sparse attention (removed).",
       "DeepSpeed removed sparse attention. Remove the section; attention is exact and fused."},
      {"curriculum_learning", kObject, "Growing sequence length (removed).",
       "DeepSpeed removed it from the top level. Remove the section."},
      {"compression_training", kObject, "Quantization and pruning in training (removed).",
       "DeepSpeed removed compression. Remove the section."},
      {"quantize_training", kObject, "Quantization in training (removed).",
       "DeepSpeed removed mixture of quantization. Remove the section."},
      {"eigenvalue", kObject, "Eigenvalues for quantization (removed).",
       "DeepSpeed removed it with mixture of quantization. Remove the section."},
      {"progressive_layer_drop", kObject, "Dropping layers in training (removed).",
       "DeepSpeed removed progressive layer dropping. Remove the section."},
      {"nebula", kObject, "Checkpoints by Nebula (removed).",
       "DeepSpeed removed Nebula. Remove the section; checkpoints are always written in full."},
      {"graph_harvesting", kBool, "CUDA graphs (removed).", "DeepSpeed removed it. Remove the key."},
  };
  for (const Removed& row : removed) {
    add_removed(rows, "", row.reason, {{row.name, row.type, row.type == kBool ? "false" : "null", "", "", row.doc}});
  }
}

}  // namespace athanor::config
