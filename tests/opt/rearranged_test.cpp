// Relayouts that rearrange (slices, concatenations, reshapes) between random layouts on all kinds of meshes: the values
// are the plain interpreter's, and what each worker sends and receives is predicted to the byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "libcore/ir/layout.h"
#include "libopt/cost/worker_traffic.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/counting_transport.h"

namespace kasen {
namespace {

struct Rearranging {
  const char* name;
  const char* dims;               // a derived dimension
  std::vector<const char*> from;  // the dimensions of each operand
  const char *to, *head;          // of the result, and what stands behind `relayout`
};

const Rearranging rearrangings[] = {
    {"inner", "dim S = N[1:-1]", {"N"}, "S", "[S of N]"},
    {"shifted rows", "dim S = N[1:]", {"N,K"}, "S,K", "[S of N]"},
    {"columns", "dim S = N[2:6]", {"K,N"}, "K,S", "[S of N]"},
    {"every second", "dim S = N[::2]", {"N,M"}, "S,M", "[S of N]"},
    {"backwards", "dim S = N[::-1]", {"M,N"}, "M,S", "[S of N]"},
    {"every third backwards", "dim S = N[8:0:-3]", {"M,N,K"}, "M,S,K", "[S of N]"},
    {"one", "dim S = N[4:5]", {"N,K"}, "S,K", "[S of N]"},
    {"before", "dim S = N[1:-1]", {"N,M"}, "S,M", "[S of N; by -1]"},
    {"behind every second", "dim S = N[0:6:2]", {"N"}, "S", "[S of N; by 3]"},
    {"none", "dim S = N[4:4]", {"N"}, "S", "[S of N]"},
    {"two behind each other", "dim S = N + K", {"N", "K"}, "S", "[S of N, K]"},
    {"columns beside columns", "dim S = K + N", {"M,K", "M,N"}, "M,S", "[S of K, N]"},
    {"three", "dim S = N + K + M", {"N", "K", "M"}, "S", "[S of N, K, M]"},
    {"rows below rows", "dim S = N + K", {"N,M", "K,M"}, "S,M", "[S of N, K]"},
    {"ravel", "dim S = N * K", {"N,K"}, "S", "[S of N, K]"},
    {"ravel three", "dim S = K * M * N", {"K,M,N"}, "S", "[S of K, M, N]"},
    {"first two", "dim S = N * K", {"N,K,M"}, "S,M", "[S of N, K]"},
    {"last two", "dim S = M * N", {"K,M,N"}, "K,S", "[S of M, N]"},
    {"unravel", "dim S = N * K", {"S"}, "N,K", "[S of N, K]"},
    {"unravel columns", "dim S = N * K", {"M,S"}, "M,N,K", "[S of N, K]"},
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

 private:
  std::mt19937_64 random_;
};

// "f64[N/a,K/b] @part": each axis of the mesh cuts one dimension, or none.
std::string some_type(Random& random, const std::string& dims, int axes, const char* element) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= dims.size();) {
    const std::size_t end = std::min(dims.find(',', begin), dims.size());
    names.push_back(dims.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<std::string> cuts(names.size());
  for (int axis = 0; axis < axes; ++axis) {
    const int at = random.below(static_cast<int>(names.size()) + (random.below(4) == 0 ? 1 : 0));
    if (at < static_cast<int>(names.size())) cuts[static_cast<std::size_t>(at)] += static_cast<char>('a' + axis);
  }
  std::string text = std::string(element) + '[';
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : ",") + names[i] + (cuts[i].empty() ? "" : '/' + cuts[i]);
  }
  return text + ']';
}

std::string mesh_text(const std::vector<int>& mesh) {
  std::string text;
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    text += fmt::format("{}{} = {}", a == 0 ? "" : ", ", static_cast<char>('a' + a), mesh[a]);
  }
  return text;
}

// Sources are held along some axes of the mesh, or not; those that nothing cuts are held by all.
std::string some_program(Random& random, const Rearranging& kind, const std::vector<int>& mesh) {
  constexpr const char* elements[] = {"f64", "bool", "(f64, i32)", "f32"};
  const char* const element = elements[random.below(4)];
  const int axes = static_cast<int>(mesh.size());
  std::string text = fmt::format("kir 2 level 2\nmodule m {{\n  mesh {}\n  dim N = 9\n  dim K = 5\n  dim M = 3\n  {}\n",
                                 mesh_text(mesh), kind.dims);
  std::string operands;
  for (std::size_t i = 0; i < kind.from.size(); ++i) {
    const std::string type = some_type(random, kind.from[i], axes, element);
    const bool cut = type.find('/') != std::string::npos;
    text += fmt::format("  %x{0} = input \"x{0}\" : {1} {2}\n", i, type, cut ? "@part" : "@cons");
    std::string held;
    int along = 0;
    for (int axis = 0; axis < axes; ++axis) {
      if (random.below(3) > 0) continue;
      held += fmt::format("{}{}", along++ == 0 ? "" : ", ", static_cast<char>('a' + axis));
    }
    const bool scattered = cut && along > 0;
    if (along == axes) held = "all";
    if (scattered) text += fmt::format("  %s{0} = scatter %x{0} : {1} @cons{{{2}}}\n", i, type, held);
    operands += fmt::format("{}%{}{}", i == 0 ? "" : ", ", scattered ? 's' : 'x', i);
  }
  return text + fmt::format("  %y = relayout{} {} : {} @part\n  output \"y\" %y\n}}\n##end\n", kind.head, operands,
                            some_type(random, kind.to, axes, element));
}

