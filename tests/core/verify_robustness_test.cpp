// No text and no table of values makes the verifier crash.
#include "tests/core/verify_cases.h"

namespace kasen {
namespace {

using testing::faults_of;
using testing::functions;
using testing::joined;
using testing::module_of;
using testing::sources3;

// Every single field of the table of operators broken in turn: faults, never a crash.
void damage(Block& block, int which, int& at, int how) {
  for (Op& op : block.ops) {
    if (at++ == which) {
      switch (how) {
        case 0:
          op.operands.clear();
          break;
        case 1:
          op.operands.assign(5, ValueId(1 << 20));
          break;
        case 2:
          op.results.clear();
          break;
        case 3:
          op.results.assign(2, ValueId(-7));
          break;
        case 4:
          op.fns.assign(2, FnId(99));
          break;
        case 5:
          op.fns.clear();
          break;
        case 6:
          op.blocks.clear();
          break;
        case 7:
          op.blocks.resize(3);
          break;
        case 8:
          op.test = -5;
          break;
        case 9:
          op.dim = DimId(77);
          break;
        case 10:
          op.over.assign(1, DimId(55));
          break;
        case 11:
          for (Block& b : op.blocks) b.args.assign(3, no_value);
          break;
        case 12:
          for (Block& b : op.blocks) b.ops.clear();
          break;
        default:
          op.code = static_cast<OpCode>((static_cast<int>(op.code) + how) % static_cast<int>(op_rows().size()));
      }
    }
    for (Block& inner : op.blocks) damage(inner, which, at, how);
  }
}

const std::string whole_plan =
    "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N]\n" + sources3 +
    "%k = literal 3 : i64 @cons\n%l = list %k : list<2> i64 @cons\n%g0 = get %l, %k : i64 @cons\n"
    "%t = apply[less] %g0 : bool @cons\n%w = map[half] %x : f64[N] @part ~b2\n"
    "%r, %z = while (%a : f64[N] @part ~b2 = %w, %c : bool @cons = %t) test 1 : f64[N] @part ~b2, bool @cons {\n"
    "%s = scatter %a : f64[N] @cons{G.rows} ~b0\n"
    "%p = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols} ~b1\n%q = gather %p : f64[N] @part ~b1\n"
    "%h, %e = region iter_on_vec (%q, %a) : f64[N] @part ~b1, f64 @pre(add) {\n"
    "%d = map[sub] %q, %a : f64[N] @part\n%f = reduce[add] %d : f64 @pre(add)\nyield %d, %f\n}\n"
    "%v = if %c : bool @cons {\nyield %c\n} else {\nyield %c\n}\nyield %h, %v\n}\noutput \"r\" %r";

TEST(Robustness, DamagedModulesAreRefusedNotCrashedOn) {
  ASSERT_EQ(joined(faults_of(module_of(3, whole_plan))), "");
  int ops = 0;
  Module counted = module_of(3, whole_plan);
  damage(counted.body, -1, ops, 0);
  int refused = 0;
  for (int which = 0; which < ops; ++which) {
    for (int how = 0; how < 36; ++how) {
      Module broken = module_of(3, whole_plan);
      int at = 0;
      damage(broken.body, which, at, how);
      refused += faults_of(broken).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, ops * 20);
}

TEST(Robustness, DamagedTables) {
  for (int how = 0; how < 10; ++how) {
    Module m = module_of(3, whole_plan);
    switch (how) {
      case 0:
        m.values[ValueId(1)].type.dims = {DimId(44)};
        break;
      case 1:
        m.values[ValueId(1)].type.element.components.clear();
        break;
      case 2:
        m.values[ValueId(1)].type.state = State::pre(FnId(999));
        break;
      case 3:
        m.values[ValueId(3)].buffer = BufferId(17);
        break;
      case 4:
        m.buffers[BufferId(0)].dims = {DimId(-3)};
        break;
      case 5:
        m.laws.push_back({LawKind::exchange, FnId(98), FnId(97), 0, "proven"});
        break;
      case 6:
        m.level = 7;
        break;
      case 7:
        m.dims.clear();
        break;
      case 8:
        m.functions[FnId(0)].body.args.clear();
        break;
      default:
        m.functions[FnId(0)].params.clear();
        break;
    }
    EXPECT_FALSE(faults_of(m).empty()) << how;
  }
}

// Words of a right module exchanged, dropped and doubled: whatever still parses is judged without a crash.
TEST(Robustness, EditedTextNeverCrashes) {
  const std::string text = "kir 1 level 3\nmodule t {" + functions + whole_plan + "\n}\n##end\n";
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < text.size();) {
    const size_t start = text.find_first_not_of(" \n", i);
    if (start == std::string::npos) break;
    const size_t end = text.find_first_of(" \n", start);
    words.emplace_back(start, end - start);
    i = end;
  }
  std::uint64_t state = 7;
  const auto below = [&](size_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<size_t>(state >> 33) % n;
  };
  int parsed = 0;
  int right = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto [start, length] = words[below(words.size())];
    const auto [from, count] = words[below(words.size())];
    std::string edited = text;
    edited.replace(start, length, trial % 5 == 0 ? std::string() : text.substr(from, count));
    try {
      const Module m = parse_module(edited, "t.kir");
      ++parsed;
      if (faults_of(m).empty()) ++right;
    } catch (const UserError&) {
    }
  }
  EXPECT_GT(parsed, 50);
  EXPECT_LT(right, parsed);
}

}  // namespace
}  // namespace kasen
