// Advice of messages, which is followed: it must give what was meant.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/run_program.h"
#include "tests/core/told_faults.h"

namespace kasen::meaning {
namespace {

using testing::faults_of_text;

struct Told {
  std::string text;
  std::string what, why, remedy;  // parts of them
};

void expect_parts(const Told& told) {
  const std::vector<Diagnostic> found = faults_of_text(told.text + '\n');
  ASSERT_FALSE(found.empty()) << told.text;
  const std::string all = format_diagnostic(found[0]);
  EXPECT_NE(found[0].what.find(told.what), std::string::npos) << all;
  EXPECT_NE(found[0].why.find(told.why), std::string::npos) << all;
  EXPECT_NE(found[0].remedy.find(told.remedy), std::string::npos) << all;
}

std::string formula_told(const std::string& text) {
  const std::vector<Diagnostic> found = faults_of_text(text);
  if (found.empty() || !found[0].remedy.starts_with("write ")) return "";
  return found[0].remedy.substr(6);
}

// ---- ids of one dimension for another

TEST(IdsOfAnotherDimension, TheFormulaGivesTheSameElements) {
  const std::vector<std::string> slices{"L = N[1:]",   "L = N[2:]",
                                        "L = N[1::2]", "L = N[:-1]",
                                        "L = N[::-1]", "A = N[1:], L = A[2::2]",
                                        "L = N[-3:]",  "L = N[4::-2]",
                                        "L = N[:]",    "A = N[::-1], L = A[1:]"};
  WholeInputs inputs;
  inputs.dims["N"] = 8;
  inputs.arrays["p"] = reals_of({2, 3, 5, 7, 11, 13, 17, 19});
  for (const std::string& slice : slices) {
    for (const std::string size : {"", " = 8"}) {
      const std::string head = "dim N" + size + ", " + slice + "\ninput p : f64[N]\nw = index(L)\n";
      const std::string formula = formula_told(head + "output z = take(p, w, over N)\n");
      ASSERT_FALSE(formula.empty()) << head
                                    << format_diagnostic(faults_of_text(head + "output z = take(p, w, over N)\n")[0]);
      const bool chain = slice.starts_with("A");
      const std::string program = head + "output z = all(take(p, " + formula +
                                  ", over N) == " + (chain ? "slice(slice(p, A), L))\n" : "slice(p, L))\n");
      EXPECT_TRUE(truth(run_text(program, inputs), "z")) << program;
    }
  }
}

TEST(IdsOfAnotherDimension, AreToldByTheirRelation) {
  const std::string head =
      "dim N, M, K some N\ndim L = N[1:], E = N[::2], H = N[-3:], B = N[::-1], S = N + M\n"
      "input p : f64[N], q : f64[M], l : f64[L], e : f64[E], s : f64[S], h : f64[H], b : f64[B]\n"
      "input name : id[M][N], customer : id[N][N]\nk = pick(p, p > 0, K)\n";
  const std::vector<Told> cases{
      {"w = argmin(l)\noutput z = p[w]", "must be i64, not id[L]", "L is N[1:]: place k of L is place k + 1 of N",
       "write i64(w) + 1"},
      {"w = argmin(e)\noutput z = p[w]", "must be i64, not id[E]", "place k of E is place 2 * k of N",
       "write 2 * i64(w)"},
      {"output z = p[argmin(l)]", "must be i64, not id[L]", "", "write i64(...) + 1"},
      {"w = argmin(p)\noutput z = l[w]", "must be i64, not id[N]",
       "L is N[1:]: place k of N is place k - 1 of L, where it lies there", "write i64(w) - 1"},
      {"w = argmin(p)\noutput z = e[w]", "must be i64, not id[N]", "places of N are others in E",
       "take an array over N, or an index of E"},
      {"w = argmin(e)\noutput z = l[w]", "must be i64, not id[E]", "place k of E is place 2 * k - 1 of L", ""},
      {"w = argmin(h)\noutput z = p[w]", "must be i64, not id[H]", "H is N[-3:]: places of H are others in N",
       "write places = slice(i64(index(N)), H), and places[i64(w)]"},
      {"w = argmin(k)\noutput z = p[w]", "must be i64, not id[K]", "K counts the elements of N that a mask keeps",
       "write places = pick(i64(index(N)), m, K), and places[i64(w)]"},
      {"w = argsort(k)\noutput z = take(p, w, over N)", "take of places that are id[K]", "that a mask keeps",
       "write take(pick(i64(index(N)), m, K), w, over K)"},
      {"w = argmin(b)\noutput z = p[w]", "must be i64, not id[B]", "place k of B is place size(N) - 1 - k of N",
       "write size(N) - 1 - i64(w)"},
      {"w = argmin(q)\noutput z = s[w]", "must be i64, not id[M]", "S is N + M: place k of M is place size(N) + k of S",
       "write size(N) + i64(w)"},
      {"w = argmin(q)\noutput z = p[w]", "must be i64, not id[M]", "it is an index of M, not of N",
       "take an array over M, or an index of N"},
      {"w = argsort(q)\noutput z = take(p, w, over N)", "take of places that are id[M]",
       "it is an index of M, not of N", "take an array over M, or an index of N"},
      {"w = argmin(q)\ny = p\ny[w] = 0.0\noutput y", "must be i64, not id[M]", "it is an index of M, not of N", ""},
      {"output z = sum(p, by name in K)", "keys that are id[M] and count along 'K'", "an index of M, not of K",
       "write by k in M"},
      {"x : id[N][N] = name\noutput x", "id[N], not id[M]", "", "no number becomes an id: declare it id[M]"},
      {"output z = sum(if name == customer then 1 else 0)", "'==' of id[M] and id[N]",
       "M and N number different things, words too", "declare both inputs over one dimension, id[M] and id[M]"},
      {"output z = max(name, customer)", "'max' of id[M] and id[N]", "number different things", "Join by words"},
      {"w = argmin(l)\nv = argmin(p)\noutput z = w == v", "'==' of id[L] and id[N]", "",
       "in N they are i64(w) + 1 and i64(v)"},
      {"w = argmin(l)\nv = argmin(p)\noutput z = v < w", "'<' of id[N] and id[L]", "",
       "in N they are i64(v) and i64(w) + 1"},
      {"w = argmin(p)\noutput z = p[w]", "must be i64, not id[N]", "", "write i64(...)"}};
  for (Told told : cases) {
    told.text.insert(0, head);
    expect_parts(told);
  }
}

// ---- tables that are declared as sparse matrices are

TEST(TablesThatAreSparse, AreToldByTheirDimensions) {
  const std::string head = "dim N, F, K some N\ninput X : f64[N, F], y : f64[N], k : i64[N]\n";
  const std::string why = "X is a sparse matrix, since N and F are not local", remedy = "for a table write dim F local";
  for (const std::string text :
       {"output z = solve(X' @ X, X' @ y)", "output z = take(X, k, over N)", "output z = X + 1",
        "output z = sort(X, over N)", "output z = standardize(X, 0, over N)", "output z = median(X, over N)",
        "output z = [i in N, j in F: X[i, j] + 1]", "output z = X[0, 1]", "output z = X[y > 0]",
        "output z = sum(X, by k in F)", "X[0, 0] = 1.0\noutput X"}) {
    expect_parts({head + text, "", why, remedy});
  }
  // What is declared sparse, or is a graph, is no table.
  for (const std::string text :
       {"dim N, F\ninput X : sparse f64[N, F]\noutput z = X + 1", "dim N\ninput X : f64[N, N]\noutput z = X + 1",
        "dim N, F\ninput X : null[N, F]\noutput z = X + 1"}) {
    const std::vector<Diagnostic> found = faults_of_text(text + "\n");
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_EQ(found[0].remedy.find("for a table"), std::string::npos) << text;
  }
}

// ---- arrays in brackets

TEST(ArraysInBrackets, AreToldByWhatTheyAre) {
  const std::string head = "dim N, F local\ninput X : f64[N, F], y : f64[N], k : i64[N]\nm = y > 0\n";
  expect_parts(
      {head + "output z = X[k == 1]", "no element access", "", "write pick(X, m, K), with dim K some N and m = "});
  expect_parts({head + "output z = X[m]", "no element access", "", "write pick(X, m, K), with dim K some N"});
  expect_parts({head + "output z = y[m && y > 1]", "no element access", "", "write pick(y, m, K), with dim K some N"});
  expect_parts({head + "output z = X[k]", "no element access", "", "write take(X, k, over N)"});
  expect_parts({head + "output z = X[3]", "no element access", "", "write at(A, 3, over F)"});
}

TEST(ArraysInBrackets, AreSmallArraysOverKnownSizes) {
  const std::string head = "dim F local = 12, PC local = 2\ninput w : f64[F]\n";
  const std::string why = "[k in PC: ...] that reads no element of an array at k is a small array";
  expect_parts({head + "output z = take(w, [k in PC: 11 - i64(k)], over F)",
                "take of [i64; 2], one value of 2 coordinates", why, "write 11 - i64(index(PC)), an array over PC"});
  expect_parts({head + "output z = take(w, [k in PC: 11 - k], over F)", "take of [i64; 2]", why,
                "write 11 - i64(index(PC)), an array over PC"});
  expect_parts({head + "output z = take(w, [1, 2], over F)", "take of [i64; 2], one value of 2 coordinates",
                "it takes an array", "dim K local = 2"});
  expect_parts({head + "output z = sum([k in PC: k])", "sum of [i64; 2], one value of 2 coordinates", "", "index(K)"});
  WholeInputs inputs;
  inputs.arrays["w"] = reals_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Outputs out = run_text(head + "output z = take(w, 11 - i64(index(PC)), over F)\n", inputs);
  EXPECT_EQ(out.at("z").as<double>()[1], 10);
}

// ---- neighbours

TEST(Neighbours, OneSliceSuitsAllIndices) {
  struct Window {
    std::string dims, statement, remedy;
  };
  const std::vector<Window> windows{
      {"I = N[3:]", "[j in I: x[j - 3] + x[j - 1] + x[j] + x[j + 1] + x[j + 2] + x[j + 3]]", "dim I = N[3:-3]"},
      {"I = N[1:]", "[j in I: sum(a in 7: x[j + a - 3]) / 7]", "dim I = N[3:-3]"},
      {"I = N[1:], A local = 5", "[j in I: sum(a in A: x[j + a - 2]) / 5]", "dim I = N[2:-2]"},
      {"I = N[1:]", "sum(j in I, a in 3: x[j + a - 2] * x[j + a])", "dim I = N[2:-2]"},
      {"I = N[::2]", "[j in I: x[j - 1] + x[j + 1]]", "dim I = N[1:-1:2]"},
      {"I = N[:-5]", "[j in I: x[j - 3] + x[j + 3]]", "dim I = N[3:-5]"},
      {"J = N[1:]", "[j in N: x[j - 3] + x[j] + x[j + 2]]", "dim I = N[3:-2], and j in I"},
      {"J = N[1:]", "[j in N: x[j + 1]]", "dim I = N[:-1], and j in I"}};
  for (const Window& window : windows) {
    const std::string inputs = "\ninput x : f64[N]\noutput z = ";
    expect_parts({"dim N, " + window.dims + inputs + window.statement, "", "", window.remedy});
    std::string dims = window.remedy.substr(
        4, window.remedy.find(',') == std::string::npos ? std::string::npos : window.remedy.find(',') - 4);
    if (window.dims.find("A local") != std::string::npos) dims += ", A local = 5";
    std::string right = window.statement;
    if (const size_t at = right.find("j in N"); at != std::string::npos) right[at + 5] = 'I';
    (void)compile_program("dim N, " + dims + inputs + right + "\n", "test.ks", {});  // it is right at once
  }
}

// ---- habits

TEST(HabitsOfOthers, AreToldWithTheirForm) {
  const std::string head =
      "dim N, F local, G, H\ninput X : f64[N, F], x : f64[N], W : f64[F], a : id[G][N], b : id[H][N]\n";
  const std::string keys = "by i64(a) * size(H) + i64(b) in GH, with dim GH = G * H";
  const std::vector<Told> cases{
      {"s = 0.0\nwhile s < 9 {\n  s += sum(x)\n  if s > 5: break\n}\noutput s", "':' is not expected here", "'{'",
       "blocks stand in braces, without a colon: if c { break }"},
      {"s = 0.0\nif sum(x) > 5: s = 1.0\noutput s", "':' is not expected here", "'{'", "blocks stand in braces"},
      {"output z = sum(x, by a, b in G, H)", "keys of two arrays", "", keys},
      {"output z = sum(x, by a in G, b in H)", "keys of two arrays", "", keys},
      {"output z = sum(x, by a, by b)", "keys of two arrays", "", keys},
      {"output z = cbind(1, X)", "unknown function 'cbind'", "dim One local = 1, F1 local = One + F",
       "concat(fill(1.0, N, One), A, F1), a column of ones"},
      {"output z = X @ diag(W)", "diag of a vector over [F]", "", "write X * W for X @ diag(W)"},
      {"output z = slice(x, F)", "which is no slice", "", "declare one: dim K = N[5:8]"}};
  for (Told told : cases) {
    told.text.insert(0, head);
    expect_parts(told);
  }
  for (const std::string name : {"pt", "qt", "dt"}) {
    const std::vector<Diagnostic> found = faults_of_text(head + "output z = " + name + "(x)\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].remedy, "") << name;
  }
}

TEST(HabitsOfOthers, TwoKeysAreOneKey) {
  WholeInputs inputs;
  inputs.dims = {{"N", 3}, {"G", 2}, {"H", 3}};
  inputs.arrays["x"] = reals_of({1, 2, 4});
  const Outputs out = run_text(
      "dim N, G, H, GH = G * H\ninput x : f64[N]\na = i64(index(N)) // 2\nb = i64(index(N))\n"
      "s = sum(x, by a * size(H) + b in GH)\noutput z = reshape(s, [G, H])\n",
      inputs);
  const double* const z = out.at("z").as<double>();
  EXPECT_EQ(std::vector<double>(z, z + 6), (std::vector<double>{1, 2, 0, 0, 0, 4}));
}

// A part of the sum that an array is over: its first elements, not those of that part.
TEST(LargestElements, GoToAPartOfASumFromTheFirstOn) {
  WholeInputs inputs;
  inputs.dims = {{"F", 3}, {"K", 2}, {"S", 5}};
  inputs.arrays["x"] = reals_of({3, 9, 5, 8, 1});
  const std::string sum = "dim F local = 3, K local = 2, S local = F + K\ninput x : f64[S]\n";
  const Outputs out = run_text(sum + "output t = topk(x, over S, K), l = leading(x, K, over S)\n", inputs);
  const double *const t = out.at("t").as<double>(), *const l = out.at("l").as<double>();
  EXPECT_EQ(std::vector<double>(t, t + 2), (std::vector<double>{9, 8}));
  EXPECT_EQ(std::vector<double>(l, l + 2), (std::vector<double>{3, 9}));
  expect_parts({"dim F local, K local, S local = F + K\ninput x : f64[S]\noutput l = leading(x, K, over S)",
                "the first elements of S, as many as K has", "K is a part of S, and its size is not known here"});
}

TEST(LargestElements, GoToASliceOrADimensionOfItsOwn) {
  WholeInputs inputs;
  inputs.dims = {{"M", 5}, {"N", 2}};
  inputs.arrays["x"] = reals_of({3, 9, 5, 9, 1});
  inputs.arrays["A"] = reals_of({3, 9, 5, 9, 1, 2, 4, 6, 8, 0});
  for (const std::string dims : {"dim M, N, T local = 3", "dim M, N, T local = M[:3]", "dim M, N, T = M[:3]"}) {
    const Outputs out = run_text(dims +
                                     "\ninput x : f64[M], A : dense f64[N, M]\n"
                                     "output t = topk(x, over M, T), k = i64(argtopk(x, over M, T)), "
                                     "B = topk(A, over M, T)\n",
                                 inputs);
    const double *const t = out.at("t").as<double>(), *const b = out.at("B").as<double>();
    const std::int64_t* const k = out.at("k").as<std::int64_t>();
    EXPECT_EQ(std::vector<double>(t, t + 3), (std::vector<double>{9, 9, 5})) << dims;
    EXPECT_EQ(std::vector<std::int64_t>(k, k + 3), (std::vector<std::int64_t>{1, 3, 2})) << dims;
    EXPECT_EQ(std::vector<double>(b, b + 6), (std::vector<double>{9, 9, 5, 8, 6, 4})) << dims;
  }
  const std::string program = "input x : f64[M]\noutput t = topk(x, over M, T)";
  expect_parts({"dim M, T\n" + program, "no slice of a dimension", "in def 'topk', at <order>:", "dim K = M[5:8]"});
  expect_parts({"dim M, T = 10\n" + program, "no slice of a dimension",
                "in def 'topk', at <order>:", "declare one: dim T = M[:10], which are its first 10 indices"});
  expect_parts({"dim M = 4, T local = 10\n" + program, "the first 10 elements of M, which has 4", "in def 'topk'", ""});
}

}  // namespace
}  // namespace kasen::meaning
