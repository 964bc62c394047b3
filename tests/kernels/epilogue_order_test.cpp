// Masters in the order of their rows (libcore/kernels/numbering.h): the order itself, and that nothing that meets it
// from outside, inputs, indices or results, can tell.
#include "libcore/kernels/numbering.h"
#include "libcore/kernels/numbering_order.h"
#include "tests/kernels/epilogue_support.h"

namespace kasen::testing {
namespace {

const std::string pagerank =
    "dim N\ninput G : null[N, N]\npr : f64[N] = 1\ndegree = G @ pr\nfor k in 0..3 {\n"
    "  pr = 0.15 + 0.85 * (G' @ (pr / (degree + 1)))\n}\noutput pr\n";

const Op& epilogue(const Module& plan) {
  const Op* found = nullptr;
  for_each_op(plan, [&](const Op& op, int, int) { found = is_epilogue(op) ? &op : found; });
  return *found;
}

// Entries that the test's own data puts on a worker for each row of G' @ x.
std::map<std::int64_t, std::int64_t> row_entries(const TestData& data, int worker) {
  const TestMatrix& g = data.matrices.at("G");
  std::map<std::int64_t, std::int64_t> count;
  for (size_t e = 0; e < g.entries.size(); ++e) count[g.entries[e].second] += g.owner[e] == worker ? 1 : 0;
  return count;
}

TEST(EpilogueOrder, RowsThatNeedNobodyFirstAndByLengthWithinWindows) {
  const Module plan = make_plan(pagerank, true);
  const SlaveSet set = plan.type(epilogue_product(epilogue(plan)).results.at(0)).state.slaves;
  const DimId n = plan.find_dim("N");
  ASSERT_EQ(ordering_region(plan, n), &epilogue(plan));
  for (const int workers : {1, 3}) {
    const TestData data = band(workers, 60000, Scalar::null);
    const std::vector<Part> parts = split(data);
    const Numbering numbering(plan, parts);
    for (int p = 0; p < workers; ++p) {
      const LocalSpace& space = numbering.space(n, set, p);
      const std::vector<std::int32_t>& order = numbering.order(n, p);
      const std::vector<std::int64_t> masters = parts[static_cast<size_t>(p)].dims.at("N").masters.listed();
      ASSERT_EQ(order.size(), masters.size());
      ASSERT_EQ(space.place.size(), masters.size());
      std::map<std::int64_t, std::int64_t> entries = row_entries(data, p);
      std::set<std::int32_t> mirrored(space.mirrors.begin(), space.mirrors.end());
      EXPECT_EQ(space.interior + static_cast<std::int64_t>(mirrored.size()), space.masters);
      for (std::int64_t i = 0; i < space.masters; ++i) {
        const auto at = static_cast<size_t>(i);
        EXPECT_EQ(space.global(i), masters[static_cast<size_t>(order[at])]);
        EXPECT_EQ(space.place[static_cast<size_t>(order[at])], i);
        EXPECT_EQ(mirrored.contains(static_cast<std::int32_t>(i)), i >= space.interior);
        if (i == 0 || i % order_window == 0 || i == space.interior) continue;
        const std::int64_t before = space.global(i - 1), here = space.global(i);
        const std::int64_t longer = i < space.interior ? entries[before] - entries[here] : 0;
        EXPECT_GE(longer, 0) << "rows by descending length";
        if (longer == 0) {
          EXPECT_LT(before, here) << "equal ones ascending";
        }
      }
    }
  }
}

TEST(EpilogueOrder, MastersAscendWithoutARegionInALoop) {
  const std::vector<Part> parts = split(band(2, 500, Scalar::null));
  const std::string once = "dim N\ninput G : null[N, N]\ninput x : f64[N]\noutput a = 2 * (G' @ x)\n";
  for (const Module& plan : {make_plan(pagerank, false), make_plan(once, true)}) {
    const DimId n = plan.find_dim("N");
    EXPECT_EQ(ordering_region(plan, n), nullptr);
    EXPECT_TRUE(Numbering(plan, parts).order(n, 0).empty());
  }
}

void add_array(TestData& data, const std::string& name, std::vector<std::string> dims, const ElementType& element) {
  std::int64_t words = element.planes();
  for (const std::string& dim : dims) words *= data.dims.at(dim).size;
  TestArray array{std::move(dims), element, {}};
  for (std::int64_t i = 0; i < words; ++i) {
    const auto plane = i % element.planes();
    const bool real = is_float(element.plane_scalar(plane));
    array.words.push_back(real ? Word::real(static_cast<double>(i * 31 % 17) / 16) : Word::integer(i * 31 % 17));
  }
  data.arrays[name] = std::move(array);
}

// Vectors, rows of a matrix, tuples, small arrays and ids come in the data's order, and leave in it.
const std::string everything =
    "dim N\ndim F local\ninput G : null[N, N]\n"
    "input w : f64[N], X : f64[N, F], mark : i64[N], near : id[N][N], pair : (i64, [f64; 3])[N], c : f64[F]\n"
    "x : f64[N] = 1\ntotal = 0.0\nfor k in 0..3 {\n"
    "  x = w + 0.1 * (G' @ x)\n  total = sum(x)\n}\n"
    "y = reduce(+, X * c, over F)\n"
    "output x, total, y, X2 = X * x, where = index(N), place = i64(index(N)) + mark, near, unchanged = near == "
    "index(N)\n"
    "output pair, half = map((p, x) -> (p.0 + 1, [i in 3: p.1[i] * x]), pair, x), least = min(near)\n";

TEST(EpilogueOrder, InputsIndicesAndResultsAreInTheOrderOfTheData) {
  const Module apart = make_plan(everything, false), joined = make_plan(everything, true);
  ASSERT_EQ(regions(joined), 1);
  for (const int workers : {1, 3}) {
    TestData data = band(workers, 9001, Scalar::null);
    data.dims["F"] = {3, true, {}};
    add_array(data, "w", {"N"}, ElementType::of(Scalar::f64));
    add_array(data, "X", {"N", "F"}, ElementType::of(Scalar::f64));
    add_array(data, "mark", {"N"}, ElementType::of(Scalar::i64));
    add_array(data, "c", {"F"}, ElementType::of(Scalar::f64));
    for_each_op(joined, [&](const Op& op, int, int) {
      const bool other = op.code == OpCode::input && (op.name == "near" || op.name == "pair");
      if (other) add_array(data, op.name, {"N"}, joined.type(op.results.at(0)).element);
    });
    const std::vector<Part> parts = split(data);
    expect_agreement(joined, apart, parts, 1e-12, std::to_string(workers) + " workers");
    // And as the program says, without any plan.
    const Made made = run(joined, parts, testing::make_kernels({.threads = 2}), true);
    TrialLawChecker laws;
    const auto wanted = interpret(compile_program(everything, "test.ks", {}), whole_inputs(parts));
    ASSERT_EQ(made.outputs.size(), wanted.size());
    size_t k = 0;
    for_each_op(joined, [&](const Op& op, int, int) {
      if (op.code != OpCode::output) return;
      expect_same(op.name, joined.type(op.operands[0]).element, made.outputs.at(k++), words_of(wanted.at(op.name)),
                  1e-12);
    });
  }
}

// Rows of equal length lie sorted in every window, slaves' rows behind the masters' among them: the last slice of the
// masters then holds slaves.
TEST(EpilogueOrder, TheLastSliceMayHoldSlaves) {
  const Module apart = make_plan(pagerank, false), joined = make_plan(pagerank, true);
  for (const std::int64_t mine : {5, 8, 11, 4090, 4096, 4099}) {
    TestData data;
    data.workers = 2;
    const std::int64_t n = mine + 13;
    std::vector<int> owner(static_cast<size_t>(n), 1);
    std::fill_n(owner.begin(), mine, 0);
    data.dims["N"] = {n, false, owner};
    TestMatrix g{"N", "N", ElementType::of(Scalar::null), {}, {}, {}};
    for (std::int64_t column = 0; column < n; ++column) {
      for (const std::int64_t far : {0, 1}) g.entries.emplace_back((column / 2 + far) % mine, column);
    }
    g.owner.assign(g.entries.size(), 0);  // worker 0 contributes to all of worker 1, and nobody to it
    data.matrices["G"] = std::move(g);
    expect_agreement(joined, apart, split(data), 1e-12, std::to_string(mine) + " masters");
  }
}

// Every vertex is read by three others: neighbours, or the few that everybody reads, whose names tell nothing.
TestData three_links(int workers, std::int64_t n, bool near) {
  TestData data;
  data.workers = workers;
  std::vector<int> owner;
  for (std::int64_t i = 0; i < n; ++i) owner.push_back(static_cast<int>(i % workers));
  data.dims["N"] = {n, false, owner};
  TestMatrix g{"N", "N", ElementType::of(Scalar::null), {}, {}, {}};
  std::mt19937_64 random(7);
  for (std::int64_t column = 0; column < n; ++column) {
    for (std::int64_t k = 1; k <= 3; ++k) {
      const double u = static_cast<double>(random() % 1000003) / 1000003;
      const auto rank = static_cast<std::int64_t>(u * u * u * u * static_cast<double>(n));
      g.entries.emplace_back(near ? (column + k) % n : rank * 7919 % n, column);
    }
  }
  std::sort(g.entries.begin(), g.entries.end());
  g.entries.erase(std::unique(g.entries.begin(), g.entries.end()), g.entries.end());
  for (const auto& [row, column] : g.entries) g.owner.push_back(owner[static_cast<size_t>(column)]);
  data.matrices["G"] = std::move(g);
  return data;
}

std::map<std::int64_t, std::int64_t> reads(const TestData& data, int worker) {
  const TestMatrix& g = data.matrices.at("G");
  std::map<std::int64_t, std::int64_t> count;
  for (size_t e = 0; e < g.entries.size(); ++e) count[g.entries[e].first] += g.owner[e] == worker ? 1 : 0;
  return count;
}

// Of the whole windows of the first worker's masters: those with nothing that is read more often than anything before.
std::int64_t falling_windows(const LocalSpace& space, std::map<std::int64_t, std::int64_t> count) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), falls = 0;
  for (std::int64_t first = 0; first + order_window <= space.masters; first += order_window) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
    for (std::int64_t i = first; i < first + order_window; ++i) {
      const std::int64_t here = count[space.global(i)];
      low = std::min(low, here);
      high = std::max(high, here);
    }
    falls += high <= least ? 1 : 0;
    least = low;
  }
  return falls;
}

