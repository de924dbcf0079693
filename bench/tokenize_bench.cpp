// Bytes per second of the tokenizer on one core, and the time to load one.
//
//   build/bin/tokenize_bench                                  DeepSeek-V3's tokenizer on text made here
//   build/bin/tokenize_bench --corpus=TEXT_FILE               on that text as well, in documents of 2000 characters
//   build/bin/tokenize_bench --tokenizer=FOLDER               with another tokenizer
// compare_tokenizers.py runs it beside Hugging Face tokenizers.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/unicode.h"
#include "core/formats/tokenizer.h"

namespace athanor::formats {
namespace {

constexpr std::size_t kDocumentCharacters = 2000;

std::vector<std::string> documents_of(const std::string& text) {
  std::vector<std::string> out;
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t begin = offset;
    for (std::size_t i = 0; i < kDocumentCharacters && offset < text.size(); ++i) base::decode_utf8(text, offset);
    out.push_back(text.substr(begin, offset - begin));
  }
  return out;
}

// The same sum as in compare_tokenizers.py: equal for equal ids.
std::int64_t add_to_checksum(std::int64_t checksum, const std::vector<std::int32_t>& ids) {
  for (const std::int32_t id : ids) checksum = (checksum * 31 + id) % 2147483647;
  return checksum;
}

void encode_documents(benchmark::State& state, const Tokenizer& tokenizer, const std::vector<std::string>& documents) {
  std::size_t num_bytes = 0;
  for (const std::string& document : documents) num_bytes += document.size();
  std::size_t num_tokens = 0;
  std::vector<std::int32_t> ids;
  for (auto _ : state) {
    TokenEncoder encoder(tokenizer);  // a cold cache each time
    num_tokens = 0;
    for (const std::string& document : documents) {
      ids.clear();
      encoder.encode(document, SpecialTokens::kNone, ids);
      num_tokens += ids.size();
    }
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(num_bytes * state.iterations()));
  std::int64_t checksum = 0;
  for (const std::string& document : documents) checksum = add_to_checksum(checksum, tokenizer.encode(document));
  state.counters["checksum"] = static_cast<double>(checksum);
  state.counters["bytes_per_token"] = static_cast<double>(num_bytes) / static_cast<double>(num_tokens);
}

void encode_one_piece(benchmark::State& state, const Tokenizer& tokenizer) {
  const std::string text(static_cast<std::size_t>(state.range(0)), 'a');
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size() * state.iterations()));
}

void load(benchmark::State& state, const std::string& path) {
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::load(path));
}

// The value of --name=value, taken out of the arguments.
std::string take_argument(int& argc, char** argv, const char* name, const std::string& fallback) {
  const std::string prefix = std::string("--") + name + "=";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], prefix.c_str(), prefix.size()) != 0) continue;
    const std::string value = argv[i] + prefix.size();
    std::memmove(argv + i, argv + i + 1, sizeof(char*) * static_cast<std::size_t>(argc - i));
    --argc;
    return value;
  }
  return fallback;
}

int run(int argc, char** argv) {
  const std::string path =
      take_argument(argc, argv, "tokenizer", std::string(ATHANOR_SOURCE_DIR) + "/.deps/tokenizers/v3");
  std::vector<std::string> corpora;
  for (std::string corpus; !(corpus = take_argument(argc, argv, "corpus", "")).empty();) corpora.push_back(corpus);
  const Tokenizer tokenizer = Tokenizer::load(path);
  for (const std::string& corpus : corpora) {
    const auto documents = documents_of(base::replace_invalid_utf8(base::read_file(corpus)));
    benchmark::RegisterBenchmark(
        ("encode/" + corpus.substr(corpus.rfind('/') + 1)).c_str(),
        [&tokenizer, documents](benchmark::State& state) { encode_documents(state, tokenizer, documents); });
  }
  benchmark::RegisterBenchmark("load", [path](benchmark::State& state) {
    load(state, path);
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("one_piece", [&tokenizer](benchmark::State& state) {
    encode_one_piece(state, tokenizer);
  })->Range(1 << 4, 1 << 20);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace athanor::formats

int main(int argc, char** argv) {
  try {
    return athanor::formats::run(argc, argv);
  } catch (const athanor::base::Error& error) {
    std::fprintf(stderr, "tokenize_bench: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
