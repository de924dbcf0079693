// The optimizer and scheduler sections of a DeepSpeed JSON.
#include <cmath>

#include "core/config/resolution_agreement.h"

namespace athanor::config::detail {

namespace {

class OptimizerMerge {
 public:
  OptimizerMerge(Agreement& agreement, const DeepSpeedOptimizer& theirs, const OptimizerConfig& ours)
      : agreement_(agreement), read_(agreement.read()), theirs_(theirs), ours_(ours) {}

  OptimizerConfig merge() {
    OptimizerConfig merged = theirs_.values;
    if (read_.given("optim") && ours_.kind != merged.kind) {
      read_.problem(fmt::format("the DeepSpeed file's optimizer is {} and optim asks for another", theirs_.type),
                    fmt::format("{} and {}", theirs_.where, read_.where("optim")), "keep one of them");
    }
    read_.record("optim", theirs_.type, theirs_.where);
    merged.learning_rate =
        value("lr", theirs_.learning_rate, "learning_rate", ours_.learning_rate, theirs_.values.learning_rate);
    if (has_moments()) {
      merged.epsilon = value("eps", theirs_.epsilon, "adam_epsilon", ours_.epsilon, theirs_.values.epsilon);
      merge_betas(merged);
    }
    merged.weight_decay =
        value("weight_decay", theirs_.weight_decay, "weight_decay", ours_.weight_decay, theirs_.values.weight_decay);
    merged.decay_groups = DecayGroups::kAll;
    if (merged.weight_decay > 0) {
      read_.note(
          "the DeepSpeed file's optimizer decays every parameter, norms and biases too; without an optimizer section "
          "they are exempt, as in Hugging Face's Trainer");
    }
    return merged;
  }

 private:
  bool has_moments() const { return theirs_.values.kind != OptimizerKind::kSgd; }

  // "auto" takes the argument; absent takes DeepSpeed's default, which a given argument must not contradict.
  double value(const std::string& key, const Setting<double>& setting, const std::string& argument, double ours,
               double otherwise) {
    const std::string path = "optimizer.params." + key;
    if (setting.given()) return agreement_.agree(path, setting, argument, ours);
    if (ours == otherwise) return ours;
    if (read_.given(argument)) {
      read_.problem(fmt::format("{} is {}, and the DeepSpeed file's optimizer leaves {} out, which means {}", argument,
                                text_of(ours), key, text_of(otherwise)),
                    fmt::format("{} and {}", theirs_.where, read_.where(argument)),
                    fmt::format("write \"{}\": \"auto\" into optimizer.params, which takes the argument", key));
      return ours;
    }
    read_.record(argument, text_of(otherwise), fmt::format("DeepSpeed's default for {}", path));
    return otherwise;
  }

  void merge_betas(OptimizerConfig& merged) {
    const Setting<std::vector<double>>& betas = theirs_.betas;
    const auto pair = [](double beta1, double beta2) {
      return fmt::format("[{}, {}]", text_of(beta1), text_of(beta2));
    };
    if (!betas.value.has_value()) {
      if (betas.is_auto) agreement_.fill("optimizer.params.betas", pair(ours_.beta1, ours_.beta2), "adam_beta1");
      merged.beta1 = betas.is_auto ? ours_.beta1 : value("betas", {}, "adam_beta1", ours_.beta1, theirs_.values.beta1);
      merged.beta2 = betas.is_auto ? ours_.beta2 : value("betas", {}, "adam_beta2", ours_.beta2, theirs_.values.beta2);
      return;
    }
    const std::string theirs = pair(merged.beta1, merged.beta2);
    read_.record("optimizer.params.betas", theirs, betas.where);
    std::vector<std::string> given, places = {betas.where};
    const auto settle = [&](const std::string& argument, double& beta, double ours) {
      if (beta != ours && read_.given(argument)) {
        given.push_back(fmt::format("{} is {}", argument, text_of(ours)));
        places.push_back(read_.where(argument));
      } else if (beta != ours) {
        agreement_.take(argument, text_of(beta), betas.where);
      }
    };
    settle("adam_beta1", merged.beta1, ours_.beta1);
    settle("adam_beta2", merged.beta2, ours_.beta2);
    if (given.empty()) return;
    read_.problem(
        fmt::format("optimizer.params.betas is {} in the DeepSpeed file and {}", theirs, fmt::join(given, " and ")),
        fmt::format("{}", fmt::join(places, " and ")),
        "write the same values in both, or \"auto\" for optimizer.params.betas in the DeepSpeed file");
  }

  Agreement& agreement_;
  ValueReader& read_;
  const DeepSpeedOptimizer& theirs_;
  const OptimizerConfig& ours_;
};

class ScheduleMerge {
 public:
  // `learning_rate` is what "auto" means for warmup_max_lr.
  ScheduleMerge(Agreement& agreement, const DeepSpeedSchedule& theirs, double learning_rate, RunConfig& config)
      : agreement_(agreement),
        read_(agreement.read()),
        theirs_(theirs),
        learning_rate_(learning_rate),
        config_(config),
        warmup_(planned_warmup()) {}

