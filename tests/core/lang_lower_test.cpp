// The lowering of programs to level 1 IR: what a user writes, and which operators come out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/executor.h"
#include "libcore/lang.h"

namespace kasen {
namespace {

Module compile(const std::string& text, const std::map<std::string, std::string>& defines = {}) {
  return compile_program(text, "test.ks", defines);
}

std::vector<std::string> op_names(const Module& module) {
  std::vector<std::string> names;
  for_each_op(module, [&](const Op& op, int, int) { names.emplace_back(row(op.code).name); });
  return names;
}

// Everything but names and places: values by number, functions by body and types.
std::string shape(const Module& module) {
  Module bare = module;
  for (size_t i = 0; i < bare.values.size(); ++i) bare.values[i].name = fmt::format("v{}", i);
  for (size_t i = 0; i < bare.functions.size(); ++i) {
    bare.functions[i].name = fmt::format("f{}", i);
    for (size_t k = 0; k < bare.functions[i].params.size(); ++k) {
      bare.functions[i].params[k].name = fmt::format("p{}", k);
    }
  }
  const auto strip = [](auto&& self, Block& block) -> void {
    for (Op& op : block.ops) {
      op.where = {};
      for (Block& inner : op.blocks) self(self, inner);
    }
  };
  strip(strip, bare.body);
  bare.source.clear();
  return print_module(bare, false);
}

const std::string head = R"(
dim N
input G : null[N, N]
param r = 0.85, theta = 1e-6
)";

const std::string algorithm_1 = head + R"(
fn F1(x, y) = x / y
fn F2(x, r) = (1 - r) + r * x
fn F3(x, y) = abs(x - y)
fn F4(x) = x
pr : f64[N] = 1
not_converged = true
degree = MxVT(*, +, G, pr)
while not_converged likely {
  tmp1 = ZipWith(F1, pr, degree)
  tmp2 = MxV(*, +, G, tmp1)
  new_pr = Map(F2, tmp2, r)
  diff = Reduce(+, ZipWith(F3, pr, new_pr))
  pr = Map(F4, new_pr)
  not_converged = (diff > theta)
}
output pr
)";

const std::string whole_arrays = head + R"(
pr = fill(1.0, N)
not_converged = true
degree = G @ pr
while not_converged likely {
  new_pr = (1 - r) + r * (G' @ (pr / degree))
  diff = sum(abs(pr - new_pr))
  pr = new_pr
  not_converged = diff > theta
}
output pr
)";

TEST(Lowering, PrimitivesAndArithmeticAreTheSameProgram) {
  EXPECT_EQ(shape(compile(algorithm_1)), shape(compile(whole_arrays)));
}

TEST(Lowering, PageRankIsOneOperatorALine) {
  const std::vector<std::string> expected{"input", "param", "param", "fill",   "literal", "mxvt",  "while", "map",
                                          "mxv",   "map",   "map",   "reduce", "map",     "apply", "yield", "output"};
  EXPECT_EQ(op_names(compile(algorithm_1)), expected);
}

TEST(Lowering, PrintsAndReadsBack) {
  const std::string text = print_module(compile(algorithm_1));
  EXPECT_EQ(print_module(parse_module(text, "test.kir")), text);
}

}  // namespace
}  // namespace kasen
