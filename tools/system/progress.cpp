#include "tools/system/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/system/files.h"
#include "tools/system/messages.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

constexpr auto redraw_after = std::chrono::milliseconds(100);
constexpr int bar_width = 30;

constexpr const char* wipe = "\r\x1b[K";

bool shows_progress() { return isatty(STDERR_FILENO) == 1 && !messages_are_json(); }

}  // namespace

std::string over_progress() { return shows_progress() ? wipe : ""; }

Progress::Progress(std::string title) : title_(std::move(title)), terminal_(shows_progress() && !quiet()), last_() {}

void Progress::finish() {
  if (shown_) write_message(wipe);
  shown_ = false;
}

bool Progress::due() {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_ < redraw_after) return false;
  last_ = now;
  return true;
}

void Progress::update(double fraction) {
  if (!due()) return;
  const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * bar_width);
  write_message(fmt::format("{}{} [{}{}] {:3.0f} %", wipe, title_, std::string(static_cast<size_t>(full), '#'),
                            std::string(static_cast<size_t>(bar_width - full), '.'),
                            std::clamp(fraction, 0.0, 1.0) * 100));
  shown_ = true;
}

void Progress::show(const std::string& text) {
  if (!due()) return;
  write_message(wipe + printable(fmt::format("{} {}", title_, text)));
  shown_ = true;
}

}  // namespace kasen::tools
