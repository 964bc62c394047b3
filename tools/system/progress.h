// A progress line on standard error: on a terminal it is redrawn, elsewhere nothing is shown.
#pragma once

#include <chrono>
#include <string>

namespace kasen::tools {

// Text that wipes a line which another process may be showing, before a line of one's own.
[[nodiscard]] std::string over_progress();

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction);        // a bar; 0 to 1
  void show(const std::string& text);  // any one-line text
  void finish();                       // wipes the line

 private:
  [[nodiscard]] bool due();
  std::string title_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace kasen::tools
