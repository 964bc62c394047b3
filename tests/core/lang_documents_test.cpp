// Every form of the language that its page and its help topic show is planned: code blocks, and what stands in `code`.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"

namespace kasen {
namespace {

// What the names of the pages stand for, in one place or another: a form has to make a program in one of these worlds.
const std::string entries = R"(dim N, M, K local = 3
input X : f64[N, M], U : f64[N, K], V : f64[M, K], B : f64[M, K], a : f64[N], u : f64[N], v : f64[M], b : f64[M]
const eps = 1e-9
fn z(x, y) = x * y
fn r(x, y) = x + y
)";
const std::vector<std::string> worlds{
    R"(dim N, M, K
input A : dense f64[N, M], B : dense f64[M, K], x : f64[N], y : f64[M], P : [f64; 3][N]
param g = 0.5
)",
    "dim N, M\nconst a = 2, b = 8, s = 2\n",
    "dim N\ninput A : f64[N, N], X : f64[N, N], d : f64[N], a : f64[N], v : f64[N]\nW = X * d\nchange = 1.0\n",
    "dim N, M, K = N[5:8], L = M[::2], NM = N * M\nconst a = 2, b = 8, s = 2\ninput A : dense f64[N, M]\n",
    "dim N, M, S = N + M\ninput A : f64[N], B : f64[M]\n",
    "dim N, M, NM = N * M\ninput A : f64[NM]\n",
    "dim F local, C local\ninput H : f64[F, F], X : f64[C, F], g : f64[F]\n",
    "dim N, F local\ninput X : f64[N, F], y : f64[N]\n",
    "dim N\ninput y : f64[N]\nw = 1\n",
    "dim N, F local\ninput A : f64[N, F], x : f64[N]\n",
    "dim N, F local, G local = F[:]\ninput A : f64[F, F], X : f64[N, F]\n",
    "use \"linalg\"\ndim N, F local\ninput X : f64[N, F]\n",
    "use \"blocks\"\ndim N, M\ninput A : dense f64[N, M], b : f64[N]\n",
    "use \"stats\"\ndim N, F local\ninput X : f64[N, F], x : f64[N]\n",
    R"(dim N, M
const k = 7, d = 3, m = 5
dim F local, C local = 11, K local = 3, T local = 60, W local
input G : null[N, N], A : f64[N, F], P : f64[N, C], x : f64[N], y : f64[N], u : f64[N], v : f64[N], tmp2 : f64[N]
input n : i64[N], p : [f64; 3][N], c : [f64; 3][N], t : (f64, i64)[N], flags : bool[N], weight : f64[N], z : f64[N]
param r = 0.85, i = 1, seed = 7, begin = 2, j = 1
param condition = true
new_pr = x
pr = x
w = 1
a = x
b = y
fn f(x, y) = x + y
fn damp(x, r) = (1 - r) + r * x
list s[m] : f64[N] = 0
)",
    R"(dim N, M, F local, K local = 3
input X : f64[N, F], B : f64[F, K], Y : f64[N, K], C : f64[K, F], b : bool[N], x : f64[N], u : f64[N], v : f64[M]
fn f(x, y) = x * y
)",
    R"(dim N, M, F local, T local = 60
input G : null[N, N], X : f64[T, N, F], y : f64[T, N], x : f64[N], v : f64[N]
param t = 3
const k = 7
fn z(x, y) = x * y
fn r(x, y) = x + y
fn f(x, y) = x + y
total = reduce(f, x)
)",
    R"(dim N, K local = 3, C local = 11
input A : f64[N, C], x : f64[N], v : bool[N]
fn f(x, y) = x
pushed = map(f, x, x)
)",
    R"(dim W local, N
