#include "engine/trainer/console.h"

#include <algorithm>

namespace athanor::trainer {

void Console::line(std::string_view text) {
  erase_live();
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fputc('\n', out_);
  std::fflush(out_);
}

void Console::live(const std::string& text) {
  if (!live_) return;
  const std::size_t width = static_cast<std::size_t>(std::max(columns_ - 1, 1));
  const std::string shown = text.substr(0, width);
  std::fprintf(out_, "\r%s\x1b[K", shown.c_str());
  std::fflush(out_);
  live_shown_ = true;
}

void Console::end_live() {
  if (live_shown_) std::fputc('\n', out_);
  live_shown_ = false;
}

void Console::erase_live() {
  if (live_shown_) std::fputs("\r\x1b[K", out_);
  live_shown_ = false;
}

}  // namespace athanor::trainer
