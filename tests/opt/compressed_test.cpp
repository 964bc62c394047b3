// Matrices read compressed (libcore/data/compressed.h): every plan computes what its program says of the dense matrix,
// in every format of groups, with interpreted and generated kernels, and costs what is predicted.
#include "libcore/data/compressed.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/analysis/compressed_rules.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/compressed.h"

namespace kasen {
namespace {

const NamedProgram compressed_programs[] = {
    {"cells", R"(
dim N, F local = 7
input X : f64[N, F], a : f64[N], b : f64[F]
output rows = sum(X * a, over F), columns = sum(X * b, over N), all = sum(X * a + b)
output Y = X * a - b, most = max(X), largest = argmax(X, over F)
)"},
    {"distinct", R"(
dim N, F local = 7
input X : f64[N, F]
param s = 0.5
output total = sum(X), squares = sumsq(X), m = mean(X), least = min(X * s), most = max(exp(-X))
output some = any(X > 2), every = all(X >= 0), logs = sum(log(X + s) * X)
)"},
    {"products", R"(
dim N, F local = 7
input X : f64[N, F], v : f64[F], u : f64[N]
output rows = X @ v, columns = X' @ u, both = X' @ (X @ v)
)"},
    {"several_columns", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], B : f64[F, K], U : f64[N, K]
output rows = X @ B, columns = X' @ U, both = X' @ (X @ B), R = (X @ B) * U
)"},
    {"row_chain", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], B : f64[F, K], U : f64[N, K], w : f64[N]
loss = 0.0
for i in 0..3 {
  S = X @ B
  P = exp(S - max(S, over K))
  P = P / sum(P, over K)
  G = X' @ (P * w - U)
  B = B - 0.001 * G
  loss = sum(P * U)
}
output B, loss
)"},
    {"matrix_and_cells", R"(
dim N, F local = 7, K local = 4, M local = 7
input X : f64[N, F], B : f64[F, K], C : f64[K, F]
H = 1 / (1 + exp(-(X @ B)))
E = H @ C - X
output error = sumsq(E), G = H' @ E, D = X' @ (E @ C')
)"},
    {"two_matrices", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], Z : f64[N, K], v : f64[F]
y = X @ v
output G = X' @ (Z * y), s = sum(Z), t = sum(Z, over N)
)"},
    {"with_itself", R"(
dim N, F local = 7
input X : f64[N, F], w : f64[N], v : f64[F]
output G = X' @ X, W = X' @ (w * X), y = X' @ (X @ v), s = sum(X)
)"},
    {"with_itself_weighted", R"(
dim N, F local = 7
input X : f64[N, F], v : f64[F]
H = X' @ X
for i in 0..2 {
  p = 1 / (1 + exp(-(X @ v)))
  H = X' @ (p * (1 - p) * X)
  v = v - 0.01 * (H @ v)
}
output H, v
)"},
    {"as_the_operand", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], Z : f64[N, K], U : f64[N, K]
output A = Z' @ X, B = X' @ Z, C = U' @ X, D = X' @ (X * 2 - 1), E = X' @ (exp(U) + Z)
)"},
    {"views", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], v : f64[K], w : f64[N]
Y = range(X, K, 2, over F)
output Y, first = at(X, 0, over F), mixed = at(X, 6, over F) * w + sum(Y * v, over K) - at(X, 3, over F)
output both = X * w, total = sum(range(X, K, 4, over F)), most = max(at(X, 1, over F))
)"},
    {"views_in_loops", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], v : f64[F], w : f64[N]
s = 0.0
u : f64[N] = 0
for i in 0..5 {
  Y = range(X, K, i, over F)
  c = at(X, i, over F)
  s = s + sum(Y) + sum(c * w)
  u = u + c * w + max(Y, over K)
}
output s, u
)"},
    {"views_in_a_row_chain", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], B : f64[F, K], v : f64[F], w : f64[N]
for i in 0..3 {
  P = (X @ B) * range(X, K, i, over F)
  q = (X @ v) * at(X, i, over F) * w
  B = B - 0.001 * (X' @ P)
  v = v - 0.001 * (X' @ q)
}
output B, v
)"},
    {"single_precision", R"(
dim N, F local = 7
input X : f32[N, F], v : f32[F]
output rows = X @ v, all = max(X), columns = X' @ (X @ v), sums = sum(X * v), G = X' @ X
)"},
    {"integers", R"(
dim N, F local = 7
input X : i64[N, F]
output all = sum(X), most = max(X), rows = sum(X, over F), Y = X + 1
)"},
};

class CompressedPrograms : public ::testing::TestWithParam<NamedProgram> {};
INSTANTIATE_TEST_SUITE_P(Programs, CompressedPrograms, ::testing::ValuesIn(compressed_programs),
                         [](const auto& program) { return std::string(program.param.name); });

