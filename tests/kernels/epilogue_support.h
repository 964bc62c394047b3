// Plans with and without product_epilogue regions, run over either kernel set and compared.
#pragma once

#include <gtest/gtest.h>

#include "libcore/ir/regions.h"
#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libopt/optimize/optimize.h"
#include "libopt/time/run_report.h"
#include "tests/support/data.h"
#include "tests/support/generated.h"
#include "tests/support/memory_forms.h"

namespace kasen::testing {

// Near neighbours and a few far ones, all within the first `reach` of each worker's indices but for those at the ends:
// so that whole blocks of rows are settled, and others wait.
inline TestData band(int workers, std::int64_t n, Scalar scalar) {
  std::mt19937_64 random(static_cast<std::uint64_t>(workers));
  TestData data;
  data.workers = workers;
  std::vector<int> owner;
  for (std::int64_t i = 0; i < n; ++i) owner.push_back(static_cast<int>(i * workers / n));
  data.dims["N"] = {n, false, owner};
  TestMatrix matrix{"N", "N", ElementType::of(scalar), {}, {}, {}};
  std::set<std::pair<std::int64_t, std::int64_t>> entries;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto links = static_cast<std::int64_t>(random() % 9);
    for (std::int64_t k = 0; k < links; ++k) {
      const auto far = static_cast<std::int64_t>(random() % 64) - 32;
      entries.emplace(i, std::clamp<std::int64_t>(i + far, 0, n - 1));
    }
    if (i % 3 == 0) entries.emplace(i, n / 2);  // a row of many entries
  }
  matrix.entries.assign(entries.begin(), entries.end());
  for (const auto& [row, col] : matrix.entries) {
    matrix.owner.push_back(owner[static_cast<size_t>(row)]);
    matrix.values.push_back(is_float(scalar) ? Word::real(1 + static_cast<double>((row + col) % 7))
                                             : Word::integer(1 + (row + col) % 7));
  }
  if (scalar == Scalar::null) matrix.values.clear();
  data.matrices["G"] = std::move(matrix);
  return data;
}

inline Module make_plan(const std::string& text, bool epilogue) {
  TrialLawChecker laws;
  OptimizeOptions options;
  options.epilogue = epilogue;
  return optimize(compile_program(text, "test.ks", {}), laws, options);
}

inline int regions(const Module& plan) {
  int count = 0;
  for_each_op(plan, [&](const Op& op, int, int) { count += is_epilogue(op) ? 1 : 0; });
  return count;
}

struct Made {
  std::vector<std::vector<Word>> outputs;
  bool agrees = false;
  std::string check;
};

inline Made run(const Module& plan, const std::vector<Part>& parts, std::unique_ptr<KernelSet> kernels, bool generated,
                FormStore* forms = nullptr) {
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  RunOptions options;
  options.forms = forms;
  const RunResult result = execute(plan, parts, *transport, *kernels, options);
  Made made;
  for (const Output& output : result.outputs) made.outputs.push_back(whole_words(plan, output, parts));
  RunReport report = make_run_report(plan, result);
  report.kernels = generated ? "generated" : "interpreter";
  const Check check = check_against(plan, sizes_from_parts(plan, parts), report);
  made.agrees = check.mismatches.empty();
  made.check = check_text(plan, check);
  return made;
}

inline void expect_equal(const std::vector<std::vector<Word>>& a, const std::vector<std::vector<Word>>& b,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].size(), b[k].size()) << what;
    for (size_t i = 0; i < a[k].size(); ++i) {
      if (tolerance == 0) {
        ASSERT_EQ(a[k][i].i, b[k][i].i) << what << " [" << i << "]";
      } else {
        ASSERT_NEAR(a[k][i].f, b[k][i].f, tolerance * std::max(1.0, std::fabs(b[k][i].f))) << what << " [" << i << "]";
      }
    }
  }
}

// Of several workers some have whole blocks of settled rows, and some rows wait.
inline void expect_some_wait(const Module& plan, const std::vector<Part>& parts) {
  std::int64_t most = 0;
  for (const auto& [symbol, rows] : sizes_from_parts(plan, parts).totals) {
    if (symbol.kind == SymbolKind::waiting) most = std::max(most, rows);
  }
  EXPECT_LT(most, parts[0].dims.at("N").size);
  EXPECT_EQ(most > 0, parts.size() > 1);
}

// The plan with epilogues and the one without give the same values, over either kernel set and any threads the same
// bits, and touch what is predicted.
inline void expect_agreement(const Module& joined, const Module& apart, const std::vector<Part>& parts,
                             double tolerance, const std::string& what) {
  const Made expected = run(apart, parts, make_interpreter_kernels(), false);
  const Made first = run(joined, parts, make_interpreter_kernels(), false);
  EXPECT_TRUE(first.agrees) << what << '\n' << first.check;
  expect_equal(first.outputs, expected.outputs, tolerance, what);
  MemoryForms forms;  // made by the first of these runs, loaded by the others
  for (const int threads : {1, 2, 3}) {
    const Made made = run(joined, parts, testing::make_kernels({.threads = threads}), true, &forms);
    EXPECT_TRUE(made.agrees) << what << '\n' << made.check;
    expect_equal(made.outputs, first.outputs, 0, what + ", generated, threads " + std::to_string(threads));
    const Made blocks = run(joined, parts, testing::make_kernels({.threads = threads, .operand_blocks = 3}), true);
    expect_equal(blocks.outputs, first.outputs, 0, what + ", in blocks, threads " + std::to_string(threads));
  }
}

}  // namespace kasen::testing
