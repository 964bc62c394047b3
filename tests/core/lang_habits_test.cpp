// What people from other languages write: every name and sign is told with what is written here, and that is planned.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "libcore/base/suggest.h"
#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/syntax/habits.h"

namespace kasen {
namespace {

using lang::Habit;

const std::string context = R"(dim N, Some some N
dim F local = 4, K local = 2, One local = 1, F1 local = One + F
dim FK local = F * K, FF local = F + F, H local = F[0:3], I = N[1:-1], Even = N[:-1:2]
input G : null[N, N], W : f64[N, N], x : f64[N], y : f64[N], n : i64[N]
input A : f64[N, F], B : f64[F, K], v : f64[F], p : [f64; 3][N]
param r = 0.85, limit = 0.5
const flag = true
)";

// The faults of a program, also those of the verifier.
std::vector<Diagnostic> faults_of(const std::string& text) {
  try {
    const Module module = compile_program(text, "test.ks", {});
    TrialLawChecker laws;
    return verify_module(module, laws);
  } catch (const UserError& error) {
    return error.diagnostics();
  }
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::string first_line(const std::vector<Diagnostic>& found) {
  return found.empty() ? "" : format_diagnostic(found[0]).substr(0, format_diagnostic(found[0]).find('\n'));
}

TEST(Habits, WhatIsWrittenHereIsPlanned) {
  for (const Habit& habit : lang::habits()) {
    const bool statement = habit.write.starts_with("output");
    const std::string line = statement ? std::string(habit.write) : fmt::format("output z = {}", habit.write);
    EXPECT_EQ(first_line(faults_of(context + line + '\n')), "") << habit.names;
  }
}

TEST(Habits, EveryNameIsToldWithWhatIsWrittenHere) {
  std::set<std::string> seen;
  for (const Habit& habit : lang::habits()) {
    for (const std::string& name : words(habit.names)) {
      EXPECT_TRUE(seen.insert(name).second) << name << " stands twice";
      const std::string use = habit.value ? name : name + "(N)";
      const std::vector<Diagnostic> found = faults_of(context + "output z = " + use + '\n');
      ASSERT_EQ(found.size(), 1U) << name;
      EXPECT_NE(found[0].what.find("unknown"), std::string::npos) << name << ": " << found[0].what;
      EXPECT_EQ(found[0].remedy, lang::habit_remedy(habit)) << name;
    }
  }
}

struct Use {
  const char* text;
  const char* remedy;  // or part of the reason
  const char* right;   // a program's end that does it; empty: what is told is no code
};

// Uses that are refused, what is told, and that following it makes a program.
const std::vector<Use> uses{
    {"z = x[1:3]\noutput z", "and slice(A, K)", "output z = slice(v, H)"},
    {"z = x[:3]\noutput z", "and slice(A, K)", ""},
    {"z = x[::2]\noutput z", "and slice(A, K)", ""},
    {"z = x[1..3]\noutput z", "and slice(A, K)", ""},
    {"z = A[:, 1]\noutput z", "and slice(A, K)", ""},
    {"z = A[0]\noutput z", "write at(A, 3, over F)", "output z = at(A, 3, over F)"},
    {"k = 1\nk++\noutput k", "write x = x + 1", ""},
    {"z = x.T\noutput z", "leave out ' or .T", "output z = G @ x"},
    {"z = x'\noutput z", "leave out ' or .T", ""},
    {"z = x > 0 & y > 0\noutput z", "write a && b; of the bits of i64, bit_and(a, b)", "output z = bit_and(n, 1)"},
    {"z = n | 1\noutput z", "of the bits of i64, bit_or(a, b)", "output z = bit_or(n, 1)"},
    {"z = ~n\noutput z", "of the bits of i64, bit_not(a)", "output z = bit_not(n)"},
    {"z = n << 2\noutput z", "write shift_left(k, 2)", "output z = shift_left(n, 2)"},
    {"z = n >> 2\noutput z", "write shift_right(k, 2)", "output z = shift_right(n, 2)"},
    {"z = n ^ 5\noutput z", "bit_xor(k, 5) for the bits that differ", "output z = bit_xor(n, 5), q = f64(n) ^ 5"},
    {"z = n && n\noutput z", "compare it, for example x != 0", "output z = n != 0 && n != 1"},
    {"z = bit_and(i32(n), 1)\noutput z", "write i64(x)", "output z = bit_and(i64(i32(n)), 1)"},
    {"z = 2j\noutput z", "no complex numbers", ""},
    {"loss = []\noutput x", "write list x[10] : f64 = 0", "list l[10] : f64 = 0\nl[0] = r\noutput z = l[0]"},
    {"x[0:2] = 1\noutput x", "y = if i < 2 then 1 else y",
     "i = i64(index(N))\nq = x\nq = if i < 2 then 1 else q\noutput q"},
    {"A[:, 1] = x\noutput A", "where the condition tells the part", ""},
    {"A[1:-1, 1:-1] = x\noutput A", "where the condition tells the part", ""},
    {"def f(a, most = 3) {\n  return a + most\n}\nz = f(x, most=5)\noutput z",
     "write '5' alone, in the place of the parameter 'most'",
     "def f(a, most = 3.0) {\n  return a + most\n}\nz = f(x, 5)\noutput z"},
    {"fn f(a) {\n  while a > 0 {\n    a = a - 1\n  }\n  a\n}\noutput x", "loops and branches need a def", ""},
    {"fn f(a) {\n  b = a\n  for i in 0..3 {\n    b = b - 1\n  }\n  b\n}\noutput x", "write def f(...)", ""},
    {"z = random(1, 1000)\noutput z", "randint(7, 1, 1000, over N)", "output z = randint(7, 1, 1000, over N)"},
    {"z = normal(10, 2)\noutput z", "10 + 2 * normal(7, N)", "output z = 10 + 2 * normal(7, N)"},
    {"z = solve(A, x)\noutput z", "write lstsq(A, b)", "output z = lstsq(A, x)"},
    {"z = G[3]\noutput z", "and G' @ e for row 3 as a vector over [N]",
     "e = if i64(index(N)) == 3 then 1.0 else 0.0\noutput z = G' @ e"},
    {"z = std(x, by n in K)\noutput z", "write group_std(x, n, over K)", "output z = group_std(x, n, 0, over K)"},
    {"P, Q = nmf(A, 5)\noutput P", "unknown function 'nmf'", ""},
    {"P, Q = eig(B)\noutput P", "write w, V = eigh(H)", "P, Q = eigh(A' @ A)\noutput P"},
    {"P, Q = eihg(B)\noutput P", "did you mean 'eigh'?", ""},
    {"z = sum(x > 0)\noutput z", "write count_nonzero(x > 0), or sum(i64(x > 0))",
     "output z = count_nonzero(x > 0), q = sum(i64(x > 0))"},
    {"m = x > 0\nz = sum(m, over N)\noutput z", "write count_nonzero(m, over N), or sum(i64(m), over N)",
     "m = x > 0\noutput z = count_nonzero(m, over N), q = sum(i64(m), over N)"},
    {"m = x > 0\nd = G @ m\nz = d >= 3\noutput z", "write G @ i64(m) for how many are",
     "m = x > 0\nd = G @ i64(m)\noutput z = d >= 3"},
    {"m = x > 0\nz = x * m\noutput z", "write f64(m), which is 1 where it is true", "m = x > 0\noutput z = x * f64(m)"},
    {"e = 1\nwhile e > r {\n  e = e - 1\n}\noutput e", "write f64(e), or begin with e = 1.0",
     "e = 1.0\nwhile e > r {\n  e = e - 1\n}\noutput e"},
    {"e = 1\nwhile e > 1e-6 {\n  e = e - 1\n}\noutput e", "write f64(e), or begin with e = 1.0", ""},
    {"e = 1\nwhile e > 0 {\n  e = sum(x)\n}\noutput e", "begin with a number of that type, as e = 1.0", ""},
    {"Q = fill(0, F, K)\nz = A @ Q\noutput z", "'@' of f64 and i64; ", "Q = fill(0.0, F, K)\noutput z = A @ Q"},
    {"Q = fill(0, F, K)\nz = A @ Q\noutput z", "write f64(Q), or begin with fill(0.0, ...)",
     "Q = fill(0, F, K)\noutput z = A @ f64(Q)"},
    {"z = x * (n + 1)\noutput z", "convert the i64 side: f64(x)", "output z = x * f64(n + 1)"},
    {"z = max(n, x)\noutput z", "convert the other side to f64: f64(x)", "output z = max(f64(n), x)"},
    {"m = x > 0\nc = sum(1.0, by n in N)\nt = triangles(G)\noutput c, t",
     "declare dim C local = size(N), write by k in C",
     "dim C local = size(N)\nc = sum(1.0, by n in C)\nt = triangles(G)\noutput c, t"},
    {"S = A' @ A\nz = at(S, x, over rows)\noutput z", "nothing says which of them the others meet",
     "S = A' @ A\ne = 0.0\nfor j in 0..4 {\n  e = e + sum(at(S, j, over rows)) + sum(at(S, size(F) - 1 - j, over "
     "rows))\n}\noutput e"},
    {"z = quantile(x, 90)\noutput z", "it takes a number from 0 to 1", "output z = quantile(x, 0.9)"},
    {"z = quantile(x, -0.5)\noutput z", "it takes a number from 0 to 1", ""},
    {"z = percentile(x, 900)\noutput z", "it takes a number from 0 to 100", "output z = percentile(x, 90)"},
    {"z = histogram(x, 5, 5, over K)\noutput z", "give an upper end that is larger", ""},
    {"z = tmean(x, 3, -1)\noutput z", "write tmean(x, -1, 3)", "output z = tmean(x, 3, 3)"},
    {"z = randint(7, 6, 1, over K)\noutput z", "write randint(seed, 1, 6)", "output z = randint(7, 1, 6, over K)"},
    {"z = pinball_loss(x, y, 90)\noutput z", "it takes a number from 0 to 1", "output z = pinball_loss(x, y, 0.9)"},
    {"z = smooth(x, 30)\noutput z", "write 0.3", "output z = smooth(x, 0.3)"},
    {"z = pagerank(G, 85)\noutput z", "write 0.85", "output z = pagerank(G, 0.85)"},
    {"z = minkowski(x, y, 0)\noutput z", "it takes a number above 0", "output z = minkowski(x, y, 0.5)"},
    {"z = huber_loss(x, y, -1)\noutput z", "it takes a number of at least 0", "output z = huber_loss(x, y, 1)"},
    {"z = histogram(x, 255, 0, over K)\noutput z", "write histogram(x, 0, 255, over K)",
     "output z = histogram(x, 0, 255, over K)"},
    {"e = 1.0\nwhile e > r {\n  loss = e * e\n  e = e / 2\n}\noutput loss",
     "it ended with the block that begins in line 9",
     "e = 1.0\nloss = 0.0\nwhile e > r {\n  loss = e * e\n  e = e / 2\n}\noutput loss"},
    {"z = x > 0 | y > 0\noutput z", "write a || b", ""},
    {"z = ~flag\noutput z", "write !a", ""},
    {"z = A \\ x\noutput z", "write solve(A, b)", ""},
    {"z = x + \\\n  y\noutput z", "a line continues after", ""},
    {"z = A .* A\noutput z", "element by element", "output z = A * A"},
    {"z = A %*% x\noutput z", "write A @ B", ""},
    {"z = [i for i in x]\noutput z", "[i in N:", ""},
    {"z = sum(a for a in x)\noutput z", "sum(i in N:", ""},
    {"z = abs x\noutput z", "write abs(x)", "output z = abs(x)"},
    {"z = 1:10\noutput z", "i64(index(N))", "output z = i64(index(N))"},
    {"z = sum(A, over axis)\noutput z", "sum(A, over F), or sum(A, over columns), has a sum for each row",
     "output z = sum(A, over F)"},
    {"z = x[n]\noutput z", "take(x, n, over N)", "output z = take(x, n, over N)"},
    {"z = A @ B'\noutput z", "transpose the other factor: as [F, K]", "output z = A @ B"},
    {"z = x <> y\noutput z", "write a != b", "output z = x != y"},
    {"z = x is y\noutput z", "write a == b", ""},
    {"z = flag ? x : y\noutput z", "write if c then a else b", "output z = if flag then x else y"},
    {"z = x if flag else y\noutput z", "write if c then a else b", ""},
    {"// what it does\noutput x", "a comment begins with #", "# what it does\noutput x"},
    {"z = x // what it does\noutput z", "a comment begins with #", ""},
    {"/* what it does */\noutput x", "a comment begins with #", ""},
    {"z == x\noutput z", "write = to give a name a value", "z = x\noutput z"},
    {"z := x\noutput z", "write x = value", ""},
    {"z <- x\noutput z", "write x = value", ""},
    {"let z = x\noutput z", "write x = value", ""},
    {"double z = 1\noutput z", "write x = value", ""},
    {"z = y = x\noutput z", "one name a value", ""},
    {"z, q = x, y\noutput z", "each name its value", ""},
    {"z = 1\nfor i in range(3):\n  z = z + 1\noutput z", "write for i in 0..n { ... }",
     "z = 1\nfor i in 0..3 { z = z + 1 }\noutput z"},
    {"z = 1\nfor i in range(3) { z = z + 1 }\noutput z", "write for i in 0..n { ... }", ""},
    {"z = 0.0\nfor B in batches(N, 64) { z = z + 1 }\noutput z", "write for B in blocks(N, 64)", ""},
    {"z = 1\nfor i = 1:3 { z = z + 1 }\noutput z", "write for i in 0..n { ... }", ""},
    {"z = 1\nfor (i = 0; i < 3; i++) { z = z + 1 }\noutput z", "write for i in 0..n { ... }", ""},
    {"z = 1\nfor i in 0..3\n  z = z + 1\noutput z", "'{' and the block should follow", ""},
    {"z = 1\nif r > 0:\n  z = 2\noutput z", "blocks stand in braces", "z = 1\nif r > 0 { z = 2 }\noutput z"},
    {"z = 1\nif r > 0\n{\n  z = 2\n}\noutput z", "write the brace at the end of this line", ""},
    {"z = 1\nif r = 0 { z = 2 }\noutput z", "write == to compare", "z = 1\nif r == 0 { z = 2 }\noutput z"},
    {"z = 1\nwhile z < 3: z = z + 1\noutput z", "'{' and the block should follow", ""},
    {"z = 1\nwhile z < 3 {\n  z = z + 1\n  continue\n}\noutput z", "a branch: if !c { ... }", ""},
    {"z = 1\nif r > 0 { break }\noutput z", "block of a while or a for", ""},
    {"z = 1\nwhile z < 3 {\n  break\n  z = z + 1\n}\noutput z", "if c { break }", ""},
    {"z = x[-1]\noutput z", "size(N) - 1", "output z = x[size(N) - 1]"},
    {"d ^= 2\noutput d", "write d = d ^ ...", ""},
    {"z = 1\nif r > 0 { z = 2 } elif r < 0 { z = 3 }\noutput z", "the end of the statement", ""},
    {"z = 1\nif r > 0 { z = 2 }\nelif r < 0 { z = 3 }\noutput z", "else if d { ... }", ""},
    {"def f(a): return a\noutput x", "blocks stand in braces", "def f(a) { return a }\noutput z = f(x)"},
    {"return x", "write output x", "output x"},
    {"function f(a) { a }\noutput x", "write fn f(x) = ...", ""},
    {"fn f(a) { return a }\noutput z = f(x)", "write the value alone", "fn f(a) { a }\noutput z = f(x)"},
    {"import numpy\noutput x", "use \"file.ks\"", ""},
    {"print(x)", "write output x", "output x"},
    {"output(x)", "the name of a result", ""},
    {"output x + 1", "output result = ...", "output result = x + 1"},
    {"sqrt(x)\noutput x", "write y = sqrt(...)", ""},
    {"z = x.sum()\noutput z", "write sum(...)", "output z = sum(x)"},
    {"z = x.size\noutput z", "write size(...)", ""},
    {"z = x.shape\noutput z", "write size(N)", "output z = size(N)"},
    {"z = np.median(v)\noutput z", "write median(...)", "output z = median(v)"},
    {"x.sort()\noutput x", "change nothing", ""},
    {"z = sum(A, axis=1)\noutput z", "write sum(A, over F)", "output z = sum(A, over F)"},
    {"z : float[N] = 0\noutput z", "write f64", "z : f64[N] = 0\noutput z"},
    {"z : f64[10] = 0\noutput z", "dim N = 10", ""},
    {"dim D = 10 local\noutput x", "write dim D local = size", "dim D local = 10\noutput x"},
    {"input Q\noutput x", "write input Q : f64[N]", "input Q : f64[N]\noutput Q"},
    {"z = x\n  + y\noutput z", "end the line above with the operator", "z = x +\n  y\noutput z"},
    {"z = .5\noutput z", "write 0.5", ""},
    {"z = \"text\"\noutput z", "no texts", ""},
    {"z = empty(N)\noutput z", "write fill(0.0, N)", "output z = zeros(N)"},
    {"z = x * pi\noutput z", "write 3.14159", ""},
    {"z = if flag { x } else { y }\noutput z", "'then'", ""},
    {"z = 1\nwhile z < 3 {\n  z = z + 1\n  if z > r\n    z = z + 2\n  }\n}\noutput z",
     "write the brace at the end of this line",
     "z = 1\nwhile z < 3 {\n  z = z + 1\n  if z > 1 {\n    z = z + 2\n  }\n}\noutput z"},
    {"end\noutput x", "a block stands in braces", ""},
};

TEST(Habits, UsesFromElsewhereAreToldHowTheyAreWrittenHere) {
  for (const Use& use : uses) {
    const std::vector<Diagnostic> found = faults_of(context + use.text + '\n');
    ASSERT_FALSE(found.empty()) << use.text;
    const std::string message = found[0].what + "; " + found[0].why + "; " + found[0].remedy;
    EXPECT_NE(message.find(use.remedy), std::string::npos) << use.text << "\n  " << message;
    EXPECT_GT(found[0].where.line, 6) << use.text;
    if (*use.right != '\0') {
      EXPECT_EQ(first_line(faults_of(context + use.right + '\n')), "") << use.right;
    }
  }
}

TEST(Habits, OnlyWhatIsReallyNearIsSuggested) {
  const std::vector<std::string> names{"mean", "sqrt", "log1p", "--workers", "--output", "partition", "degree_of_all"};
  for (const auto& [wanted, near] : std::vector<std::pair<std::string, std::string>>{{"maen", "mean"},
                                                                                     {"mea", "mean"},
                                                                                     {"sqr", "sqrt"},
                                                                                     {"median", ""},
                                                                                     {"sotr", ""},
                                                                                     {"log10", "log1p"},
                                                                                     {"--wrokers", "--workers"},
                                                                                     {"--out", "--output"},
                                                                                     {"--o", ""},
                                                                                     {"parti", "partition"},
                                                                                     {"degre_of_al", "degree_of_all"},
                                                                                     {"Mean", "mean"},
                                                                                     {"dgre_of_al", ""},
                                                                                     {"speed", ""},
                                                                                     {"x", ""}}) {
    EXPECT_EQ(nearest_name(wanted, names, Slips::few), near) << wanted;
  }
}

}  // namespace
}  // namespace kasen