const d = 3, m = 5
input w : f64[N], n : i64[N], x : f64[N]
input p : [f64; 3][N], t : (f64, i64)[N]
param r = 0.5
)",
    "dim N, F local\nparam x = 1.5, c = true\ninput a : f64[N], b : f64[N]\n",
    "dim N\ninput a : i64[N], b : i64[N], c : i64[N]\n",
    "dim N\ninput A : f64[N, N], x : f64[N]\nparam a = true, b = false\n",
    "dim N, M, K\ninput x : f64[N], A : dense f64[N, M], k : i64[N]\n",
    "dim N, C local, I = N[1:-2], A local = 3\ninput x : f64[N], X : f64[N, C], V : f64[A, C]\n",
    "dim N, One local = 1, S = One + N + One\ninput x : f64[N], p : f64[S]\n",
    "dim N, K some N\ninput A : f64[N], mask : bool[N]\n",
    "dim T local = 60\n",
    "dim N, W workers\n",
    "dim W workers, B\n",
    "dim N, M, B = N / M, K local, C local, F local\ninput A : f64[N, K], T : f64[N, C, F], H : f64[N, F, F], g : "
    "f64[N, F]\n",
    "dim N, K local, W workers, Z local fills N / W, S = N + Z, B local = S / W\ninput A : f64[N, K]\nT = fill(0.0, W, "
    "B)\n",
    "dim R\n",
    "dim N, Z\n",
    "dim N\n",
    "const d = 3\n",
    "",
    "dim N, M, K\nfn next(a, b) = (a.0 * b.0, a.1 * b.0 + b.1)\n"
    "input A : dense f64[N, M], v : f64[N], k : i64[K]\nsteps = map((a, y) -> (a, y), v, v)\n",
    "dim N, M, K\ninput X : f64[N, M], Y : f64[N, M], v : f64[M], A : f64[N, K], B : f64[K, M]\nS = X + Y\n",
    "dim N\nparam k = 1\ninput A : f64[N, N], B : f64[N, N], X : f64[N, N]\n",
    "dim N, F local = 8\ninput X : sparse f64[N, F], D : f64[N, F], dropout : f64[N, F]\n",
    "dim N, M = N[:]\ninput A : f64[N, N], d : f64[N]\n",
    "dim N, F local = 8, K local = 3\ninput X : sparse f64[N, F], Y : sparse f64[N, K]\n",
    "dim N, M\ninput A : f64[N, N], G : null[N, N], X : f64[N, M], Y : f64[M, N]\n",
    entries,
    entries + "W = X * log(U @ V' + eps)\n"};

// Words of the pages that are none of the language.
const std::set<std::string> others{"*.ks",
                                   "kasen plan pagerank.ks",
                                   "kasen go",
                                   "kasen partition --program",
                                   "limits=other.csv",
                                   "examples/",
                                   "N_blocks",
                                   "--rest drop",
                                   "plan",
                                   "run",
                                   "fuse",
                                   "partition",
                                   "-D",
                                   "plan -D k=7",
                                   "plan -D K=10",
                                   "plan -D K=20",
                                   "go -D K=20",
                                   "plan -D",
                                   "run -D",
                                   "partition --dim N=100",
                                   "partition --dim B=250",
                                   "workers",
                                   "kasen run --workers",
                                   "--sizes P=4",
                                   "examples/tsqr.ks",
                                   "examples/autoencoder-batches.ks",
                                   "examples/heat.ks",
                                   "#",
                                   "by k in K",
                                   "in K",
                                   "_",
                                   "**",
                                   "x += e",
                                   "x = x + (e)",
                                   "-=",
                                   "*=",
                                   "/=",
                                   "//=",
                                   "%=",
                                   "**=",
                                   "+= -= *= /= //= %= **=",
                                   "x[mask] = v",
                                   "break",
                                   "docs/language.md",
                                   "docs/library.md",
                                   "kasen plan -D",
                                   "kasen run -D",
                                   "begin",
                                   "%softmax.e",
                                   "S, centre = spread(A)",
                                   "x : f64",
                                   "x : f64[R]",
                                   "X : [R, C]",
                                   "size(R)",
                                   "[i in R: ...]",
                                   "over R",
                                   "over d",
                                   "over d, e",
                                   "## file \"NAME\"",
                                   "X + 1",
                                   "X + if Y == 0 then 1.0 else 0.0",
                                   "X|Y",
                                   "X&Y",
                                   "A[i, k] * B[k, j]",
                                   "partition --stats",
                                   "--strategy cost",
                                   "fuse-all"};

