// Programs planned over meshes of workers: examples, and random programs of dense arrays of rank 0 to 3, square ones
// among them, with loops, branches, products and reductions. Every plan gives the interpreter's values and costs what
// was predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "libcore/boxes/box_parts.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/derived_dims.h"
#include "libopt/cost/rules.h"
#include "libopt/cost/work.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/mesh_program.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

using Mesh = std::vector<std::int64_t>;
const Mesh meshes[] = {{1}, {3}, {2, 2}, {1, 4}, {3, 2}, {2, 2, 2}};

// Random layouts of about half of the inputs and outputs, some of them in blocks.
std::vector<LayoutHint> some_layouts(const Module& program, const Mesh& mesh, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<LayoutHint> hints;
  std::map<std::string, std::uint64_t> blocks;  // by dimension: each further size is one more choice for each array
  for (const Op& op : program.body.ops) {
    if ((op.code != OpCode::input && op.code != OpCode::output) || random() % 2 == 0) continue;
    const std::vector<DimId>& dims = program.type(op.code == OpCode::input ? op.results[0] : op.operands[0]).dims;
    const auto is_workers = [&](DimId dim) { return program.dim(dim).is_workers(); };
    if (std::any_of(dims.begin(), dims.end(), is_workers)) continue;  // it has one layout
    LayoutHint& hint = hints.emplace_back(LayoutHint{op.name, {}});
    for (const DimId dim : dims) hint.cuts.emplace_back(program.dim(dim).name, "");
    for (size_t axis = 0; axis < mesh.size(); ++axis) {
      const size_t at = random() % (dims.size() + 1);
      if (at < dims.size() && !program.dim(dims[at]).local) hint.cuts[at].second += static_cast<char>('a' + axis);
    }
    for (auto& [dim, cut] : hint.cuts) {
      const std::uint64_t block = blocks.emplace(dim, 1 + random() % 4).first->second;
      if (!cut.empty() && random() % 3 == 0) cut += ':' + std::to_string(block);
    }
  }
  return hints;
}

// Block operators placed by some search, over random numbers of blocks.
SpreadOptions some_blocks(const Module& program, std::uint64_t seed) {
  constexpr const char* searches[] = {"lshs", "owner", "round-robin", "heft", "ahead=2", "lshs-all"};
  std::mt19937_64 random(seed);
  SpreadOptions spread;
  spread.search = searches[random() % 6];
  spread.found_by.seed = seed;
  std::map<DimId, std::int64_t> blocks;
  for (const Op& op : program.body.ops) {
    if (op.code != OpCode::input || random() % 3 == 0) continue;
    placing::GridHint& hint = spread.grids.emplace_back(placing::GridHint{op.name, {}});
    for (const DimId dim : program.type(op.results[0]).dims) {
      hint.blocks.push_back(blocks.emplace(dim, 1 + static_cast<std::int64_t>(random() % 5)).first->second);
    }
  }
  return spread;
}

// `seed`: of the layouts; 0: `asked`.
Module plan_over(const Module& program, const Mesh& mesh, std::uint64_t seed = 0,
                 const std::vector<LayoutHint>& asked = {}, const std::vector<Part>& parts = {}) {
  OptimizeOptions options;
  options.layouts = asked;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    options.mesh.push_back({std::string(1, static_cast<char>('a' + axis)), mesh[axis]});
  }
  if (seed > 0) options.layouts = some_layouts(program, mesh, seed);
  constexpr TileSearch searches[] = {TileSearch::none, TileSearch::exact, TileSearch::worst, TileSearch::greedy,
                                     TileSearch::mincost};
  options.tile = searches[seed % 5];
  constexpr Strategy strategies[] = {Strategy::greedy, Strategy::none, Strategy::cost, Strategy::fuse_all};
  options.strategy = strategies[seed % 4];
  if (seed % 7 == 3) options.tile_costs = TileCosts::paper;
  if (seed % 2 == 1) options.spread = some_blocks(program, seed);
  if (!parts.empty()) {
    options.sizes = [&](const Module&) {
      Sizes sizes;
      for (const auto& [name, dim] : parts[0].dims) sizes.totals[{SymbolKind::size, name, {}, -1}] = dim.size;
      return sizes;
    };
  }
  if (seed % 3 == 1) options.copy_bytes = static_cast<std::int64_t>(seed % 1000);
  TrialLawChecker laws;
  return optimize(program, laws, options);
}