  void merge() {
    if (read_.given("lr_scheduler_type")) {
      read_.note(fmt::format("the DeepSpeed file's scheduler {} ({}) is used; lr_scheduler_type {} ({}) is not",
                             theirs_.type, theirs_.where, config_.schedule.type, read_.where("lr_scheduler_type")));
    }
    compare_all();
    base::JsonValue parameters = base::JsonValue::object();
    for (const base::JsonMember& member : theirs_.parameters.members()) {
      parameters.set(member.key, is_auto(member.value) ? filled(member.key) : member.value);
      if (!is_auto(member.value)) {
        read_.record("scheduler.params." + member.key, member.value.dump(), place(member.value));
      }
    }
    read_.record("lr_scheduler_type", theirs_.type, theirs_.where);
    config_.schedule.family = ScheduleFamily::kDeepSpeed;
    config_.schedule.type = theirs_.type;
    config_.schedule.parameters = std::move(parameters);
  }

 private:
  static bool is_auto(const base::JsonValue& value) { return value.is_string() && value.as_string() == "auto"; }
  std::string place(const base::JsonValue& value) const { return agreement_.reading().place(value.position()); }

  // transformers: whole steps as given, a share of the total rounded up, at least 1. No value while the total is not known.
  std::optional<std::int64_t> planned_warmup() const {
    const ScheduleConfig& schedule = config_.schedule;
    if (schedule.warmup_steps >= 1) return static_cast<std::int64_t>(schedule.warmup_steps);
    const double share = schedule.warmup_steps > 0 ? schedule.warmup_steps : schedule.warmup_ratio;
    if (share == 0) return 1;
    if (config_.length.max_steps <= 0) return std::nullopt;
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(static_cast<double>(config_.length.max_steps) * share)));
  }

  std::string warmup_argument() const {
    return config_.schedule.warmup_steps == 0 && config_.schedule.warmup_ratio > 0 ? "warmup_ratio" : "warmup_steps";
  }

  void compare_all() {
    compare("warmup_max_lr", "learning_rate", config_.optimizer.learning_rate);
    if (config_.length.max_steps > 0) {
      compare("total_num_steps", "max_steps", static_cast<double>(config_.length.max_steps));
    }
    if (warmup_.has_value()) compare("warmup_num_steps", warmup_argument(), static_cast<double>(*warmup_));
  }

  void compare(const std::string& key, const std::string& argument, double ours) {
    const base::JsonValue* value = theirs_.parameters.find(key);
    if (value == nullptr || !value->is_number() || !read_.given(argument) || value->as_double() == ours) return;
    agreement_.contradict("scheduler.params." + key, text_of(value->as_double()), place(*value), argument,
                          text_of(ours));
  }

  // What "auto" becomes; "auto" where only the step plan tells (core/schedule resolves it then).
  base::JsonValue filled(const std::string& key) {
    const std::string path = "scheduler.params." + key;
    constexpr const char* kLater = "from the step plan at start";
    if (key == "warmup_min_lr") {
      read_.record(path, "0", "auto: as the Hugging Face integration fills it");
      return 0;
    }
    if (key == "warmup_max_lr") {
      agreement_.fill(path, text_of(learning_rate_), "learning_rate");
      return learning_rate_;
    }
    if (key == "warmup_num_steps") {
      agreement_.fill(path, warmup_.has_value() ? text_of(*warmup_) : kLater, warmup_argument());
      return warmup_.has_value() ? base::JsonValue(*warmup_) : base::JsonValue("auto");
    }
    if (key == "total_num_steps" && config_.length.max_steps > 0) {
      agreement_.fill(path, text_of(config_.length.max_steps), "max_steps");
      return config_.length.max_steps;
    }
    read_.record(path, kLater, key == "total_num_steps" ? "auto: num_train_epochs" : "auto: DeepSpeed's default");
    return "auto";
  }

  Agreement& agreement_;
  ValueReader& read_;
  const DeepSpeedSchedule& theirs_;
  double learning_rate_;
  RunConfig& config_;
  std::optional<std::int64_t> warmup_;
};

}  // namespace

void merge_step(Agreement& agreement, RunConfig& config) {
  const DeepSpeedConfig& deepspeed = agreement.reading().config;
  double learning_rate = config.optimizer.learning_rate;
  if (deepspeed.optimizer.has_value()) {
    const OptimizerConfig ours = config.optimizer;
    config.optimizer = OptimizerMerge(agreement, *deepspeed.optimizer, ours).merge();
    // An absent lr is DeepSpeed's default for the optimizer; "auto" elsewhere still means the argument.
    if (deepspeed.optimizer->learning_rate.given()) learning_rate = config.optimizer.learning_rate;
  }
  if (deepspeed.scheduler.has_value()) ScheduleMerge(agreement, *deepspeed.scheduler, learning_rate, config).merge();
}

}  // namespace athanor::config::detail