std::string read(const std::string& path) {
  std::ifstream file(std::string(EXAMPLES_DIR) + "/../" + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

bool compiles(const std::string& text) {
  try {
    const auto read = [](const std::string& path) { return path == "file.ks" ? "def doubled(x) = x + x\n" : ""; };
    const Module module = compile_program(text, "form.ks", {}, read);
    TrialLawChecker laws;
    return verify_module(module, laws).empty();
  } catch (const UserError&) {
    return false;
  }
}

std::string filled_in(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// What stands for something else: `...`, `expression`, `[likely]`. In a line of prose a line's end is a blank.
std::string filled(std::string form, bool prose) {
  if (prose) form = filled_in(std::move(form), "\n", " ");
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{{"{ ... }", "{ w = w + 1 }"},
                                                                                   {", ...", ""},
                                                                                   {"any(...)", "any(flags)"},
                                                                                   {"all(...)", "all(flags)"},
                                                                                   {"= expression", "= x"},
                                                                                   {": type", ": f64[N]"},
                                                                                   {"= ...", "= x + y"},
                                                                                   {"[likely]", "likely"},
                                                                                   {"[expect 30]", "expect 30"},
                                                                                   {"[unroll]", "unroll"},
                                                                                   {"\\|", "|"}}) {
    form = filled_in(std::move(form), what, with);
  }
  return form;
}

// As an expression, statements, stored entries, a product's matrix, a function that is handed on, a type, or a range.
bool is_planned(const std::string& form) {
  using Place = std::pair<std::string, std::string>;
  static const std::vector<Place> places{{"output the_form = ", ""},
                                         {"", "\noutput the_end = 1"},
                                         {"output the_form = sum(", ")"},
                                         {"output the_form = sum(X * (", "))"},
                                         {"output the_form = [i in I: ", "]"},
                                         {"output the_form = ", " @ x"},
                                         {"output the_form = map(", ", x)"},
                                         {"output the_form = map(", ", x, x)"},
                                         {"input the_form : ", "\noutput q = sum(the_form)"},
                                         {"input the_form : ", "\noutput the_form"},
                                         {"input the_form : ", "[N]\noutput the_form"},
                                         {"w = 1\n", " { w = w + 1 }\noutput w"},
                                         {"w = 0.0\nfor B in blocks(N, 64) { w += sum(", ") }\noutput w"},
                                         {"w = 0\nfor B in blocks(N, 64) { w += i64(", ") }\noutput w"},
                                         {"w = 1\nfor q in ", " { w = w + 1 }\noutput w"}};
  for (const std::string& world : worlds) {
    const auto fits = [&](const Place& place) { return compiles(world + place.first + form + place.second + '\n'); };
    if (std::any_of(places.begin(), places.end(), fits)) return true;
  }
  return false;
}

// Several that blanks part: `sum(v) prod(v)`.
bool all_planned(const std::string& forms) {
  std::istringstream parts(forms);
  const std::vector<std::string> each(std::istream_iterator<std::string>(parts), {});
  return each.size() > 1 && std::all_of(each.begin(), each.end(), is_planned);
}

// Words and signs one by one: keywords, operators and functions, numbers.
bool is_of_words(const std::string& form) {
  static const std::set<std::string> words = [] {
    std::istringstream all(
        "dim local const param input dense sparse output fn def return use list assume while for in reversed unroll if "
        "then else "
        "likely as "
        "expect over push true false inf nan f64 f32 i64 i32 bool null id ; ( ) [ ] { } = @ && || ! == != < <= > >= "
        "30");
    return std::set<std::string>(std::istream_iterator<std::string>(all), {});
  }();
  std::istringstream parts(form);
  for (std::string word; parts >> word;) {
    if (words.contains(word)) continue;
    const bool operation = std::any_of(scalar_op_rows().begin(), scalar_op_rows().end(), [&](const ScalarOpRow& r) {
      return r.result != ResultRule::special && (r.name == word || r.symbol == word);
    });
    if (operation) continue;
    // A whole-array function as a value is told to be called.
    try {
      (void)compile_program("output z = " + word + '\n', "word.ks", {});
      return false;
    } catch (const UserError& error) {
      if (error.diagnostics()[0].why.find("there is a function of that name") == std::string::npos) return false;
    }
  }
  return true;
}

void check_page(const std::string& path, size_t least) {
  const std::string page = read(path);
  std::string prose;
  size_t forms = 0, from = 0;
  const std::regex block("```[^\n]*\n([^`]*)```");
  for (std::sregex_iterator it(page.begin(), page.end(), block), end; it != end; ++it) {
    prose += page.substr(from, static_cast<size_t>(it->position()) - from);
    from = static_cast<size_t>(it->position() + it->length());
    const std::string text = (*it)[1];
    if (text.starts_with("program  ") || text.starts_with("$ ")) continue;  // the grammar, commands
    ++forms;
    std::istringstream lines(text);
    bool each = !compiles(text) && !is_planned(filled(text, false));
    for (std::string line; each && std::getline(lines, line);) {
      EXPECT_TRUE(is_planned(filled(line, false))) << path << ": " << line;
    }
  }
  prose += page.substr(from);
  const std::regex code("`([^`]+)`");
  for (std::sregex_iterator it(prose.begin(), prose.end(), code), end; it != end; ++it) {
    const std::string form = filled((*it)[1], true);
    if (others.contains(form)) continue;
    ++forms;
    EXPECT_TRUE(is_of_words(form) || is_planned(form) || all_planned(form)) << path << ": " << form;
  }
  EXPECT_GE(forms, least) << path;
}

TEST(Documents, EveryFormOfTheLanguagesPageIsPlanned) { check_page("docs/language.md", 200); }
TEST(Documents, EveryFormOfItsHelpTopicIsPlanned) { check_page("tools/topics/language.md", 12); }

TEST(Documents, WhatThePageRefusesIsRefused) { EXPECT_FALSE(compiles(entries + "output z = sum(X + 1)\n")); }

}  // namespace
}  // namespace kasen