struct Data {
  std::vector<Part> parts;  // of another number of workers than the mesh has
  std::map<std::string, Array> wanted;
};

// With dimensions of workers, results are those of their number.
std::map<std::string, Array> wanted_of(const Module& program, const std::vector<Part>& parts, int workers) {
  WholeInputs whole = whole_inputs(parts);
  for (const DimId dim : program.dims.ids()) {
    if (depends_on_workers(program.dims, dim)) whole.dims.erase(program.dim(dim).name);
    if (program.dim(dim).is_workers()) whole.dims[program.dim(dim).name] = workers;
  }
  return interpret(program, whole);
}

Data data_of(const Module& program, std::int64_t size, std::uint64_t seed) {
  Data data;
  data.parts = testing::split(testing::random_data(program, 1 + static_cast<int>(seed % 3), size, 0, seed));
  if (workers_dim(program.dims) == no_dim) data.wanted = interpret(program, whole_inputs(data.parts));
  return data;
}

Module sized(Module module, const std::vector<Part>& parts) {
  for (Dimension& dim : module.dims) {
    if (const auto it = parts.at(0).dims.find(dim.name); it != parts[0].dims.end()) dim.size = it->second.size;
  }
  return module;
}

int count_regions(const Module& module) {
  int regions = 0;
  for_each_op(module, [&](const Op& op, int, int) { regions += op.code == OpCode::region ? 1 : 0; });
  return regions;
}

// A plan without a mesh runs over any number of workers.
void run_over(const Module& program, const Mesh& mesh, const Data& data, bool generated, std::uint64_t layouts) {
  const Module module = plan_over(program, mesh, layouts, {}, data.parts);
  SCOPED_TRACE(print_module(module));
  const int workers = mesh.empty() ? 3 : mesh_workers(module);
  BoxParts boxes(module, workers, 0, workers);
  for (const Part& part : data.parts) boxes.add(part);
  std::vector<Part> parts = boxes.finish();
  const auto transport = make_simulated_transport(workers);
  const auto kernels = generated ? testing::make_kernels({.threads = 2}) : nullptr;
  const auto interpreter = make_interpreter_kernels();
  const RunResult result = execute(module, parts, *transport, generated ? *kernels : *interpreter, {});
  const Module found = with_found_sizes(module, parts, result);
  const std::map<std::string, Array> own =
      data.wanted.empty() ? wanted_of(program, data.parts, workers) : std::map<std::string, Array>();
  const std::map<std::string, Array>& wanted = own.empty() ? data.wanted : own;
  Module with_sizes = sized(found, parts);
  with_sizes.mesh = mesh_of(module, workers);
  for (const Output& output : result.outputs) {
    const Array got = testing::joined_from_mesh(with_sizes, output);
    const double tolerance = output.type.element.is(Scalar::f32) ? 1e-5 : 1e-9;  // sums of f32 round at 6e-8
    testing::expect_same(output.name, output.type.element, testing::words_of(got),
                         testing::words_of(wanted.at(output.name)), tolerance);
  }
  expect_counts(found, parts, result, generated ? "generated" : "interpreter");
}

void run_over_meshes(const Module& program, std::int64_t size, std::uint64_t seed) {
  const Data data = data_of(program, size, seed);
  for (const Mesh& mesh : meshes) {
    run_over(program, mesh, data, seed % 4 == 0, seed % 3 == 0 ? 0 : seed);
    if (::testing::Test::HasFailure()) return;
  }
}

