// Layouts that the planner chooses: against closed forms, against the cost of the plans that come of them, and against
// what other searches find.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/sorting/sort_plan.h"
#include "libopt/cost/box_cost.h"
#include "libopt/layouts/tile.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

OptimizeOptions over(const std::vector<std::int64_t>& mesh, TileSearch search = TileSearch::exact) {
  OptimizeOptions options;
  for (const std::int64_t size : mesh) {
    options.mesh.push_back({std::string(1, static_cast<char>('a' + static_cast<int>(options.mesh.size()))), size});
  }
  options.tile = search;
  return options;
}

Module sized(Module module, const std::map<std::string, std::int64_t>& sizes) {
  for (Dimension& dim : module.dims) {
    if (const auto it = sizes.find(dim.name); it != sizes.end()) dim.size = it->second;
  }
  return module;
}

TrialLawChecker& laws() {
  static TrialLawChecker checker;  // remembers its answers
  return checker;
}

MeshTiling best(const Module& program, const OptimizeOptions& options) {
  return std::move(search_tilings(before_tiling(program, laws(), options), laws(), options).front());
}

double cost(const Module& program, const OptimizeOptions& options) { return best(program, options).solution.cost; }

// The bytes that the plan's own cost predicts, all iterations as they are expected.
double bytes_of_plan(const Module& program, const OptimizeOptions& options) {
  const Module made = optimize(program, laws(), options);
  const CostReport report = measure(made);
  Sizes sizes;
  for (const Dimension& dim : made.dims) sizes.totals[{SymbolKind::size, dim.name, {}, -1}] = dim.size;
  bind_stays(made, sizes);
  for_each_op(made, [&](const Op& op, int number, int) {  // of sorts: in the mean, not at least
    if (op.code != OpCode::sort && op.code != OpCode::argsort) return;
    if (sorts_across(made, op))
      sizes.totals[{SymbolKind::stay, "", {}, number}] = std::llround(sort_stay(made, op).mean);
  });
  for (const LoopCost& loop : report.loops) {
    sizes.totals[{SymbolKind::trips, "", {}, loop.number}] = loop.expected.value_or(10);
  }
  return static_cast<double>(report.actual.network.value(sizes.totals));
}

// ---- one product

TEST(Tilings, OneProductTakesTheCheapestOfItsForms) {
  const Module program = compile("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B\n");
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    const auto size = [&] { return static_cast<std::int64_t>(16) << (random() % 12); };
    const std::int64_t n = size(), k = size(), m = size(), p = std::int64_t{2} << (random() % 4);
    const Module with_sizes = sized(program, {{"N", n}, {"K", k}, {"M", m}});
    const double least = 8.0 * static_cast<double>((p - 1) * std::min({n * k, k * m, n * m}));
    EXPECT_EQ(cost(with_sizes, over({p})), least) << n << ' ' << k << ' ' << m << ' ' << p;
    EXPECT_EQ(bytes_of_plan(with_sizes, over({p})), least) << n << ' ' << k << ' ' << m << ' ' << p;
    // Over two axes each operand and the result stays, or moves along one axis.
    EXPECT_LE(cost(with_sizes, over({p, 2})),
              8.0 * static_cast<double>((p - 1) * k * m + (2 - 1) * n * k));  // blocks
  }
}

// ---- scans along both dimensions

TEST(Tilings, AScanSendsOneElementOfEachLineOrMovesTheArray) {
  const Module program = compile("dim N, M\ninput A : dense f64[N, M]\noutput S = cumsum(cumsum(A, over N), over M)\n");
  const Module line = compile("dim N\ninput x : f64[N]\noutput s = cumsum(x)\n");
  std::mt19937_64 random(3);
  for (int i = 0; i < 60; ++i) {
    const auto size = [&] { return std::int64_t{1} << (random() % 12); };
    const std::int64_t n = size(), m = size(), p = std::int64_t{2} << (random() % 4);
    SCOPED_TRACE(::testing::Message() << n << ' ' << m << ' ' << p);
    const Module with_sizes = sized(program, {{"N", n}, {"M", m}});
    const double carried = 8.0 * static_cast<double>((p - 1) * std::min(n, m));
    // A block of each array stays with its worker where it is cut along the other dimension instead.
    const auto part = [&](std::int64_t all, std::int64_t w) { return all / p + (w < all % p ? 1 : 0); };
    std::int64_t stay = 0;
    for (std::int64_t w = 0; w < p; ++w) stay += part(n, w) * part(m, w);
    const double least = std::min(carried, 8.0 * static_cast<double>(n * m - stay));
    EXPECT_EQ(cost(with_sizes, over({p})), least);
    EXPECT_EQ(bytes_of_plan(with_sizes, over({p})), least);
    EXPECT_EQ(cost(sized(line, {{"N", n}}), over({p})), 8.0 * static_cast<double>(p - 1));
    EXPECT_EQ(bytes_of_plan(sized(line, {{"N", n}}), over({p})), 8.0 * static_cast<double>(p - 1));
  }
  // Over a mesh each dimension may be cut by one axis: the lines of both travel along it.
  const Module square = sized(program, {{"N", 4096}, {"M", 4096}});
  EXPECT_LE(cost(square, over({4, 2})), 8.0 * 4096 * (3 + 1));
}

