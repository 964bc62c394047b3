// Cuts in blocks that are dealt out cyclically, `N/ab:256`, and axes of the mesh that cross nodes.
#include <gtest/gtest.h>

#include <random>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "tests/core/text_cases.h"

namespace kasen {
namespace {

using testing::fault_of;
using testing::replaced;

const std::string in_blocks = R"(kir 2 level 3
module blocks {
  mesh a = 2, b = 3
  nodes a
  dim N
  dim K
  dim F local
  fn twice(x: f64) -> f64 = x * 2.0
  fn add(x: f64, y: f64) -> f64 = x + y
  buffer ~b0 : f64[N/a:2000,K/b] {b}
  %A = input "A" : f64[N/a:2000,K/b] @part
  %x = input "x" : f64[N/ab:4611686018427387904,F] @part
  %y = input "y" : f64[N/a:2000] @part
  %B = scatter %A : f64[N/a:2000,K/b] @cons{b} ~b0
  %C = map[twice] %A : f64[N/a:2000,K/b] @part
  %s = reduce[add; over K] %A : f64[N/a:2000] @pre(add){b}
  output "x" %x
}
##end
)";

std::string verified(const std::string& text) {
  TrialLawChecker laws;
  std::string all;
  for (const Diagnostic& fault : verify_module(parse_module(text, "bad.kir"), laws)) all += format_diagnostic(fault);
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CyclicCuts, PrintThenParseIsTheIdentity) {
  const Module module = parse_module(in_blocks, "test.kir");
  EXPECT_EQ(print_module(module), in_blocks);
  EXPECT_TRUE(module.mesh[0].crosses_nodes);
  EXPECT_FALSE(module.mesh[1].crosses_nodes);
  const std::string both = replaced(in_blocks, "nodes a", "nodes a, b");
  EXPECT_EQ(print_module(parse_module(both, "test.kir")), both);
  // Without a mesh, blocks are no default layout.
  const std::string alone =
      "kir 2 level 2\nmodule m {\n  dim N\n  %A = input \"A\" : f64[N/w:3] @part\n  output \"A\" %A\n}\n##end\n";
  EXPECT_EQ(print_module(parse_module(alone, "test.kir")), alone);
  EXPECT_EQ(verified(alone), "");
}

TEST(CyclicCuts, FaultsNameTheirPlace) {
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "N/ab:4611686018427387904", "N/ab:4611686018427387905")), "2^62"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "N/ab:4611686018427387904", "N/ab:0")), "blocks of 0"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "N/ab:4611686018427387904", "N/ab:")), "the indices of a block"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "N/ab:4611686018427387904", "N:3")), "error"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "N/ab:4611686018427387904", "N/0:3")), "error"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "nodes a", "nodes c")), "no axis 'c'"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "nodes a", "nodes b, a")), "not in the mesh's order"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "nodes a", "nodes a, a")), "not in the mesh's order"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "  mesh a = 2, b = 3\n", "")), "the line 'mesh'"));
  EXPECT_TRUE(has(fault_of(replaced(in_blocks, "kir 2", "kir 1")), "version 1"));
}

TEST(CyclicCuts, ImpossibleOnesAreRefused) {
  const auto fault_of_cut = [](AxisCut cut) {
    Module module = parse_module(in_blocks, "test.kir");
    module.value(ValueId(0)).type.cuts[0] = cut;
    TrialLawChecker laws;
    std::string all;
    for (const Diagnostic& fault : verify_module(module, laws)) all += format_diagnostic(fault);
    return all;
  };
  EXPECT_TRUE(has(fault_of_cut({0, 4}), "no axis of the mesh that they are dealt out over"));
  EXPECT_TRUE(has(fault_of_cut({1, -4}), "in blocks of -4"));
  EXPECT_TRUE(has(fault_of_cut({1, most_block + 1}), "in blocks of"));
  const std::string tiles =
      "kir 2 level 2\nmodule m {\n  mesh a = 2\n  dim W workers\n  %A = input \"A\" : f64[W/a:1] @part\n"
      "  output \"A\" %A\n}\n##end\n";
  EXPECT_TRUE(has(verified(tiles), "worker w's"));
}

// Cuts are alike in equal blocks alone. A buffer has the cuts of what it holds.
TEST(CyclicCuts, OthersAreNotAlike) {
  EXPECT_EQ(axes_cut_alike({3, 5}, {1, 5}), 1U);
  EXPECT_EQ(axes_cut_alike({3, 5}, {2, 5}), 0U);
  EXPECT_EQ(axes_cut_alike({3, 5}, {3, 5}), 3U);
  EXPECT_EQ(axes_cut_alike({3, 5}, {3, 6}), 0U);
  EXPECT_EQ(axes_cut_alike({3, 5}, {3, 0}), 0U);
  EXPECT_TRUE(
      has(verified(replaced(in_blocks, "%C = map[twice] %A : f64[N/a:2000", "%C = map[twice] %A : f64[N/a:1000")),
          "scatter %A to {a} first"));
  const std::string held = verified(replaced(in_blocks, "~b0 : f64[N/a:2000", "~b0 : f64[N/a:1000"));
  EXPECT_TRUE(has(held, "dimensions or cuts")) << held;
  EXPECT_TRUE(
      has(verified(replaced(in_blocks, "%A : f64[N/a:2000] @pre", "%A : f64[N/a] @pre")), "cut like its operand"));
}

