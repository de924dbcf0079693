#include "engine/trainer/run_loop.h"

#include <fmt/format.h>

#include <cmath>

#include "core/architecture/model_config.h"
#include "engine/checkpoint/retention.h"
#include "engine/trainer/interrupt.h"
#include "engine/trainer/non_finite.h"

namespace athanor::trainer {

namespace {

// Without a terminal: a line at least this often, so that a log shows life.
constexpr base::Seconds kLongestSilence{30.0};
// With one: redrawn no more often than an eye can follow.
constexpr base::Seconds kRedraw{0.1};
// trainer_state.json in the run folder is for readers while the run goes on; checkpoints hold their own.
constexpr base::Seconds kStateFileInterval{10.0};

// What Hugging Face Trainer counts: six for each weight and token, the embedding left out.
double counted_flops_per_token(const architecture::ModelConfig& config) {
  return 6.0 * static_cast<double>(architecture::count_parameters(config) - config.vocab_size * config.hidden_size);
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("checkpoint-{}", step); }

}  // namespace

RunLoop::RunLoop(const RunParts& parts, RunState& state, RunLog& log)
    : parts_(parts),
      state_(state),
      log_(log),
      start_(base::Clock::now()),
      progress_(state.step, parts.plan.total_steps, start_),
      last_line_(start_),
      last_state_file_(start_),
      tokens_at_start_(log.state().num_input_tokens_seen),
      flops_per_token_(counted_flops_per_token(parts.input.config)) {}

double RunLoop::seconds() const { return base::Seconds(base::Clock::now() - start_).count(); }

RunEnd RunLoop::run() {
  if (state_.evaluation_due || (state_.step == 0 && parts_.config.evaluation.on_start)) evaluate_now();
  while (state_.step < parts_.plan.total_steps) {
    if (interrupt_requested()) {
      save_for_interruption();
      return RunEnd::kInterrupted;
    }
    const StepRecord record = take_step();
    const Actions actions = actions_after(
        parts_.cadence,
        {.step = record.step, .epoch = record.epoch, .epoch_ends = parts_.plan.update_in_epoch(record.step) == 0});
    show_step(record);
    after_step(actions);
  }
  if (interrupt_requested() && state_.evaluation_due) {
    save_for_interruption();
    return RunEnd::kInterrupted;
  }
  return RunEnd::kFinished;
}

StepRecord RunLoop::take_step() {
  const std::vector<data::MicroBatch> global_batch = parts_.loader.batches(parts_.plan, state_.step);
  const StepResult result = train_step(
      parts_.step,
      {.global_batch = global_batch,
       .scaler = state_.scaler,
       .first_micro_batch = static_cast<std::uint64_t>(state_.step * parts_.plan.accumulation_steps),
       .learning_rate = state_.metric_schedule ? std::optional(state_.metric_schedule->learning_rate) : std::nullopt});
  react_to_skip(result, global_batch);
  ++state_.step;

  StepRecord record;
  record.step = state_.step;
  record.epoch = parts_.plan.epochs_after(state_.step);
  record.action = result.decision.action;
  record.reason = result.decision.reason;
  record.loss = result.loss;
  record.gradient_norm = result.norms.total;
  record.clip_coefficient = result.clip_coefficient;
  record.learning_rate = result.learning_rate;
  record.loss_scale = state_.scaler.scale;
  record.num_targets = result.num_targets;
  std::int64_t num_padded_tokens = 0;
  for (const data::MicroBatch& micro_batch : global_batch) {
    record.num_input_tokens += static_cast<std::int64_t>(micro_batch.tokens.size());
    num_padded_tokens += micro_batch.num_padded_tokens;
  }
  const bool real_tokens_only = parts_.config.logging.count_input_tokens == "non_padding";
  record.num_counted_tokens = real_tokens_only ? record.num_input_tokens : num_padded_tokens;
  record.flos = flops_per_token_ * static_cast<double>(num_padded_tokens);
  num_tokens_ += record.num_input_tokens;
  state_.scaler = result.decision.scaler;
  log_.add_step(record);
  state_.sums = log_.sums();
  return record;
}

void RunLoop::react_to_skip(const StepResult& result, std::span<const data::MicroBatch> global_batch) {
  const StepAction action = result.decision.action;
  if (action == StepAction::kApply) state_.consecutive_skips = 0;
  if (action == StepAction::kApply || action == StepAction::kSkipNoTargets) return;
  ++state_.consecutive_skips;
  const std::int64_t step = state_.step + 1;
  if (action == StepAction::kSkipOverflow) {
    parts_.console.line(fmt::format("step {} skipped: {}", step, result.decision.reason));
    if (state_.consecutive_skips != kSkipsBeforeDiagnosis) return;
  }
  const NonFiniteEvidence evidence =
      find_non_finite(parts_.input.config, parts_.model_options, parts_.step.store, global_batch, result.norms);
  const bool scale_cannot_help = evidence.origin != NonFiniteOrigin::kBackward;
  if (action == StepAction::kSkipOverflow && !scale_cannot_help) {
    parts_.console.line(fmt::format("{} steps in a row were skipped: {}", state_.consecutive_skips, evidence.sentence));
    return;
  }
  const bool fp16 = parts_.step.precision.compute == config::Precision::kFloat16;
  throw base::NumericStop(
      step, {fmt::format("step {}: {}; {}", step, result.decision.reason, evidence.sentence), evidence.place,
             fp16 ? "train with --bf16 true, or lower --learning_rate, and continue from the last checkpoint with "
                    "--resume_from_checkpoint true"
                  : "lower --learning_rate or --max_grad_norm, look at the named rows, and continue from the last "
                    "checkpoint with "
                    "--resume_from_checkpoint true"});
}

void RunLoop::after_step(const Actions& actions) {
  if (actions.log) log_now();
  bool save = actions.save;
  if (actions.evaluate) {
    const std::optional<std::int64_t> best_before = log_.state().best_global_step;
    evaluate_now();
    if (parts_.cadence.saving == config::Interval::kBest) save = log_.state().best_global_step != best_before;
  }
  if (save && !state_.evaluation_due) save_now();
}

void RunLoop::log_now() {
  survive_disk("the event file could not be written",
               [&] { log_.log_training(seconds(), tokens_at_start_, base::wall_time_seconds()); });
  state_.sums = log_.sums();
  const base::Clock::time_point now = base::Clock::now();
  if (now - last_state_file_ < kStateFileInterval) return;
  last_state_file_ = now;
  survive_disk("trainer_state.json could not be written", [&] { parts_.saver.save_trainer_state(log_.state()); });
}

void RunLoop::evaluate_now() {
  if (!parts_.evaluation_set) return;
  const base::Clock::time_point begin = base::Clock::now();
  parts_.console.live(fmt::format("step {}: evaluating", state_.step));
  const std::optional<Metrics> metrics = evaluate(parts_.step.model, parts_.step.store, *parts_.evaluation_set);
  state_.evaluation_due = !metrics.has_value();
  if (!metrics) return;
  survive_disk("the event file could not be written", [&] { log_.log_metrics(*metrics, base::wall_time_seconds()); });
  parts_.console.line(fmt::format("step {}/{}  eval_loss {:.4f}  {:.1f} s", state_.step, parts_.plan.total_steps,
                                  metrics->front().second, (*metrics)[1].second));
  progress_.pause_ended(base::Clock::now() - begin);

  adjust_learning_rate(*metrics);
  note_best(*metrics);
}

void RunLoop::adjust_learning_rate(const Metrics& metrics) {
  if (!state_.metric_schedule) return;
  const double before = state_.metric_schedule->learning_rate;
  const schedule::MetricSchedule rule(parts_.config.schedule, parts_.config.optimizer.learning_rate);
  const std::string metric = best_metric_name(parts_.config.checkpoint);
  for (const auto& [name, value] : metrics) {
    if (name == metric) state_.metric_schedule = rule.next(*state_.metric_schedule, value);
  }
  const double after = state_.metric_schedule->learning_rate;
  if (after == before) return;
  parts_.console.line(fmt::format("step {}: {} sets the learning rate from {:.3g} to {:.3g}", state_.step,
                                  parts_.config.schedule.type, before, after));
}

void RunLoop::note_best(const Metrics& metrics) {
  const config::CheckpointConfig& config = parts_.config.checkpoint;
  const bool wanted =
      !config.metric_for_best.empty() || config.load_best_at_end || config.strategy == config::Interval::kBest;
  if (!wanted) return;
  const std::string metric = best_metric_name(config);
  for (const auto& [name, value] : metrics) {
    if (name != metric ||
        !is_better(value, log_.state().best_metric, config.greater_is_better.value_or(!metric.ends_with("loss"))))
      continue;
    log_.state().best_metric = value;
    log_.state().best_global_step = state_.step;
  }
}

void RunLoop::save_now() {
  const base::Clock::time_point begin = base::Clock::now();
  parts_.console.live(fmt::format("step {}: saving {}", state_.step, checkpoint_name(state_.step)));
  const checkpoint::Contents contents =
      parts_.config.checkpoint.save_only_model ? checkpoint::Contents::kModelOnly : checkpoint::Contents::kTraining;
  const bool saved = survive_disk(fmt::format("{} could not be written", checkpoint_name(state_.step)),
                                  [&] { parts_.saver.save_checkpoint(state_, log_.state(), contents); });
  if (saved) {
    if (contents == checkpoint::Contents::kTraining) last_saved_step_ = state_.step;
    parts_.console.line(fmt::format("step {}/{}  saved {} in {:.1f} s", state_.step, parts_.plan.total_steps,
                                    checkpoint_name(state_.step), base::Seconds(base::Clock::now() - begin).count()));
    for (const std::int64_t step : parts_.saver.remove_old(log_.state())) {
      parts_.console.line(fmt::format("removed {} (save_total_limit)", checkpoint_name(step)));
    }
    survive_disk("trainer_state.json could not be written", [&] { parts_.saver.save_trainer_state(log_.state()); });
  }
  progress_.pause_ended(base::Clock::now() - begin);
}

void RunLoop::save_for_interruption() {
  parts_.console.end_live();
  if (last_saved_step_ != state_.step || state_.evaluation_due) {
    // Also under save_only_model: what an interrupted run needs is something to continue from.
    parts_.saver.save_checkpoint(state_, log_.state(), checkpoint::Contents::kTraining);
    parts_.saver.remove_old(log_.state());
    parts_.saver.save_trainer_state(log_.state());
  }
  parts_.console.line(fmt::format("{}: stopped after step {}, {} is saved. Continue with --resume_from_checkpoint true",
                                  interrupt_name(), state_.step, checkpoint_name(state_.step)));
}

void RunLoop::show_step(const StepRecord& record) {
  const base::Clock::time_point now = base::Clock::now();
  progress_.step_done(record.num_input_tokens, now);
  if (record.action == StepAction::kSkipNoTargets) {
    parts_.console.line(fmt::format("step {} skipped: {}", record.step, record.reason));
  }
  const bool last = record.step == parts_.plan.total_steps;
  const bool logged = actions_after(parts_.cadence, {.step = record.step}).log;
  const bool due = parts_.console.is_live() ? now - last_line_ >= kRedraw
                                            : logged || now - last_line_ >= kLongestSilence || record.step == 1;
  if (!due && !last) return;
  last_line_ = now;
  const std::string text = format_progress(progress_, {.loss = record.loss,
                                                       .learning_rate = record.learning_rate,
                                                       .gradient_norm = record.gradient_norm,
                                                       .memory_bytes = resident_bytes()});
  parts_.console.is_live() ? parts_.console.live(text) : parts_.console.line(text);
}

bool RunLoop::survive_disk(const std::string& what, const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const base::EnvironmentError& error) {
    parts_.console.line(
        fmt::format("{}: {}. Training goes on; what was saved before stays.", what, error.problem().what));
  } catch (const base::UserError& error) {
    parts_.console.line(
        fmt::format("{}: {}. Training goes on; what was saved before stays.", what, error.problems()[0].what));
  }
  return false;
}

}  // namespace athanor::trainer
