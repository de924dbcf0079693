#include "engine/checkpoint/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/base/file.h"

namespace athanor::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "checkpoint-";

}  // namespace

std::string checkpoint_folder(const std::string& output_dir, std::int64_t step) {
  return fmt::format("{}/{}{}", output_dir, kPrefix, step);
}

std::optional<std::int64_t> checkpoint_step(const std::string& folder) {
  const std::string name = fs::path(folder).filename().string();
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return std::nullopt;
  std::int64_t step = 0;
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size() || step < 0) return std::nullopt;
  return step;
}

std::vector<std::int64_t> list_checkpoints(const std::string& output_dir) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(output_dir, error)) {
    const std::optional<std::int64_t> step = checkpoint_step(entry.path().string());
    if (step && entry.is_directory(error)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Search find_newest(const std::string& output_dir) {
  Search search;
  std::vector<std::int64_t> steps = list_checkpoints(output_dir);
  for (auto step = steps.rbegin(); step != steps.rend() && !search.found; ++step) {
    const std::string folder = checkpoint_folder(output_dir, *step);
    base::Result<Manifest> manifest = check_folder(folder, Thoroughness::kChecksums);
    if (!manifest.ok()) {
      search.passed_over.push_back(fmt::format("{}{} is not whole ({})", kPrefix, *step, manifest.error().what));
    } else if (manifest.value().contents == Contents::kModelOnly) {
      search.passed_over.push_back(fmt::format("{}{} holds the model only", kPrefix, *step));
    } else {
      search.found = FoundCheckpoint{folder, std::move(manifest).value()};
    }
  }
  return search;
}

std::vector<std::int64_t> decide_retention(const std::vector<std::int64_t>& ascending_steps,
                                           std::optional<std::int64_t> limit, std::optional<std::int64_t> best_step) {
  std::vector<std::int64_t> removed;
  if (!limit || *limit < 1 || ascending_steps.empty()) return removed;
  const std::int64_t newest = ascending_steps.back();
  std::int64_t remaining = static_cast<std::int64_t>(ascending_steps.size());
  for (const std::int64_t step : ascending_steps) {
    if (remaining <= *limit) break;
    if (step == newest || step == best_step) continue;
    removed.push_back(step);
    --remaining;
  }
  return removed;
}

void remove_checkpoint(const std::string& folder) {
  const std::string nameless = folder + ".removed" + std::string(base::kTemporarySuffix);
  std::error_code error;
  fs::rename(folder, nameless, error);
  fs::remove_all(error ? folder : nameless, error);
}

void remove_leftovers(const std::string& output_dir) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(output_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(base::kTemporarySuffix)) leftovers.push_back(entry.path());
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover, error);
}

}  // namespace athanor::checkpoint
