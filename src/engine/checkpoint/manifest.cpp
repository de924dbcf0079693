#include "engine/checkpoint/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/crc32c.h"
#include "core/base/file.h"

namespace athanor::checkpoint {

namespace {

using base::JsonValue;

constexpr std::int64_t kVersion = 1;
constexpr const char* kChecksumKey = "checksum";

std::string checksum_of(const std::string& text) {
  return fmt::format("{:08x}", base::crc32c(0, text.data(), text.size()));
}

base::Failure<base::Problem> not_whole(std::string what, const std::string& path) {
  return base::Failure{base::Problem{std::move(what), path, ""}};
}

const JsonValue* find_kind(const JsonValue& json, const char* key, base::JsonKind kind) {
  const JsonValue* value = json.find(key);
  return value != nullptr && value->kind() == kind ? value : nullptr;
}

std::uint32_t file_checksum(const base::MappedFile& file) { return base::crc32c(0, file.data(), file.size()); }

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  JsonValue json = JsonValue::object();
  json.set("format", "athanor checkpoint");
  json.set("version", kVersion);
  json.set("step", manifest.step);
  json.set("contents", manifest.contents == Contents::kTraining ? "training" : "model");
  json.set("optimizer", manifest.optimizer_kind);
  json.set("optimizer_steps", manifest.optimizer_steps);
  json.set("state", manifest.state);
  JsonValue parts = JsonValue::array();
  for (const Part& part : manifest.parts) {
    JsonValue item = JsonValue::object();
    item.set("file", part.file);
    item.set("bytes", static_cast<std::int64_t>(part.num_bytes));
    item.set("crc32c", fmt::format("{:08x}", part.crc32c));
    parts.push_back(std::move(item));
  }
  json.set("parts", std::move(parts));
  const std::string checksum = checksum_of(json.dump());
  json.set(kChecksumKey, checksum);
  return json.dump(2) + "\n";
}

base::Result<Manifest> parse_manifest(const std::string& text, const std::string& path) {
  JsonValue json;
  try {
    json = base::parse_json(text, path);
  } catch (const base::UserError&) {
    return not_whole(fmt::format("{} is torn", kManifestFile), path);
  }
  const JsonValue* checksum = find_kind(json, kChecksumKey, base::JsonKind::kString);
  const JsonValue* version = find_kind(json, "version", base::JsonKind::kNumber);
  if (checksum == nullptr || version == nullptr || !version->is_integer()) {
    return not_whole(fmt::format("{} is not a checkpoint's manifest", kManifestFile), path);
  }
  if (version->as_integer() > kVersion) return not_whole("it was written by a newer athanor", path);
  const std::string expected = checksum->as_string();
  json.erase(kChecksumKey);
  if (checksum_of(json.dump()) != expected) return not_whole(fmt::format("{} was changed", kManifestFile), path);

  // The checksum holds, so the rest is as it was written.
  Manifest manifest;
  manifest.step = json.find("step")->as_integer();
  manifest.contents = json.find("contents")->as_string() == "training" ? Contents::kTraining : Contents::kModelOnly;
  manifest.optimizer_kind = json.find("optimizer")->as_string();
  manifest.optimizer_steps = json.find("optimizer_steps")->as_integer();
  manifest.state = *json.find("state");
  for (const JsonValue& item : json.find("parts")->items()) {
    manifest.parts.push_back({item.find("file")->as_string(),
                              static_cast<std::uint64_t>(item.find("bytes")->as_integer()),
                              static_cast<std::uint32_t>(std::stoul(item.find("crc32c")->as_string(), nullptr, 16))});
  }
  return manifest;
}

base::Result<Manifest> check_folder(const std::string& folder, Thoroughness thoroughness) {
  const std::string path = folder + "/" + kManifestFile;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return not_whole(fmt::format("{} is missing", kManifestFile), folder);
  base::Result<Manifest> manifest = parse_manifest(base::read_file(path), path);
  if (!manifest.ok()) return manifest;
  for (const Part& part : manifest.value().parts) {
    const std::string part_path = folder + "/" + part.file;
    if (!std::filesystem::is_regular_file(part_path, error)) return not_whole(part.file + " is missing", folder);
    const std::uint64_t num_bytes = std::filesystem::file_size(part_path, error);
    if (num_bytes != part.num_bytes) {
      return not_whole(fmt::format("{} has {} of {} bytes", part.file, num_bytes, part.num_bytes), folder);
    }
    if (thoroughness == Thoroughness::kChecksums && file_checksum(base::MappedFile(part_path)) != part.crc32c) {
      return not_whole(part.file + " does not have the bytes that were written", folder);
    }
  }
  return manifest;
}

}  // namespace athanor::checkpoint
