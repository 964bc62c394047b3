#include "libopt/cuts/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "libopt/cuts/cut_time.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

struct MethodRow {
  const ScalingPoint* point = nullptr;
  CutTime cut;
  bool best = false;
};

std::string known(const std::optional<std::int64_t>& number) { return number ? grouped(*number) : "not known"; }
std::string known(const std::optional<double>& seconds) { return seconds ? duration_text(*seconds) : "not known"; }

// Of each number of workers, the first of the shortest times.
void mark_best(std::vector<MethodRow>& rows) {
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin, best = begin;
    for (; end < rows.size() && rows[end].point->sizes.workers == rows[begin].point->sizes.workers; ++end)
      if (rows[end].cut.seconds < rows[best].cut.seconds) best = end;
    rows[best].best = rows[best].cut.seconds.has_value();
    begin = end;
  }
}

std::string meaning(const Module& module, const CutTime& cut) {
  const ReportContext context(module, nullptr);
  const std::vector<LoopCost>& loops = context.report().loops;
  if (loops.empty()) return "Bytes and times are of the whole program.";
  return fmt::format("Bytes are of an iteration of the {}. Times are of that, and of {}.",
                     context.place(context.report().rows[static_cast<std::size_t>(loops[0].number)]),
                     cut.assumes_turns ? fmt::format("{} iterations", assumed_turns) : "the whole program");
}

}  // namespace

std::string methods_text(const Module& module, const std::vector<ScalingPoint>& points, const MachineProfile& machine) {
  std::vector<MethodRow> rows;
  for (const ScalingPoint& point : points) rows.push_back({&point, cut_time(module, point.sizes, machine)});
  mark_best(rows);
  std::vector<std::vector<std::string>> table{{"workers", "method", "network bytes", "busiest worker",
                                               "imbalance of entries", "of indices", "predicted time", "in all", ""}};
  for (const MethodRow& row : rows) {
    const CutTime& cut = row.cut;
    table.push_back({grouped(row.point->sizes.workers), row.point->method, known(cut.bytes), known(cut.most),
                     fmt::format("{:.3f}", cut.of_entries), fmt::format("{:.3f}", cut.of_indices),
                     known(cut.iteration ? std::optional(cut.iteration->sum()) : std::nullopt), known(cut.seconds),
                     row.best ? "best" : ""});
  }
  return fmt::format("{} on {}: methods that cut it\n\n{}\n{} Each worker is a process: {}.\n", module.name,
                     points.front().sizes.origin, table_text(table), meaning(module, rows.front().cut),
                     machine_text(machine));
}

}  // namespace kasen