TEST(EpilogueOrder, WhatIsReadMostLiesTogether) {
  const Module apart = make_plan(pagerank, false), joined = make_plan(pagerank, true);
  const SlaveSet set = joined.type(epilogue_product(epilogue(joined)).results.at(0)).state.slaves;
  const DimId n = joined.find_dim("N");
  const TestData data = three_links(1, 140000, false);
  const std::vector<Part> parts = split(data);
  const Numbering numbering(joined, parts);
  const LocalSpace& space = numbering.space(n, set, 0);
  EXPECT_EQ(falling_windows(space, reads(data, 0)), space.masters / order_window);
  const PartMatrix& matrix = parts[0].matrices.at("G");
  const auto masters = static_cast<size_t>(space.masters);
  EXPECT_LT(lines_read(matrix, false, masters, numbering.order(n, 0)), 0.9 * lines_read(matrix, false, masters, {}));
  expect_agreement(joined, apart, parts, 1e-12, "hot masters first");
}

TEST(EpilogueOrder, NeighboursStayTogether) {
  const Module joined = make_plan(pagerank, true);
  const SlaveSet set = joined.type(epilogue_product(epilogue(joined)).results.at(0)).state.slaves;
  TestData data = three_links(1, 140000, true);
  TestMatrix& g = data.matrices.at("G");
  for (std::int64_t column = 5; column < 140000; ++column) {  // some are read more often; all rows have four
    g.entries.emplace_back(column / 1000 * 1000 % 139000, column);
    g.owner.push_back(0);
  }
  std::sort(g.entries.begin(), g.entries.end());
  g.entries.erase(std::unique(g.entries.begin(), g.entries.end()), g.entries.end());
  g.owner.resize(g.entries.size());
  const std::vector<Part> parts = split(data);
  const Numbering numbering(joined, parts);
  const LocalSpace& space = numbering.space(joined.find_dim("N"), set, 0);
  EXPECT_LT(falling_windows(space, reads(data, 0)), 3);
  for (std::int64_t i = 0; i < space.masters; ++i) {
    EXPECT_EQ(space.global(i) / order_window, i / order_window);
  }
}