WholeInputs some_inputs(Random& random, const Module& module) {
  WholeInputs inputs;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input) continue;
    const Type& type = module.type(op.results[0]);
    std::vector<Word> words;
    std::int64_t count = 1;
    for (const DimId dim : type.dims) count *= module.dim(dim).size;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t p = 0; p < type.element.planes(); ++p) {
        const Scalar scalar = type.element.plane_scalar(p);
        const int number = random.below(scalar == Scalar::boolean ? 2 : 100000);
        words.push_back(is_float(scalar) ? Word::real(number) : Word::integer(number));
      }
    }
    inputs.arrays.emplace(op.name, testing::make_array(type.element, words));
  }
  return inputs;
}

// Returns the bytes that went from worker to worker.
std::int64_t run_one(Random& random, const Rearranging& kind, const std::vector<int>& mesh) {
  const std::string text = some_program(random, kind, mesh);
  SCOPED_TRACE(text);
  Module module = parse_module(text, "rearranged.kir");
  EXPECT_EQ(print_module(module), text);
  TrialLawChecker laws;
  for (const Diagnostic& fault : verify_module(module, laws)) ADD_FAILURE() << format_diagnostic(fault);
  if (::testing::Test::HasFailure()) return 0;
  const WholeInputs inputs = some_inputs(random, module);
  const auto wanted = interpret(module, inputs);
  const std::vector<Part> parts = testing::split_over_mesh(module, inputs.arrays);
  const bool apart = random.below(2) == 0;
  testing::CountingTransport transport(make_simulated_transport(mesh_workers(module)), apart);
  const auto kernels = make_interpreter_kernels();
  const RunResult result = execute(module, parts, transport, *kernels, {});
  const Array got = testing::joined_from_mesh(module, result.outputs.at(0));
  EXPECT_EQ(testing::words_of(got).size(), testing::words_of(wanted.at("y")).size());
  testing::expect_same("y", got.element, testing::words_of(got), testing::words_of(wanted.at("y")), 0);
  const Sizes sizes = sizes_from_parts(module, parts);
  const auto predicted = worker_traffic(module, sizes, [](int) { return 1; });
  EXPECT_TRUE(predicted);
  if (predicted && apart) {
    EXPECT_EQ(transport.sent, predicted->sent);
    EXPECT_EQ(transport.received, predicted->received);
  }
  EXPECT_EQ(measure(module).actual.network.value(sizes.totals), result.traffic.worker_bytes);
  return result.traffic.worker_bytes;
}

void run_all(std::uint64_t seed, int times) {
  Random random(seed);
  std::int64_t moved = 0;
  for (const std::vector<int>& mesh :
       std::vector<std::vector<int>>{{1}, {2}, {3}, {7}, {12}, {2, 2}, {3, 2}, {2, 2, 2}}) {
    for (const Rearranging& kind : rearrangings) {
      SCOPED_TRACE(kind.name);
      for (int i = 0; i < times && !::testing::Test::HasFailure(); ++i) moved += run_one(random, kind, mesh);
    }
  }
  EXPECT_GT(moved, 0);
}

TEST(Rearranged, ReachesTheOwnersOfItsResult) { run_all(1, 12); }
TEST(LongRearranged, ReachesTheOwnersOfItsResult) { run_all(2, 1500); }

// A plan without a mesh, and no other operator that the default layout lacks.
TEST(Rearranged, TheMeshNeedsNoName) {
  const Module module = parse_module(
      "kir 2 level 2\nmodule m {\n  dim N = 10\n  dim S = N[2:]\n  %x = input \"x\" : f64[N/w] @part\n"
      "  %y = relayout[S of N; by -1] %x : f64[S/w] @part\n  output \"y\" %y\n}\n##end\n",
      "plain.kir");
  EXPECT_TRUE(names_layouts(module));
  for (const int workers : {1, 3}) {
    Module over = module;
    over.mesh = {{"w", workers}};
    Random random(static_cast<std::uint64_t>(workers));
    const WholeInputs inputs = some_inputs(random, module);
    const std::vector<Part> parts = testing::split_over_mesh(over, inputs.arrays);
    const auto transport = make_simulated_transport(workers);
    const RunResult result = execute(module, parts, *transport, *make_interpreter_kernels(), {});
    const Array got = testing::joined_from_mesh(over, result.outputs.at(0));
    testing::expect_same("y", got.element, testing::words_of(got), testing::words_of(interpret(module, inputs).at("y")),
                         0);
  }
}

// Of a difference of neighbours, only what crosses the border of two workers moves.
TEST(Rearranged, NeighboursMoveBordersAlone) {
  for (const auto& [size, received] : std::map<int, std::vector<std::int64_t>>{
           {4001, {0, 0, 0, 0}},  // owners of 1001, 1000, ... indices have 1000 neighbours each
           {4000, {8, 8, 8, 0}}}) {
    const Module module = parse_module(fmt::format("kir 2 level 2\nmodule m {{\n  mesh a = 4\n  dim N = {}\n"
                                                   "  dim S = N[1:]\n  %x = input \"x\" : f64[N/a] @part\n"
                                                   "  %y = relayout[S of N] %x : f64[S/a] @part\n"
                                                   "  output \"y\" %y\n}}\n##end\n",
                                                   size),
                                       "neighbours.kir");
    Sizes sizes;
    sizes.workers = 4;
    bind_stays(module, sizes);
    const auto traffic = worker_traffic(module, sizes, [](int) { return 1; });
    ASSERT_TRUE(traffic);
    EXPECT_EQ(traffic->received, received);
  }
}

}  // namespace
}  // namespace kasen