// ---- the pattern where the paper's search is not the best (Figure 11)

constexpr const char* pattern =
    "dim N\ninput A : dense f64[N, N], B : dense f64[N, N]\nC = A + B\n"
    "D = [i in N, j in N: A[j, i] + B[j, i]]\noutput E = C + D\n";

TEST(Tilings, ThePatternOfThePaperMovesOneArray) {
  const Module program = sized(compile(pattern), {{"N", 1024}});
  const double array = 8.0 * 1024 * 1024;
  OptimizeOptions options = over({16});
  EXPECT_EQ(cost(program, options), array * 15 / 16);  // a sixteenth stays
  EXPECT_EQ(bytes_of_plan(program, options), array * 15 / 16);
  options.tile_costs = TileCosts::paper;
  EXPECT_EQ(cost(program, options), array);
  options.tile = TileSearch::greedy;
  EXPECT_EQ(cost(program, options), 2 * array);
}

// ---- training of a network with one hidden layer: by data, or by weights

constexpr const char* training =
    "dim B, D, H, O\ninput X : dense f64[B, D], Y : dense f64[B, O], U : dense f64[D, H], V : dense f64[H, O]\n"
    "for step in 0..10 {\n"
    "  Z = tanh(X @ U)\n  E = Z @ V - Y\n"
    "  G = Z' @ E\n  R = (E @ V') * (1.0 - Z * Z)\n"
    "  V = V - 0.1 * G\n  U = U - 0.1 * (X' @ R)\n"
    "}\noutput U, V\n";

TEST(Tilings, TrainingIsCutByDataOrByWeights) {
  const Module program = compile(training);
  // Many rows, few weights: one all-reduce of each array of weights in an iteration, beside the first read.
  const Module wide = sized(program, {{"B", 1 << 20}, {"D", 64}, {"H", 32}, {"O", 8}});
  const double weights = 8.0 * (64 * 32 + 32 * 8), p = 16;
  EXPECT_EQ(cost(wide, over({16})), 10 * 2 * (p - 1) * weights);
  // Few rows, many weights: U by columns and V by rows. X goes to all once. In an iteration the terms of Z @ V go to
  // their owners and E to all: an all-reduce of batch x outputs, and of no array of weights.
  const Module deep = sized(program, {{"B", 32}, {"D", 1 << 14}, {"H", 1 << 14}, {"O", 1 << 12}});
  EXPECT_EQ(cost(deep, over({16})), (p - 1) * 8.0 * 32 * (1 << 14) + 10 * 2 * (p - 1) * 8.0 * 32 * (1 << 12));
  EXPECT_EQ(bytes_of_plan(deep, over({16})), cost(deep, over({16})));
  EXPECT_LT(cost(deep, over({16})), 10 * 2 * (p - 1) * 8.0 * (1 << 14) * (1 << 12));
}

// ---- the paper's applications on two-dimensional arrays, 16 workers: tall data by rows, as its text says

struct Application {
  const char *name, *text;
  double bytes;  // in the whole run
};

constexpr const char* head = "dim N, F, K\ninput X : dense f64[N, F], y : f64[N], w : f64[F], C : dense f64[F, K]\n";
// N = 2^20, F = 64, K = 8; ten iterations.
const Application applications[] = {
    {"linear regression", "for i in 0..10 {\n  w = w - 0.1 * (X' @ (X @ w - y))\n}\noutput w\n",
     10 * 2 * 15 * 8.0 * 64},
    {"logistic regression",
     "for i in 0..10 {\n  r = 1.0 / (1.0 + exp(-(X @ w))) - y\n  w = w - 0.1 * (X' @ r)\n}\noutput w\n",
     10 * 2 * 15 * 8.0 * 64},
    {"PCA", "output V = X' @ X\n", 15 * 8.0 * 64 * 64},
    {"SSVD", "Y = X @ C\noutput Z = X' @ Y\n", 2 * 15 * 8.0 * 64 * 8},
    {"fuzzy K-means", "for i in 0..10 {\n  W = exp(-(X @ C))\n  C = (X' @ W) / sum(W, over N)\n}\noutput C\n",
     10 * 15 * 8.0 * (2 * 64 * 8 + 8 + 8)},
    {"factors by turns", "U = X @ C\nfor i in 0..10 {\n  C = X' @ U\n  U = X @ C\n}\noutput U\n",
     15 * 8.0 * 64 * 8 * (1 + 10 * 2)},
};