OptimizeOptions options_for(const std::vector<Part>& parts, const Module& program, Strategy strategy) {
  OptimizeOptions options;
  options.strategy = strategy;
  options.sizes = [sizes = sizes_from_parts(program, parts)](const Module&) { return sizes; };
  return options;
}

// Of small values many are alike; a third of them are 0. Those of single precision are whole, so that sums are exact.
std::vector<Part> data_with_zeros(const Module& program, int workers, std::int64_t rows) {
  testing::TestData data = testing::random_data(program, workers, rows, 0, 5);
  for (auto& [name, array] : data.arrays) {
    for (Word& word : array.words) {
      if (array.element.is(Scalar::f32)) word = Word::real(std::round(word.f * 3));
    }
    if (array.dims.size() != 2 || array.dims[0] != "N") continue;
    for (Word& word : array.words) {
      const bool real = is_float(array.element.scalar());
      const auto v = static_cast<std::int64_t>(real ? std::lround(word.f * 3) : word.i);
      if (v <= 6) word = real ? Word::real(0) : Word::integer(0);
    }
  }
  return testing::split(data);
}

void compress_inputs(const Module& program, std::vector<Part>& parts, int first) {
  for (const Op& op : program.body.ops) {
    if (op.code != OpCode::input || op.name == "U") continue;
    const Type& type = program.type(op.results[0]);
    const bool matrix = type.dims.size() == 2 && !program.dim(type.dims[0]).local;
    if (matrix) testing::compress_by_hand(parts, op.name, first++);
  }
}

int compressed_inputs(const Module& plan) {
  int count = 0;
  for (const Value& value : plan.values) count += value.type.compressed ? 1 : 0;
  return count;
}