// A scan takes up carries in runs, and sorting workers agree on runs: blocks are refused.
TEST(CyclicCuts, LinesInBlocksAreRefused) {
  const std::string line =
      "kir 2 level 2\nmodule m {\n  mesh a = 2\n  dim N = 12\n  fn add(x: f64, y: f64) -> f64 = x + y\n"
      "  %A = input \"A\" : f64[N/a] @part\n  %B = scan[add; over N] %A : f64[N/a] @part\n  output \"B\" "
      "%B\n}\n##end\n";
  EXPECT_EQ(verified(line), "");
  const std::string blocks = replaced(replaced(line, "f64[N/a] @part\n  %B", "f64[N/a:2] @part\n  %B"),
                                      "f64[N/a] @part\n  output", "f64[N/a:2] @part\n  output");
  EXPECT_TRUE(has(verified(blocks), "scatter %A to {all} first")) << verified(blocks);
  const std::string held =
      replaced(replaced(blocks, "  %B", "  %S = scatter %A : f64[N/a:2] @cons{all}\n  %B"), "over N] %A", "over N] %S");
  EXPECT_TRUE(has(verified(held), "each line is made as a whole")) << verified(held);
  const std::string sorted = replaced(line, "scan[add; over N]", "sort[over N]");
  EXPECT_EQ(verified(sorted), "");
  EXPECT_TRUE(has(verified(replaced(blocks, "scan[add; over N]", "sort[over N]")), "scatter %A"));
}

// Figure 4 of NumS: a 4 x 4 grid of blocks on 2 x 2 nodes of 2 x 2 workers each. A[2,3] is on node 1, at worker 3.
TEST(CyclicCuts, NodeAxesFirstAreHierarchical) {
  const Module module = parse_module(
      "kir 2 level 2\nmodule numpy {\n  mesh a = 2, b = 2, c = 2, d = 2\n  nodes a, b\n  dim N = 256\n  dim M = 256\n"
      "  %A = input \"A\" : f64[N/ac:64,M/bd:64] @part\n  output \"A\" %A\n}\n##end\n",
      "test.kir");
  TrialLawChecker laws;
  EXPECT_TRUE(verify_module(module, laws).empty());
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::int64_t node = i % 2 * 2 + j % 2, within = i / 2 % 2 * 2 + j / 2 % 2;
      for (int worker = 0; worker < 16; ++worker) {
        const Elements own = owned_elements(module, module.type(ValueId(0)), worker);
        const Elements block{{{{i * 64, 64}}, {{j * 64, 64}}}};
        EXPECT_EQ(intersection(own, block).count(), worker == node * 4 + within ? 64 * 64 : 0) << i << ' ' << j;
      }
    }
  }
  EXPECT_EQ(owned_elements(module, module.type(ValueId(0)), 1 * 4 + 3).axes[0], (IndexRuns{{128, 64}}));
  EXPECT_EQ(owned_elements(module, module.type(ValueId(0)), 1 * 4 + 3).axes[1], (IndexRuns{{192, 64}}));
  EXPECT_TRUE(names_nodes(module));
  EXPECT_TRUE(are_on_one_node(module, 4, 7));
  EXPECT_FALSE(are_on_one_node(module, 3, 4));
}

// The indices of each worker, against the rule one index at a time; also where axes are held.
TEST(CyclicCuts, RunsAreThoseOfTheRule) {
  std::mt19937_64 random(7);
  for (int tries = 0; tries < 2000; ++tries) {
    Module module;
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    for (std::int64_t axes = 1 + below(3); axes > 0; --axes) {
      module.mesh.push_back({std::string(1, static_cast<char>('a' + module.mesh.size())), 1 + below(3)});
    }
    const DimId dim = module.dims.push_back({"N", false, below(40)});
    const AxisCut cut{1 + static_cast<MeshAxes>(below(all_mesh_axes(module))), 1 + below(6)};
    const MeshAxes held = static_cast<MeshAxes>(random()) & cut.axes;
    const AxisPart part = axis_part(module, dim, cut, held);
    for (int worker = 0; worker < mesh_workers(module); ++worker) {
      IndexRuns wanted;
      for (std::int64_t i = 0; i < module.dim(dim).size; ++i) {
        std::int64_t block = i / cut.block;
        bool has = true;
        for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
          if ((cut.axes >> axis & 1) == 0) continue;
          const std::int64_t place = block % module.mesh[axis].size;
          block /= module.mesh[axis].size;
          has = has && ((held >> axis & 1) != 0 || place == mesh_place(module, worker, axis));
        }
        if (has) append_run(wanted, {i, 1});
      }
      ASSERT_EQ(runs_of(module, part, worker), wanted);
    }
  }
}

TEST(CyclicCuts, VeryManyBlocksAreRefused) {
  Module module;
  module.mesh.push_back({"a", 2});
  const DimId dim = module.dims.push_back({"N", false, std::int64_t{1} << 40});
  const auto runs = [&](std::int64_t block) { return runs_of(module, axis_part(module, dim, {1, block}, 0), 1); };
  EXPECT_THROW((void)runs(1 << 15), UserError);
  EXPECT_EQ(count_of(runs(1 << 20)), std::int64_t{1} << 39);
  EXPECT_EQ(count_of(runs(most_block)), 0);
  module.dims[dim].size = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(count_of(runs(most_block)), most_block - 1);
}

}  // namespace
}  // namespace kasen
