// Sparse values (libcore/ir/entries.h): what the verifier takes, what the text says, and what runs compute, beside
// plain loops over the nonzeros.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "libcore/ir/entries.h"
#include "tests/core/verify_cases.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

using testing::expect_fault;
using testing::expect_right;

const std::string entry_head =
    "dim E entries \"G\"\nfn near(e: f64, x: f64, u: f64) -> f64 = e * x * u\n"
    "fn beside(e: f64, x: f64, u: f64, w: f64) -> f64 = x * u + w\n"
    "fn at(e: f64, u: f64, w: f64) -> f64 = u * w\n";
const std::string inputs1 = entry_head +
                            "%G = input \"G\" : f64[N,M] sparse @?\n%x = input \"x\" : f64[N] @?\n"
                            "%u = input \"u\" : f64[M] @?\n%k = literal 3.0 : f64 @?\n";
const std::string stored1 = inputs1 + "%w = entries[near] %G, %x, %u rows 1 : f64[E] @?\n";

TEST(Entries, RightPrograms) {
  expect_right(1, stored1 + "output \"w\" %w");
  expect_right(1, stored1 +
                      "%h = map[half] %w : f64[E] @?\n%t = entries[beside] %G, %x, %u, %h rows 1 : f64[E] @?\n"
                      "%s = reduce[add] %t : f64 @?\n%r = fold_rows[at, add] %G, %u, %w rows 0 : f64[N] @?\n"
                      "%c = fold_cols[at, add] %G, %x, %w rows 1 : f64[M] @?\n"
                      "output \"s\" %s\noutput \"r\" %r\noutput \"c\" %c");
}

TEST(Entries, WrongOperandsAndResults) {
  expect_fault(1, inputs1 + "%w = entries[at] %G, %x, %k rows 1 : f64[E] @?", "no operand at their other side");
  expect_fault(1, inputs1 + "%w = entries[at] %G, %u, %k rows 0 : f64[E] @?", "no operand at their rows");
  expect_fault(1, inputs1 + "%w = entries[near] %G, %x, %u rows 1 : f64[N] @?",
               "it gives an element for each nonzero of G");
  expect_fault(1, inputs1 + "%w = entries[near] %G, %x, %u rows 1 : i64[E] @?", "near gives f64 for each entry");
  expect_fault(1, inputs1 + "%w = entries[near, add] %G, %x, %u rows 1 : f64[E] @?", "2 functions");
  expect_fault(1, inputs1 + "%w = entries[near] %x, %x, %u rows 1 : f64[E] @?", "%x is no sparse matrix of the bundle");
  expect_fault(1, stored1 + "%t = entries[beside] %G, %x, %w, %u rows 1 : f64[E] @?", "over M");
  expect_fault(1, stored1 + "%t = fold_rows[beside, add] %G, %u, %k, %w rows 0 : f64[N] @?",
               "values at the nonzeros of G stand between");
  const std::string other = "dim F entries \"H\"\n" + stored1 + "%H = input \"H\" : f64[N,M] sparse @?\n";
  expect_fault(1,
               other + "%v = entries[near] %H, %x, %u rows 1 : f64[F] @?\n" +
                   "%t = fold_rows[at, add] %G, %u, %v rows 0 : f64[N] @?",
               "values at the nonzeros of G stand between");
}

TEST(EntriesDims, AreThoseOfOneSparseInput) {
  expect_fault(1, "dim E entries \"x\"\n%x = input \"x\" : f64[N] @?", "'x' is no sparse input");
  expect_fault(1, "dim E entries \"G\"\n%x = input \"x\" : f64[N] @?", "'G' is no sparse input");
  expect_fault(1, "dim F entries \"G\"\n" + stored1, "'G' has one already");
}

const std::string inputs2 = entry_head +
                            "%G = input \"G\" : f64[N,M] sparse @part\n%x = input \"x\" : f64[N] @part\n"
                            "%u = input \"u\" : f64[M] @part\n%xs = scatter %x : f64[N] @cons{G.rows}\n"
                            "%us = scatter %u : f64[M] @cons{G.cols}\n";
const std::string stored2 = inputs2 + "%w = entries[near] %G, %xs, %us rows 1 : f64[E] @part\n";

TEST(EntriesStates, OperandsHaveTheGhostsOfNonzeros) {
  expect_right(2, stored2 + "output \"w\" %w");
  expect_right(2, stored2 +
                      "%r = fold_rows[at, add] %G, %us, %w rows 0 : f64[N] @pre(add){G.rows}\n"
                      "%g = gather %r : f64[N] @part\noutput \"g\" %g");
  expect_fault(2, inputs2 + "%w = entries[near] %G, %x, %us rows 1 : f64[E] @part", "rule 7");
  expect_fault(2, inputs2 + "%w = entries[near] %G, %xs, %u rows 1 : f64[E] @part", "rule 7");
  expect_fault(2, inputs2 + "%w = entries[near] %G, %xs, %us rows 1 : f64[E] @cons{G.rows}", "");
}

