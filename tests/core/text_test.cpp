// The IR's text: print then parse is the identity, and nothing that a file can hold crashes the parser.
#include <gtest/gtest.h>

#include <random>

#include "libcore/ir/module.h"
#include "tests/core/text_cases.h"

namespace kasen {
namespace {

using testing::fault_of;
using testing::replaced;

const std::string fused_pagerank = R"(kir 1 level 3
## kasen-plan 0.1.0 pagerank.ks
source "pagerank.ks"
| dim V
|
| input G : null[V, V]
module pagerank {
  dim V
  dim F local
  dim K = 10
  const k = 5
  fn damp(x: f64, r: f64) -> f64 = 1.0 - r + r * x
  fn absdiff(a: f64, b: f64) -> f64 = abs(a - b)
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn div(x: f64, y: i32) -> f64 = x / f64(y)
  fn gt(x: f64, y: f64) -> bool = x > y
  fn scale(x: f64, c: f64 > 0.0 <= 1.0, d: [f64; 2] != 0.0) -> f64 = x * c / d[0]
  assume "r" > 0.0 < 1.0
  assume associative(add) operand 0 by "assumed" at 2:8
  assume commutative(add) operand 0 by "assumed"
  law distributive(mul, add) operand 0 by "built-in" at 2:1
  fitted "0123abcd"
  planned "strategy=cost:greedy sync=auto split=on epilogue=off moves=on"
  buffer ~b0 : f64[V] {G.cols}
  buffer ~b1 : f64[V] {G.rows} {G.rows, G.cols}
  %G = input "G" : null[V,V] sparse @part at 3:7
  %r = param "r" = 0.85 : f64 @cons
  %c0 = literal true : bool @cons
  %p0 = fill 1.0 : f64[V] @part ~b0
  %q0 = map[damp] %p0, %r : f64[V] @part ~b1
  %pr, %go = while (%p : f64[V] @part ~b0 = %p0, %c : bool @cons = %c0) test 1 likely expect 30 : f64[V] @part ~b0, bool @cons at 9:1 {
    %s = scatter %p : f64[V] @cons{G.rows} ~b1
    %m = mxv[mul, add] %s, %G : f64[V] @pre(add){G.cols} ~b0
    %t = gather %m : f64[V] @part ~b0
    %n, %e = region iter_on_vec (%t, %p, %r) : f64[V] @part ~b1, f64 @pre(add) {
      %a = map[damp] %t, %r speculated : f64[V] @part
      %b = map[absdiff] %p, %a : f64[V] @part
      %f = reduce[add] %b : f64 @pre(add)
      yield %a, %f
    }
    %e1 = gather %e : f64 @part
    %e2 = scatter %e1 : f64 @cons
    %k = apply[gt] %e2, %r : bool @cons
    yield %n, %k
  }
  output "rank" %pr
}
##end
)";

const std::string functions_and_lists = R"(kir 1 level 1
module kinds {
  dim N
  fn near(b: (i64, f64), p: [f64; 3], c: [f64; 3], j: i64) -> (i64, f64) = if sum($0 in 3: (p[$0] - c[$0]) ^ 2.0) < b.1 then tuple(j, sum($0 in 3: (p[$0] - c[$0]) ^ 2.0)) else b
  fn odd(x: f64, y: f64) -> f64 = neg(1.0) + -1.0 - (x - (y - -x)) / (x * y ^ (-1.0) ^ 2.0) - -(x + y)
  fn whole(i: i64, n: i32) -> i64 = (i // 2 * 3 - i % -7) * i64(n + -3i32)
  fn logic(a: bool, x: f32) -> bool = (a || !a && x < 1.5f32) == (x >= inff32)
  fn point(p: [f32; 2]) -> [f32; 2] = [$0 in 2: min(p[$0], max($1 in 2: p[$1]))]
  fn pick(i: id[N], j: id[N]) -> bool = i == j
  fn inc(x: i64) -> i64 = x + 1
  %z = literal 0 : i64 @?
  %t = literal (0, 1.5) : (i64, f64) @?
  %x = fill 0 : i64[N] @?
  %l = list %x : list<4> i64[N] @?
  %c = literal true : bool @?
  %w = for %i : i64 @? in %z, %z down (%a : list<4> i64[N] @? = %l) : list<4> i64[N] @? {
    %g = get %a, %i : i64[N] @?
    %h = if %c likely : i64[N] @? {
      %u = map[inc] %g : i64[N] @?
      yield %u
    } else {
      yield %g
    }
    %b = push %a, %h : list<4> i64[N] @?
    yield %b
  }
  %v = index[N] : id[N][N] @?
  %n = size[N] : i64 @?
  %o = get %w, %z : i64[N] @?
  output "odd \"name\"" %o
}
##end
)";

TEST(Text, PrintThenParseIsTheIdentity) {
  for (const std::string& text : {fused_pagerank, functions_and_lists}) {
    const Module module = parse_module(text, "test.kir");
    EXPECT_EQ(print_module(module), text);
    EXPECT_EQ(print_module(parse_module(print_module(module), "again.kir")), text);
  }
}

TEST(Text, AMinusBeforeANumberIsPartOfIt) {
  for (const char* body : {"-(2.0 ^ x)", "-2.0 ^ x", "(-2.0) ^ x", "-(2.0 ^ x ^ y)", "-x ^ y", "2.0 ^ (-x)"}) {
    const std::string text = replaced(fused_pagerank, "= x + y", std::string("= ") + body);
    const Module module = parse_module(text, "test.kir");
    const Module again = parse_module(print_module(module), "again.kir");
    EXPECT_EQ(again.functions, module.functions) << body;
  }
}

TEST(Text, HistoryCanBeLeftOut) {
  const std::string text = print_module(parse_module(fused_pagerank, "test.kir"), false);
  EXPECT_EQ(text.find("## kasen-plan"), std::string::npos);
  EXPECT_NE(text.find("##end"), std::string::npos);
}

TEST(Text, FaultsNameTheirPlace) {
  EXPECT_NE(fault_of("dim N\n").find("not Kasen IR"), std::string::npos);
  EXPECT_NE(fault_of("\n").find("the input is empty"), std::string::npos);
  EXPECT_NE(fault_of(replaced(fused_pagerank, "kir 1", "kir 3")).find("version 3"), std::string::npos);
  EXPECT_NE(fault_of(replaced(fused_pagerank, "##end", "")).find("cut off"), std::string::npos);
  EXPECT_NE(fault_of(fused_pagerank.substr(0, fused_pagerank.size() / 2)).find("cut off"), std::string::npos);
  const std::string unknown = fault_of(replaced(fused_pagerank, "gather %m", "gather %mm"));
  EXPECT_NE(unknown.find("bad.kir:35:17: error: unknown value '%mm'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("\n                  ^"), std::string::npos) << unknown;
  EXPECT_NE(fault_of(replaced(fused_pagerank, "map[damp]", "map[dump]")).find("unknown function 'dump'"),
            std::string::npos);
  EXPECT_NE(fault_of(replaced(fused_pagerank, "= x + y", "= x + true")).find("'+' of f64 and bool"), std::string::npos);
  EXPECT_NE(fault_of(replaced(fused_pagerank, "~b1 : f64", "~b7 : f64")).find("expected buffer ~b1"),
            std::string::npos);
}

TEST(Text, LiteralsAreOfTheirTypes) {
  const std::string fill = "%p0 = fill 1.0 : f64[V]";
  for (const std::string wrong : {"%p0 = fill 1 : f64[V]", "%p0 = fill 1.0f32 : f64[V]", "%p0 = fill true : f64[V]"}) {
    const std::string reported = fault_of(replaced(fused_pagerank, fill, wrong));
    EXPECT_NE(reported.find("for %p0, which holds f64"), std::string::npos) << reported;
    EXPECT_NE(reported.find(":30:14:"), std::string::npos) << reported;
  }
  EXPECT_NE(fault_of(replaced(fused_pagerank, "= 0.85 : f64", "= 1 : f64")).find("type i64 for %r"), std::string::npos);
  EXPECT_NE(fault_of(replaced(fused_pagerank, "literal true", "literal -true")).find("is no literal"),
            std::string::npos);
}

// An operator without a place in the program has its place in the text; printing leaves it out again.
TEST(Text, OperatorsHaveAPlace) {
  const Module module = parse_module(fused_pagerank, "plan.kir");
  EXPECT_EQ(module.body.ops[0].where, (Location{"pagerank.ks", 3, 7}));
  EXPECT_EQ(module.body.ops[1].where, (Location{"plan.kir", 28, 3}));
  EXPECT_EQ(module.assumptions[0].where, (Location{"pagerank.ks", 2, 8}));
  EXPECT_EQ(module.assumptions[1].where, (Location{"plan.kir", 21, 10}));
  EXPECT_EQ(print_module(parse_module(print_module(module), "other.kir")), fused_pagerank);
}

TEST(Text, DeepNestingIsRefused) {
  const std::string nested(100000, '(');
  EXPECT_NE(fault_of(replaced(fused_pagerank, "= x + y", "= " + nested + "x")).find("too deeply"), std::string::npos);
  std::string minus(100000, '-');
  EXPECT_NE(fault_of(replaced(fused_pagerank, "= x + y", "= " + minus + "x")).find("too deeply"), std::string::npos);
}

TEST(Text, DamagedFilesAreRefusedOrRead) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string text = round % 2 == 0 ? fused_pagerank : functions_and_lists;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % (text.size() - 10);
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(32 + random() % 95);
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 12));
      }
    }
    try {
      const Module module = parse_module(text, "damaged.kir");
      EXPECT_EQ(print_module(parse_module(print_module(module), "x.kir")), print_module(module));
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
    }
  }
}

