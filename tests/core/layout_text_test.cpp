// The text of layouts (version 2): a mesh, cuts behind slashes, axes in sets. One layout has one text.
#include <gtest/gtest.h>

#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "tests/core/text_cases.h"

namespace kasen {
namespace {

using testing::fault_of;
using testing::replaced;

const std::string on_a_mesh = R"(kir 2 level 3
module layouts {
  mesh a = 2, b = 3
  dim N
  dim K
  dim F local
  fn twice(x: f64) -> f64 = x * 2.0
  fn add(x: f64, y: f64) -> f64 = x + y
  buffer ~b0 : f64[N/a,K/b] {b}
  buffer ~b1 : f64[N/ab,F] {all}
  %A = input "A" : f64[N/a,K/b] @part
  %G = input "G" : null[N,N] sparse @part
  %x = input "x" : f64[N/ab,F] @part
  %v = input "v" : f64[K] @cons
  %B = scatter %A : f64[N/a,K/b] @cons{b} ~b0
  %y = scatter %x : f64[N/ab,F] @cons{all} ~b1
  %s = reduce[add; over N] %A : f64[K/b] @pre(add){a}
  %t = reduce[add] %v : f64 @cons
  %u = reduce[add] %A : f64 @pre(add)
  output "x" %x
}
##end
)";

const std::string on_one_axis = R"(kir 2 level 2
module columns {
  dim N
  dim K
  fn twice(x: f64) -> f64 = x * 2.0
  %A = input "A" : f64[N,K/w] @part
  %B = input "B" : f64[N,K] @part
  %C = scatter %A : f64[N,K/w] @cons{all}
  output "A" %A
}
##end
)";

std::string verified(const std::string& text) {
  TrialLawChecker laws;
  std::string all;
  for (const Diagnostic& fault : verify_module(parse_module(text, "bad.kir"), laws)) all += format_diagnostic(fault);
  return all;
}

TEST(LayoutText, PrintThenParseIsTheIdentity) {
  for (const std::string& text : {on_a_mesh, on_one_axis}) {
    const Module module = parse_module(text, "test.kir");
    EXPECT_EQ(print_module(module), text);
  }
  EXPECT_EQ(verified(on_one_axis), "");
}

TEST(LayoutText, OneLayoutHasOneText) {
  // The default layout and the set of every axis, written out, are what is written shorter.
  const std::string longer =
      replaced(replaced(on_one_axis, "%B = input \"B\" : f64[N,K]", "%B = input \"B\" : f64[N/w,K]"), "{all}", "{w}");
  EXPECT_EQ(print_module(parse_module(longer, "test.kir")), on_one_axis);
  const std::string everywhere =
      replaced(replaced(on_a_mesh, "@cons{all}", "@cons{b, a}"), "@pre(add)\n", "@pre(add){all}\n");
  EXPECT_EQ(print_module(parse_module(everywhere, "test.kir")), on_a_mesh);
  // Without cuts of its own a file is of version 1, whatever it says.
  const std::string plain = replaced(replaced(on_one_axis, "N,K/w", "N,K"), "N,K/w", "N/w,K");
  EXPECT_EQ(print_module(parse_module(plain, "test.kir")).substr(0, 13), "kir 1 level 2");
}

TEST(LayoutText, LayoutsAnswerForEachAxis) {
  const Module module = parse_module(on_a_mesh, "test.kir");
  const auto layout = [&](const std::string& name) {
    for (const ValueId id : module.values.ids()) {
      if (module.value(id).name == name) return Layout(module, id);
    }
    throw InternalError("no such value");
  };
  EXPECT_EQ(layout("A").cuts(0), 1U);
  EXPECT_EQ(layout("A").cuts(1), 2U);
  EXPECT_EQ(layout("A").axis_cut_by(1), 1);
  EXPECT_EQ(layout("x").cuts(0), 3U);
  EXPECT_EQ(layout("x").axis_cut_by(1), 0);
  EXPECT_EQ(layout("s").all_cuts(), 2U);
  EXPECT_EQ(layout("s").axis_cut_by(0), no_axis);
  EXPECT_TRUE(layout("v").is_shared());
  EXPECT_TRUE(layout("u").is_shared());
  EXPECT_EQ(layout("G").cuts(0), 3U) << "dealt out over all workers";
}

TEST(LayoutText, FaultsNameTheirPlace) {
  EXPECT_NE(fault_of(replaced(on_a_mesh, "kir 2", "kir 1")).find("bad.kir:3:8: error: version 1"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_one_axis, "kir 2", "kir 1")).find("bad.kir:6:28: error: version 1"),
            std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "kir 2", "kir 3")).find("reads versions 1 to 2"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "N/ab", "N/ba")).find("not in the mesh's order"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "N/ab", "N/aa")).find("not in the mesh's order"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "N/ab", "N/ac")).find("no axis 'c'"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_one_axis, "K/w", "K/a")).find("no axis 'a'"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "b = 3", "a = 3")).find("two axes 'a'"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "b = 3", "bb = 3")).find("'bb' names no axis"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "  dim N\n", "  mesh c = 2\n  dim N\n")).find("one mesh"), std::string::npos);
  EXPECT_NE(fault_of(replaced(on_a_mesh, "{b} ~b0", "{c} ~b0")).find("error"), std::string::npos);
  const std::string onto =
      "kir 1 level 1\nmodule m {\n  dim N\n  fn f(x: f64, y: f64) -> f64 = x + y\n  %A = input \"A\" : f64[N] @?\n"
      "  %P = contract[f, f; i, i ->] %A, %A onto %A : f64 @?\n}\n##end\n";
  EXPECT_EQ(fault_of(onto), "no fault");
  EXPECT_NE(fault_of(replaced(onto, "%A, %A onto", "%A onto")).find("'onto' stands behind two operands"),
            std::string::npos);
}

TEST(LayoutText, ImpossibleLayoutsAreRefused) {
  EXPECT_NE(verified(replaced(on_a_mesh, "%A = input \"A\" : f64[N/a,K/b]", "%A = input \"A\" : f64[N/a,K/ab]"))
                .find("axis 'a' of the mesh cuts two dimensions"),
            std::string::npos);
  EXPECT_NE(verified(replaced(on_a_mesh, "f64[N/ab,F] @part", "f64[N/a,F/b] @part")).find("local, which is never cut"),
            std::string::npos);
  EXPECT_NE(verified(replaced(on_a_mesh, "null[N,N]", "null[N/a,N]")).find("dealt out by the bundle"),
            std::string::npos);
  EXPECT_NE(verified(replaced(on_a_mesh, "b = 3", "b = 0")).find("axis 'b' of the mesh has 0 workers"),
            std::string::npos);
  EXPECT_NE(verified(replaced(on_a_mesh, "a = 2", "a = 2147483648")).find("axis 'b' of the mesh"), std::string::npos);
}

}  // namespace
}  // namespace kasen