void run_random(std::uint64_t seed) {
  const std::string text = testing::MeshProgram(seed).write();
  SCOPED_TRACE(::testing::Message() << "seed " << seed << '\n' << text);
  try {
    run_over_meshes(compile(text), seed % 5 == 0 ? 2 : 7, seed);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(MeshPlans, RandomProgramsEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 6 && !::testing::Test::HasFailure(); ++seed) run_random(seed);
}

// Over 1x4 workers, S @ g: g is held for another reader, so the product is cut otherwise than its way says.
TEST(MeshPlans, AnOperandMayBeHeldForAnotherReader) { run_random(110866); }

// One operator that the default layout lacks, and nothing else that asks for a mesh.
TEST(MeshPlans, OneOperatorAloneRunsWithAndWithoutAMesh) {
  for (const char* const text : {"slice(u, E)",
                                 "slice(A, Back)",
                                 "slice(u, In - 1) * 2.0",
                                 "[i in In: u[i + 1] - u[i - 1]]",
                                 "concat(u, u, D)",
                                 "concat(A, 2.0 * A, D)",
                                 "reshape(A, NM)",
                                 "reshape(2.0 * reshape(A, NM), [N, M])",
                                 "slice(concat(v, u, S), N)",
                                 "sort(u)",
                                 "cumsum(A, over N)",
                                 "take(u, argsort(u))",
                                 "sum(u, by argsort(u) in N)",
                                 "f64(index(W))",
                                 "reshape(outer((w, x) -> f64(w) * x, index(W), u), WN)",
                                 "f64(size(W)) * u",
                                 "pick(u, m, P)",
                                 "sum(pick(A, m, P), over P)",
                                 "slice(pick(A, m, P), PE)",
                                 "cholesky([n in N, g in G, h in G: if g == h then 2.0 else 0.5])"}) {
    SCOPED_TRACE(text);
    const bool tiles = std::string_view(text).find("W)") != std::string_view::npos;
    const Module program = compile(
        std::string("dim N, M, E = N[::2], Back = M[-1:0:-2], In = N[1:-1], D = N + N, S = M + N, NM = N * M\n") +
        (tiles ? "dim W workers, WN = W * N\n" : "dim G local = 3\n") + "dim P some N, PE = P[::-2]\n" +
        "input A : dense f64[N, M], u : f64[N], v : f64[M]\nm = u > 2.0\noutput y = " + text +
        ", t = sum(u) + sum(v) + sum(A)\n");
    const Data data = data_of(program, 7, 3);
    for (const Mesh& mesh : {Mesh{}, Mesh{1}, Mesh{3}, Mesh{2, 2}}) {
      for (const std::uint64_t layouts : {0, 2, 5})
        run_over(program, mesh, data, layouts == 2, mesh.empty() ? 0 : layouts);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// examples/tsqr.ks: the factors are those of the whole matrix, whatever the number of workers.
TEST(MeshPlans, TallMatricesAreFactoredThroughTheirTiles) {
  std::ifstream file(std::string(EXAMPLES_DIR) + "/tsqr.ks");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.replace(text.find("K local"), 7, "K local = 3");
  const Module program = compile(text);
  const Data data = data_of(program, 24, 6);
  const auto alone = wanted_of(program, data.parts, 1);
  for (const Mesh& mesh : {Mesh{}, Mesh{1}, Mesh{2}, Mesh{2, 2}, Mesh{6}}) {
    run_over(program, mesh, data, mesh.size() == 2, 0);
    const int workers = mesh.empty() ? 3 : mesh.size() == 2 ? 4 : static_cast<int>(mesh[0]);
    const auto tiled = wanted_of(program, data.parts, workers);
    for (const char* const factor : {"Q", "R"}) {
      testing::expect_same(factor, ElementType::of(Scalar::f64), testing::words_of(tiled.at(factor)),
                           testing::words_of(alone.at(factor)), 1e-9);
    }
  }
}

TEST(LongMeshPlans, RandomProgramsEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 200 && !::testing::Test::HasFailure(); ++seed) run_random(seed * 7919);
}

class MeshExamples : public ::testing::TestWithParam<const char*> {};

TEST_P(MeshExamples, EqualTheInterpreter) {
  std::ifstream file(std::string(EXAMPLES_DIR) + "/" + GetParam() + ".ks");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  run_over_meshes(compile(text), 12, 4);
}

INSTANTIATE_TEST_SUITE_P(Dense, MeshExamples,
                         ::testing::Values("autoencoder", "blackscholes", "chain", "glm", "kmeans", "kmeans-matrix",
                                           "l2svm", "logistic-lbfgs"));

// A value inside a region that is NaN is named, also if nothing behind it is.
TEST(MeshPlans, TheFirstNanIsThatOfThePlanThatFusesNothing) {
  const Module program = compile(
      "dim N, M\ninput A : dense f64[N, M], u : f64[N]\nB = A * A\nC = sqrt(-1.0 - B)\nD = if C > 0.0 then B else A\n"
      "output s = sum(D * u), D");
  const std::vector<Part> data = testing::split(testing::random_data(program, 1, 7, 0, 3));
  for (const Mesh& mesh : meshes) {
    for (const std::uint64_t seed : {0, 13, 1}) {  // greedy; none, with regions of blocks
      const Module module = plan_over(program, mesh, seed);
      EXPECT_GT(count_regions(module), 0);
      BoxParts boxes(module, mesh_workers(module), 0, mesh_workers(module));
      for (const Part& part : data) boxes.add(part);
      const std::vector<Part> parts = boxes.finish();
      RunOptions options;
      options.refuse_nan = true;
      try {
        (void)execute(module, parts, *make_simulated_transport(mesh_workers(module)), *make_interpreter_kernels(),
                      options);
        ADD_FAILURE() << "no NaN was found";
      } catch (const UserError& e) {
        EXPECT_EQ(e.diagnostics().at(0).where.line, 4) << e.what();
      }
    }
  }
}

// One worker has all of an input, wherever the plan sends it: nothing is copied, and each reader gets the input itself.
TEST(MeshPlans, OneWorkerReadsInputsWhereTheyLie) {
  const Module program = compile(
      "dim N\ninput A : dense f64[N, N], b : f64[N]\nd = [i in N: A[i, i]]\nx = b / d\n"
      "for i in 0..3 {\n  x = x + (b - A @ x) / d\n}\noutput x");
  const Data data = data_of(program, 9, 1);
  for (const Mesh& mesh : {Mesh{1}, Mesh{2}, Mesh{1, 1}}) run_over(program, mesh, data, true, 0);
  const Module module = plan_over(program, {1});
  int sent = 0;
  for_each_op(module, [&](const Op& op, int, int) { sent += stands_in_input(module, op) ? 1 : 0; });
  EXPECT_EQ(sent, 1);
  const CostReport report = measure(module);
  for (const auto& [sizes, factor] : report.actual.written.terms())
    EXPECT_LT(sizes.size(), 2U) << "a matrix is written";
}

// Form (c) of DESIGN: on a square mesh, blocks of both operands move, and less than all of one of them.
TEST(MeshPlans, ProductsMoveBlocks) {
  const Module program = compile("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B");
  const Module module = plan_over(program, {2, 2});
  const CostReport report = measure(module);
  EXPECT_EQ(report.actual.network.text(SymbolNames(module)), "8 K M + 8 K N");
}

// Workers that hold all of both factors compute all terms; any other cut divides them.
TEST(MeshPlans, TermsOfProductsAreCounted) {
  const Module program = compile("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B");
  const Polynomial::Bindings sizes{{{SymbolKind::size, "N", {}, -1}, 6},   {{SymbolKind::size, "K", {}, -1}, 10},
                                   {{SymbolKind::size, "M", {}, -1}, 15},  {{SymbolKind::whole, "N", {}, -1}, 6},
                                   {{SymbolKind::whole, "K", {}, -1}, 10}, {{SymbolKind::whole, "M", {}, -1}, 15}};
  const auto terms = [&](const Mesh& mesh, const std::vector<LayoutHint>& layouts) {
    const Module module = plan_over(program, mesh, 0, layouts);
    const CostContext context = cost_context(module);
    std::int64_t sum = 0;
    for (const Op& op : module.body.ops) {
      if (!is_contraction(module, op)) continue;
      sum += work_of(context, op).operations.at(static_cast<size_t>(ScalarWork::term)).value(sizes);
    }
    return sum;
  };
  const auto layout = [](const char* name, const char* rows, const char* row_axes, const char* cols,
                         const char* col_axes) {
    return LayoutHint{name, {{rows, row_axes}, {cols, col_axes}}};
  };
  for (const Mesh& mesh : meshes) EXPECT_EQ(terms(mesh, {}), 900);
  const LayoutHint a = layout("A", "N", "", "K", ""), b = layout("B", "K", "", "M", "");
  EXPECT_EQ(terms({4}, {a, b, layout("C", "N", "", "M", "")}), 4 * 900);
  EXPECT_EQ(terms({2, 3}, {layout("A", "N", "a", "K", ""), b, layout("C", "N", "a", "M", "")}), 3 * 900);
}

// What products contribute is added up where it is made: two of them send what one sends.
TEST(MeshPlans, SumsOfProductsAreGatheredOnce) {
  const auto network = [](const std::string& sum) {
    const Module program = compile(
        "dim N, K, M\ninput A : dense f64[K, N], B : dense f64[K, M], D : dense f64[K, N], E : dense f64[K, M]\n"
        "output S = " +
        sum);
    const Module module = plan_over(program, {4});
    return measure(module).actual.network.text(SymbolNames(module));
  };
  EXPECT_EQ(network("A' @ B"), "24 M N");
  EXPECT_EQ(network("A' @ B + D' @ E"), network("A' @ B"));
  EXPECT_EQ(network("A' @ B - D' @ E"), "48 M N");
}

}  // namespace
}  // namespace kasen