TEST(EpilogueOrder, HotMastersOnTwoWorkers) {
  const Module joined = make_plan(pagerank, true);
  const TestData one = three_links(1, 300000, false), two = three_links(2, 300000, false);
  const auto ranks = [&](const TestData& data) {
    return run(joined, split(data), testing::make_kernels({.threads = 2}), true);
  };
  const Made expected = ranks(one), made = ranks(two);
  EXPECT_TRUE(made.agrees) << made.check;
  expect_equal(made.outputs, expected.outputs, 1e-12, "two workers");
}

// Pairs of a line of eight operands and a window of rows, counted another way.
TEST(EpilogueOrder, LinesReadAreDistinctPairs) {
  const TestData data = three_links(1, 40000, false);
  const std::vector<Part> parts = split(data);
  std::vector<std::int32_t> order(40000);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i * 12347 % order.size());
  std::map<std::int64_t, std::int64_t> places;
  for (std::int64_t i = 0; i < 40000; ++i) places[order[static_cast<size_t>(i)]] = i;
  for (const bool transposed : {false, true}) {
    std::set<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const auto& [row, column] : data.matrices.at("G").entries) {
      const std::int64_t result = transposed ? row : column, operand = transposed ? column : row;
      pairs.emplace(places[result] / order_window, places[operand] / 8);
    }
    const PartMatrix& matrix = parts[0].matrices.at("G");
    EXPECT_EQ(lines_read(matrix, transposed, 40000, order), static_cast<double>(pairs.size())) << transposed;
  }
}

