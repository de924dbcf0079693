#include "engine/trainer/data_input.h"

#include <fmt/format.h>

#include <mutex>

#include "core/base/clock.h"
#include "core/data/data_report.h"
#include "engine/trainer/interrupt.h"
#include "engine/trainer/progress.h"

namespace athanor::trainer {

namespace {

// Redrawn no more often than an eye can follow.
constexpr base::Seconds kRedraw{0.1};

// Where tokens are kept from run to run when nothing else is said.
constexpr const char* kDefaultCache = ".cache/athanor";

// Shows how far tokenising is; called from several threads.
class TokenizingProgress {
 public:
  explicit TokenizingProgress(Console& console) : console_(console) {}

  void show(const data::DatasetProgress& progress) {
    const std::lock_guard lock(mutex_);
    const base::Clock::time_point now = base::Clock::now();
    if (now - last_ < kRedraw) return;
    last_ = now;
    const double share = progress.bytes_total == 0
                             ? 1.0
                             : static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total);
    console_.live(fmt::format("tokenising {} of {} ({:.0f} %)",
                              format_bytes(static_cast<std::int64_t>(progress.bytes_done)),
                              format_bytes(static_cast<std::int64_t>(progress.bytes_total)), 100.0 * share));
  }

 private:
  Console& console_;
  std::mutex mutex_;
  base::Clock::time_point last_{};
};

struct PartRequest {
  const std::vector<std::string>& files;
  const char* option_name;
  std::optional<std::int64_t> max_samples;
};

data::Dataset open_files(const PartRequest& part, const config::RunConfig& config, const ModelInput& input,
                         const base::ParallelFor& parallel_for, Console& console) {
  TokenizingProgress progress(console);
  data::DatasetRequest request;
  request.patterns = part.files;
  request.option_name = part.option_name;
  request.config = &config.data;
  request.tokenizer = input.tokenizer ? &*input.tokenizer : nullptr;
  request.vocab_size = input.config.vocab_size;
  request.cache_folder = config.data.cache_dir.empty() ? kDefaultCache : config.data.cache_dir;
  request.max_samples = part.max_samples;
  std::optional<data::Dataset> dataset =
      data::open_dataset(request, {.parallel_for = parallel_for,
                                   .progress = [&](const data::DatasetProgress& done) { progress.show(done); },
                                   .keep_going = [] { return !interrupt_requested(); },
                                   .notice = [&](const std::string& text) { console.line(text); }});
  if (!dataset) throw Interrupted("reading the data");
  return std::move(*dataset);
}

std::unique_ptr<DataPart> open_part(const PartRequest& request, const config::RunConfig& config,
                                    const ModelInput& input, const base::ParallelFor& parallel_for, Console& console) {
  return std::make_unique<DataPart>(
      DataPart{open_files(request, config, input, parallel_for, console), nullptr, nullptr});
}

void deal(DataPart& part, const data::RowOptions& rows, const data::LoaderOptions& options) {
  part.rows = std::make_unique<data::RowSet>(data::make_rows(part.dataset, rows));
  part.loader = std::make_unique<data::Loader>(part.dataset, *part.rows, options);
}

}  // namespace

std::int64_t row_length(const config::DataConfig& config, const architecture::ModelConfig& model) {
  return config.max_length.value_or(model.max_position_embeddings);
}

DataInput open_data(const config::RunConfig& config, const ModelInput& input, const base::ParallelFor& parallel_for,
                    Console& console) {
  DataInput data;
  data.train = open_part({config.data.train_files, "train_file", config.data.max_train_samples}, config, input,
                         parallel_for, console);
  data::RowOptions rows{.max_length = row_length(config.data, input.config),
                        .packing = config.data.packing,
                        .sampling = config.data.sampling};
  deal(*data.train, rows,
       {.micro_batch_size = config.batch.micro_batch_size,
        .tokens_per_batch = config.data.tokens_per_batch.value_or(0),
        .sampling = config.data.sampling,
        .seed = config.data.data_seed,
        .drop_last = config.data.drop_last});
  console.line(data::format_data_report(
      data::make_data_report(data.train->dataset, *data.train->rows, input.tokenizer ? &*input.tokenizer : nullptr,
                             console.is_live() ? data::ExampleMarks::kColour : data::ExampleMarks::kBrackets)));
  if (config.data.validation_files.empty()) return data;
  data.validation = open_part({config.data.validation_files, "validation_file", config.data.max_eval_samples}, config,
                              input, parallel_for, console);
  rows.sampling = config::SamplingStrategy::kSequential;
  deal(*data.validation, rows,
       {.micro_batch_size = config.batch.eval_batch_size, .sampling = config::SamplingStrategy::kSequential});
  console.line(fmt::format("validation {} rows, {} tokens", with_separators(data.validation->rows->size()),
                           with_separators(data.validation->rows->statistics().num_tokens)));
  return data;
}

}  // namespace athanor::trainer
