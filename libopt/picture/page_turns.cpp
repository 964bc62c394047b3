// Shows how the loops of a run went: how often, how long, and the watched number of outermost ones by iteration.
#include <fmt/format.h>

#include <cmath>

#include "libopt/draw/page_text.h"
#include "libopt/picture/run_facts.h"

namespace kasen {
namespace {

bool is_loop(const CostRow& row) { return row.code == OpCode::while_loop || row.code == OpCode::for_loop; }

const LoopIterations* iterations_of(const RunFacts& facts, int number) {
  for (const LoopIterations& loop : facts.run.loops) {
    if (loop.number == number) return &loop;
  }
  return nullptr;
}

struct LoopCurves {
  Curve change, time;
};

LoopCurves loop_curves(const std::string& place, const LoopIterations& loop) {
  const std::string thinned = loop.every > 1 ? fmt::format(", every {}th iteration", loop.every) : "";
  LoopCurves curves{{loop.watched + thinned, "iteration of the " + place, loop.watched, {}, loop.limit},
                    {"time of an iteration, ms" + thinned, "iteration of the " + place, "ms", {}, {}}};
  double before = 0;
  std::int64_t iteration_before = 0;
  for (const IterationSample& t : loop.iterations) {
    const auto x = static_cast<double>(t.iteration);
    if (std::isfinite(t.change)) curves.change.points.push_back({x, t.change});
    if (iteration_before > 0 && t.iteration > iteration_before) {
      curves.time.points.push_back(
          {x, 1e3 * (t.seconds - before) / static_cast<double>(t.iteration - iteration_before)});
    }
    iteration_before = t.iteration;
    before = t.seconds;
  }
  return curves;
}

// Returns "diff: 9.6e-07 at the end; its test compares it with 1e-06", or why there is no such number.
std::string watched_text(const CostRow& row, const LoopIterations* loop) {
  if (loop == nullptr) return row.loop >= 0 ? "not recorded: inside of another loop" : "not recorded in these counters";
  if (loop->watched.empty()) {
    return row.code == OpCode::for_loop ? "no number: it counts its iterations, and carries none"
                                        : "no number: its test takes none, and it carries none";
  }
  if (loop->iterations.empty() || !std::isfinite(loop->iterations.back().change))
    return loop->watched + ": not finite at the end";
  std::string text = fmt::format("{}: {:.4g} at the end", loop->watched, loop->iterations.back().change);
  if (loop->limit) text += fmt::format("; its test compares it with {:.4g}", *loop->limit);
  return text;
}

std::string loop_row(const ReportContext& context, const RunFacts& facts, const CostRow& row) {
  const OpCount& count = counted(facts, row.number);
  const std::string each =
      count.iterations > 0 ? duration_text(count.seconds / static_cast<double>(count.iterations)) : std::string("-");
  return fmt::format(
      "<tr data-op=\"a{0}\"><th><a href=\"#row-a{0}\">{1}</a></th><td class=\"n\">{2}</td><td class=\"n\">{3}</td><td "
      "class=\"n\">{4}</td><td class=\"n\">{5}</td><td>{6}</td></tr>\n",
      row.number, page_text(context.place(row)), grouped(count.executions), grouped(count.iterations),
      duration_text(count.seconds), each, page_text(watched_text(row, iterations_of(facts, row.number))));
}

std::string curves_text(const ReportContext& context, const LoopIterations& loop) {
  const LoopCurves curves =
      loop_curves(context.place(context.report().rows.at(static_cast<size_t>(loop.number))), loop);
  std::string text;
  for (const Curve* curve : {&curves.change, &curves.time}) {
    if (curve->points.size() > 1) text += fmt::format("<figure>{}</figure>\n", curve_svg(*curve));
  }
  return text;
}

}  // namespace

std::string iterations_section(const ReportContext& context, const RunFacts& facts) {
  std::string rows, curves;
  for (const CostRow& row : context.report().rows) {
    if (is_loop(row) && counted(facts, row.number).executions > 0) rows += loop_row(context, facts, row);
  }
  if (rows.empty()) return {};
  for (const LoopIterations& loop : facts.run.loops) curves += curves_text(context, loop);
  return "<section id=\"convergence\"><h2>Iteration by iteration</h2>\n<div class=\"scroll\"><table "
         "class=\"loops\"><thead><tr>"
         "<th>loop</th><th class=\"n\">entered</th><th class=\"n\">iterations</th><th class=\"n\">took</th><th "
         "class=\"n\">an iteration</th><th>watched number</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n" +
         (curves.empty() ? "<p class=\"note\">No curves: no outermost loop made the two iterations that a line "
                           "needs.</p>\n"
                         : "<div class=\"curves\">" + curves + "</div>\n") +
         "<p class=\"note\">An outermost loop watches the first floating-point number that its test takes from its "
         "body, else the first that it carries. A dashed line is the number that the test compares it "
         "with.</p></section>\n";
}

}  // namespace kasen
