// Random programs of linear algebra on whole arrays, between distributed arrays, loops and branches: every plan gives
// the interpreter's values, by LAPACK and by the plain loops, and costs what was predicted.
#include <gtest/gtest.h>

#include <random>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

class LinearProgram {
 public:
  explicit LinearProgram(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    const std::string real = below(4) == 0 ? "f32" : "f64";
    text_ = "dim N, F local = " + std::to_string(1 + below(6)) + "\nparam half = 0.5\ninput y : f64[N]\n";
    text_ += "dim E local = " + std::to_string(1 + below(8)) + "\nB = " + real + "(normal(9, E, F))\n";
    text_ += "Z0 = " + real + "(normal(7, N, F))\nr0 = " + real + "(y * half)\nS0 = Z0' @ Z0\nv0 = Z0' @ r0\n";
    for (int i = 0; i < 9; ++i) statement(0);
    std::string list = "S0, v0, r0";
    for (int i = 1; i < squares_; ++i) list += ", S" + std::to_string(i);
    for (int i = 1; i < vectors_; ++i) list += ", v" + std::to_string(i);
    return text_ + "output " + list + "\n";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::string square() { return "S" + std::to_string(below(squares_)); }
  std::string vector() { return "v" + std::to_string(below(vectors_)); }
  std::string tall() { return "Z" + std::to_string(below(talls_)); }

  void line(int depth, const std::string& text) {
    text_ += std::string(static_cast<size_t>(2 * depth), ' ') + text + "\n";
  }
  void new_square(int depth, const std::string& value) { line(depth, "S" + std::to_string(squares_) + " = " + value); }
  void new_vector(int depth, const std::string& value) { line(depth, "v" + std::to_string(vectors_) + " = " + value); }

  // Squares stay symmetric and positive definite, of about one condition.
  void statement(int depth) {
    const std::string s = square(), v = vector(), n = std::to_string(number_++);
    switch (below(depth == 0 ? 10 : 7)) {
      case 0:
        return assign_vector(depth, "solve(" + s + ", " + v + ")");
      case 1:
        return assign_square(depth, "inv(" + s + ")");
      case 2:
        line(depth, "L" + n + " = cholesky(" + s + ")");
        return assign_square(depth, "L" + n + " @ L" + n + "'");
      case 3:
        line(depth, "Q" + n + ", R" + n + " = qr(" + s + ")");
        return assign_vector(depth, "Q" + n + " @ (R" + n + " @ " + v + ")");
      case 4:
        line(depth, "w" + n + ", V" + n + " = eigh(" + s + ")");
        return assign_square(depth, "(V" + n + " * w" + n + ") @ V" + n + "'");
      case 5:
        line(depth, "U" + n + ", s" + n + ", W" + n + " = svd(" + s + ")");
        return assign_vector(depth, "U" + n + " @ (s" + n + " * (W" + n + "' @ " + v + "))");
      case 6:  // of fewer rows than columns, or of more
        line(depth, "Q" + n + ", R" + n + " = qr(B @ " + s + ")");
        return assign_vector(depth, "0.01 * (B' @ (Q" + n + " @ (R" + n + " @ " + v + ")))");
      case 7:
        line(depth, "q" + n + ", R" + n + " = qr(" + s + ")");
        line(depth, "Z" + std::to_string(talls_++) + " = " + tall() + " @ q" + n);
        return assign_square(depth, "Z" + std::to_string(talls_ - 1) + "' @ Z" + std::to_string(talls_ - 1));
      case 8:
        line(depth, "r0 = r0 - 0.01 * (" + tall() + " @ solve(" + s + ", " + v + "))");
        return;
      default:
        return carried(v);
    }
  }

  // Inside of a block only names of before it change.
  void assign_vector(int depth, const std::string& value) {
    if (depth > 0) return line(depth, "v0 = " + value);
    new_vector(depth, value);
    ++vectors_;
  }
  void assign_square(int depth, const std::string& value) {
    if (depth > 0) return line(depth, "S0 = " + value);
    new_square(depth, value);
    ++squares_;
  }

  void carried(const std::string& v) {
    line(0, below(2) == 0 ? "for i in 0..2 {" : "if sum(" + v + ") > 0 {");
    line(1, "v0 = v0 * 1.0");
    statement(1);
    statement(1);
    line(0, "}");
  }

  std::mt19937_64 random_;
  std::string text_;
  int squares_ = 1, vectors_ = 1, talls_ = 1, number_ = 0;
};

double tolerance_of(const ElementType& element) { return element.is(Scalar::f32) ? 2e-2 : 1e-7; }

void run_plans(const Module& program, int workers, std::uint64_t seed) {
  const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 23, 0, seed));
  const auto wanted = interpret(program, whole_inputs(parts));
  for (const auto& [strategy, sync, module] : plans_of(program)) {
    SCOPED_TRACE(print_module(module));
    for (const bool generated : {false, true}) {
      const auto transport = make_simulated_transport(workers);
      const auto kernels = generated ? testing::make_kernels({.threads = 2}) : make_interpreter_kernels();
      const RunResult result = execute(module, parts, *transport, *kernels, {});
      for (const Output& output : result.outputs) {
        testing::expect_same(output.name, output.type.element, testing::whole_words(module, output, parts),
                             testing::words_of(wanted.at(output.name)), tolerance_of(output.type.element));
      }
      expect_counts(module, parts, result, generated ? "generated" : "interpreter");
      if (::testing::Test::HasFailure()) return;
    }
  }
}

void run_linear_program(std::uint64_t seed) {
  const std::string text = LinearProgram(seed).write();
  SCOPED_TRACE(::testing::Message() << "seed " << seed << '\n' << text);
  try {
    run_plans(compile(text), 1 + static_cast<int>(seed % 4), seed);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(Linear, RandomProgramsEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 12 && !::testing::Test::HasFailure(); ++seed) run_linear_program(seed);
}

TEST(LongLinear, RandomProgramsEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 1000 && !::testing::Test::HasFailure(); ++seed) run_linear_program(seed * 7919);
}

}  // namespace
}  // namespace kasen
