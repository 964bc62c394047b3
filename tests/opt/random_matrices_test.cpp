// Random programs of matrices with columns: products of a dense and a sparse matrix, element-wise work that broadcasts
// by row and by column, aggregates by row, by column and over all, in and out of loops. Every plan gives what the plain
// interpreter does and costs what is predicted, with interpreted and generated kernels.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "libcore/ir/regions.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/compressed.h"

namespace kasen {
namespace {

class MatrixProgram {
 public:
  explicit MatrixProgram(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    text_ =
        "dim T local = 3, N, F local = 4, K local = 3, C local = 5\n"
        "input X : f64[N, F], G : f64[N, N], Y : f64[N, K], Z : f64[T, N, K], P : f64[N, C], x : f64[N]\n"
        "param at = 1\np0 = P / 4\np1 = tanh(P * x)\n"
        "q0 = Y / 4\nq1 = tanh(outer((a, b) -> a - f64(i64(b)), x, index(K)))\nq2 : f64[N, K] = 0.5\n"
        "u0 = tanh(x)\nu1 : f64[N] = 0.25\nb0 : f64[F, K] = 0.5\nb1 = tanh(X' @ Y)\nw0 : f64[F] = 0.5\n"
        "k0 = tanh(sum(Y, over N))\nk1 : f64[K] = 1\ns0 = 0.25\ns1 = 1.5\n";
    const int count = 6 + pick(6);
    for (int i = 0; i < count; ++i) statement();
    if (pick(3) == 0) {
      text_ += "for turn in 0..2 {\n";
      for (int i = 0; i < 4; ++i) statement();
      text_ += "}\n";
    }
    return text_ + "output p0, p1, q0, q1, q2, u0, u1, b0, b1, w0, k0, k1, s0, s1\n";
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  std::string one_of(const char* kind, int count) { return kind + std::to_string(pick(count)); }
  std::string place(int count) { return pick(4) == 0 ? "at" : std::to_string(pick(count)); }
  std::string p() { return one_of("p", 2); }
  std::string range() { return "range(" + p() + ", K, " + place(3) + ")"; }
  std::string q() { return pick(6) == 0 ? "at(Z, " + place(3) + ", over T)" : one_of("q", 3); }
  std::string u() { return pick(6) == 0 ? "at(" + p() + ", " + place(5) + ")" : one_of("u", 2); }
  std::string b() { return one_of("b", 2); }
  std::string k() { return pick(6) == 0 ? "at(" + b() + ", " + place(4) + ", over F)" : one_of("k", 2); }
  std::string s() { return pick(6) == 0 ? "at(" + one_of("k", 2) + ", " + place(3) + ")" : one_of("s", 2); }

  void line(const std::string& to, const std::string& value) { text_ += to + " = " + value + '\n'; }

  std::string rows() {
    switch (pick(9)) {
      case 6:
        return range() + " * " + q();
      case 7: {
        const std::string name = range();
        return name + " * " + aggregate() + "(" + name + " + " + q() + ", over K)";
      }
      case 0:
        return q() + " * " + u();
      case 1:
        return q() + " - " + k();
      case 2:
        return q() + " / (1 + abs(" + u() + "))";
      case 3:
        return "max(" + q() + ", " + q() + " * " + s() + ")";
      case 4:
        return "abs(" + q() + " - " + q() + " * " + k() + ")";
      case 5: {
        const std::string name = q();
        return name + " - " + name + " * " + aggregate() + "(" + q() + ", over K)";
      }
      default:
        return "exp(0 - abs(" + q() + " + " + u() + "))";
    }
  }

  std::string own_rows() {
    switch (pick(4)) {
      case 0:
        return "(X - w0) * " + u();
      case 1:
        return "abs(X) * " + u();
      case 2:
        return "X * max(" + u() + ", " + s() + ") + tanh(X)";
      default:
        return u() + " * X";
    }
  }

  std::string aggregate() {
    constexpr const char* names[] = {"sum", "min", "max", "prod"};
    return names[pick(4)];
  }

  void statement() {
    switch (pick(15)) {
      case 13:  // the matrix's own rows meet it again
        return line(b(), "tanh(0.01 * ((X' @ (" + own_rows() + ")) @ " + b() + "))");
      case 14:
        return line("w0", "tanh(0.1 * (X' @ " + u() + ") + (X' @ (" + own_rows() + ")) @ w0 / 64)");
      case 10:
        return line(p(), "tanh(" + p() + " * " + u() + " - " + aggregate() + "(" + p() + ", over C))");
      case 11:
        return line(one_of("q", 3), "tanh(X @ (" + b() + "' * " + s() + ")' - " + range() + ")");
      case 0:
      case 1:
        return line(one_of("q", 3), "tanh(" + rows() + ")");
      case 2:
        return line(one_of("q", 3), "tanh(X @ " + b() + ")");
      case 3:
        return line(one_of("q", 3), "tanh(" + q() + " * (X @ " + b() + ") + " + u() + ")");
      case 4:
        return line(b(), "tanh(0.1 * (X' @ " + q() + "))");
      case 5:
        return line(b(), "tanh(0.1 * (X' @ (" + rows() + ")))");
      case 6:
        return line(one_of("u", 2), "tanh(" + aggregate() + "(" + rows() + ", over K))");
      case 7:
        return line(one_of("q", 3), "tanh(0.2 * (G" + std::string(pick(2) == 0 ? "'" : "") + " @ " + q() + "))");
      case 8:
        return line(one_of("k", 2), "tanh(0.1 * sum(" + rows() + ", over N))");
      case 9:
        return line(one_of("s", 2), "tanh(sum(" + rows() + ") / 16)");
      default:
        line("w0", "tanh(0.1 * (X' @ " + u() + "))");
        return line(one_of("u", 2), "tanh(X @ w0)");
    }
  }

  std::mt19937_64 random_;
  std::string text_;
};

bool run_seed(std::uint64_t seed) {
  const std::string text = MatrixProgram(seed).write();
  const Module program = compile(text);
  const int workers = 1 + static_cast<int>(seed % 4);
  const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 11, 30, seed));
  const auto wanted = interpret(program, whole_inputs(parts));
  // Generated kernels in turn: half of the time those of greedy regions.
  const Strategy compiled = plan_strategies[seed % 2 == 0 ? 1 : 2 + seed / 2 % 3];
  for (const Strategy strategy : plan_strategies) {
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::hybrid}) {
      if (selects(strategy) && sync == SyncMode::lazy && seed % 4 != 0) continue;
      const bool generated = strategy == compiled && sync == SyncMode::hybrid;
      run_plan(plan(program, strategy, sync), parts, wanted, generated);
      if (!::testing::Test::HasFailure()) continue;
      ADD_FAILURE() << "seed " << seed << ", " << workers << " workers, strategy " << strategy_name(strategy)
                    << ", sync " << static_cast<int>(sync) << '\n'
                    << text;
      return false;
    }
  }
  return true;
}

