// Loops over blocks of rows: each is the program with declared batches, and what has no meaning so is told.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/lang/lang.h"
#include "tests/core/told_faults.h"

namespace kasen {
namespace {

// The plan without the places in the text.
std::string plan(std::string_view text) {
  Module module = compile_program(text, "test.ks", {});
  module.source.clear();
  return std::regex_replace(print_module(module), std::regex(" at [0-9]+:[0-9]+"), "");
}

constexpr std::string_view written = R"(
  const many = 4
  dim N, F local
  input X : f64[N, F], y : f64[N], G : sparse f64[N, F]
  param rate = 0.5, turns = 3
  def error(A : [R, C], w, b : [R]) = A @ w - b
  w = fill(0.0, F)
  loss = 0.0
  for turn in 0..turns {
    loss = 0.0
    for B in blocks(N, many) expect 7 {
      e = error(X[B], w, y[B]) * random(i64(turn), N)
      w = w - rate / f64(size(B)) * (X[B]' @ e + G[B]' @ e)
      loss += sumsq(e)
    }
  }
  rest = 0.0
  for B in reversed(blocks(N, many)) {
    rest = 0.5 * rest + f64(B) * sum(X[B])
    if rest > 1 { break }
  }
  output w, loss = loss / f64(size(N)), rest
)";

constexpr std::string_view declared = R"(
  const many = 4
  dim N_blocks local, N = many, F local
  input X : f64[N_blocks, N, F], y : f64[N_blocks, N], G : sparse f64[N_blocks, N, F]
  param rate = 0.5, turns = 3
  def error(A : [R, C], w, b : [R]) = A @ w - b
  w = fill(0.0, F)
  loss = 0.0
  for turn in 0..turns {
    loss = 0.0
    for B in 0..size(N_blocks) expect 7 {
      e = error(at(X, B, over N_blocks), w, at(y, B, over N_blocks)) * random(i64(turn), N)
      w = w - rate / f64(size(N)) * (at(X, B, over N_blocks)' @ e + at(G, B, over N_blocks)' @ e)
      loss += sumsq(e)
    }
  }
  rest = 0.0
  for B in reversed(0..size(N_blocks)) {
    rest = 0.5 * rest + f64(B) * sum(at(X, B, over N_blocks))
    if rest > 1 { break }
  }
  output w, loss = loss / f64(size(N_blocks) * size(N)), rest
)";

TEST(LangBlocks, AreDeclaredBatches) { EXPECT_EQ(plan(written), plan(declared)); }

TEST(LangBlocks, LeaveMatricesSparseThatAreWithoutThem) {
  const std::string text =
      "dim N, M, F local\ninput R : f64[N, M], G : null[N, F], D : dense f64[N, M], X : f64[N, F]\n"
      "z = 0.0\nfor B in blocks(N, 5) { z += sum(R[B]) + sum(D[B]) + sum(X[B]) }\noutput z\n";
  const std::string made = plan(text);
  EXPECT_NE(made.find("input \"R\" : f64[N_blocks,N,M] sparse"), std::string::npos) << made;
  EXPECT_NE(made.find("input \"G\" : null[N_blocks,N,F] sparse"), std::string::npos);
  EXPECT_NE(made.find("input \"D\" : f64[N_blocks,N,M] @"), std::string::npos);
  EXPECT_NE(made.find("input \"X\" : f64[N_blocks,N,F] @"), std::string::npos);
}

TEST(LangBlocks, HaveANameThatTheProgramHasNot) {
  const std::string text =
      "dim N, F local\ndim N_blocks local = 3\ninput X : f64[N, F], t : f64[N_blocks]\nw = fill(0.0, F)\n"
      "for B in blocks(N, 5) { w += sum(X[B], over N) }\noutput w, t\n";
  EXPECT_NE(plan(text).find("dim N_blocks_2 local\n"), std::string::npos) << plan(text);
}

// Behind lines 1 to 3.
const std::string block_head = "dim N, F local\ninput X : f64[N, F], y : f64[N]\nw = fill(0.0, F)\n";
const std::string block_loop = "for B in blocks(N, 5) { w += X[B]' @ y[B] }\n";