// Stars and power laws: rows far too long for a slice, some so long that threads share them, and windows with nothing
// but empty rows.
TEST(EpilogueOrder, SkewedRows) {
  const Module apart = make_plan(pagerank, false), joined = make_plan(pagerank, true);
  for (const auto& [workers, n] :
       {std::pair(1, std::int64_t{40000}), std::pair(1, std::int64_t{70000}), std::pair(2, std::int64_t{40000})}) {
    TestData data;
    data.workers = workers;
    std::vector<int> owner;
    for (std::int64_t i = 0; i < n; ++i) owner.push_back(static_cast<int>(i * workers / n));
    data.dims["N"] = {n, false, owner};
    TestMatrix g{"N", "N", ElementType::of(Scalar::null), {}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      g.entries.emplace_back(i, 30000);              // everybody's neighbour
      if (i % 5 == 0) g.entries.emplace_back(i, 7);  // 8000 entries
      if (i % 9 == 0 && i < n / 4) g.entries.emplace_back(i, i / 9 * i % 300);
    }
    std::sort(g.entries.begin(), g.entries.end());
    g.entries.erase(std::unique(g.entries.begin(), g.entries.end()), g.entries.end());
    for (const auto& [row, column] : g.entries) g.owner.push_back(owner[static_cast<size_t>(row)]);
    data.matrices["G"] = std::move(g);
    expect_agreement(joined, apart, split(data), 1e-12, std::to_string(workers) + " workers, " + std::to_string(n));
  }
}

}  // namespace
}  // namespace kasen::testing