TEST(EntriesText, IsReadBack) {
  const Module module = testing::module_of(2, stored2 + "output \"w\" %w");
  const std::string text = print_module(module);
  EXPECT_NE(text.find("dim E entries \"G\"\n"), std::string::npos);
  EXPECT_NE(text.find("%w = entries[near] %G, %xs, %us rows 1 : f64[E] @part"), std::string::npos);
  EXPECT_EQ(print_module(parse_module(text, "t.kir")), text);
  EXPECT_TRUE(has_entries_dims(module));
  EXPECT_EQ(entries_dim(module, "G"), module.find_dim("E"));
  EXPECT_EQ(entries_dim(module, "H"), no_dim);
}

// Everything that reads a sparse value, in a plan of level 2.
const std::string plan2 = stored2 +
                          "%h = map[half] %w : f64[E] @part\n"
                          "%t = entries[beside] %G, %xs, %us, %h rows 1 : f64[E] @part\n"
                          "%r = fold_rows[at, add] %G, %us, %t rows 0 : f64[N] @pre(add){G.rows}\n"
                          "%rg = gather %r : f64[N] @part\n"
                          "%c = fold_cols[at, add] %G, %xs, %t rows 1 : f64[M] @pre(add){G.cols}\n"
                          "%cg = gather %c : f64[M] @part\n"
                          "%p = reduce[add] %t : f64 @pre(add)\n%pg = gather %p : f64 @part\n"
                          "output \"t\" %t\noutput \"r\" %rg\noutput \"c\" %cg\noutput \"p\" %pg";

struct Cells {
  testing::TestData data;
  std::vector<double> x, u, values;
};

Cells cells(int workers, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Cells made;
  made.data.workers = workers;
  made.data.dims["N"] = {11, false, testing::random_owners(random, 11, workers)};
  made.data.dims["M"] = {7, false, testing::random_owners(random, 7, workers)};
  made.data.dims["K"] = {3, true, {}};
  made.data.matrices["G"] = testing::random_matrix(random, "N", "M", 11, 7, 30, Scalar::f64, workers);
  made.data.arrays["x"] = testing::random_vector(random, {"N"}, 11, Scalar::f64);
  made.data.arrays["u"] = testing::random_vector(random, {"M"}, 7, Scalar::f64);
  for (const Word& word : made.data.arrays["x"].words) made.x.push_back(word.f);
  for (const Word& word : made.data.arrays["u"].words) made.u.push_back(word.f);
  for (const Word& word : made.data.matrices["G"].values) made.values.push_back(word.f);
  return made;
}

class EntriesRun : public ::testing::TestWithParam<int> {};

TEST_P(EntriesRun, ComputesWhatALoopOverNonzerosDoes) {
  const Module module = testing::module_of(2, plan2);
  const Cells c = cells(GetParam(), 3);
  const std::vector<Part> parts = testing::split(c.data, module);
  const RunResult result = testing::expect_runs(module, parts);
  std::vector<double> rows(11), cols(7);
  double all = 0;
  const auto& entries = c.data.matrices.at("G").entries;
  for (size_t e = 0; e < entries.size(); ++e) {
    const auto i = static_cast<size_t>(entries[e].first), j = static_cast<size_t>(entries[e].second);
    const double t = c.x[i] * c.u[j] + 0.5 * (c.values[e] * c.x[i] * c.u[j]);
    rows[i] += c.u[j] * t;
    cols[j] += c.x[i] * t;
    all += t;
  }
  for (const Output& output : result.outputs) {
    const std::vector<Word> made = testing::whole_words(module, output, parts);
    if (output.name == "p") {
      EXPECT_NEAR(made.at(0).f, all, 1e-9);
    }
    for (size_t i = 0; i < made.size() && output.name == "r"; ++i) EXPECT_NEAR(made[i].f, rows[i], 1e-9);
    for (size_t j = 0; j < made.size() && output.name == "c"; ++j) EXPECT_NEAR(made[j].f, cols[j], 1e-9);
    if (output.name == "t") {
      EXPECT_EQ(made.size(), entries.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, EntriesRun, ::testing::Values(1, 2, 3, 5));

// Worker after worker has the next indices.
TEST(NumberEntries, GivesEachNonzeroAnIndex) {
  const Module module = testing::module_of(2, plan2);
  const std::vector<Part> parts = testing::split(cells(4, 9).data, module);
  std::int64_t next = 0;
  for (const Part& part : parts) {
    const PartDim& dim = part.dims.at("E");
    EXPECT_EQ(dim.masters.size(), part.matrices.at("G").entries());
    for (const std::int64_t index : dim.masters) EXPECT_EQ(index, next++);
  }
  for (const Part& part : parts) EXPECT_EQ(part.dims.at("E").size, next);
  std::vector<Part> none(1);
  EXPECT_THROW(number_entries(module, none, {}), UserError);
}

}  // namespace
}  // namespace kasen
