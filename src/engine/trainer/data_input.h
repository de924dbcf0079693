// The data a run trains and evaluates on: tokenised (or found in the cache), laid out in rows, dealt into micro-batches, reported.
//
// Owns:    the mappings; loaders refer to them, so it does not move once made.
// Fails:   UserError (no file, a bad line with its place, no row left), EnvironmentError (disk full), Interrupted.
#pragma once

#include <memory>
#include <optional>

#include "core/base/parallel.h"
#include "core/config/run_config.h"
#include "core/data/dataset.h"
#include "core/data/loader.h"
#include "core/data/rows.h"
#include "engine/trainer/console.h"
#include "engine/trainer/model_input.h"

namespace athanor::trainer {

struct DataPart {
  data::Dataset dataset;
  std::unique_ptr<data::RowSet> rows;
  std::unique_ptr<data::Loader> loader;
};

struct DataInput {
  std::unique_ptr<DataPart> train;
  std::unique_ptr<DataPart> validation;  // null when there is none
};

// Says the data report on `console`.
DataInput open_data(const config::RunConfig& config, const ModelInput& input, const base::ParallelFor& parallel_for,
                    Console& console);

// Tokens of a row: as asked for, else what the model takes.
std::int64_t row_length(const config::DataConfig& config, const architecture::ModelConfig& model);

}  // namespace athanor::trainer