const std::vector<testing::ToldFault> block_faults = {
    {block_loop + "output z = X @ w", 5, 12, "'X' is not read by a block", "write X[B]"},
    {block_loop + "output X", 5, 8, "'X' is not read by a block", ""},
    {block_loop + "output z = sum(y[B])", 5, 16, "'y' is not read by a block", "within for B in blocks(N, 5)"},
    {block_loop + "output z = fill(0.0, N)", 5, 22, "'N' outside of the loop over its blocks",
     "a program without blocks"},
    {block_loop + "z : f64[N] = 0\noutput z", 5, 9, "'N' outside of the loop", ""},
    {block_loop + "dim L local = N[:]\noutput w", 5, 15, "'N' outside of the loop", ""},
    {block_loop + "def f(a) = sum(a, over N)\noutput w", 5, 24, "'N' outside of the loop", ""},
    {"for B in blocks(N, 5) { w += X' @ y[B] }\noutput w", 4, 30, "'X' is not read by a block", "write X[B]"},
    {"for B in blocks(N, 5) { w += X[0]' @ y[B] }\noutput w", 4, 30, "'X' is not read by a block", "write X[B]"},
    {"for B in blocks(N, 5) { w += w * i64(index(N)) }\noutput w", 4, 38, "the index of 'N'", "i64(B) * size(B)"},
    {"for B in blocks(N, 5) { w += sum(y[B]) / f64(size(N)) }\noutput w", 4, 46, "size(N) within the loop",
     "write size(B)"},
    {"for B in blocks(N, 5) { w += sum(y[B]) / f64(N) }\noutput w", 4, 46, "'N' is a dimension in blocks", "size(B)"},
    {"for B in blocks(N, 5) { w += random(N, F) }\noutput w", 4, 37, "'N' is a dimension in blocks", "size(B)"},
    {"for B in blocks(X, 5) { w += 1 }\noutput w", 4, 10, "'X' is an input, and blocks are of a dimension", ""},
    {"const k = 5\nfor B in blocks(N, k) { w += 1 }\noutput w", 5, 20, "const 'k' stands behind dimension 'N'",
     "move const k above dim N"},
    {"param k = 5\nfor B in blocks(N, k) { w += 1 }\noutput w", 5, 20, "param 'k' as the rows of a block",
     "write const k = ..."},
    {"for B in blocks(N, 5) { k : id[N] = 0; w += X[B]' @ y[B] }\noutput w", 4, 29, "an id of 'N'", ""},
    {"for B in blocks(N) { w += 1 }\noutput w", 4, 10, "takes a dimension and the number", "blocks(N, 64)"},
    {"for B in blocks(5, N) { w += 1 }\noutput w", 4, 10, "takes a dimension and the number", "blocks(N, 64)"},
    {"for B in blocks(M, 5) { w += 1 }\noutput w", 4, 10, "'M' is no dimension of the program", "write dim M"},
    {"input Z : f64[F, N]\nfor B in blocks(N, 5) { w += 1 }\noutput w", 4, 18,
     "blocks of 'N', which is not the first dimension", "[N, ...]"},
    {"for B in blocks(N, 0) { w += 1 }\noutput w", 4, 20, "the size of 'N' is 0", ""},
    {"for B in blocks(N, k) { w += 1 }\noutput w", 4, 20, "unknown name 'k'", ""},
    {block_loop + "for B in blocks(N, 6) { w += 1 }\noutput w", 5, 20, "blocks of 6 rows of 'N', which has blocks of 5",
     "the same size"},
    {"def f(w) {\n  for B in blocks(N, 5) { w += 1 }\n  return w\n}\noutput z = f(w)", 5, 12,
     "a loop over blocks in a def", "hand X[B] to the def"},
    {"for B in batches(N, 5) { w += 1 }\noutput w", 4, 24, "'{' is not expected here", "for B in blocks(N, 64)"},
};

TEST(LangBlocks, WhatHasNoMeaningIsTold) {
  for (const testing::ToldFault& fault : block_faults) testing::expect_told(block_head, fault);
}

TEST(LangBlocks, ADimensionWithASizeOrThatIsLocalIsRefused) {
  const std::string rest = "\ninput y : f64[N]\nz = 0.0\nfor B in blocks(N, 5) { z += sum(y[B]) }\noutput z";
  testing::expect_told("",
                       {"dim N = 20" + rest, 1, 5, "dimension 'N' has a size, and a loop over its blocks", "dim N"});
  testing::expect_told("",
                       {"dim N local" + rest, 1, 5, "dimension 'N' is local, and has a loop", "range(X, K, begin)"});
}

}  // namespace
}  // namespace kasen
