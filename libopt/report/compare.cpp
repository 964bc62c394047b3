// Two modules of one program side by side: loops in their order, then the whole program.
#include <fmt/format.h>

#include <algorithm>

#include "libopt/report/report.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

struct Pair {
  const ReportContext& before;
  const ReportContext& after;
};

std::string saved_text(const Pair& pair, const Polynomial& before, const Polynomial& after) {
  const auto a = pair.before.value(before), b = pair.after.value(after);
  if (before == after) return "same";
  if (!a || !b) return pair.before.formula(before - after);
  const std::string percent =
      *a == 0 ? std::string()
              : fmt::format(" ({:.1f} %)", 100.0 * static_cast<double>(*a - *b) / static_cast<double>(*a));
  return grouped(*a - *b) + percent;
}

void add_cost(const Pair& pair, const Column& column, const Cost& before, const Cost& after,
              std::vector<std::vector<std::string>>& rows) {
  for (const Measure& measure : measures()) {
    if (measure.key.ends_with("_elements") || (measure.model_only && column.key != "model")) continue;
    const Polynomial a = column.form(before.*measure.part), b = column.form(after.*measure.part);
    const auto with_value = [](const ReportContext& c, const Polynomial& p) {
      return c.formula(p) + c.number(p, grouped);
    };
    rows.push_back(
        {"  " + measure.text, with_value(pair.before, a), with_value(pair.after, b), saved_text(pair, a, b)});
  }
}

// What is taken for sizes that are not known, of either.
std::string assumed_text(const Sizes* before, const Sizes* after) {
  std::vector<std::string> notes;
  for (const Sizes* sizes : {before, after}) {
    if (sizes == nullptr) continue;
    for (const std::string& note : sizes->notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  std::string text;
  for (const std::string& note : notes) text += fmt::format("Assumed: {}.\n", note);
  return text;
}

}  // namespace

std::string compare_text(const Measured& before, const Measured& after, bool model) {
  const ReportContext a(before.module, before.sizes), b(after.module, after.sizes);
  const Pair pair{a, b};
  std::string text = fmt::format("{}, level {}, against {}, level {} (bytes)\n", a.report().program, a.report().level,
                                 b.report().program, b.report().level);
  if (a.report().unplaced || b.report().unplaced) {
    text += "A module without states is costed as if all vectors were partitioned (state P).\n";
  }
  for (const std::string& word : assumptions_of(before.module)) text += "The program before assumes " + word + ".\n";
  for (const std::string& word : assumptions_of(after.module)) text += "The program after assumes " + word + ".\n";
  text += assumed_text(before.sizes, after.sizes);
  const size_t loops = std::min(a.report().loops.size(), b.report().loops.size());
  for (const Column& column : columns_in_text(model)) {
    std::vector<std::vector<std::string>> rows{{"", "before", "after", "saved"}};
    for (size_t i = 0; i < loops; ++i) {
      const LoopCost& x = a.report().loops[i];
      rows.push_back({fmt::format("per iteration of the {}", a.place(a.report().rows[static_cast<size_t>(x.number)]))});
      add_cost(pair, column, x.*column.of_loop, b.report().loops[i].*column.of_loop, rows);
    }
    if (a.report().loops.size() != b.report().loops.size()) rows.push_back({"(the two have different loops)"});
    rows.push_back({"whole program"});
    add_cost(pair, column, a.report().*column.of_program, b.report().*column.of_program, rows);
    text += fmt::format("\n{}\n{}", column.title, table_text(rows));
  }
  return text;
}

}  // namespace kasen
