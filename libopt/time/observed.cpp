#include "libopt/time/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

using Place = std::tuple<SymbolKind, std::string, int, int>;

Place place_of(SymbolKind kind, const Location& where, const std::string& own) {
  return {kind, where.file == own ? std::string() : where.file, where.line, where.column};
}

// A plan may have several loops of one place, as where a function is used twice: they count together.
std::map<Place, ControlCount> by_place(const RunReport& run) {
  std::map<Place, ControlCount> counts;
  for (const ControlCount& count : run.control) {
    ControlCount& sum = counts[place_of(count.kind, count.where, {})];
    sum.executions = checked_add(sum.executions, count.executions, "executions");
    sum.times = checked_add(sum.times, count.times, "iterations");
  }
  return counts;
}

// To the nearest; ties up. Nothing where it did not run.
std::optional<std::int64_t> mean(const ControlCount& count) {
  if (count.executions == 0) return std::nullopt;
  const std::int64_t whole = count.times / count.executions, rest = count.times % count.executions;
  return whole + (rest >= count.executions - rest ? 1 : 0);
}

bool is_size_of(const Module& plan, const Symbol& symbol) {
  if (symbol.kind != SymbolKind::entries) {
    const DimId dim = plan.find_dim(symbol.name);
    return dim != no_dim && plan.dim(dim).size < 0;  // others are numbers
  }
  return std::any_of(plan.body.ops.begin(), plan.body.ops.end(), [&](const Op& op) {
    return op.code == OpCode::input && op.name == symbol.name && plan.type(op.results.at(0)).sparse;
  });
}

}  // namespace

void require_run_of(const Module& module, const RunReport& run, const std::string& file) {
  const std::string own = source_digest(module);
  if (own.empty()) {
    fail(ExitStatus::bad_input, "a module without its program's source has no lines to look counters up by", "",
         "give the plan that kasen plan makes of the program", Location{module.text_name, 0, 0});
  }
  if (run.source_digest.empty()) {
    fail(ExitStatus::bad_input, "these counters do not tell the program that ran", "an older version wrote them",
         "run the plan again with kasen run --stats", Location{file, 0, 0});
  }
  if (run.source_digest == own) return;
  const bool other = run.program != module.name;
  fail(ExitStatus::bad_input,
       other ? fmt::format("these are the counters of the program '{}'", run.program)
             : fmt::format("these are the counters of another version of '{}'", run.program),
       other ? fmt::format("this is '{}'", module.name) : "its source is not the same, and counts are found by line",
       "run the plan of this program with kasen run --stats, or leave --observed out", Location{file, 0, 0});
}

std::vector<std::string> add_observed(const Module& plan, const RunReport& run, Sizes& sizes) {
  const SymbolNames names(plan);
  std::vector<std::string> added;
  const auto add = [&](const Symbol& symbol, std::int64_t number) {
    if (sizes.totals.emplace(symbol, number).second) added.push_back(names(symbol) + " = " + grouped(number));
  };
  const Symbol workers{SymbolKind::workers, "", {}, -1};
  if (plan.mesh.empty()) {
    add(workers, run.workers);
    if (sizes.workers == 0) sizes.workers = run.workers;
  }
  const auto parts = sizes.totals.find(workers);
  const bool cut_alike = parts != sizes.totals.end() && parts->second == run.workers;
  for (const auto& [symbol, number] : run.sizes) {
    if (!is_size_of(plan, symbol) || (symbol.kind == SymbolKind::slaves && !cut_alike)) continue;
    add(symbol, number);
  }
  const std::map<Place, ControlCount> counts = by_place(run);
  for_each_op(plan, [&](const Op& op, int number, int) {
    const bool branch = op.code == OpCode::if_else;
    if (!branch && op.code != OpCode::while_loop && op.code != OpCode::for_loop) return;
    const SymbolKind kind = branch ? SymbolKind::taken : SymbolKind::trips;
    const auto found = counts.find(place_of(kind, op.where, plan.source_name));
    if (found == counts.end()) return;
    if (const auto value = mean(found->second))
      add({kind, "", {}, number}, branch ? *value : std::max<std::int64_t>(1, *value));
  });
  if (!added.empty()) sizes.origin += sizes.origin.empty() ? "an earlier run" : " and an earlier run";
  derive_sizes(plan, sizes);
  return added;
}

}  // namespace kasen