// Each format on each of these numbers of workers, or on one of them, in turn.
void run_every_plan(const Module& program, bool everywhere) {
  static TrialLawChecker laws;
  constexpr int worker_counts[] = {1, 3, 5};
  for (int first = 0; first < 8; ++first) {
    for (const int workers : worker_counts) {
      if (!everywhere && workers != worker_counts[first % 3]) continue;
      // Of four rows some worker has none.
      std::vector<Part> parts = data_with_zeros(program, workers, workers == 5 ? 4 : 90);
      const auto wanted = interpret(program, whole_inputs(parts));
      compress_inputs(program, parts, first);
      for (const Strategy strategy : plan_strategies) {
        SCOPED_TRACE(::testing::Message()
                     << "formats from " << first << ", " << workers << " workers, " << strategy_name(strategy));
        const Module plan = optimize(program, laws, options_for(parts, program, strategy));
        ASSERT_GE(compressed_inputs(plan), 1);
        ASSERT_EQ(print_module(parse_module(print_module(plan), "again.kir")), print_module(plan));
        run_plan(plan, parts, wanted, true);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST_P(CompressedPrograms, EveryPlanComputesWhatTheProgramSaysAndCostsWhatIsPredicted) {
  run_every_plan(compile(GetParam().text), false);
}

using LongCompressedPrograms = CompressedPrograms;
INSTANTIATE_TEST_SUITE_P(LongPrograms, LongCompressedPrograms, ::testing::ValuesIn(compressed_programs),
                         [](const auto& program) { return std::string(program.param.name); });

TEST_P(LongCompressedPrograms, EveryPlanComputesWhatTheProgramSaysAndCostsWhatIsPredicted) {
  run_every_plan(compile(GetParam().text), true);
}

// ---- what stays dense

struct DenseCase {
  const char* name;
  const char* text;
  const char* why;
};
void PrintTo(const DenseCase& c, std::ostream* out) { *out << c.name; }

const DenseCase dense_cases[] = {
    {"output", "dim N, F local = 3\ninput X : f64[N, F]\noutput X, s = sum(X)\n", "output reads it in line 3"},
    {"transposed", "dim N, F local = 3\ninput X : f64[N, F]\noutput Y = X' * 2\n", "transpose reads it in line 3"},
    {"another_semiring",
     "dim N, F local = 3\ninput X : f64[N, F], v : f64[F]\noutput y = mxvt((x, w) -> x + w, min, X, v)\n",
     "mxvt reads it in line 3"},
    {"beside_a_sparse_matrix",
     "dim N, F local = 3\ninput X : f64[N, F], A : f64[N, N], v : f64[F]\noutput y = (X @ v) @ A\n",
     "%A is cut in another way along N"},
    {"a_vector", "dim N\ninput X : f64[N]\noutput s = sum(X)\n", "it is no dense matrix"},
    {"columns_cut", "dim N, M\ninput X : dense f64[N, M]\noutput s = sum(X)\n",
     "it is no matrix that is cut along N alone"},
    {"tuples", "dim N, F local = 3\ninput X : (f64, i64)[N, F]\noutput s = sum(map(x -> x.0, X))\n",
     "its elements are no scalars"},
};
class StaysDense : public ::testing::TestWithParam<DenseCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, StaysDense, ::testing::ValuesIn(dense_cases),
                         [](const auto& dense) { return std::string(dense.param.name); });

const Op& input_of(const Module& module, const std::string& name) {
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::input && op.name == name) return op;
  }
  throw InternalError("no such input");
}

TEST_P(StaysDense, AndTheReasonIsKnownToOptimizerAndVerifier) {
  TrialLawChecker laws;
  Module program = compile(GetParam().text);
  const auto why = hinders_compressed(program, input_of(program, "X"));
  ASSERT_TRUE(why.has_value());
  EXPECT_NE(why->find(GetParam().why), std::string::npos) << *why;
  OptimizeOptions options;
  options.sizes = [](const Module&) {
    Sizes sizes;
    sizes.totals[{SymbolKind::compressed, "X", {}, -1}] = 1;
    return sizes;
  };
  EXPECT_EQ(compressed_inputs(optimize(program, laws, options)), 0);
  program.value(input_of(program, "X").results[0]).type.compressed = true;
  const std::vector<Diagnostic> faults = verify_module(program, laws);
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(format_diagnostic(faults[0]).find("X cannot be read compressed"), std::string::npos)
      << format_diagnostic(faults[0]);
}

// A copy that is forwarded leaves its readers with the input.
TEST(Compressed, WhatIsCopiedStaysDense) {
  TrialLawChecker laws;
  const Module program = compile(R"(
dim N, F local = 3
input X : f64[N, F]
Y = X
for i in 0..2 { Y = Y * 2 }
output Y
)");
  std::vector<Part> parts = data_with_zeros(program, 2, 20);
  testing::compress_by_hand(parts, "X", 0);
  for (const Strategy strategy : plan_strategies) {
    EXPECT_EQ(compressed_inputs(optimize(program, laws, options_for(parts, program, strategy))), 0);
  }
}

TEST(Compressed, OnlyInputsAre) {
  TrialLawChecker laws;
  Module program = compile("dim N, F local = 3\ninput X : f64[N, F]\nY = X + 1\noutput s = sum(Y)\n");
  for (Value& value : program.values) {
    if (value.name == "Y") value.type.compressed = true;
  }
  const std::vector<Diagnostic> faults = verify_module(program, laws);
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(format_diagnostic(faults[0]).find("%Y is compressed; only inputs are"), std::string::npos)
      << format_diagnostic(faults[0]);
}

// ---- plans and data that do not fit one another

constexpr const char* sum_of_squares =
    "dim N, F local = 7\ninput X : f64[N, F], v : f64[F]\noutput s = sumsq(X), y = X @ v\n";

TEST(Compressed, APlanForCompressedDataRefusesDenseAndTheOtherWayRound) {
  TrialLawChecker laws;
  const Module program = compile(sum_of_squares);
  const std::vector<Part> dense = data_with_zeros(program, 2, 50);
  std::vector<Part> parts = data_with_zeros(program, 2, 50);
  compress_inputs(program, parts, 0);
  const Module takes = optimize(program, laws, options_for(parts, program, Strategy::greedy));
  const Module does_not = optimize(program, laws, options_for(dense, program, Strategy::greedy));
  const auto refused = [](const auto& action, const std::string& text) {
    try {
      action();
      ADD_FAILURE() << "nothing was refused";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused([&] { (void)testing::run_simulated(takes, dense); },
          "it is not compressed, as the plan takes it; fuse the program again with this bundle");
  refused([&] { (void)testing::run_simulated(does_not, parts); }, "it is compressed");
  refused([&] { (void)sizes_from_parts(takes, dense); }, "the bundle does not have 'X' compressed");
}

TEST(Compressed, ReadsAreNamedInTheCost) {
  TrialLawChecker laws;
  const Module program = compile(sum_of_squares);
  std::vector<Part> parts = data_with_zeros(program, 1, 50);
  compress_inputs(program, parts, 0);
  const Module plan = optimize(program, laws, options_for(parts, program, Strategy::greedy));
  const SymbolNames names(plan);
  std::string costs;
  for (const CostRow& row : measure(plan).rows) {
    if (!row.actual.read.is_zero()) costs += row.actual.read.text(names) + "; ";
  }
  EXPECT_EQ(costs, "D(X); Z(X) + 56 P; ");  // v on each worker
}

// ---- many rows: several segments, blocks and threads

RunResult run_generated(const Module& plan, const std::vector<Part>& parts, int threads) {
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  const auto kernels = testing::make_kernels({.threads = threads});
  return execute(plan, parts, *transport, *kernels, {});
}

// Of the same plan's program on dense data.
void expect_close(const Module& plan, const RunResult& made, const std::vector<Part>& parts, const RunResult& wanted,
                  const std::vector<Part>& dense) {
  for (size_t i = 0; i < made.outputs.size(); ++i) {
    const Output& output = made.outputs[i];
    testing::expect_same(output.name, output.type.element, testing::whole_words(plan, output, parts),
                         testing::whole_words(plan, wanted.outputs[i], dense), 1e-10);
  }
}

void expect_bits(const RunResult& a, const RunResult& b) {
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const Array &x = a.outputs[i].parts.at(0).data, &y = b.outputs[i].parts.at(0).data;
    ASSERT_EQ(x.bytes.size(), y.bytes.size());
    EXPECT_TRUE(std::equal(x.bytes.data(), x.bytes.data() + x.bytes.size(), y.bytes.data())) << a.outputs[i].name;
  }
}

constexpr const char* all_kinds = R"(
dim N, F local = 5, K local = 2
input X : f64[N, F], v : f64[F], B : f64[F, K], u : f64[N]
S = X @ B
P = exp(S - max(S, over K))
G = X' @ (P / sum(P, over K))
output y = X @ v, z = X' @ u, c = X' @ (X @ v), G, rows = sum(X * u, over F), t = sum(X * u), s = sumsq(X)
output columns = sum(X, over N), l = sum(log(X + 1)), XX = X' @ X, UX = X' @ (X * u)
)";

TEST(Compressed, ManyRowsGiveWhatDenseOnesDoAndTheSameBitsOnAnyNumberOfThreads) {
  TrialLawChecker laws;
  const Module program = compile(all_kinds);
  const std::vector<Part> dense = data_with_zeros(program, 1, 3 * rows_of_a_segment / 2 + 77);
  for (const int first : {0, 1, 2, 3, testing::codes_alone, testing::codes_alone + 1}) {
    std::vector<Part> parts = data_with_zeros(program, 1, 3 * rows_of_a_segment / 2 + 77);
    testing::compress_by_hand(parts, "X", first);
    for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
      SCOPED_TRACE(::testing::Message() << "formats from " << first << ", " << strategy_name(strategy));
      const Module plan = optimize(program, laws, options_for(parts, program, strategy));
      ASSERT_EQ(compressed_inputs(plan), 1);
      const RunResult plain = run_generated(optimize(program, laws, {.strategy = strategy}), dense, 2);
      const RunResult one = run_generated(plan, parts, 1), two = run_generated(plan, parts, 2);
      expect_bits(one, two);
      expect_close(plan, one, parts, plain, dense);
      expect_counts(plan, parts, one, "generated");
      if (HasFailure()) return;
    }
  }
}

