// Faulty programs: one clear message at the right place, and never a crash.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "tests/core/told_faults.h"

namespace kasen {
namespace {

using Defines = std::map<std::string, std::string>;

const std::string head = R"(dim N, M
input G : null[N, M], x : f64[N], y : f64[M], k : i64[N]
param r = 0.85
)";

const std::string batched = "dim T local = 4\ninput X : sparse f64[T, N, M]\n\n";

struct Fault {
  std::string name;
  testing::ToldFault told;  // behind the head, which has three lines
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, IsToldWhereItIs) { testing::expect_told(head, GetParam().told); }

const std::vector<Fault> cases{
    {"unknown_name", "degree = G @ y\nz = x / degre\noutput z", 5, 9, "unknown name 'degre'", "did you mean 'degree'?"},
    {"unknown_function", "z = sqr(x)\noutput z", 4, 5, "unknown function 'sqr'", "did you mean 'sqrt'?"},
    {"value_called", "z = x(3)\noutput z", 4, 5, "unknown function 'x'", "stands for a value"},
    {"function_as_value", "z = sqrt + x\noutput z", 4, 5, "unknown name 'sqrt'", "call it"},
    {"dimensions", "z = x + y\noutput z", 4, 7, "[N] and [M]", "by name"},
    {"product_dimension", "z = G @ x\noutput z", 4, 7, "over [M], or [M, ...], not f64[N]", "use G' @ x"},
    {"product_of_matrices", "z = mxv(*, +, G, G)\noutput z", 4, 5, "two sparse matrices, and no array", "write A @ B"},
    {"columns_that_are_cut", "input B : dense f64[M, N]\nz = G @ B\noutput z", 5, 7, "columns over 'N', which is cut",
     "dim N local"},
    {"columns_on_the_left", "dim K local = 2\ninput B : dense f64[N, K]\nz = B @ G\noutput z", 6, 7,
     "an array of columns times a matrix", "G' @ B"},
    {"transposed_vector", "z = 2 * x'\noutput z", 4, 10, "the transpose of an array that is no matrix", "leave out '"},
    {"range_of_one", "z = range(x)\noutput z", 4, 5, "range of 1 arguments", "range(A, K, 2)"},
    {"range_of_a_cut_dimension", "dim K local = 2\nz = range(x, K)\noutput z", 5, 5, "a range of an array over [N]",
     "cut over the workers"},
    {"range_named_by_a_cut_dimension", "dim K local = 2\ninput B : f64[N, K]\nz = range(B, M)\noutput z", 6, 5,
     "a range of 'M', which is cut", "dim M local"},
    {"range_of_which", "dim K local = 2, C local, D local\ninput B : f64[N, C, D]\nz = range(B, K)\noutput z", 6, 5,
     "a range of an array over [N, C, D]", "range(A, K, 0, over C)"},
    {"range_over_what", "dim K local = 2, C local\ninput B : f64[N, C]\nz = range(B, K, 0, over M)\noutput z", 6, 25,
     "no dimension 'M'", "[N, C]"},
    {"range_twice", "dim K local = 2, C local\ninput B : f64[N, C, K]\nz = range(B, K, 0, over C)\noutput z", 6, 5,
     "the range 'K' of an array over [N, C, K]", "another dimension"},
    {"range_too_long", "dim K local = 4, C local = 3\ninput B : f64[N, C]\nz = range(B, K)\noutput z", 6, 5,
     "does not lie inside", "the 4 indices from 0 on of 'C', which has 3"},
    {"range_too_far", "dim K local = 2, C local = 3\ninput B : f64[N, C]\nz = range(B, K, 2)\noutput z", 6, 5,
     "does not lie inside", "the 2 indices from 2 on of 'C', which has 3"},
    {"range_before_the_first", "dim K local, C local\ninput B : f64[N, C]\nz = range(B, K, -1)\noutput z", 6, 5,
     "does not lie inside", "begins at -1"},
    {"range_at_a_real", "dim K local, C local\ninput B : f64[N, C]\nz = range(B, K, r)\noutput z", 6, 17,
     "the beginning of a range must be i64, not f64", "i64("},
    {"at_of_one", "z = at(x)\noutput z", 4, 5, "at of 1 arguments", "at(A, i, over F)"},
    {"at_of_a_cut_dimension", "z = at(x, 1)\noutput z", 4, 5, "an index of an array over [N]", "cut over the workers"},
    {"at_over_a_cut_dimension", "dim C local\ninput B : f64[N, C]\nz = at(B, 1, over N)\noutput z", 6, 5,
     "an index of 'N', which is cut", "dim N local"},
    {"at_of_which", "dim C local, D local\ninput B : f64[N, C, D]\nz = at(B, 1)\noutput z", 6, 5,
     "an index of an array over [N, C, D]", "at(A, i, over C)"},
    {"at_over_what", "dim C local\ninput B : f64[N, C]\nz = at(B, 0, over M)\noutput z", 6, 19, "no dimension 'M'",
     "[N, C]"},
    {"at_of_a_square", "dim C local\ninput B : f64[C, C]\nz = at(B, 0, over C)\noutput z", 6, 5,
     "an index of an array over [C, C]", "another dimension"},
    {"at_too_far", "dim C local = 3\ninput B : f64[N, C]\nz = at(B, 3)\noutput z", 6, 5, "does not lie inside",
     "index 3 of 'C', which has 3"},
    {"at_before_the_first", "dim C local\ninput B : f64[N, C]\nz = at(B, -1)\noutput z", 6, 5, "does not lie inside",
     "index -1 of 'C', whose indices count from 0"},
    {"at_a_real", "dim C local\ninput B : f64[N, C]\nz = at(B, r)\noutput z", 6, 11,
     "the index of a dimension must be i64, not f64", "i64("},
    {"unknown_dimension", "z = fill(1, K)\noutput z", 4, 13, "'K' is no dimension", "declare it"},
    {"dimension_as_value", "z = x / N\noutput z", 4, 9, "'N' is a dimension", "size(N)"},
    {"mixture", "z = x + k\noutput z", 4, 7, "f64 and i64", "convert"},
    {"real_literal", "z = k + 0.5\noutput z", 4, 7, "'+' of i64 and f64", "write f64(k)"},
    {"integer_range", "z = 99999999999999999999\noutput z", 4, 5, "does not fit", ""},
    {"element_wise_matrix", "z = G + 1\noutput z", 5, 8, "this is not 0 where the matrix stores nothing",
     "multiply with the matrix"},
    {"chained", "z = 0 < r < 1\noutput z", 4, 11, "cannot be chained", "&&"},
    {"name_keeps_type", "z = x\nz = y\noutput z", 5, 1, "f64[N] and would become f64[M]", "keeps its type"},
    {"name_keeps_shape", "z = x\nz = 1\noutput z", 5, 1, "would become f64", "fill(value, N)"},
    {"const_assigned", "const c = 4\nc = 5\noutput x", 5, 1, "cannot be assigned", "const"},
    {"loop_variable_assigned", "w = 1\nfor i in 0..3 {\n  i = 2\n  w = i\n}\noutput w", 6, 3, "'i' cannot", "variable"},
    {"while_number", "w = r\nwhile w { w = w + 1 }\noutput w", 5, 7, "must be bool", "compare"},
    {"while_array", "z = x\nwhile z > 1 { z = z + 1 }\noutput z", 5, 9, "single value", "any("},
    {"range_real", "z = r\nfor q in 0..3.5 { z = z + 1 }\noutput z", 5, 13, "3.5 where i64", ""},
    {"if_local", "if r > 0.5 {\n  z = x\n}\noutput z", 4, 1, "no effect", "define 'z' before"},
    {"declaration_in_block", "w = r\nwhile w > 0 {\n  dim K\n  w = w - 1\n}\noutput w", 6, 3, "'dim' inside",
     "move it"},
    {"recursion", "fn f(a) = g(a)\nfn g(a) = f(a)\nz = f(x)\noutput z", 5, 11, "calls itself", "loop"},
    {"fn_sees_no_values", "fn f(a) = a * r\nz = f(x)\noutput z", 4, 15, "not visible in a function", "argument"},
    {"fn_no_reductions", "fn f(a) = a - sum(a)\nz = f(x)\noutput z", 4, 15, "inside a function", "elements"},
    {"fn_builtin_name", "fn min(a, b) = a\noutput x", 4, 4, "name of a built-in", "my_min"},
    {"fn_parameter_type", "fn f(a: i32) = a\nz = f(x)\noutput z", 5, 5, "is i32, not f64", "i32(x)"},
    {"fn_arity", "fn f(a, b) = a\nz = map(f, x)\noutput z", 5, 5, "takes 2 arguments, not 1", ""},
    {"fn_unused_but_typed", "fn f(a: f64) = a + true\noutput x", 4, 18, "f64 and bool", ""},
    {"reducer_type", "s = reduce((a, b) -> a < b, x)\noutput s", 4, 12, "bool of f64", "same type"},
    {"reducer_captures", "s = mxv((a, b) -> a * r, +, G, x)\noutput s", 4, 9, "uses 'r'", "parameters"},
    {"mean_single", "s = mean(r)\noutput s", 4, 10, "mean of a single value", "at least one dimension"},
    {"sum_single", "s = sum(r)\noutput s", 4, 9, "sum of a single value", "at least one dimension"},
    {"any_of_a_number", "s = any(r)\noutput s", 4, 9, "a single f64 where a bool is meant", "any(x != 0)"},
    {"mean_of_two", "s = mean(x, k)\noutput s", 4, 5, "mean of 2 arguments", "mean(A, over F)"},
    {"mean_of_truth", "s = mean(x > 0)\noutput s", 4, 12, "mean of bool", "write mean(f64(x))"},
    {"mean_no_dimension", "s = mean(x, over M)\noutput s", 4, 18, "no dimension 'M'", "it is over [N]"},
    {"mean_in_a_function", "fn f(a) = a - mean(a)\nz = f(x)\noutput z", 4, 15, "'mean' inside a function", "elements"},
    {"sumsq_of_truth", "s = sumsq(x > 0)\noutput s", 4, 5, "bool", ""},
    {"argmax_of_a_matrix", "s = argmax(outer(x, y))\noutput s", 4, 5, "argmax along [N, M]",
     "name one: argmax(A, over M)"},
    {"argmin_over_two", "s = argmin(outer(x, y), over N, M)\noutput s", 4, 5, "argmin along [N, M]", "one dimension"},
    {"argmax_no_dimension", "s = argmax(x, over M)\noutput s", 4, 20, "no dimension 'M'", "it is over [N]"},
    {"argmax_of_a_square", "s = argmax(fill(1.0, N, N), over N)\noutput s", 4, 5, "a reduction of an array over [N, N]",
     "twice"},
    {"argmax_of_ids", "s = argmax(index(N))\noutput s", 4, 12, "argmax of id[N]", "argmax(i64(x))"},
    {"argmax_of_nothing", "s = argmax()\noutput s", 4, 5, "argmax of 0 arguments", "write argmax(v)"},
    {"argmax_as_value", "s = argmax + x\noutput s", 4, 5, "unknown name 'argmax'", "call it"},
    {"random_without_dimensions", "z = random(7)\noutput z", 4, 5, "random takes a seed and dimensions",
     "write random(7, N)"},
    {"random_real_seed", "z = random(r, N)\noutput z", 4, 12, "a seed must be i64, not f64", "i64("},
    {"random_many_seeds", "z = random(k, N)\noutput z", 4, 12, "a seed must be a single value", "over [N]"},
    {"random_size", "z = normal(7, 100)\noutput z", 4, 15, "normal takes a seed and dimensions",
     "10 + 2 * normal(7, N)"},
    {"random_square", "z = random(7, N, N)\noutput z", 4, 18, "random over N twice", "a second dimension"},
    {"oftype_of_one", "z = oftype(x)\noutput z", 4, 5, "oftype takes two arguments", "write oftype(x, n)"},
    {"oftype_of_pairs", "z = oftype(map(v -> (v, v), x), 1)\noutput z", 4, 12, "oftype of (f64, f64)", ""},
    {"oftype_of_ids", "z = oftype(index(N), 1)\noutput z", 4, 5, "id", ""},
    {"mixed_reals", "z = mix64(x, x)\noutput z", 4, 5, "'mix64' does not take f64", "i64"},
    {"reduce_single", "s = sum(r)\noutput s", 4, 9, "single value", ""},
    {"reduce_over", "s = sum(x, over M)\noutput s", 4, 17, "no dimension 'M'", "[N]"},
    {"list_index", "list s[3] : f64[N] = 0\ns[3] = x\noutput x", 5, 3, "3 is outside", "0 to 2"},
    {"list_whole", "list s[3] : f64[N] = 0\nz = s + x\noutput z", 5, 5, "'s' is a list", "s[i]"},
    {"list_length", "list s[k] : f64[N] = 0\noutput x", 4, 8, "must be known to plan", "const"},
    {"element_of_tuples", "z = map(v -> (v, v), x)[3]\noutput z", 4, 24, "one element of an array", "each component"},
    {"element_of_rows", "z = fill(1.0, N)[0, 1]\noutput z", 4, 21, "several indices", "one index of a local"},
    {"element_before", "z = x[-2]\noutput z", 4, 7, "does not lie inside", "size(N) - 1"},
    {"element_real", "z = x[1.5]\noutput z", 4, 7, "1.5 where i64 is meant", ""},
    {"element_many", "z = x[x]\noutput z", 4, 7, "an index of an element", "take(x, x, over N)"},
    {"element_in_fn", "fn f(v) = v[0]\nz = map(f, x)\noutput z", 4, 12, "no element access", ""},
    {"set_unknown", "q[0] = 1\noutput x", 4, 1, "no elements to set", "define it before"},
    {"set_several", "z = x\nz[0, 1] = 1\noutput z", 5, 1, "several indices", "an index for each dimension"},
    {"push_array", "z = x\npush(z, x)\noutput z", 5, 6, "is no list", "list zs[5]"},
    {"tuple_component", "z = (x, 1)\nq = z.2\noutput q", 5, 6, "no component .2", "count from .0"},
    {"output_twice", "output x, x", 4, 11, "two outputs", "output other = x"},
    {"declared_twice", "param x = 1\noutput x", 4, 7, "already declared", ""},
    {"outer_of_one", "z = outer(x)\noutput z", 4, 5, "outer of 1 arguments", "outer(u, v)"},
    {"square_reduction", "input A : dense f64[N, N]\nz = sum(A, over N)\noutput z", 5, 5,
     "a reduction of an array over [N, N]", "A as [N, Other]"},
    {"null_with_local_dimensions", "dim F local, K local\ninput v : null[K, F]\noutput x", 5, 11, "cannot be sparse",
     "'local' at one of them, dim K say"},
    {"sparse_with_local_dimensions", "dim F local, K local\ninput v : sparse f64[F, K]\noutput x", 5, 11,
     "cannot be sparse", "'local' at one of them, dim F say"},
    {"sparse_cube", "dim T local, F local, C local\ninput v : sparse f64[T, F, C]\noutput x", 5, 11, "cannot be sparse",
     "'local' at one of them, dim F say"},
    {"batches_that_are_cut", "dim T, F\ninput v : sparse f64[T, N, F]\noutput x", 5, 11, "cannot be sparse",
     "declare it local, dim T local"},
    {"four_dimensions", "dim T local, F\ninput v : sparse f64[T, T, N, F]\noutput x", 5, 11, "cannot be sparse",
     "or batches of them"},
    {"batches_as_one", batched + "output s = sum(X)", 7, 16, "'X' has batches", "at(X, t, over T)"},
    {"batches_in_a_product", batched + "output s = X @ y", 7, 12, "'X' has batches", "at(X, t, over T)"},
    {"batches_by_number", batched + "output s = X[0]", 7, 12, "'X' has batches", "at(X, t, over T)"},
    {"batches_as_a_name", batched + "Y = X\noutput x", 7, 5, "'X' has batches", "at(X, t, over T)"},
    {"batches_as_a_result", batched + "output X", 7, 8, "'X' has batches", "at(X, t, over T)"},
    {"batch_of_rows", batched + "B = at(X, 0, over N)\noutput s = sum(B)", 7, 19, "an index of 'N'", "over T"},
    {"batch_too_far", batched + "B = at(X, 4)\noutput s = sum(B)", 7, 5, "does not lie inside", "index 4 of 'T'"},
    {"batch_as_a_result", batched + "B = at(X, 0)\noutput W = B * x", 8, 14, "would be stored", "where it is read"},
    {"batch_turned", batched + "B = at(X, 0)\noutput s = sum(B' * 2.0)", 8, 17, "would be stored", "where it is read"},
    {"batch_beside_another", batched + "B = at(X, 0)\nC = at(X, 1)\noutput s = sum(B * C)", 9, 12,
     "beside those of another matrix", "alone"},
    {"batch_beside_a_matrix", batched + "B = at(X, 0)\noutput s = sum(B + f64(G))", 8, 12,
     "beside those of another matrix", "alone"},
    {"place_in_a_batch", batched + "B = at(X, 0)\noutput s = argmax(B, over M)", 8, 12, "would be stored", ""},
    {"row_of_a_matrix", "z = G[0]\noutput z", 4, 6, "no element access", "sparse f64[T, N, M]"},
    {"null_vector", "input v : null[N]\noutput x", 4, 11, "without a value", "sparse matrix"},
    {"law", "assume associativ(r)\noutput x", 4, 8, "no law", "associative"},
    {"assume_what", "assume x + 1\noutput x", 4, 10, "neither a law nor a comparison", "assume weight > 0"},
    {"assume_value", "z = x + 1\nassume z > 0\noutput z", 5, 10, "a range is assumed only for an input or a param",
     "one side"},
    {"assume_bound", "assume x > y\noutput x", 4, 12, "known to plan", ""},
    {"assume_empty", "assume x > 1, x < 0\noutput x", 4, 17, "no number is in the range of 'x'", ""},
    {"assume_open", "assume x > 0, x < 0\noutput x", 4, 17, "no number is in the range of 'x'", ""},
    {"assume_point", "assume x >= 0, x <= 0\nassume x != 0\noutput x", 5, 10, "no number is in the range of 'x'", ""},
    {"assume_no_integer", "assume k > 0, k < 1\noutput x", 4, 17, "no number is in the range of 'k'", ""},
    {"assume_one", "assume x != 1\noutput x", 4, 10, "only zero is excluded", "write x > bound"},
    {"assume_param", "param p = -1.0\nassume p > 0\noutput z = x * p", 5, 10,
     "'p' is -1.0, but the program assumes p > 0.0", ""},
    {"assume_component", "assume x.1 > 0\noutput x", 4, 9, "'x' has no component .1", "f64"},
    {"assume_coordinate", "assume x[0] > 0\noutput x", 4, 10, "no range of coordinate 0 of 'x'", "f64"},
    {"assume_far_coordinate", "input p : [f64; 17][N]\nassume p[0] > 0\noutput x", 5, 10, "no range of coordinate 0",
     "more than 16"},
    {"assume_empty_component", "input t : (f64, i64)[N]\nassume t.1 > 0, t.1 < 1\noutput x", 5, 21,
     "no number is in the range of 't.1'", ""},
    {"assume_unused", "fn f(a, b) = a + b\nassume associative(f)\noutput x", 5, 20, "no operator applies 'f'", ""},
    {"keyword", "list = 3\noutput x", 4, 6, "'=' is not expected", "the name of a list"},
    {"keyword_name", "z = if\noutput z", 4, 7, "the end of the statement", "an expression"},
    {"two_values", "z = x 3\noutput z", 4, 7, "'3' is not expected", "new line"},
    {"no_else", "z = if r > 1 then 2\noutput z", 4, 20, "not expected", "both sides"},
    {"parenthesis", "z = (x + 1\noutput z", 4, 5, "'(' is never closed", ""},
    {"brace", "while r < 1 {\n z = x\noutput z", 4, 13, "'{' is never closed", ""},
    {"closing", "z = x)\noutput z", 4, 6, "')' without its '('", ""},
    {"number", "z = 3x\noutput z", 4, 5, "'3x' is not a number", ""},
    {"character", "z = x \xe2\x88\x92 y\noutput z", 4, 7, "byte 226", "ASCII"},
    {"unrolled_bounds", "w = 1\nfor i in 0..size(N) unroll { w = w + i }\noutput w", 5, 13, "known to plan", ""},
    {"param_not_constant", "param q = r\noutput x", 4, 11, "must be known to plan", "literals"},
};

INSTANTIATE_TEST_SUITE_P(Faults, FaultTest, ::testing::ValuesIn(cases),
                         [](const ::testing::TestParamInfo<Fault>& fault) { return fault.param.name; });

TEST(Faults, AProgramNeedsAnOutput) {
  const std::vector<Diagnostic> found = testing::faults_of_text(head + "z = x + 1\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].what.find("no output"), std::string::npos);
}

TEST(Faults, SeveralAreToldAtOnceAndConsequencesAreNot) {
  const std::vector<Diagnostic> found =
      testing::faults_of_text(head + "a = x + y\nb = a + 1\nc = k + x\nd = b\noutput a, d\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].where.line, 4);
  EXPECT_EQ(found[1].where.line, 6);
  const std::vector<Diagnostic> syntax = testing::faults_of_text("a = + \nb = 2 2\nwhile (1 {\n x = 1 }\n");
  ASSERT_FALSE(syntax.empty());
}

TEST(Faults, DefinesNameConstsAndParams) {
  const std::string text = "const size_k = 3\nparam theta = 1e-6\noutput z = theta * size_k\n";
  for (const Defines& bad : {Defines{{"thet", "1"}}, Defines{{"theta", "x y"}}, Defines{{"theta", "1 +"}}}) {
    try {
      (void)compile_program(text, "test.ks", bad);
      FAIL() << bad.begin()->first << '=' << bad.begin()->second;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage) << error.what();
    }
  }
  try {
    (void)compile_program(text, "test.ks", {{"thet", "1"}});
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'theta'?"), std::string::npos);
  }
}

std::string repeat(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Faults, HostileNestingIsRefused) {
  const int n = 20'000;
  std::string fns = "fn g0(a) = a + a\n";
  for (int i = 1; i < 60; ++i) fns += fmt::format("fn g{0}(a) = g{1}(g{1}(a))\n", i, i - 1);
  const std::vector<std::string> texts{
      "z = " + repeat("(", n) + "x" + repeat(")", n),
      "z = " + repeat("-", n) + "x",
      "z = x" + repeat("^x", n),
      "z = x" + repeat("+x", n),
      "z = x" + repeat("[0]", n),
      "z = x" + repeat(".T", n),
      "z = " + repeat("[", n) + "1" + repeat("]", n),
      "z = " + repeat("if true then x else ", n) + "x",
      "z = x\n" + repeat("if true { z = x } else ", n) + "{ z = x }",
      "z = x\n" + repeat("if true { ", n) + "z = x" + repeat("}", n),
      "z = " + repeat("a -> ", n) + "x",
      "z = " + repeat("abs(", n) + "x" + repeat(")", n),
      "z = " + repeat("sum(j in 2: ", 40) + "1.0" + repeat(")", 40),
      fns + "z = g59(x)",
      "fn g(a) {\n b = a\n" + repeat(" b = b + b\n", 64) + " b }\nz = g(x)",
      "z = x\nfor i in 0..9999 unroll { for j in 0..9999 unroll { z = z + 1 } }",
      "input q : " + repeat("[", n) + "f64",
      repeat("[", n),
  };
  for (const std::string& text : texts) {
    const std::vector<Diagnostic> found = testing::faults_of_text(head + text + "\noutput z\n");
    EXPECT_FALSE(found.empty()) << text.substr(0, 60);
  }
}

// Programs with characters changed, lost, doubled or moved: an error or a program that the verifier accepts or refuses.
TEST(Faults, MutatedProgramsNeverCrash) {
  const std::string program = head + R"(fn f(a, b) { c = a * b; c + 1 }
list s[3] : f64[N] = 0
z : f64[N] = 1
go = true
while go likely expect 3 {
  t = map(f, z, x) - r
  z = if t > 0 then t else G @ (G' @ z + sum(j in 2: f64(j)))
  push(s, z)
  go = reduce(+, abs(z)) > 1e-3 || any(s[1] < 0)
}
for i in reversed(0..3) { z = z + s[i] / f64(size(N)) }
assume associative(f)
output z, p = [j in 3: 2.0 * f64(j)], (1, 2).0
)";
  const std::string functions = "use \"stats\", \"own.ks\"\n" + head + R"(def f(A : [R, C], b, steps = 2, over d) {
  for i in 0..steps { b = b + own(A, over C) * g(1) }
  if sum(b) > 0 { b = b / 2 } else { b = A @ (A' @ b) }
  return b, max(x_of(b), over d)
}
def x_of(v : f64[R]) = v + scaled(v)
fn scaled(v) = 2 * v
def g(r) = r + 1
input X : dense f64[N, M]
z, m = f(X, x, over N)
output z, m, s = std(X, 1, over N)
## file "own.ks"
def own(x, over d) = sum(map(sq, x), over d)
fn sq(x) = x * x
)";
  const std::string letters = "xzG0.1()[]{}+-*/^@'=<>&|!,;:#\n in";
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  TrialLawChecker laws;
  for (int round = 0; round < 6000; ++round) {
    std::string text = round % 2 == 0 ? program : functions;
    const size_t changes = 1 + below(4);
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = below(text.size());
      const size_t kind = below(4);
      if (kind == 0) text[at] = letters[below(letters.size())];
      if (kind == 1) text.erase(at, 1 + below(5));
      if (kind == 2) text.insert(at, text.substr(below(text.size()), 1 + below(12)));
      if (kind == 3) text.insert(at, 1, letters[below(letters.size())]);
    }
    try {
      const Module module = compile_program(text, "test.ks", {});
      const std::string printed = print_module(module);
      EXPECT_EQ(print_module(parse_module(printed, "test.kir")), printed) << text;
      for (const Diagnostic& d : verify_module(module, laws)) {
        EXPECT_NE(d.what.find("is assumed, but does not hold"), std::string::npos) << format_diagnostic(d) << '\n'
                                                                                   << text;
      }
    } catch (const UserError& error) {
      EXPECT_FALSE(error.diagnostics().empty());
    }
  }
}

// A file's names and lines reach the terminal: no control character does.
TEST(LangError, MessagesHaveNoControlCharacters) {
  const Diagnostic diagnostic{{"a\x1b[2J.ks", 3, 2}, "unknown '\x1b[31m\x7f'", "\xc2\x9b", "caf\xc3\xa9", "\ta\rb", -1};
  EXPECT_EQ(format_diagnostic(diagnostic), "a?[2J.ks:3:2: error: unknown '?[31m?'; ??; caf\xc3\xa9\n  \ta?b\n  \t^");
}

}  // namespace
}  // namespace kasen
