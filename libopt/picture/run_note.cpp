// The part of an operator's box about a run: its time, and the moved bytes beside the predicted ones.
#include <fmt/format.h>

#include <array>

#include "libopt/picture/run_facts.h"

namespace kasen {
namespace {

struct Quantity {
  const char* what;
  std::int64_t OperatorBytes::*bytes;
};
constexpr std::array<Quantity, 3> quantities{
    {{"read", &OperatorBytes::read}, {"written", &OperatorBytes::written}, {"sent", &OperatorBytes::network}}};

// Numbers are exact where they differ, since rounded ones may look alike.
void warn(OperatorNote& note, const ComparedOperator& compared) {
  for (const auto& [what, bytes] : quantities) {
    const std::int64_t predicted = compared.predicted.*bytes, count = compared.counted.*bytes;
    if (predicted == count) continue;
    note.warnings.push_back(fmt::format("{} B {}", grouped(count), what));
    note.warnings.push_back(fmt::format("{} B predicted", grouped(predicted)));
  }
}

void tell_bytes(OperatorNote& note, const ComparedOperator& compared) {
  const OperatorBytes &a = compared.predicted, &b = compared.counted;
  const std::int64_t touched = b.read + b.written;
  if (touched > 0 && a.read == b.read && a.written == b.written) {
    note.lines.push_back(short_bytes(static_cast<double>(touched)) + " = predicted");
  }
  if (b.network > 0 && a.network == b.network) {
    note.lines.push_back(short_bytes(static_cast<double>(b.network)) + " sent = predicted");
  }
  for (const auto& [what, bytes] : quantities) {
    if (a.*bytes == 0 && b.*bytes == 0) continue;
    note.title += a.*bytes == b.*bytes
                      ? fmt::format("\n{} {} bytes, as predicted", what, grouped(b.*bytes))
                      : fmt::format("\n{} {} bytes; predicted: {}", what, grouped(b.*bytes), grouped(a.*bytes));
  }
}

// Times of all lengths take the same room, so that a box stays where it is when the plan runs again.
std::string time_text(double seconds) { return fmt::format("{:<7}", duration_text(seconds)); }

}  // namespace

OperatorNote run_note(const ReportContext& context, const RunFacts& facts, int number) {
  const CostRow& row = context.report().rows.at(static_cast<size_t>(number));
  const OpCount& count = counted(facts, number);
  OperatorNote note;
  if (holds_others(row) && count.iterations > 0) {
    note.lines.push_back(grouped_count(count.iterations, "iteration") + ", " + time_text(count.seconds));
  } else if (has_time(row, count)) {
    note.lines.push_back(time_text(count.seconds));
  }
  tell_bytes(note, facts.check.operators.at(static_cast<size_t>(number)));
  warn(note, facts.check.operators.at(static_cast<size_t>(number)));
  for (const EndCost& end : row.ends) warn(note, facts.check.operators.at(static_cast<size_t>(end.yield)));
  return note;
}

std::string grouped_count(std::int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

}  // namespace kasen