// Without the sparse matrix, beside which nothing stays compressed: numbers in its place.
std::string without_sparse(std::string text) {
  const auto replace = [&](const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what)) text.replace(at, what.size(), by);
  };
  replace("G : f64[N, N], ", "");
  replace("G' @ ", "1.5 * ");
  replace("G @ ", "0.5 * ");
  return text;
}

// A plan that reads compressed what it can, and data for it; returns how many inputs that are.
int run_compressed(const Module& program, Strategy strategy, int workers, std::uint64_t seed) {
  static TrialLawChecker laws;
  std::vector<Part> parts = testing::split(testing::random_data(program, workers, 11, 0, seed));
  const auto wanted = interpret(program, whole_inputs(parts));
  OptimizeOptions options;
  options.strategy = strategy;
  options.sizes = [sizes = sizes_from_parts(program, parts)](const Module&) {
    Sizes all = sizes;
    for (const char* name : {"X", "Y", "P"}) all.totals[{SymbolKind::compressed, name, {}, -1}] = 100;
    return all;
  };
  const Module plan = optimize(program, laws, options);
  int compressed = 0;
  for (const Op& op : plan.body.ops) {
    if (op.code != OpCode::input || !plan.type(op.results[0]).compressed) continue;
    testing::compress_by_hand(parts, op.name, static_cast<int>(seed) + compressed++);
  }
  run_plan(plan, parts, wanted, true);
  return compressed;
}

// Seeds from `first` on; returns how many inputs were compressed.
int run_compressed_seeds(std::uint64_t first, std::uint64_t last) {
  int compressed = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string text = without_sparse(MatrixProgram(seed).write());
    const Strategy strategy = plan_strategies[seed % std::size(plan_strategies)];
    compressed += run_compressed(compile(text), strategy, 1 + static_cast<int>(seed % 4), seed);
    if (!::testing::Test::HasFailure()) continue;
    ADD_FAILURE() << "seed " << seed << ", strategy " << strategy_name(strategy) << '\n' << text;
    break;
  }
  return compressed;
}

void run_seeds(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed <= last && run_seed(seed); ++seed) {
  }
}

TEST(RandomMatrices, CompressedOnesGiveWhatDenseOnesDo) { EXPECT_GE(run_compressed_seeds(1, 20), 20); }
TEST(LongRandomMatrices, CompressedOnesGiveWhatDenseOnesDo) { EXPECT_GE(run_compressed_seeds(21, 60), 40); }

TEST(RandomMatrices, EveryPlanGivesWhatTheProgramDoes) { run_seeds(1, 50); }
TEST(LongRandomMatrices, EveryPlanGivesWhatTheProgramDoes) {
  run_seeds(51, 200);
  run_seeds(1000, 2999);
}

// The programs are worth running: most of their plans hold chains whose rows have columns.
TEST(RandomMatrices, MakeChains) {
  int chains = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Module program = compile(MatrixProgram(seed).write());
    for_each_op(plan(program, Strategy::greedy, SyncMode::hybrid),
                [&](const Op& op, int, int) { chains += is_row_chain(op) ? 1 : 0; });
  }
  EXPECT_GE(chains, 50);
}

}  // namespace
}  // namespace kasen