TEST(Tilings, ApplicationsAreCutByRows) {
  for (const Application& application : applications) {
    SCOPED_TRACE(application.name);
    const Module program = sized(compile(std::string(head) + application.text), {{"N", 1 << 20}, {"F", 64}, {"K", 8}});
    for (const TileCosts costs : {TileCosts::actual, TileCosts::paper}) {
      OptimizeOptions options = over({16});
      options.tile_costs = costs;
      const MeshTiling tiling = best(program, options);
      EXPECT_TRUE(tiling.solution.is_certified());
      for (const tiling::VariableId id : tiling.problem->graph().ids()) {
        if (tiling.problem->graph()[id].name != "X") continue;
        EXPECT_EQ(tiling.problem->cuts(id, tiling.solution.choices[id]), (Cuts{{1}, {}}));
      }
      if (costs == TileCosts::actual) {
        EXPECT_LE(tiling.solution.cost, application.bytes);
      }
    }
    EXPECT_EQ(bytes_of_plan(program, over({16})), cost(program, over({16})));
    EXPECT_GT(cost(program, over({16}, TileSearch::worst)), 100 * cost(program, over({16})));
  }
}

// ---- one array along both axes in every iteration

constexpr const char* both_axes =
    "dim N, K\ninput A : dense f64[N, K], x : f64[K], y : f64[N]\n"
    "for i in 0..TRIPS {\n  y = y + [n in N: max(k in K: A[n, k] + x[k])]\n"
    "  B = A * 0.5\n  x = x + 0.001 * [k in K: max(n in N: B[n, k] + y[n])]\n}\noutput x, y\n";

TEST(Tilings, TwoLayoutsOfAnArrayAreMadeOnce) {
  const auto program = [&](int trips) {
    std::string text = both_axes;
    text.replace(text.find("TRIPS"), 5, std::to_string(trips));
    return sized(compile(text), {{"N", 4096}, {"K", 4096}});
  };
  const double ten = cost(program(10), over({8})), twenty = cost(program(20), over({8}));
  EXPECT_LT(twenty - ten, 8.0 * 4096 * 4096);  // only vectors move in an iteration
}

