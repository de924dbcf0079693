#include "engine/trainer/trainer.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "engine/shard/initialize.h"
#include "engine/trainer/data_input.h"
#include "engine/trainer/device.h"
#include "engine/trainer/document_probe.h"
#include "engine/trainer/finish.h"
#include "engine/trainer/interrupt.h"
#include "engine/trainer/output_folder.h"
#include "engine/trainer/reports.h"
#include "engine/trainer/resume.h"
#include "engine/trainer/run_loop.h"

namespace athanor::trainer {

namespace {

// Where and how the run computes.
struct Compute {
  at::Device device = at::kCPU;
  config::Precision precision = config::Precision::kFloat32;
  base::JsonValue record = base::JsonValue::object();  // what was chosen and why, for athanor_config.json
};

Compute choose_compute(const config::RunConfig& config, Console& console) {
  if (config.num_threads > 0) at::set_num_threads(config.num_threads);
  const Hardware hardware = look_at_hardware();
  const at::Device device = choose_device(config.device, hardware);
  const PrecisionChoice choice = choose_precision(config.precision, device, hardware);
  if (device.is_cuda() && (config.zero.offload_optimizer || config.zero.offload_parameters)) {
    throw base::UserError("offloading from a GPU to host memory is not done here",
                          "zero_optimization.offload_optimizer, offload_param",
                          "set their device to \"none\", or train on the processor with --device cpu");
  }
  if (device.is_cuda()) at::globalContext().setAllowTF32CuBLAS(config.precision.tf32);
  const std::string where = describe_device(device, hardware);
  console.line("device   " + where);
  console.line(fmt::format("compute  {} ({}){}", precision_name(choice.precision), choice.reason,
                           choice.hint.empty() ? "" : "; " + choice.hint));
  Compute compute{device, choice.precision};
  compute.record.set("device", where);
  compute.record.set("precision", precision_name(choice.precision));
  compute.record.set("precision_reason", choice.reason);
  return compute;
}

// The length of the run and everything that follows from it.
struct Plan {
  data::StepPlan steps;
  schedule::LearningRateSchedule schedule;
  Cadence cadence;
  std::optional<EvaluationSet> evaluation;
};

std::optional<EvaluationSet> plan_evaluation(const DataInput& data) {
  if (!data.validation) return std::nullopt;
  const data::Loader& loader = *data.validation->loader;
  data::StepPlanInput input;
  input.num_batches = loader.num_batches();
  input.num_epochs = 1.0;
  return EvaluationSet{loader, data::make_step_plan(input), data.validation->rows->size()};
}

void check_best_metric(const config::CheckpointConfig& config) {
  const std::vector<std::string>& names = evaluation_metric_names();
  const std::string name = best_metric_name(config);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw base::UserError(fmt::format("there is no evaluation metric {}", name), "metric_for_best_model",
                        "set --metric_for_best_model loss");
}

Plan make_plan(const config::RunConfig& config, const DataInput& data, Console& console) {
  check_best_metric(config.checkpoint);
  data::StepPlanInput input;
  input.num_batches = data.train->loader->num_batches();
  input.accumulation_steps = config.batch.accumulation_steps;
  input.num_epochs = config.length.num_train_epochs;
  input.max_steps = config.length.max_steps;
  const data::StepPlan steps = data::make_step_plan(input);
  Plan plan{steps, schedule::make_schedule(config.schedule, config.optimizer.learning_rate, steps.total_steps),
            make_cadence(config.logging, config.evaluation, config.checkpoint, steps.total_steps),
            plan_evaluation(data)};
  console.line(describe_plan(config.batch, steps));
  console.line(describe_schedule(config.schedule, plan.schedule, steps.total_steps));
  for (const std::string& note : plan.schedule.notes()) console.line("note     " + note);
  return plan;
}

// Buffers and the machinery that works on them.
struct Machine {
  std::unique_ptr<shard::FlatStore> store;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<model::Model> model;
  model::ModelOptions model_options;
};

Machine allocate(const config::RunConfig& config, const Compute& compute, const ModelInput& input) {
  const at::ScalarType type = scalar_type(compute.precision);
  Machine machine;
  machine.store = std::make_unique<shard::FlatStore>(
      architecture::list_units(input.config),
      shard::StoreOptions{.compute_type = type,
                          .gradient_type = config.batch.accumulation_steps == 1 ? type : at::kFloat,
                          .device = compute.device});
  machine.optimizer = std::make_unique<optim::Optimizer>(config.optimizer, *machine.store);
  machine.model_options = {
      .compute_type = type,
      .device = compute.device,
      .recompute = config.recompute_activations ? model::Recompute::kLayers : model::Recompute::kNothing,
      .neftune_noise_alpha = config.neftune_noise_alpha,
      .noise_seed = static_cast<std::uint64_t>(config.seed)};
  machine.model = std::make_unique<model::Model>(input.config, machine.model_options);
  return machine;
}

// Also for a resumed run whose schedule is another than before.
void follow_metric(const config::RunConfig& config, RunState& state) {
  if (!schedule::follows_metric(config.schedule)) {
    state.metric_schedule.reset();
  } else if (!state.metric_schedule) {
    state.metric_schedule = schedule::MetricSchedule(config.schedule, config.optimizer.learning_rate).initial_state();
  }
}

// The state of a run at its first step.
ResumedState fresh_state(const config::RunConfig& config, const Plan& plan) {
  ResumedState fresh;
  fresh.state.scaler = config.precision.compute == config::Precision::kFloat16
                           ? schedule::initial_scaler_state(config.precision.scaler)
                           : schedule::ScalerState{};
  follow_metric(config, fresh.state);
  formats::TrainerState& state = fresh.trainer_state;
  state.max_steps = plan.steps.total_steps;
  state.num_train_epochs = plan.steps.num_epochs;
  state.logging_steps = static_cast<double>(plan.cadence.logging_steps);
  state.eval_steps = static_cast<double>(plan.cadence.evaluation_steps);
  state.save_steps = static_cast<double>(plan.cadence.saving_steps);
  state.train_batch_size = config.batch.micro_batch_size;
  return fresh;
}

ResumedState load_or_initialize(const config::RunConfig& config, const ModelInput& input, const Plan& plan,
                                const ResumeSource& source, const TrajectorySettings& settings, const Machine& machine,
                                Console& console) {
  throw_if_interrupted("allocating");
  if (source.checkpoint) {
    console.live("loading " + source.checkpoint->folder);
    ResumedState resumed = resume(*source.checkpoint, settings, *machine.store, *machine.optimizer);
    follow_metric(config, resumed.state);
    resumed.trainer_state.max_steps = plan.steps.total_steps;
    resumed.trainer_state.num_train_epochs = plan.steps.num_epochs;
    console.line(fmt::format("resume   {} after step {}", source.checkpoint->folder, resumed.state.step));
    for (const std::string& note : resumed.notes) console.line("note     " + note);
    return resumed;
  }
  if (input.weights) {
    console.live("loading " + input.path);
    checkpoint::load_weights(*machine.store, *input.weights, input.path);
  } else {
    shard::initialize_weights(*machine.store, input.config, static_cast<std::uint64_t>(config.seed));
  }
  throw_if_interrupted("loading the weights");
  return fresh_state(config, plan);
}

void prove_documents_apart(const Machine& machine, const ModelInput& input, const DataInput& data, const Plan& plan,
                           Console& console) {
  const std::vector<data::MicroBatch> first = data.train->loader->batches(plan.steps, 0);
  const ProbeResult result = probe_documents(*machine.model, *machine.store, first.front(), input.config.vocab_size);
  ATHANOR_CHECK(result != ProbeResult::kLeak, "a document sees the one packed beside it");
  if (result == ProbeResult::kProven) console.line("probe    documents that lie side by side do not see each other");
}

void open_events(const TrainRequest& request, RunState& state, RunLog& log) {
  const config::LoggingConfig& config = request.config.logging;
  if (std::find(config.report_to.begin(), config.report_to.end(), "tensorboard") == config.report_to.end()) return;
  const double now = base::wall_time_seconds();
  if (state.events_folder.empty()) {
    std::string name =
        config.run_name.empty() ? base::utc_timestamp(now) + "_" + request.environment.host : config.run_name;
    std::replace(name.begin(), name.end(), ':', '-');  // not every file system takes colons
    state.events_folder =
        config.directory.empty() ? request.config.checkpoint.output_dir + "/runs/" + name : config.directory;
  }
  base::make_folders(state.events_folder);
  log.open_events(state.events_folder,
                  {.unix_seconds = now,
                   .host = request.environment.host,
                   .process_id = request.environment.process_id,
                   .serial = 0},
                  state.step > 0 ? std::optional(state.step + 1) : std::nullopt);
  log.write_text("args", "```json\n" + request.resolved.dump(2) + "\n```", now);
}

// The last thing before the first step: what an earlier run left behind goes, and what this run is made of is written down.
void prepare_folder(const TrainRequest& request, const ResumeSource& source, const Compute& compute) {
  const config::CheckpointConfig& config = request.config.checkpoint;
  checkpoint::remove_leftovers(config.output_dir);
  if (config.overwrite_output_dir && !source.checkpoint) {
    for (const std::int64_t step : checkpoint::list_checkpoints(config.output_dir)) {
      checkpoint::remove_checkpoint(checkpoint::checkpoint_folder(config.output_dir, step));
    }
  }
  base::JsonValue record = request.resolved;
  record.set("chosen", compute.record);
  base::write_whole(config.output_dir + "/athanor_config.json", record.dump(2) + "\n");
}

}  // namespace

TrainOutcome train(const TrainRequest& request) {
  config::RunConfig config = request.config;
  const Environment& environment = request.environment;
  Console console(stdout,
                  environment.terminal && !config.logging.disable_progress ? Console::Live::kOn : Console::Live::kOff,
                  environment.columns);
  for (const std::string& note : request.notes) console.line("note     " + note);

  const OutputFolder output(config.checkpoint);
  const Compute compute = choose_compute(config, console);
  config.precision.compute = compute.precision;
  const ModelInput input = open_model_input(config);
  for (const std::string& note : input.notes) console.line("note     " + note);
  const shard::FlatLayout layout(architecture::list_units(input.config), 1);
  console.line(describe_model(input, layout.num_parameter_elements()));

  const DataInput data = open_data(config, input, environment.parallel_for, console);
  const Plan plan = make_plan(config, data, console);
  const ResumeSource source = find_resume_source(config.checkpoint);
  for (const std::string& note : source.notes) console.line("note     " + note);
  const std::string space = check_space(
      output.path(), base::free_bytes(output.path()),
      space_needs(config, compute.precision, input, layout, count_saves(plan.cadence, plan.steps.num_epochs)));
  if (!space.empty()) console.line("note     " + space);

  const Machine machine = allocate(config, compute, input);
  const TrajectorySettings settings = trajectory_settings(
      config, compute.precision, plan.steps.total_steps, {data.train->dataset.fingerprint(), data.train->rows->size()});
  ResumedState start = load_or_initialize(config, input, plan, source, settings, machine, console);
  prove_documents_apart(machine, input, data, plan, console);
  prepare_folder(request, source, compute);

  RunLog log(config.logging, compute.precision, std::move(start.trainer_state), start.state.sums);
  open_events(request, start.state, log);
  Saver saver(config, compute.precision, input, *machine.store, *machine.optimizer, settings);
  const std::int64_t first_step = start.state.step;
  RunLoop loop(
      {config, input, machine.model_options, *data.train->loader, plan.steps, plan.evaluation, plan.cadence,
       StepParts{*machine.model, *machine.store, *machine.optimizer, plan.schedule, config.precision, config.clipping},
       saver, console},
      start.state, log);
  const RunEnd end = loop.run();
  const RunTotals totals{.steps = start.state.step - first_step,
                         .seconds = loop.seconds(),
                         .num_tokens = loop.num_tokens(),
                         .peak_bytes = peak_resident_bytes(),
                         .train_loss = mean_loss(log.sums()),
                         .output_dir = output.path()};
  if (end == RunEnd::kFinished) finish_run({config, input, *machine.store, saver, console}, totals, log);
  log.close_events();
  return {end == RunEnd::kFinished ? base::ExitCode::kSuccess : base::ExitCode::kInterrupted, start.state.step,
          totals.train_loss};
}

}  // namespace athanor::trainer
