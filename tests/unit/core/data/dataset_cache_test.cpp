// The token cache as open_dataset() keeps it: found again, made anew when it is torn, never used half done, shared by builders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/fault_point.h"
#include "core/data/build_folder.h"
#include "core/data/dataset.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

// Two files of text rows; counts how often something was tokenised and what was said.
struct CacheCase : DataCase {
  formats::Tokenizer tokenizer = formats::Tokenizer::bytes();
  mutable int num_tokenised = 0;
  mutable std::vector<std::string> notices;

  CacheCase() {
    request.tokenizer = &tokenizer;
    add_file("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    add_file("b.jsonl", "{\"instruction\": \"three\", \"output\": \"four\"}\n");
  }
  Dataset open_counted() const {
    return open({.progress = [this](const DatasetProgress&) { ++num_tokenised; },
                 .notice = [this](const std::string& notice) { notices.push_back(notice); }});
  }
  std::vector<std::string> cache_entries() const {
    std::vector<std::string> names;
    if (!fs::exists(request.cache_folder)) return names;
    for (const auto& entry : fs::directory_iterator(request.cache_folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // The one folder of a whole cache.
  std::string cache_path() const { return request.cache_folder + "/" + cache_entries().at(0); }
};

std::vector<Ids> contents_of(const Dataset& dataset) {
  std::vector<Ids> contents;
  for (std::int64_t i = 0; i < dataset.num_documents(); ++i) {
    contents.push_back(ids_of(dataset.document(i).tokens));
    contents.push_back(ids_of(dataset.document(i).labels));
  }
  return contents;
}

TEST(TokenCache, SecondOpeningTokenisesNothingAndGivesTheSame) {
  const CacheCase data;
  const auto first = contents_of(data.open_counted());
  EXPECT_EQ(data.num_tokenised, 2);
  EXPECT_EQ(contents_of(data.open_counted()), first);
  EXPECT_EQ(data.num_tokenised, 2);
  EXPECT_THAT(data.cache_entries(), SizeIs(1));
  EXPECT_THAT(data.notices, IsEmpty());
}

TEST(TokenCache, HoldsItsFilesAndNothingElse) {
  const CacheCase data;
  data.open();
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(data.cache_path())) names.insert(entry.path().filename());
  EXPECT_THAT(names, ElementsAre("chunk-000000.tokens", "chunk-000001.tokens", "index.json"));
}

TEST(TokenCache, StaysMappedWhenItsFolderIsDeleted) {
  const CacheCase data;
  const Dataset dataset = data.open();
  const auto before = contents_of(dataset);
  fs::remove_all(data.request.cache_folder);
  EXPECT_EQ(contents_of(dataset), before);
}

TEST(TokenCache, EachSettingThatChangesTokensHasACacheOfItsOwn) {
  CacheCase data;
  std::set<std::string> fingerprints = {data.open().fingerprint()};
  const auto expect_new = [&](const char* what) {
    EXPECT_TRUE(fingerprints.insert(data.open().fingerprint()).second) << what;
  };
  const config::DataConfig plain = data.config;
  data.config.add_bos = false;
  expect_new("add_bos");
  data.config = plain;
  data.config.add_eos = false;
  expect_new("add_eos");
  data.config = plain;
  data.config.train_on_prompt = true;
  expect_new("train_on_prompt");
  data.config = plain;
  data.config.chat_template = "deepseek-llm";
  expect_new("chat_template");
  data.config.chat_template = "plain";
  expect_new("chat_template by name");
  data.config = plain;
  data.config.text_separator = "blank_line";
  expect_new("text_separator");
  data.config = plain;
  data.config.skip_bad_lines = true;
  expect_new("skip_bad_lines");
  data.config = plain;
  data.config.text_column = "output";
  data.config.skip_bad_lines = true;
  expect_new("text_column");
  data.config = plain;
  const formats::Tokenizer other = deepseek_like();
  data.request.tokenizer = &other;
  expect_new("tokenizer");
  data.request.tokenizer = &data.tokenizer;
  std::swap(data.request.patterns[0], data.request.patterns[1]);
  expect_new("order of the files");
  EXPECT_THAT(data.cache_entries(), SizeIs(fingerprints.size()));
}

TEST(TokenCache, SettingsThatChangeNoTokenShareOne) {
  CacheCase data;
  const std::string first = data.open().fingerprint();
  data.config.max_length = 7;
  data.config.packing = config::PackingMode::kOn;
  data.config.sampling = config::SamplingStrategy::kGroupByLength;
  data.config.data_seed = 5;
  data.config.drop_last = true;
  EXPECT_EQ(data.open().fingerprint(), first);
}

TEST(TokenCache, ChangedFileIsTokenisedAgain) {
  const CacheCase data;
  const std::string first = data.open_counted().fingerprint();
  data.folder.write("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"TWO\"}\n");
  fs::last_write_time(data.folder.file("a.jsonl"), fs::file_time_type(std::chrono::seconds(1000000000)));
  const Dataset dataset = data.open_counted();
  EXPECT_NE(dataset.fingerprint(), first);
  EXPECT_EQ(data.tokenizer.decode(dataset.document(1).tokens, formats::SpecialText::kSkip), "TWO");
}

// ---- damage

// Damages the whole cache by `damage`, which gets its folder; it must be made anew, say so, and hold the same.
void expect_rebuilt(const std::string& what, const std::function<void(const std::string& folder)>& damage) {
  SCOPED_TRACE(what);
  const CacheCase data;
  const auto whole = contents_of(data.open_counted());
  damage(data.cache_path());
  EXPECT_EQ(contents_of(data.open_counted()), whole);
  EXPECT_EQ(data.num_tokenised, 4) << "tokenised twice";
  ASSERT_THAT(data.notices, SizeIs(1));
  EXPECT_THAT(data.notices[0], HasSubstr(data.cache_path()));
  EXPECT_THAT(data.cache_entries(), SizeIs(1));
  EXPECT_EQ(contents_of(data.open_counted()), whole);
  EXPECT_EQ(data.num_tokenised, 4) << "whole again";
}

TEST(TornCache, IsMadeAnew) {
  expect_rebuilt("truncated chunk", [](const std::string& folder) {
    fs::resize_file(folder + "/chunk-000000.tokens", fs::file_size(folder + "/chunk-000000.tokens") - 4);
  });
  expect_rebuilt("empty chunk", [](const std::string& folder) { fs::resize_file(folder + "/chunk-000000.tokens", 0); });
  expect_rebuilt("missing chunk", [](const std::string& folder) { fs::remove(folder + "/chunk-000001.tokens"); });
  expect_rebuilt("missing index", [](const std::string& folder) { fs::remove(folder + "/index.json"); });
  expect_rebuilt("torn index", [](const std::string& folder) { fs::resize_file(folder + "/index.json", 60); });
  expect_rebuilt("chunks exchanged", [](const std::string& folder) {
    fs::rename(folder + "/chunk-000000.tokens", folder + "/x");
    fs::rename(folder + "/chunk-000001.tokens", folder + "/chunk-000000.tokens");
    fs::rename(folder + "/x", folder + "/chunk-000001.tokens");
  });
  expect_rebuilt("one bit", [](const std::string& folder) {
    std::string bytes = base::read_file(folder + "/chunk-000001.tokens");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    base::write_scratch(folder + "/chunk-000001.tokens", bytes);
  });
  expect_rebuilt("empty folder", [](const std::string& folder) {
    fs::remove_all(folder);
    fs::create_directory(folder);
  });
  expect_rebuilt("a file in its place", [](const std::string& folder) {
    fs::remove_all(folder);
    base::write_scratch(folder, "no folder");
  });
}

TEST(TornCache, ChunkOfAnotherCacheIsNotTakenForItsOwn) {
  CacheCase data;
  const auto whole = contents_of(data.open());
  const std::string folder = data.cache_path();
  // The same rows with other letters: files of the same size.
  CacheCase other;
  other.folder.write("a.jsonl", "{\"text\": \"eno\"}\n{\"text\": \"owt\"}\n");
  other.open();
  fs::copy_file(other.cache_path() + "/chunk-000000.tokens", folder + "/chunk-000000.tokens",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(contents_of(data.open_counted()), whole);
  EXPECT_EQ(data.num_tokenised, 2);
}

// ---- builders that do not finish

TEST(CacheBuild, FullDiskIsTheMachinesFaultAndLeavesNothing) {
  for (const char* fault : {"cache_mid_write=enospc", "cache_mid_write:2=enospc", "cache_before_commit=enospc"}) {
    const CacheCase data;
    base::arm_fault_points(fault);
    EXPECT_THROW(data.open(), base::EnvironmentError) << fault;
    base::arm_fault_points("");
    EXPECT_THAT(data.cache_entries(), IsEmpty()) << fault;
    EXPECT_EQ(data.open().num_documents(), 3) << fault;
  }
}

TEST(CacheBuild, BadLinesLeaveNothing) {
  CacheCase data;
  data.add_file("c.jsonl", "bad\n");
  EXPECT_THROW(data.open(), base::UserError);
  EXPECT_THAT(data.cache_entries(), IsEmpty());
}

TEST(CacheBuild, InterruptionLeavesNothingAndTheNextRunBuilds) {
  const CacheCase data;
  int asked = 0;
  EXPECT_FALSE(open_dataset(data.request, {.keep_going = [&] { return ++asked < 2; }}).has_value());
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(data.cache_entries(), IsEmpty());
  EXPECT_EQ(data.open().num_documents(), 3);
}

TEST(CacheBuild, WhatADeadBuilderLeftIsRemovedAndWhatALiveOneBuildsIsNot) {
  const CacheCase data;
  const std::string dead = data.request.cache_folder + "/0123.building-aaaaaa";
  const std::string live = data.request.cache_folder + "/0123.building-bbbbbb";
  for (const std::string& folder : {dead, live}) {
    base::make_folders(folder + "/tokens");
    base::write_scratch(folder + "/lock", "");
    base::write_scratch(folder + "/tokens/chunk-000000.tokens", "half");
  }
  const base::FileLock lock = base::FileLock::try_lock(live + "/lock");
  ASSERT_TRUE(lock.held());
  EXPECT_EQ(data.open().num_documents(), 3);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(live + "/tokens/chunk-000000.tokens"));
}

TEST(CacheBuild, ProgressEndsWithAllBytes) {
  const CacheCase data;
  std::vector<DatasetProgress> seen;
  data.open({.progress = [&](const DatasetProgress& progress) { seen.push_back(progress); }});
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_LT(seen[0].bytes_done, seen[0].bytes_total);
  EXPECT_EQ(seen[1].bytes_done, seen[1].bytes_total);
}

TEST(CacheBuild, TwoBuildersAtOnceEndWithOneWholeCacheEach) {
  for (int round = 0; round < 5; ++round) {
    const CacheCase data;
    std::vector<std::vector<Ids>> contents(2);
    std::vector<std::thread> builders;
    for (std::size_t i = 0; i < 2; ++i) {
      builders.emplace_back([&, i] { contents[i] = contents_of(data.open()); });
    }
    for (std::thread& builder : builders) builder.join();
    EXPECT_EQ(contents[0], contents[1]);
    EXPECT_THAT(contents[0], SizeIs(6));
    EXPECT_THAT(data.cache_entries(), SizeIs(1));
  }
}

// The faster builder publishes while the slower one still tokenises: the whole cache that is there stays, and both have it.
TEST(CacheBuild, SlowerBuilderKeepsTheCacheOfTheFasterOne) {
  const CacheCase data;
  bool built = false;
  const Dataset slower = data.open({.progress = [&](const DatasetProgress&) {
    if (std::exchange(built, true)) return;
    data.open();
    base::write_scratch(data.request.cache_folder + "/" + data.open().fingerprint() + "/mark", "");
  }});
  EXPECT_EQ(slower.num_documents(), 3);
  EXPECT_THAT(data.cache_entries(), ElementsAre(slower.fingerprint()));
  EXPECT_TRUE(fs::exists(data.cache_path() + "/mark"));
}

TEST(CacheBuild, CacheFolderThatIsAFileIsRefused) {
  CacheCase data;
  data.request.cache_folder = data.folder.write("file", "x") + "/cache";
  EXPECT_THROW(data.open(), base::UserError);
}

TEST(BuildFolder, IsRemovedUnlessPublished) {
  const testing::TemporaryFolder folder;
  {
    const BuildFolder build(folder.file("key"));
    base::write_scratch(build.path() + "/chunk", "x");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  {
    BuildFolder build(folder.file("key"));
    base::write_scratch(build.path() + "/chunk", "x");
    build.publish([] { return false; });
  }
  EXPECT_TRUE(fs::exists(folder.file("key") + "/chunk"));
  EXPECT_FALSE(fs::exists(folder.file("key") + "/lock"));
}

TEST(BuildFolder, PlaceThatCannotHoldItIsNamed) {
  try {
    const BuildFolder build("/nonexistent-folder/key");
    FAIL();
  } catch (const base::EnvironmentError& error) {
    EXPECT_EQ(error.problem().where, "/nonexistent-folder/key");
    EXPECT_THAT(error.problem().remedy, HasSubstr("--cache_dir"));
  }
}

}  // namespace
}  // namespace athanor::data