// ---- random programs: maps, transposes, products, reductions, scans, slices, concatenations

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Module program(int operators) {
    text_ = "dim N, M, K\ndim E = N[::2], I = N[1:-1], S = N + M\n";
    input("A", "NM"), input("B", "MK"), input("C", "NM"), input("D", "KN"), input("v", "M");
    for (int i = 0; i < operators; ++i) statement();
    std::string outputs;
    for (const auto& [name, dims] : known_) {
      if (name[0] == 'z') outputs += (outputs.empty() ? "" : ", ") + name;
    }
    Module module = compile(text_ + "output " + outputs + "\n");
    for (Dimension& dim : module.dims) {
      if (!dim.is_derived()) dim.size = std::int64_t{131072} << (random_() % 3);
    }
    derive_sizes(module.dims, "these sizes");
    return module;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Known {
    std::string name, dims;
  };

  const Known& any() { return known_[random_() % known_.size()]; }

  void input(const char* name, const std::string& dims) {
    text_ += std::string("input ") + name + " : " + (dims.size() > 1 ? "dense f64[" : "f64[") + dims.substr(0, 1) +
             (dims.size() > 1 ? ", " + dims.substr(1) : "") + "]\n";
    known_.push_back({name, dims});
  }

  void define(const std::string& dims, const std::string& text) {
    const std::string name = "z" + std::to_string(number_++);
    text_ += name + " = " + text + "\n";
    known_.push_back({name, dims});
  }

  void statement() {
    for (int tries = 0; tries < 100; ++tries) {
      const Known x = any(), y = any();
      const std::uint64_t kind = random_() % 7;
      if (kind == 0 && x.dims == y.dims) return define(x.dims, "tanh(" + x.name + " + " + y.name + ")");
      if (kind == 1 && x.dims.size() == 2 && x.dims[0] != x.dims[1]) {
        return define({x.dims[1], x.dims[0]},
                      std::string("[i in ") + x.dims[1] + ", j in " + x.dims[0] + ": " + x.name + "[j, i] * 0.5]");
      }
      if (kind == 2 && x.dims.size() == 2 && y.dims.size() == 2 && x.dims[1] == y.dims[0] && x.dims[0] != y.dims[1]) {
        return define({x.dims[0], y.dims[1]}, "tanh(" + x.name + " @ " + y.name + ")");
      }
      if (kind == 3 && x.dims.size() == 2 && x.dims[0] != x.dims[1]) {
        const std::size_t over = random_() % 2;
        return define(x.dims.substr(1 - over, 1), "tanh(sum(" + x.name + ", over " + x.dims[over] + "))");
      }
      const std::size_t at = random_() % x.dims.size();
      if (kind == 4 && (x.dims.size() == 1 || x.dims[0] != x.dims[1])) {
        return define(x.dims, std::string("tanh(cumsum(") + x.name + ", over " + x.dims[at] + "))");
      }
      if (kind == 5 && rearrange(x, y, at)) return;
      if (kind == 6 && (x.dims.size() == 1 || x.dims[0] != x.dims[1])) {
        const std::string sorted = std::string("sort(") + x.name + ", over " + x.dims[at] + ")";
        const std::string places = std::string("take(") + x.name + ", arg" + sorted + ")";
        return define(x.dims, "tanh(" + (random_() % 2 == 0 ? sorted : places) + ")");
      }
    }
  }

  // To another dimension in place of one that is there once.
  bool rearrange(const Known& x, const Known& y, std::size_t at) {
    const auto with = [](const Known& array, std::size_t place, char dim) {
      std::string dims = array.dims;
      dims[place] = dim;
      return dims;
    };
    const std::size_t other = y.dims.find('M');
    if (x.dims[at] != 'N' || std::count(x.dims.begin(), x.dims.end(), 'N') > 1) return false;
    if (other != std::string::npos && with(x, at, 'S') == with(y, other, 'S')) {
      define(with(x, at, 'S'), "concat(" + x.name + ", " + y.name + ", S)");
      return true;
    }
    const char slice = random_() % 2 == 0 ? 'E' : 'I';
    if (x.dims.find(slice) != std::string::npos) return false;
    define(with(x, at, slice), "slice(" + x.name + ", " + slice + ")");
    return true;
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<Known> known_;
  int number_ = 1;
};

void check_random(std::uint64_t seed, int& equal) {
  Generator generator(seed);
  const Module program = generator.program(2 + static_cast<int>(seed % 39));
  SCOPED_TRACE(::testing::Message() << "seed " << seed << '\n' << generator.text());
  for (const TileCosts costs : {TileCosts::actual, TileCosts::paper}) {
    OptimizeOptions options = over({16});
    options.tile_costs = costs;
    const tiling::Solution exact = best(program, options).solution;
    EXPECT_TRUE(exact.is_certified()) << exact.cost << ' ' << exact.bound;
    for (const TileSearch search : {TileSearch::greedy, TileSearch::mincost}) {
      options.tile = search;
      EXPECT_GE(cost(program, options), exact.cost * (1 - 1e-12));
    }
    options.tile = TileSearch::worst;
    EXPECT_GE(cost(program, options), exact.cost);
    if (costs == TileCosts::paper) continue;
    // A form that more readers share than the graph knows is made once.
    options.tile = TileSearch::exact;
    const double plan = bytes_of_plan(program, options);
    EXPECT_LE(plan, exact.cost * (1 + 1e-12));
    equal += std::abs(plan - exact.cost) <= 1e-9 * plan ? 1 : 0;
  }
}

TEST(Tilings, RandomProgramsAreCertified) {
  constexpr int programs = 60;
  int equal = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) check_random(seed, equal);
  EXPECT_GE(equal, programs * 9 / 10);
}

TEST(LongTilings, RandomProgramsAreCertified) {
  constexpr int programs = 1000;
  int equal = 0;
  for (std::uint64_t seed = 1001; seed <= 1000 + programs; ++seed) check_random(seed, equal);
  EXPECT_GE(equal, programs * 9 / 10);
}

TEST(Tilings, AMeshIsFoundForTheNumberOfWorkers) {
  EXPECT_EQ(meshes_of(1).size(), 1u);
  EXPECT_EQ(meshes_of(4).size(), 2u);   // 4, 2x2
  EXPECT_EQ(meshes_of(16).size(), 7u);  // 16; 2x8, 4x4, 8x2; 2x2x4, 2x4x2, 4x2x2
  const Module program =
      sized(compile("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B\n"),
            {{"N", 1024}, {"K", 1024}, {"M", 1024}});
  OptimizeOptions options;
  options.mesh_workers = 16;
  const std::vector<MeshTiling> tilings = search_tilings(program, laws(), options);
  EXPECT_EQ(tilings.size(), 7u);
  ASSERT_EQ(tilings.front().mesh.size(), 3u);
  EXPECT_EQ(tilings.front().mesh[2].size, 4);
  EXPECT_EQ(tilings.front().solution.cost, 8.0 * 1024 * 1024 * (1 + 1 + 3));  // 2 x 2 x 4; 4 x 4 takes 3 + 3
}

}  // namespace
}  // namespace kasen
