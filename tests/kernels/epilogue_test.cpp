// Plans with product_epilogue regions over a graph of which most rows need nobody's help and some wait for a gather.
#include "tests/kernels/epilogue_support.h"

namespace kasen::testing {
namespace {

void check(const std::string& text, Scalar scalar, double tolerance) {
  const Module apart = make_plan(text, false), joined = make_plan(text, true);
  EXPECT_GE(regions(joined), 1);
  EXPECT_EQ(regions(apart), 0);
  for (const int workers : {1, 2, 3}) {
    const std::vector<Part> parts = split(band(workers, 17011, scalar));
    expect_some_wait(joined, parts);
    expect_agreement(joined, apart, parts, tolerance, std::to_string(workers) + " workers");
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

// Blocks of rows that hold most of the entries: their rows are computed by all threads, in pieces of a window.
TEST(Epilogue, HeavyBlocksAreSharedAmongThreads) {
  const std::string text =
      "dim N\ninput G : null[N, N]\nx : f64[N] = map((i) -> 1 / (1.0 + f64(i64(i))), index(N))\nd = 0.0\n"
      "for k in 0..3 {\n  y = 0.15 + 0.85 * (G' @ x)\n  d = sum(abs(x - y))\n  x = y / (1 + d)\n}\noutput x, d\n";
  std::mt19937_64 random(3);
  TestData data;
  const std::int64_t n = 9000;
  data.dims["N"] = {n, false, std::vector<int>(static_cast<size_t>(n), 0)};
  TestMatrix matrix{"N", "N", ElementType::of(Scalar::null), {}, {}, {}};
  std::set<std::pair<std::int64_t, std::int64_t>> entries;
  const auto any = [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (std::int64_t hub = 0; hub < 90; ++hub) {
    for (int k = 0; k < (hub < 20 ? 9000 : 4000); ++k) entries.emplace(any(), 4200 + 3 * hub);
  }
  for (std::int64_t i = 0; i < n; ++i) entries.emplace(i, any());
  matrix.entries.assign(entries.begin(), entries.end());
  matrix.owner.assign(matrix.entries.size(), 0);
  data.matrices["G"] = std::move(matrix);
  const std::vector<Part> parts = split(data);
  const Module apart = make_plan(text, false), joined = make_plan(text, true);
  expect_agreement(joined, apart, parts, 1e-12, "heavy blocks");
  const Made alone = run(apart, parts, testing::make_kernels({.threads = 1}), true);
  for (const int threads : {2, 3}) {
    const Made made = run(apart, parts, testing::make_kernels({.threads = threads}), true);
    expect_equal(made.outputs, alone.outputs, 0, "without epilogue, threads " + std::to_string(threads));
  }
}

}  // namespace
}  // namespace kasen::testing
