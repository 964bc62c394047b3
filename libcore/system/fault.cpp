#include "libcore/system/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/base/error.h"

namespace kasen {
namespace {

enum class FaultAction { fail, interrupted, cut_short, kill, terminate, flip };

struct ActionRow {
  std::string_view name;
  FaultAction action;
};
constexpr std::array<ActionRow, 6> action_rows{{
    {"fail", FaultAction::fail},
    {"eintr", FaultAction::interrupted},
    {"short", FaultAction::cut_short},
    {"kill", FaultAction::kill},
    {"term", FaultAction::terminate},
    {"flip", FaultAction::flip},
}};

struct PointRow {
  std::string_view name;
  int error;             // of a call that fails; 0: it cannot fail
  bool moves, restarts;  // bytes; a signal may interrupt the call, which is then repeated
  bool holds = false;    // numbers in which a bit may flip
};
// In the order of FaultPoint.
constexpr std::array<PointRow, 10> point_rows{{
    {"open", EIO, false, false},
    {"create", ENOSPC, false, false},
    {"read", EIO, true, true},
    {"write", ENOSPC, true, true},
    {"sync", EIO, false, false},
    {"rename", ENOSPC, false, false},
    {"allocate", ENOMEM, false, false},
    {"border", 0, false, false},
    {"output", 0, false, false, true},
    {"message", 0, false, false, true},
}};

struct AskedFault {
  FaultAction action = FaultAction::fail;
  std::int64_t first = 0, last = 0;  // passages at which it strikes
};

struct AskedPoint {
  std::vector<AskedFault> faults;
  std::atomic<std::int64_t> passages{0};
};
using AskedPoints = std::array<AskedPoint, point_rows.size()>;

// Read without a lock: it changes only while no other thread runs.
std::unique_ptr<AskedPoints>& asked() {
  static std::unique_ptr<AskedPoints> points;
  return points;
}

template <class Rows>
std::string names_of(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return names;
}

[[noreturn]] void wrong_fault(std::string_view text, const std::string& why) {
  fail(ExitStatus::configuration, fmt::format("KASEN_FAULT: no fault '{}'", text), why,
       fmt::format("write POINT:ACTION:N[+][@rank=R][@tool=NAME],...; points are {}; actions are {}",
                   names_of(point_rows), names_of(action_rows)));
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// The text before the next mark; the mark is removed with it.
std::string_view cut_off(std::string_view& text, char mark) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return piece;
}

class FaultReader {
 public:
  FaultReader(std::string_view tool, int rank) : tool_(tool), rank_(rank) {}

  void read(std::string_view text, AskedPoints& points) {
    if (text.ends_with('@')) wrong_fault(text, "nothing follows @");
    std::string_view rest = text;
    std::string_view core = cut_off(rest, '@');
    const std::size_t point = row_of(point_rows, cut_off(core, ':'), text, "point");
    AskedFault fault;
    fault.action = action_rows[row_of(action_rows, cut_off(core, ':'), text, "action")].action;
    read_times(core, text, fault);
    check(point_rows[point], fault.action, text);
    bool here = true;
    while (!rest.empty()) here = is_here(cut_off(rest, '@'), text) && here;
    if (here) points[point].faults.push_back(fault);
  }

 private:
  template <class Rows>
  static std::size_t row_of(const Rows& rows, std::string_view name, std::string_view text, std::string_view kind) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name; });
    if (row == rows.end()) wrong_fault(text, fmt::format("there is no {} '{}'", kind, name));
    return static_cast<std::size_t>(row - rows.begin());
  }

  static void read_times(std::string_view times, std::string_view text, AskedFault& fault) {
    const bool on = times.ends_with('+');
    if (on) times.remove_suffix(1);
    const auto n = number_in(times);
    if (!n || *n == 0) wrong_fault(text, "N counts from 1");
    fault.first = *n;
    fault.last = on ? INT64_MAX : *n;
  }

  static void check(const PointRow& point, FaultAction action, std::string_view text) {
    if (action == FaultAction::fail && point.error == 0)
      wrong_fault(text, fmt::format("nothing can fail at '{}'", point.name));
    if (action == FaultAction::flip && !point.holds)
      wrong_fault(text, fmt::format("a point '{}' has no result", point.name));
    if (action == FaultAction::cut_short && !point.moves)
      wrong_fault(text, fmt::format("no bytes move at a point '{}'", point.name));
    if (action == FaultAction::interrupted && !point.restarts)
      wrong_fault(text, fmt::format("a call of '{}' is not made again", point.name));
  }

  [[nodiscard]] bool is_here(std::string_view where, std::string_view text) const {
    const std::string_view key = cut_off(where, '=');
    if (key == "tool" && !where.empty()) return where == tool_;
    const auto rank = number_in(where);
    if (key != "rank" || !rank) wrong_fault(text, "rank=NUMBER or tool=NAME follows @");
    return *rank == rank_;
  }

  std::string_view tool_;
  int rank_;
};

}  // namespace

void ask_for_faults(std::string_view text, std::string_view tool, int rank) {
  faults::any = false;
  asked().reset();
  if (text.empty()) return;
  auto points = std::make_unique<AskedPoints>();
  FaultReader reader(tool, rank);
  while (!text.empty()) reader.read(cut_off(text, ','), *points);
  asked() = std::move(points);
  faults::any = true;
}

std::int64_t faults::passed(FaultPoint point, std::int64_t bytes) {
  const PointRow& row = point_rows[static_cast<std::size_t>(point)];
  AskedPoint& here = (*asked())[static_cast<std::size_t>(point)];
  const std::int64_t passage = ++here.passages;
  for (const AskedFault& fault : here.faults) {
    if (passage < fault.first || passage > fault.last) continue;
    switch (fault.action) {
      case FaultAction::kill:
        (void)std::raise(SIGKILL);
        break;
      case FaultAction::terminate:
        (void)std::raise(SIGTERM);
        break;
      case FaultAction::cut_short:
        return std::max<std::int64_t>(bytes / 2, std::min<std::int64_t>(bytes, 1));
      case FaultAction::interrupted:
        errno = EINTR;
        return -1;
      case FaultAction::flip:
        return -1;
      case FaultAction::fail:
        errno = row.error;
        return -1;
    }
  }
  return bytes;
}

}  // namespace kasen