std::string with_function(const std::string& body) {
  return "kir 1 level 1\nmodule m {\n  fn f(x: f64) -> f64 = " + body + "\n}\n##end\n";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Text, ChainsAreReadInLinearTimeAndEnd) {
  EXPECT_EQ(fault_of(with_function(repeated("x + ", 3000) + "x")), "no fault");
  EXPECT_NE(fault_of(with_function(repeated("x + ", 1 << 20) + "x")).find("too long"), std::string::npos);
}

TEST(Text, DimensionsAreLimited) {
  std::string dims;
  for (int i = 0; i < 5000; ++i) dims += "  dim D" + std::to_string(i) + "\n";
  EXPECT_NE(fault_of("kir 1 level 1\nmodule m {\n" + dims + "}\n##end\n").find("more than 4096"), std::string::npos);
}

TEST(Text, MessagesShowThePartOfALongLineThatMatters) {
  const std::string said = fault_of(with_function(repeated("x + ", 100) + "wrong" + repeated(" + x", 1 << 20)));
  EXPECT_NE(said.find("unknown parameter 'wrong'"), std::string::npos);
  ASSERT_LT(said.size(), 1000U);
  const size_t line = said.find('\n') + 1, caret = said.rfind('^'), under = said.rfind('\n') + 1;
  EXPECT_EQ(said.substr(line, 5), "  ...");
  EXPECT_EQ(said.substr(line + caret - under, 5), "wrong");
  EXPECT_LT(fault_of(with_function(repeated("y", 1 << 20))).size(), 4000U);
}

}  // namespace
}  // namespace kasen
