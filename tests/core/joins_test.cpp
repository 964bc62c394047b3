// Operators on the nonzeros of several patterns (libcore/entries/joins.h): what the verifier takes, and what the parts
// of a worker give, beside plain loops.
#include "libcore/entries/joins.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "tests/core/verify_cases.h"
#include "tests/support/patterns.h"

namespace kasen {
namespace {

using testing::expect_fault;
using testing::expect_right;

// Over [N, M], with places of an element of the pattern; a square one over [N, N].
const std::string join_head =
    "dim E entries \"G\"\ndim F entries \"H\"\ndim P entries \"G|H\"\ndim S entries \"Q\"\n"
    "fn near(e: f64, i: id[N], j: id[M]) -> f64 = e\nfn place(e: f64, i: id[N], j: id[N]) -> (id[N], id[N]) = tuple(i, "
    "j)\n"
    "fn half_place(e: f64, i: id[N], j: id[N]) -> (id[N], i64) = tuple(i, 1)\n"
    "fn far_place(e: f64, i: id[N], j: id[M]) -> (id[N], id[M]) = tuple(i, j)\nfn own(e: f64, i: id[N], j: id[N]) -> "
    "f64 = "
    "e\n";
const std::string join_inputs = join_head +
                                "%G = input \"G\" : f64[N,M] sparse @?\n%H = input \"H\" : f64[N,M] sparse @?\n"
                                "%P = input \"G|H\" : null[N,M] sparse @?\n%Q = input \"Q\" : f64[N,N] sparse @?\n"
                                "%n = index[N] : id[N][N] @?\n%m = index[M] : id[M][M] @?\n"
                                "%w = entries[near] %H, %n, %m rows 1 : f64[F] @?\n"
                                "%p = entries[place] %Q, %n, %n rows 1 : (id[N],id[N])[S] @?\n"
                                "%h = entries[half_place] %Q, %n, %n rows 1 : (id[N],i64)[S] @?\n"
                                "%v = entries[own] %Q, %n, %n rows 1 : f64[S] @?\n";

TEST(Joins, RightPrograms) {
  expect_right(1, join_inputs + "%a = align %P, %G : f64[P] @?\noutput \"a\" %a");
  expect_right(1, join_inputs + "%a = align %P, %H, %w : f64[P] @?\noutput \"a\" %a");
  expect_right(1, join_inputs + "%a = align %G, %H, %w : f64[E] @?\noutput \"a\" %a");
  expect_right(1, join_inputs + "%a = meet %p, %p, %v, %p, %v : f64[S] @?\noutput \"a\" %a");
  expect_right(1, join_inputs + "%a = meet %p, %p, %v : f64[S] @?\noutput \"a\" %a");
}

TEST(Joins, WrongOperandsAndResults) {
  expect_fault(1, join_inputs + "%a = align %P, %n : f64[P] @?", "%n is no sparse matrix of the bundle");
  expect_fault(1, join_inputs + "%a = align %P, %Q : f64[P] @?", "both matrices are over the same dimensions");
  expect_fault(1, join_inputs + "%a = align %P, %G, %w : f64[P] @?", "it has values at the nonzeros of G");
  expect_fault(1, join_inputs + "%a = align %P, %G : f64[E] @?", "it gives f64 for each nonzero of G|H");
  expect_fault(1, join_inputs + "%a = align %P, %G : i64[P] @?", "it gives f64 for each nonzero of G|H");
  expect_fault(1, join_inputs + "%a = meet %h, %p, %v, %p, %v : f64[S] @?", "places are the row and the column");
  expect_fault(1, join_inputs + "%a = meet %p, %p, %w, %p, %v : f64[S] @?", "the factors have numbers of one type");
  expect_fault(1, join_inputs + "%a = meet %p, %p, %p, %p, %v : f64[S] @?", "the factors have numbers of one type");
  expect_fault(1, join_inputs + "%a = meet %p, %p, %v, %p, %v : i64[S] @?", "it gives an element of its factors");
  expect_fault(1, join_inputs + "%a = meet %p, %p, %v, %p : f64[S] @?", "4 operands");
  expect_fault(1, join_inputs + "%a = meet %p, %p : f64[S] @?", "operands");
  expect_fault(1,
               join_inputs + "%g = entries[far_place] %G, %n, %m rows 1 : (id[N],id[M])[E] @?\n" +
                   "%u = entries[near] %G, %n, %m rows 1 : f64[E] @?\n%a = meet %p, %g, %u : f64[S] @?",
               "both are over the same rows and columns");
  expect_fault(1, join_inputs + "%a = map[half] %G : f64[N] @?", "only products and folds read nonzeros");
}

TEST(PatternInputs, FollowFromOthers) {
  const std::string two = "%G = input \"G\" : f64[N,M] sparse @?\n%x = input \"x\" : f64[N] @?\n";
  expect_right(
      1, two + "%P = input \"G'\" : null[M,N] sparse @?\n%R = input \"G@G'\" : null[N,N] sparse @?\noutput \"x\" %x");
  expect_right(1, two + "%P = input \"G~\" : null[N,M] sparse @?\n%R = input \"((G')~)'\" : null[N,M] sparse @?\n" +
                      "output \"x\" %x");
  expect_fault(1, two + "%P = input \"G~\" : null[M,N] sparse @?", "are not those of the sparse inputs");
  expect_fault(1, two + "%P = input \"G|\" : null[N,M] sparse @?", "'G|' is no pattern");
  expect_fault(1, two + "%P = input \"G&G'\" : null[N,M] sparse @?", "are not those of the sparse inputs");
  expect_fault(1, two + "%P = input \"G@G\" : null[N,M] sparse @?", "are not those of the sparse inputs");
  expect_fault(1, two + "%P = input \"G|x\" : null[N,M] sparse @?", "are not those of the sparse inputs");
  expect_fault(1, two + "%P = input \"G'\" : null[N,M] sparse @?", "are not those of the sparse inputs");
  expect_fault(1, two + "%P = input \"G'\" : f64[M,N] sparse @?", "it is a sparse matrix of null");
}

TEST(PatternInputs, HaveGhostsInQuotes) {
  const std::string text =
      "%G = input \"G\" : null[N,M] sparse @part\n%P = input \"G&G\" : null[N,M] sparse @part\n"
      "%x = input \"x\" : f64[N] @part\n%s = scatter %x : f64[N] @cons{\"G&G\".rows, G.rows}\noutput \"s\" %s";
  const Module module = testing::module_of(2, text);
  const std::string printed = print_module(module);
  EXPECT_NE(printed.find("@cons{G.rows, \"G&G\".rows}"), std::string::npos) << printed;
  EXPECT_EQ(print_module(parse_module(printed, "t.kir")), printed);
}

TEST(JoinStates, FactorsAreWholeEverywhere) {
  const std::string placed = join_head +
                             "%Q = input \"Q\" : f64[N,N] sparse @part\n%G = input \"G\" : f64[N,M] sparse @part\n"
                             "%H = input \"H\" : f64[N,M] sparse @part\n%P = input \"G|H\" : null[N,M] sparse @part\n"
                             "%n = index[N] : id[N][N] @cons{Q.rows}\n%k = index[N] : id[N][N] @cons{Q.cols}\n"
                             "%p = entries[place] %Q, %n, %k rows 1 : (id[N],id[N])[S] @part\n"
                             "%v = entries[own] %Q, %n, %k rows 1 : f64[S] @part\n"
                             "%ps = scatter %p : (id[N],id[N])[S] @cons{all}\n%vs = scatter %v : f64[S] @cons{all}\n";
  expect_right(2, placed + "%a = meet %p, %ps, %vs, %ps, %vs : f64[S] @part\noutput \"a\" %a");
  expect_right(2, placed + "%a = align %P, %G : f64[P] @part\noutput \"a\" %a");
  expect_fault(2, placed + "%a = meet %p, %ps, %v, %ps, %vs : f64[S] @part", "meet reads @cons{all}");
  expect_fault(2, placed + "%a = meet %p, %p, %vs, %ps, %vs : f64[S] @part", "meet reads @cons{all}");
  expect_fault(2, placed + "%a = align %P, %G : f64[P] @cons{all}", "");
}

// Two matrices over the same dimensions on several workers: each nonzero's number, and the other's place.
TEST(AlignedEntries, FindEachPlace) {
  std::mt19937_64 random(11);
  testing::TestData data;
  data.workers = 3;
  data.dims["N"] = {23, false, testing::random_owners(random, 23, 3)};
  data.dims["M"] = {17, false, testing::random_owners(random, 17, 3)};
  for (const char* name : {"G", "H"})
    data.matrices[name] = testing::random_matrix(random, "N", "M", 23, 17, 120, Scalar::f64, 3);
  for (auto& [name, matrix] : data.matrices)
    for (size_t e = 0; e < matrix.entries.size(); ++e)
      matrix.owner[e] = static_cast<int>((matrix.entries[e].first + 2 * matrix.entries[e].second) % 3);
  const auto global = [](const PartDim& dim, const AxisSlaves& axis, std::int64_t local) {
    const std::int64_t masters = dim.masters.size();
    return local < masters ? dim.masters[local] : axis.slaves.at(static_cast<size_t>(local - masters));
  };
  std::int64_t found = 0;
  for (const Part& part : testing::split(data)) {
    const auto places = [&](const PartMatrix& matrix) {
      std::vector<std::pair<std::int64_t, std::int64_t>> made;
      for (size_t r = 0; r + 1 < matrix.row_pointers.size(); ++r)
        for (std::int64_t e = matrix.row_pointers[r]; e < matrix.row_pointers[r + 1]; ++e)
          made.emplace_back(global(part.dims.at("N"), matrix.row_slaves, static_cast<std::int64_t>(r)),
                            global(part.dims.at("M"), matrix.col_slaves, matrix.columns[static_cast<size_t>(e)]));
      return made;
    };
    const PartMatrix &to = part.matrices.at("G"), &from = part.matrices.at("H");
    const auto of_to = places(to), of_from = places(from);
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> known;
    for (size_t e = 0; e < of_from.size(); ++e) known[of_from[e]] = static_cast<std::int32_t>(e);
    const std::vector<std::int32_t> made = aligned_entries(part, to, from);
    ASSERT_EQ(made.size(), of_to.size());
    for (size_t e = 0; e < made.size(); ++e) {
      const auto at = known.find(of_to[e]);
      EXPECT_EQ(made[e], at == known.end() ? absent_entry : at->second);
      found += made[e] >= 0 ? 1 : 0;
    }
  }
  EXPECT_GT(found, 5);
}

// Rows and columns of all lengths, one of which is far longer than the others, in pieces.
TEST(Meet, SumsWhatBothFactorsHave) {
  std::mt19937_64 random(12);
  constexpr std::int64_t n = 60, k = 300, m = 50;
  const auto filled = [&](std::int64_t rows, std::int64_t cols, std::int64_t percent) {
    std::vector<std::int64_t> at[2];
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) {
        if (static_cast<std::int64_t>(random() % 100) >= (i % 10 == 3 ? 95 : j % 10 == 4 ? 90 : percent)) continue;
        at[0].push_back(i);
        at[1].push_back(j);
        values.push_back(static_cast<std::int64_t>(random() % 9) + 1);
      }
    return std::tuple(at[0], at[1], values);
  };
  const auto [a_rows, a_cols, u] = filled(n, k, 2);
  const auto [b_rows, b_cols, v] = filled(k, m, 4);
  const auto [p_rows, p_cols, unused] = filled(n, m, 30);
  const auto places = [](const auto& rows, const auto& cols) {
    return Places{rows.data(), cols.data(), static_cast<std::int64_t>(rows.size())};
  };
  const Factor left = make_factor(places(a_rows, a_cols), n, false);
  const Factor right = make_factor(places(b_rows, b_cols), m, true);
  std::vector<std::int64_t> made(p_rows.size(), -1);
  const auto of_left = ordered_values(left, reinterpret_cast<const std::byte*>(u.data()), Scalar::i64);
  const auto of_right = ordered_values(right, reinterpret_cast<const std::byte*>(v.data()), Scalar::i64);
  Meeting meeting{places(p_rows, p_cols),
                  &left,
                  &right,
                  of_left.data(),
                  of_right.data(),
                  reinterpret_cast<std::byte*>(made.data()),
                  Scalar::i64,
                  k};
  const auto count = static_cast<std::int64_t>(made.size());
  for (std::int64_t begin = 0; begin < count; begin += 37) meet_some(meeting, begin, std::min(count, begin + 37));
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> of_b;
  for (size_t e = 0; e < b_rows.size(); ++e) of_b[{b_rows[e], b_cols[e]}] = v[e];
  for (size_t e = 0; e < made.size(); ++e) {
    std::int64_t wanted = 0;
    for (size_t q = 0; q < a_rows.size(); ++q) {
      const auto at = of_b.find({a_cols[q], p_cols[e]});
      if (a_rows[q] == p_rows[e] && at != of_b.end()) wanted += u[q] * at->second;
    }
    EXPECT_EQ(made[e], wanted);
  }
  // Of one factor, its own values.
  meeting.right = nullptr;
  meeting.length = m;
  const auto [c_rows, c_cols, w] = filled(n, m, 20);
  const Factor alone = make_factor(places(c_rows, c_cols), n, false);
  const auto of_alone = ordered_values(alone, reinterpret_cast<const std::byte*>(w.data()), Scalar::i64);
  meeting.left = &alone;
  meeting.left_values = of_alone.data();
  for (std::int64_t begin = 0; begin < count; begin += 37) meet_some(meeting, begin, std::min(count, begin + 37));
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> of_c;
  for (size_t e = 0; e < c_rows.size(); ++e) of_c[{c_rows[e], c_cols[e]}] = w[e];
  for (size_t e = 0; e < made.size(); ++e) {
    const auto at = of_c.find({p_rows[e], p_cols[e]});
    EXPECT_EQ(made[e], at == of_c.end() ? 0 : at->second);
  }
  EXPECT_NO_THROW(require_places(places(a_rows, a_cols), n, k));
  EXPECT_THROW(require_places(places(a_rows, a_cols), n - 1, k), UserError);
  EXPECT_THROW(require_places(places(a_rows, a_cols), n, k - 1), UserError);
  const std::vector<std::int64_t> negative{-1}, zero{0};
  EXPECT_THROW(require_places(places(negative, zero), n, k), UserError);
}

}  // namespace
}  // namespace kasen
