// Plans with product_epilogue regions over a graph of which most rows need nobody's help and some wait for a gather.
#include <gtest/gtest.h>

#include "libcore/lang.h"
#include "libcore/laws.h"
#include "libcore/regions.h"
#include "libkernels/kernels.h"
#include "libopt/optimize.h"
#include "libopt/run_report.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

// Near neighbours and a few far ones, all within the first `reach` of each worker's indices but for those at the ends:
// so that whole blocks of rows are settled, and others wait.
testing::TestData band(int workers, std::int64_t n, Scalar scalar) {
  std::mt19937_64 random(static_cast<std::uint64_t>(workers));
  testing::TestData data;
  data.workers = workers;
  std::vector<int> owner;
  for (std::int64_t i = 0; i < n; ++i) owner.push_back(static_cast<int>(i * workers / n));
  data.dims["N"] = {n, false, owner};
  testing::TestMatrix matrix{"N", "N", ElementType::of(scalar), {}, {}, {}};
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

Module make_plan(const std::string& text, bool epilogue) {
  TrialLawChecker laws;
  OptimizeOptions options;
  options.epilogue = epilogue;
  return optimize(compile_program(text, "test.ks", {}), laws, options);
}

int regions(const Module& plan) {
  int count = 0;
  for_each_op(plan, [&](const Op& op, int, int) { count += is_epilogue(op) ? 1 : 0; });
  return count;
}

struct Made {
  std::vector<std::vector<Word>> outputs;
  bool agrees = false;
  std::string check;
};

Made run(const Module& plan, const std::vector<Part>& parts, std::unique_ptr<KernelSet> kernels, bool generated) {
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  const RunResult result = execute(plan, parts, *transport, *kernels, {});
  Made made;
  for (const Output& output : result.outputs) made.outputs.push_back(testing::whole_words(plan, output, parts));
  RunReport report = make_run_report(plan, result);
  report.kernels = generated ? "generated" : "interpreter";
  const Check check = check_against(plan, sizes_from_parts(plan, parts), report);
  made.agrees = check.mismatches.empty();
  made.check = check_text(plan, check);
  return made;
}

void expect_equal(const std::vector<std::vector<Word>>& a, const std::vector<std::vector<Word>>& b, double tolerance,
                  const std::string& what) {
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
void expect_some_wait(const Module& plan, const std::vector<Part>& parts) {
  std::int64_t most = 0;
  for (const auto& [symbol, rows] : sizes_from_parts(plan, parts).totals) {
    if (symbol.kind == SymbolKind::waiting) most = std::max(most, rows);
  }
  EXPECT_LT(most, parts[0].dims.at("N").size);
  EXPECT_EQ(most > 0, parts.size() > 1);
}

// The plan with epilogues and the one without give the same values, over either kernel set and any threads the same
// bits, and touch what is predicted.
void check(const std::string& text, Scalar scalar, double tolerance) {
  const Module apart = make_plan(text, false), joined = make_plan(text, true);
  EXPECT_GE(regions(joined), 1);
  EXPECT_EQ(regions(apart), 0);
  for (const int workers : {1, 2, 3}) {
    const std::vector<Part> parts = testing::split(band(workers, 17011, scalar));
    const std::string what = std::to_string(workers) + " workers";
    expect_some_wait(joined, parts);
    const Made expected = run(apart, parts, make_interpreter_kernels(), false);
    const Made first = run(joined, parts, make_interpreter_kernels(), false);
    EXPECT_TRUE(first.agrees) << what << '\n' << first.check;
    expect_equal(first.outputs, expected.outputs, tolerance, what);
    for (const int threads : {1, 2, 3}) {
      const Made made = run(joined, parts, make_generated_kernels({.threads = threads}), true);
      EXPECT_TRUE(made.agrees) << what << '\n' << made.check;
      expect_equal(made.outputs, first.outputs, 0, what + ", generated, threads " + std::to_string(threads));
    }
  }
}

TEST(Epilogue, PageRank) {
  check(
      "dim N\ninput G : null[N, N]\npr : f64[N] = 1\ndegree = G @ pr\nd = 1.0\nfor k in 0..3 {\n"
      "  new_pr = 0.15 + 0.85 * (G' @ (pr / (degree + 1)))\n  d = sum(abs(pr - new_pr))\n  pr = new_pr\n}\n"
      "output pr\noutput d\n",
      Scalar::null, 1e-12);
}

// Shortest paths: integers with min, two readers of the carried vector.
TEST(Epilogue, MinPlus) {
  check(
      "dim N\ninput G : i64[N, N]\n"
      "dist : i64[N] = map((i) -> if i64(i) % 1000 == 0 then 0 else 1000000, index(N))\nchanged = 0\n"
      "for k in 0..3 {\n  next = min(dist, mxv(+, min, G, dist))\n"
      "  changed = sum(map((a, b) -> if a < b then 1 else 0, next, dist))\n  dist = next\n}\n"
      "output dist\noutput changed\n",
      Scalar::i64, 0);
}

// A product whose vector is an operand of its own vector work, and two regions in one turn.
TEST(Epilogue, BothDirections) {
  check(
      "dim N\ninput G : f32[N, N]\nx : f32[N] = 1\nfor k in 0..2 {\n"
      "  y = map((a, b) -> (a + b) / f32(2), G @ x, x)\n  x = map((a, b) -> a / f32(50) - b, G' @ y, y)\n}\noutput x\n",
      Scalar::f32, 1e-5);
}

}  // namespace
}  // namespace kasen