// Rows of a block that do not fit the cache when they are made dense are made so some at a time.
TEST(Compressed, ProductsOfWideRowsWithThemselves) {
  TrialLawChecker laws;
  const Module program = compile(R"(
dim N, F local = 75, K local = 4
input X : f64[N, F], Z : f64[N, K], B : f64[F, K]
output G = X' @ X, C = Z' @ X, D = X' @ Z, E = X @ B
)");
  const std::vector<Part> dense = data_with_zeros(program, 1, 2500);
  const RunResult wanted = run_generated(optimize(program, laws, {.strategy = Strategy::none}), dense, 2);
  std::vector<Part> parts = data_with_zeros(program, 1, 2500);
  compress_inputs(program, parts, 1);
  for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
    SCOPED_TRACE(strategy_name(strategy));
    const Module plan = optimize(program, laws, options_for(parts, program, strategy));
    ASSERT_EQ(compressed_inputs(plan), 2);
    const RunResult one = run_generated(plan, parts, 1), three = run_generated(plan, parts, 3);
    expect_bits(one, three);
    expect_close(plan, one, parts, wanted, dense);
    expect_counts(plan, parts, one, "generated");
  }
}

// What is left out of lists is 0, and 0 times infinity is no number.
TEST(Compressed, VectorsThatAreNotFiniteMeetZeros) {
  TrialLawChecker laws;
  const Module program =
      compile("dim N, F local = 3\ninput X : f64[N, F], v : f64[F], u : f64[N]\noutput y = X @ v, z = X' @ u\n");
  for (int first = 0; first < 4; ++first) {
    SCOPED_TRACE(first);
    std::vector<Part> parts = data_with_zeros(program, 1, 40);
    parts[0].arrays.at("v").data.as<double>()[1] = HUGE_VAL;
    parts[0].arrays.at("u").data.as<double>()[7] = -HUGE_VAL;
    const auto wanted = interpret(program, whole_inputs(parts));
    testing::compress_by_hand(parts, "X", first);
    const Module plan = optimize(program, laws, options_for(parts, program, Strategy::none));
    expect_results(plan, parts, run_generated(plan, parts, 1), wanted);
  }
}

}  // namespace
}  // namespace kasen
