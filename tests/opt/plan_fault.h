// What is wrong with the plans of a program, or nothing: every strategy and mode, over 1, 2, 3 and 5 simulated workers.
// A plan has to be valid, the same each time, and the same when it is read back; it has to give the values of the plain
// interpreter, allocate nothing late, and count what was predicted.
#pragma once

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libopt/optimize/strategies.h"
#include "libopt/time/run_report.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen::testing {

struct PlanMode {
  Strategy strategy;
  SyncMode sync;
  bool epilogue = false;
};

constexpr PlanMode plan_modes[] = {
    {Strategy::none, SyncMode::lazy},           {Strategy::none, SyncMode::eager},
    {Strategy::none, SyncMode::hybrid},         {Strategy::greedy, SyncMode::lazy},
    {Strategy::greedy, SyncMode::eager},        {Strategy::greedy, SyncMode::hybrid},
    {Strategy::greedy, SyncMode::hybrid, true}, {Strategy::none, SyncMode::automatic},
    {Strategy::greedy, SyncMode::automatic},    {Strategy::fuse_all, SyncMode::hybrid},
    {Strategy::mpskip, SyncMode::lazy},         {Strategy::fuse_no_redundancy, SyncMode::hybrid, true},
};

inline std::string name_of(const PlanMode& mode) {
  const char* const modes[] = {"lazy", "eager", "hybrid", "auto"};
  return std::string(strategy_name(mode.strategy)) + ' ' + modes[static_cast<int>(mode.sync)] +
         (mode.epilogue ? " epilogue" : "");
}

struct RandomRun {
  std::uint64_t seed = 1;  // of the data
  std::int64_t size = 17, entries = 40;
  double tolerance = 0;    // 0: the very same bits
  bool automatic = false;  // --sync auto, too: many plans for one
  bool every_run = true;   // else each mode runs over one of the numbers of workers, and one mode's text is reread
};

inline bool same_word(Scalar scalar, const Word& made, const Word& wanted, double tolerance) {
  if (made.i == wanted.i) return true;
  if (!is_float(scalar) || tolerance == 0) return false;
  if (std::isnan(made.f) || std::isnan(wanted.f)) return std::isnan(made.f) && std::isnan(wanted.f);
  return made.f == wanted.f || std::fabs(made.f - wanted.f) <= tolerance * std::max(1.0, std::fabs(wanted.f));
}

inline std::optional<std::string> count_fault(const Module& plan, const std::vector<Part>& parts,
                                              const RunResult& result) {
  const Check check = check_against(plan, sizes_from_parts(plan, parts), make_run_report(plan, result));
  if (!check.mismatches.empty()) return "predicted and counted differ\n" + check_text(plan, check);
  return std::nullopt;
}

inline std::optional<std::string> run_fault(const Module& plan, const std::vector<Part>& parts,
                                            const std::map<std::string, Array>& wanted, double tolerance) {
  const RunResult result = run_simulated(plan, parts);
  if (result.late_allocations != 0) return "it allocates in a loop";
  if (auto fault = count_fault(plan, parts, result)) return fault;
  if (result.outputs.size() != wanted.size()) return "outputs are missing";
  for (const Output& output : result.outputs) {
    const std::vector<Word> made = whole_words(plan, output, parts), right = words_of(wanted.at(output.name));
    const auto planes = static_cast<size_t>(output.type.element.planes());
    for (size_t i = 0; i < right.size(); ++i) {
      const Scalar scalar = output.type.element.plane_scalar(static_cast<std::int64_t>(i % planes));
      if (!same_word(scalar, made.at(i), right[i], tolerance)) return output.name + " differs";
    }
  }
  return std::nullopt;
}

inline std::optional<std::string> text_fault(const Module& program, const Module& made, const PlanMode& mode) {
  static TrialLawChecker laws;  // remembers its answers
  const std::string text = print_module(made);
  const Module read = parse_module(text, "plan.kir");
  if (print_module(read) != text) return "it reads back differently";
  if (const auto faults = verify_module(read, laws); !faults.empty()) return format_diagnostic(faults.front());
  if (print_module(plan(made, mode.strategy, mode.sync, true, mode.epilogue)) != text) return "planning it changes it";
  if (print_module(plan(program, mode.strategy, mode.sync, true, mode.epilogue)) != text) return "another plan";
  return std::nullopt;
}

inline std::optional<std::string> plan_fault(const Module& program, const RandomRun& run) {
  constexpr int worker_counts[] = {1, 2, 3, 5};
  try {
    std::vector<std::vector<Part>> data;
    std::vector<std::map<std::string, Array>> wanted;
    for (const int workers : worker_counts) {
      data.push_back(split(random_data(program, workers, run.size, run.entries, run.seed)));
      wanted.push_back(interpret(program, whole_inputs(data.back())));
    }
    for (size_t m = 0; m < std::size(plan_modes); ++m) {
      const PlanMode& mode = plan_modes[m];
      if (mode.sync == SyncMode::automatic && !run.automatic) continue;
      const Module made = plan(program, mode.strategy, mode.sync, true, mode.epilogue);
      if (run.every_run || m == run.seed % std::size(plan_modes)) {
        if (const auto fault = text_fault(program, made, mode)) return name_of(mode) + ": " + *fault;
      }
      for (size_t w = 0; w < data.size(); ++w) {
        if (!run.every_run && w != (run.seed + m) % data.size()) continue;
        const auto fault = run_fault(made, data[w], wanted[w], run.tolerance);
        if (fault) return name_of(mode) + ", " + std::to_string(data[w].size()) + " workers: " + *fault;
      }
    }
  } catch (const std::exception& e) {
    return std::string("throws: ") + e.what();
  }
  return std::nullopt;
}

}  // namespace kasen::testing
