#include "core/formats/regex.h"

#include <fmt/format.h>

#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace athanor::formats {

namespace {

// Enough for the JIT code of any pattern without recursion on pieces of any length.
constexpr std::size_t kJitStackBytes = 32 << 10;
constexpr std::size_t kJitStackMaxBytes = 64 << 20;

constexpr const char* kRegexRemedy =
    "use the tokenizer.json of a supported model (docs/reference/tokenizers.md lists them)";

}  // namespace

struct Regex::Code {
  pcre2_code* code = nullptr;
  std::string pattern;
  ~Code() { pcre2_code_free(code); }
};

Regex::Regex(std::string_view oniguruma_pattern, const std::string& where) : code_(std::make_unique<Code>()) {
  code_->pattern = oniguruma_pattern;
  const auto translated = translate_regex(oniguruma_pattern);
  if (!translated) {
    throw base::UserError(
        fmt::format("the regular expression {:?} uses {}, which is not supported", code_->pattern, translated.error()),
        where, kRegexRemedy);
  }
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE error_offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.value().data()), translated.value().size(),
                              PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
                              &error_offset, context);
  pcre2_compile_context_free(context);
  if (code_->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    throw base::UserError(fmt::format("the regular expression {:?} is malformed: {}", code_->pattern,
                                      reinterpret_cast<const char*>(message.data())),
                          where, kRegexRemedy);
  }
  // Without JIT support (an unusual processor) the interpreter gives the same matches.
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

struct RegexMatcher::Scratch {
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(kJitStackBytes, kJitStackMaxBytes, nullptr);
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);

  Scratch() { pcre2_jit_stack_assign(context, nullptr, stack); }
  ~Scratch() {
    pcre2_match_data_free(data);
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

RegexMatcher::RegexMatcher() = default;
RegexMatcher::~RegexMatcher() = default;

std::optional<RegexMatcher::Match> RegexMatcher::find(const Regex& regex, std::string_view text, std::size_t offset) {
  if (!scratch_) scratch_ = std::make_unique<Scratch>();
  const int count = pcre2_match(regex.code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), offset,
                                PCRE2_NO_UTF_CHECK, scratch_->data, scratch_->context);
  if (count == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (count < 0) {
    throw base::UserError(fmt::format("the regular expression {:?} gives up on a text of {} bytes (PCRE2 error {})",
                                      regex.code_->pattern, text.size(), count),
                          "", "split the text into smaller documents");
  }
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(scratch_->data);
  return Match{bounds[0], bounds[1]};
}

}  // namespace athanor::formats
