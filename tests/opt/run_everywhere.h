// One program in every plan, on random data over a few workers, with interpreted and generated kernels: its results are
// the plain interpreter's, its counters what was predicted.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/boxes/box_parts.h"
#include "libopt/optimize/strategies.h"
#include "libopt/report/live_set.h"
#include "libopt/report/timeline.h"
#include "libopt/time/run_report.h"
#include "libopt/time/times.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/support/generated.h"

namespace kasen {

struct NamedProgram {
  const char* name;
  const char* text;
};

inline void PrintTo(const NamedProgram& program, std::ostream* out) { *out << program.name; }

inline void expect_results(const Module& plan, const std::vector<Part>& parts, const RunResult& result,
                           const std::map<std::string, Array>& wanted) {
  for (const Output& output : result.outputs) {
    testing::expect_same(output.name, output.type.element, testing::whole_words(plan, output, parts),
                         testing::words_of(wanted.at(output.name)), 1e-12);
  }
}

// The plan, and its parts, with the sizes that a run found.
inline Module with_found_sizes(const Module& plan, std::vector<Part>& parts, const RunResult& result) {
  Module found = plan;
  for (const ObservedSize& size : result.observed) found.dims[found.find_dim(size.dim)].size = size.size;
  for (Part& part : parts) set_observed_sizes(part, found);
  return found;
}

// Every operator, and every line of the schedule, has a predicted time.
inline void expect_times(const Module& plan, const Sizes& sizes, const RunReport& report) {
  for (const OperatorTime& time : operator_times(plan, sizes, report, {})) {
    EXPECT_TRUE(std::isfinite(time.predicted.sum()) && time.predicted.sum() >= 0);
  }
  const double all = timeline(plan, sizes, {}, &report).seconds;
  EXPECT_TRUE(std::isfinite(all) && all >= 0);
}

inline void expect_counts(const Module& plan, const std::vector<Part>& parts, const RunResult& result,
                          const char* kernels) {
  RunReport report = make_run_report(plan, result);
  report.kernels = kernels;
  const Sizes sizes = sizes_from_parts(plan, parts);
  const Check check = check_against(plan, sizes, report);
  const std::vector<LiveSet> live = largest_live_sets(plan, sizes);
  for (size_t w = 0; w < live.size(); ++w) EXPECT_LE(live[w].bytes, result.parts.at(w).buffer_bytes) << w;
  expect_times(plan, sizes, report);
  EXPECT_TRUE(check.mismatches.empty()) << check_text(plan, check) << print_module(plan);
}

inline void expect_valid(const Module& module) {
  static TrialLawChecker laws;  // remembers its answers
  require_valid(module, laws);
}

inline void run_valid(const Module& module, const std::vector<Part>& parts, const std::map<std::string, Array>& wanted,
                      bool with_generated) {
  const RunResult plain = testing::run_simulated(module, parts);
  expect_results(module, parts, plain, wanted);
  expect_counts(module, parts, plain, "interpreter");
  if (!with_generated || ::testing::Test::HasFailure()) return;
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  const auto kernels = testing::make_kernels({.threads = 2});
  const RunResult generated = execute(module, parts, *transport, *kernels, {});
  expect_results(module, parts, generated, wanted);
  expect_counts(module, parts, generated, "generated");
}

inline void run_plan(const Module& module, const std::vector<Part>& parts, const std::map<std::string, Array>& wanted,
                     bool with_generated) {
  expect_valid(module);
  run_valid(module, parts, wanted, with_generated);
}

// A plan that somebody wrote or edited gives what the program does.
inline void run_edited(const Module& module, const Module& program) {
  for (const int workers : {1, 2, 3, 5}) {
    SCOPED_TRACE(workers);
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 9, 30, 5), program);
    run_plan(module, parts, interpret(program, whole_inputs(parts)), true);
  }
}

struct NamedPlan {
  Strategy strategy;
  SyncMode sync;
  Module module;
};

inline std::vector<NamedPlan> plans_of(const Module& program) {
  std::vector<NamedPlan> plans;
  for (const Strategy strategy : plan_strategies) {
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
      if (strategy != Strategy::greedy && sync == SyncMode::eager) continue;
      plans.push_back({strategy, sync, plan(program, strategy, sync)});
      expect_valid(plans.back().module);
    }
  }
  return plans;
}

// Dimensions of about `size` indices, matrices of `entries` entries.
inline void run_everywhere(const Module& program, std::int64_t size, std::int64_t entries) {
  const std::vector<NamedPlan> plans = plans_of(program);
  for (const int workers : {1, 2, 3, 4, 5}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, size, entries, 5), program);
    const auto wanted = interpret(program, whole_inputs(parts));
    for (const auto& [strategy, sync, module] : plans) {
      if (selects(strategy) && sync == SyncMode::lazy && workers % 2 == 0) continue;
      SCOPED_TRACE(::testing::Message() << workers << " workers, strategy " << strategy_name(strategy) << ", sync "
                                        << static_cast<int>(sync));
      run_valid(module, parts, wanted, workers == 3);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace kasen
