// What a person sees while a run goes on: lines, and on a terminal one line that is redrawn in place.
//
// Threads: confined to the training thread.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace athanor::trainer {

class Console {
 public:
  enum class Live { kOff, kOn };
  // `columns`: the live line is cut there.
  Console(std::FILE* out, Live live, int columns) : out_(out), live_(live == Live::kOn), columns_(columns) {}
  ~Console() { end_live(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  bool is_live() const { return live_; }
  // A line that stays; the live line moves below it.
  void line(std::string_view text);
  // Redraws the live line; nothing when there is none.
  void live(const std::string& text);
  // Leaves the last live line standing.
  void end_live();

 private:
  void erase_live();

  std::FILE* out_;
  bool live_;
  int columns_;
  bool live_shown_ = false;
};

}  // namespace athanor::trainer
