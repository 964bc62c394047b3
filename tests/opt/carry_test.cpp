// Plans of one program know its values by what they mean, whatever their layout, and go on from each other's borders.
#include "libcomm/data/checkpoint/carry.h"

#include <gtest/gtest.h>

#include "libcomm/data/checkpoint/meaning.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"
#include "tests/opt/random_program.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

std::map<std::string, std::string> outputs_of(const Module& module) {
  const Meanings meanings = meanings_of(module);
  std::map<std::string, std::string> found;
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::output) found[op.name] = meanings.values[op.operands[0]];
  }
  return found;
}

std::string meaning_of(const std::string& text) { return outputs_of(compile(text)).begin()->second; }

const std::string loop_text =
    "dim N\ninput A : dense f64[N, N], b : f64[N]\nx = b\ny = b\nfor i in 0..5 {\n  z = A @ x\n  y = y + x\n  x = z / "
    "2\n}\n"
    "output x\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text = loop_text;
  const size_t at = text.find(from);
  if (at == std::string::npos) throw InternalError("a text without " + from);
  return text.replace(at, from.size(), to);
}

TEST(Carry, NamesDoNotCountAndAllElseDoes) {
  const std::string same = meaning_of(loop_text);
  EXPECT_EQ(same,
            meaning_of(with("  z = A @ x\n  y = y + x\n  x = z / 2\n", "  y = y + x\n  q = A @ x\n  x = q / 2\n")));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"z / 2", "z / 3"},
                                                                                 {"z / 2", "z / 2 + y"},
                                                                                 {"x = b\n", "x = 2 * b\n"},
                                                                                 {"0..5", "0..6"},
                                                                                 {"0..5", "reversed (0..5)"},
                                                                                 {"A @ x", "A' @ x"},
                                                                                 {"output x", "output x = y"},
                                                                                 {"output x", "output x = x + y"}}) {
    EXPECT_NE(same, meaning_of(with(from, to))) << to;
  }
}

// A slice of whole lines, and one whose elements go straight to their owners.
TEST(Carry, SlicesMeanTheSameWhereverTheyAreMade) {
  const auto text = [](const std::string& dim, const std::string& of) {
    return "dim N, M\ndim K = " + dim + ", L = M[1:]\ninput A : dense f64[N, M]\noutput y = slice(A, " + of +
           ") * 2.0\n";
  };
  const Module program = compile(text("N[1:]", "K"));
  const std::string same = outputs_of(program).at("y");
  bool straight = false;
  for (const char* cut : {"N", "M"}) {
    OptimizeOptions options;
    options.mesh = {{"a", 4}};
    LayoutHint hint{"A", {{"N", ""}, {"M", ""}}};
    hint.cuts[*cut == 'N' ? 0 : 1].second = "a";
    options.layouts = {hint};
    TrialLawChecker laws;
    const Module made = optimize(program, laws, options);
    for (const Op& op : made.body.ops) straight = straight || rearranges_on_the_way(op);
    EXPECT_EQ(outputs_of(made).at("y"), same) << cut;
  }
  EXPECT_TRUE(straight);
  EXPECT_NE(meaning_of(text("N[:-1]", "K")), same);
  EXPECT_NE(meaning_of(text("N[1:]", "L")), same);
}

// Two carried values that begin alike and differ from the third iteration on.
TEST(Carry, CarriedValuesDifferByWhatLaterIterationsMakeOfThem) {
  const Module module = compile(
      "dim N\ninput b : f64[N]\np = b\nq = b\nr = b\ns = b\nt = b\nfor i in 0..5 {\n  u = q / 2\n  v = r / 2\n"
      "  w = s / 2\n  s = s + 1\n  t = t / 2\n  p = u\n  q = v\n  r = w\n}\noutput p, q, r, s, t\n");
  std::map<std::string, int> found;
  for (const auto& [name, meaning] : outputs_of(module)) ++found[meaning];
  EXPECT_EQ(found.size(), 5U);
}

struct Seen {
  int outputs = 0, equal = 0;
};

// Passes change programs before they choose layouts and regions: plans are compared with the plainest one.
void compare_plans(const Module& program, Seen& seen) {
  const auto wanted = outputs_of(plan(program, Strategy::none, SyncMode::eager, true, false));
  for (const Strategy strategy : {Strategy::none, Strategy::greedy, Strategy::fuse_all}) {
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::hybrid}) {
      for (const auto& [name, meaning] : outputs_of(plan(program, strategy, sync, true, false))) {
        ++seen.outputs;
        seen.equal += meaning == wanted.at(name) ? 1 : 0;
      }
    }
  }
}

TEST(Carry, OutputsMeanTheSameInOtherPlans) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    compare_plans(compile(testing::random_program(seed)), seen);
    compare_plans(testing::RandomProgram(seed).make(6), seen);
  }
  std::printf("%d of %d\n", seen.equal, seen.outputs);
  EXPECT_GT(seen.outputs, 300);
  EXPECT_GT(seen.equal, seen.outputs * 3 / 4);  // strategies and modes may also compute otherwise
}

}  // namespace
}  // namespace kasen
