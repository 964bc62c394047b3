// Derived dimensions: their indices and sizes, their text, and what the verifier wants of the operators over them.
#include "libcore/ir/derived_dims.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/laws/laws.h"
#include "tests/core/verify_cases.h"

namespace kasen {
namespace {

using Bound = std::optional<std::int64_t>;
__extension__ using Wide = __int128;  // beyond every bound
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();

// The indices one by one, by the rule of Python's manual: i, i + step, ... before the end.
std::vector<std::int64_t> by_hand(std::int64_t size, const Bound& begin, const Bound& end, std::int64_t step) {
  std::vector<std::int64_t> found;
  const auto counted = [&](std::int64_t bound) { return static_cast<Wide>(bound) + (bound < 0 ? size : 0); };
  const Wide first = begin ? counted(*begin) : step > 0 ? 0 : size - 1;
  const Wide from = step > 0 ? std::max<Wide>(first, 0) : std::min<Wide>(first, size - 1);
  for (Wide i = from; i >= 0 && i < size; i += step) {
    if (end && (step > 0 ? i >= counted(*end) : i <= counted(*end))) break;
    found.push_back(static_cast<std::int64_t>(i));
  }
  return found;
}

TEST(DerivedDims, SlicesAreThoseOfPython) {
  std::vector<Bound> bounds{std::nullopt, least, least + 1, most - 1, most};
  for (std::int64_t b = -7; b <= 7; ++b) bounds.emplace_back(b);
  for (const std::int64_t size : {0, 1, 2, 5}) {
    for (const Bound& begin : bounds) {
      for (const Bound& end : bounds) {
        for (const std::int64_t step : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{-1},
                                        std::int64_t{-2}, std::int64_t{-7}, least, most}) {
          const SlicedIndices got = sliced_indices({Derivation::Kind::slice, {DimId(0)}, begin, end, step}, size);
          const std::vector<std::int64_t> wanted = by_hand(size, begin, end, step);
          ASSERT_EQ(got.count, std::ssize(wanted))
              << size << ' ' << begin.value_or(99) << ':' << end.value_or(99) << ':' << step;
          ASSERT_EQ(wanted.empty() || got.first == wanted[0], true);
          ASSERT_EQ(got.step, wanted.size() > 1 ? step : 1);
        }
      }
    }
  }
}

// Displacements are refused for every size where none keeps a slice inside, and for a size where an index leaves it.
TEST(DerivedDims, SlicesDisplacedOutside) {
  std::vector<Bound> bounds{std::nullopt, least, most};
  for (std::int64_t b = -4; b <= 4; ++b) bounds.emplace_back(b);
  int never = 0, sometimes = 0;
  for (const Bound& begin : bounds) {
    for (const Bound& end : bounds) {
      for (const std::int64_t step : {1, 2, 3, -1, -2, -3}) {
        for (const std::int64_t by : {std::int64_t{-7}, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0},
                                      std::int64_t{1}, std::int64_t{3}, std::int64_t{6}, least, most}) {
          const Derivation slice{Derivation::Kind::slice, {DimId(0)}, begin, end, step};
          bool fits = false, has_indices = false;
          for (std::int64_t size = 0; size <= 24; ++size) {
            const std::vector<std::int64_t> indices = by_hand(size, begin, end, step);
            const bool inside = std::all_of(indices.begin(), indices.end(), [&](std::int64_t i) {
              return static_cast<Wide>(i) + by >= 0 && static_cast<Wide>(i) + by < size;
            });
            ASSERT_EQ(outside_fault(slice, by, size, "N").what.empty(), inside) << size << ' ' << by;
            has_indices = has_indices || !indices.empty();
            fits = fits || (inside && !indices.empty());
          }
          const OutsideFault fault = outside_fault(slice, by, -1, "N");
          const std::string text = derivation_text(slice, [](DimId) { return "N"; });
          ASSERT_EQ(fits && !fault.what.empty(), false) << text << ' ' << by;
          const auto is_far = [](const Bound& bound) { return bound == least || bound == most; };
          if (!has_indices || is_far(begin) || is_far(end) || is_far(by)) continue;
          ASSERT_EQ(fault.what.empty(), fits) << text << ' ' << by;
          ++(fits ? sometimes : never);
        }
      }
    }
  }
  EXPECT_GT(never, 100);
  EXPECT_GT(sometimes, 100);
  const Derivation inner{Derivation::Kind::slice, {DimId(0)}, 1, -1, 1};
  EXPECT_EQ(outside_fault(inner, -2, -1, "N").remedy, "take a narrower one: N[2:-1]");
  EXPECT_EQ(outside_fault(inner, 2, -1, "N").remedy, "take a narrower one: N[1:-2]");
  EXPECT_EQ(outside_fault(inner, 2, 9, "N").why, "N[1:-1] has the indices 1 to 7, and 'N' those from 0 to 8");
}

std::string module_text(const std::string& lines) {
  return "kir 2 level 1\nmodule t {\n  dim N\n  dim M\n  dim K = 10\n" + lines + "}\n##end\n";
}

Module module_with(const std::string& lines) { return parse_module(module_text(lines), "t.kir"); }

std::string fault_of_text(const std::string& lines) {
  try {
    (void)module_with(lines);
  } catch (const UserError& error) {
    return format_diagnostic(error.diagnostics().front());
  }
  return "";
}

TEST(DerivedDims, PrintAndParse) {
  const std::string lines =
      "  dim A = N[5:8]\n  dim B = N[::2]\n  dim C local = K[-3:]\n  dim D = K[:-9223372036854775807:-1]\n"
      "  dim E = N * M\n  dim F = K * K * C\n  dim G local = N + M\n  dim H = K + C + K\n  dim I = B[1:]\n  dim J = "
      "N[:]\n  dim L workers\n  dim O local = N / L\n"
      "  %x = input \"x\" : f64[N,M] @?\n  %y = slice[A of N] %x : f64[A,M] @?\n"
      "  %d = slice[A of N; by -5] %x : f64[A,M] @?\n"
      "  %z = concat[G of N, M] %u, %v : f64[G] @?\n";
  const std::string inputs = "  %u = input \"u\" : f64[N] @?\n  %v = input \"v\" : f64[M] @?\n";
  const std::string all = lines.substr(0, lines.find("  %x")) + inputs + lines.substr(lines.find("  %x")) +
                          "  %e = reshape[E of N, M] %x : f64[E] @?\n  %w = reshape[E of N, M] %e : f64[N,M] @?\n"
                          "  output \"w\" %w\n";
  const Module module = module_with(all);
  EXPECT_EQ(print_module(module), module_text(all));
  TrialLawChecker laws;
  for (const Diagnostic& fault : verify_module(module, laws)) ADD_FAILURE() << format_diagnostic(fault);
  const auto size = [&](const char* name) { return module.dim(module.find_dim(name)).size; };
  EXPECT_EQ(size("A"), -1);
  EXPECT_EQ(size("C"), 3);
  EXPECT_EQ(size("D"), 10);
  EXPECT_EQ(size("F"), 300);
  EXPECT_EQ(size("G"), -1);
  EXPECT_EQ(size("H"), 23);
}

TEST(DerivedDims, TextThatIsNone) {
  EXPECT_NE(fault_of_text("  dim A = A[1:]\n").find("'A'"), std::string::npos);
  EXPECT_NE(fault_of_text("  dim A = Z + N\n").find("'Z'"), std::string::npos);
  EXPECT_NE(fault_of_text("  dim A = N[::0]\n").find("step 0"), std::string::npos);
  EXPECT_NE(fault_of_text("  dim A = N[1]\n").find("expected ':'"), std::string::npos);
  EXPECT_NE(fault_of_text("  dim A = N[1.5:]\n").find("an i64"), std::string::npos);
  const auto fault_of_slice = [](const std::string& attributes) {
    return fault_of_text("  dim A = N[1:]\n  %x = input \"x\" : f64[N] @?\n  %y = slice[" + attributes +
                         "] %x : f64[A] @?\n");
  };
  EXPECT_EQ(fault_of_slice("A of N; by -1"), "");
  for (const char* none : {"A of N; by 0", "A of N; by 1.0", "A of N; by true", "A of N; by 1i32"}) {
    EXPECT_NE(fault_of_slice(none).find("a displacement that is no i64"), std::string::npos) << none;
  }
  EXPECT_NE(fault_of_slice("A of N; -1"), "");
  EXPECT_NE(fault_of_slice("A of N; by -1, 1"), "");
  EXPECT_NE(fault_of_text("  dim A = N\n"), "");
  EXPECT_NE(fault_of_text("  dim A = N * M + K\n"), "");
  EXPECT_NE(fault_of_text("  dim L = 4000000000\n  dim A = L * L * L\n").find("t.kir:7"), std::string::npos);
}

TEST(DerivedDims, SizesFollow) {
  Module module = module_with("  dim A = N[1:]\n  dim B = A * M\n  dim C = B + A\n");
  derive_sizes(module.dims, "the data");
  EXPECT_EQ(module.dim(DimId(5)).size, -1);
  module.dims[DimId(0)].size = 4;
  derive_sizes(module.dims, "the data");
  EXPECT_EQ(module.dim(DimId(3)).size, 3);
  EXPECT_EQ(module.dim(DimId(5)).size, -1);
  module.dims[DimId(1)].size = 5;
  derive_sizes(module.dims, "the data");
  EXPECT_EQ(module.dim(DimId(4)).size, 15);
  EXPECT_EQ(module.dim(DimId(5)).size, 18);
  module.dims[DimId(4)].size = 14;
  try {
    derive_sizes(module.dims, "the data");
    ADD_FAILURE() << "another size is taken";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().front().what, "dimension 'B' has 14 indices in the data");
    EXPECT_EQ(error.diagnostics().front().why, "the program derives it as A * M, which has 15");
  }
}

// With a number of workers, or a mesh that has it.
TEST(DerivedDims, SizesOfTilesFollow) {
  const std::string tiles = "  dim W workers\n  dim A = N / W\n  dim B local = W * M\n";
  Module module = module_with(tiles);
  const DimId workers = module.find_dim("W"), part = module.find_dim("A"), product = module.find_dim("B");
  EXPECT_EQ(workers_dim(module.dims), workers);
  EXPECT_EQ(module.dim(workers).size, -1);
  for (const DimId dim : module.dims.ids()) {
    EXPECT_EQ(depends_on_workers(module.dims, dim), dim == workers || dim == part || dim == product);
  }
  EXPECT_TRUE(is_product_of(module, DimId(0), {workers, part}));
  EXPECT_TRUE(is_product_of(module, DimId(0), {part, workers}));
  EXPECT_TRUE(is_product_of(module, product, {workers, DimId(1)}));
  EXPECT_FALSE(is_product_of(module, product, {DimId(1), workers}));
  EXPECT_FALSE(is_product_of(module, DimId(1), {workers, part}));
  module.dims[DimId(0)].size = 12;
  module.dims[DimId(1)].size = 5;
  Module other = module;
  derive_sizes(module.dims, "the data", 4);
  EXPECT_EQ(module.dim(workers).size, 4);
  EXPECT_EQ(module.dim(part).size, 3);
  EXPECT_EQ(module.dim(product).size, 20);
  try {
    derive_sizes(other.dims, "the data", 5);
    ADD_FAILURE() << "a part is not whole";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().front().what, "dimension 'A' is N / W, but 'N' has 12 indices and 'W' 5");
    EXPECT_EQ(error.diagnostics().front().remedy,
              "take sizes that fit, or add 3 indices: dim Z local fills N / W, S = N + Z, A = S / W");
  }
  other.dims[workers].size = 3;
  EXPECT_THROW(derive_sizes(other.dims, "the data", 4), UserError);
  EXPECT_EQ(module_with("  mesh a = 2, b = 3\n" + tiles).dim(DimId(3)).size, 6);
  EXPECT_NE(fault_of_text("  dim W local workers\n"), "");
  EXPECT_NE(fault_of_text("  dim A = N / M / K\n"), "");
}

// What is wrong with a module of the text, after a change.
template <class Change>
std::string fault_after(const Change& change) {
  Module module = module_with("  dim A = N[1:]\n  dim B = N * M\n  %x = input \"x\" : f64[N] @?\n  output \"x\" %x\n");
  change(module);
  const std::vector<std::string> faults = testing::faults_of(module);
  return faults.empty() ? "" : faults[0];
}

// As many as N lacks, counted up one by one.
TEST(DerivedDims, FillUpQuotients) {
  Derivation derived{Derivation::Kind::quotient, {DimId(0), DimId(1)}, {}, {}, -1};
  const auto name_of = [](DimId d) { return std::string(d == DimId(0) ? "N" : "M"); };
  EXPECT_TRUE(fills(derived));
  EXPECT_FALSE(is_quotient(derived));
  EXPECT_EQ(derivation_text(derived, name_of), "fills N / M");
  for (std::int64_t whole = -1; whole <= 13; ++whole) {
    for (std::int64_t parts = -1; parts <= 6; ++parts) {
      std::int64_t lacks = whole < 0 || parts < 0 ? -1 : 0;
      while (whole >= 0 && parts > 0 && (whole + lacks) % parts != 0) ++lacks;
      const auto size_of = [&](DimId d) { return d == DimId(0) ? whole : parts; };
      EXPECT_EQ(derived_size(derived, size_of), lacks) << whole << " / " << parts;
      EXPECT_NO_THROW(require_whole({"Z", true, -1, derived}, size_of, name_of));
    }
  }
  EXPECT_EQ(derived_size(derived, [](DimId d) { return d == DimId(0) ? most - 1 : most; }), 1);
  derived.step = 1;
  EXPECT_FALSE(fills(derived));
  EXPECT_TRUE(is_quotient(derived));
  const Module module = module_with(
      "  dim Z local fills N / M\n  dim S = N + Z\n  dim B = S / M\n  %x = input \"x\" : f64[N] @?\n  output \"x\" "
      "%x\n");
  EXPECT_TRUE(fills(module.dim(module.find_dim("Z")).derived));
  EXPECT_FALSE(is_product_of(module, module.find_dim("N"), {module.find_dim("M"), module.find_dim("Z")}));
  EXPECT_TRUE(is_product_of(module, module.find_dim("S"), {module.find_dim("M"), module.find_dim("B")}));
  EXPECT_NE(print_module(module).find("  dim Z local fills N / M\n"), std::string::npos);
}

TEST(DerivedDims, TheVerifierChecksThem) {
  const auto derived = [](Module& m, const char* name) -> Derivation& { return m.dims[m.find_dim(name)].derived; };
  EXPECT_EQ(fault_after([](Module&) {}), "");
  const auto wrong = [](const std::string& fault) { return fault.find("is derived wrongly") != std::string::npos; };
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "A").sources = {DimId(3)}; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "A").sources = {DimId(9)}; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "A").sources.clear(); })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "A").step = 0; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "B").sources.pop_back(); })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "B").step = 2; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "B").step = -1; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "B").begin = 2; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "A").kind = Derivation::Kind::quotient; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) { derived(m, "B").kind = Derivation::Kind::workers; })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) {
    derived(m, "B").kind = Derivation::Kind::quotient;
    m.dims[DimId(0)].size = 5;
    m.dims[DimId(1)].size = 2;
    m.dims[m.find_dim("B")].size = 3;
  })));
  EXPECT_TRUE(wrong(fault_after([&](Module& m) {
    m.dims[DimId(0)].size = 5;
    m.dims[m.find_dim("A")].size = 5;
  })));
}

// Faults of an operator over arrays of these dimensions.
std::string fault_of_op(const std::string& op) {
  const std::string head =
      "  dim E = N[::2]\n  dim P = N * M\n  dim S = N + M\n  dim L = K[:8]\n  dim R = L + K + N\n  dim D = N + N\n  "
      "dim H = "
      "N / M\n  dim MN = M * N\n  dim QQ = N * N\n  fn "
      "add(x: f64, y: f64) -> f64 = x + y\n"
      "  %A = input \"A\" : f64[N,M] @?\n  %T = input \"T\" : f64[M,N] @?\n  %Q = input \"Q\" : f64[N,N] @?\n"
      "  %u = input \"u\" : f64[N] @?\n  %v = input \"v\" : f64[M] @?\n  %i = input \"i\" : i64[M] @?\n"
      "  %p = input \"p\" : f64[P] @?\n  %X = input \"X\" : f64[N,E] @?\n  %k = input \"k\" : f64[K] @?\n"
      "  %r = input \"r\" : f64[R] @?\n  %d = input \"d\" : f64[D] @?\n"
      "  %m = input \"m\" : f64[M,N,N] @?\n  %c = input \"c\" : f64[N,N,N] @?\n";
  const std::vector<std::string> faults = testing::faults_of(module_with(head + "  " + op + "\n  output \"z\" %z\n"));
  return faults.empty() ? "" : faults[0];
}

TEST(DerivedDims, OperatorsFitTheirDimensions) {
  for (const char* right : {"%z = slice[E of N] %A : f64[E,M] @?", "%z = concat[S of N, M] %u, %v : f64[S] @?",
                            "%z = reshape[P of N, M] %A : f64[P] @?", "%z = slice[E of N; by 1] %A : f64[E,M] @?",
                            "%z = slice[K of R; by -8] %r : f64[K] @?", "%z = slice[N of R; by -18] %r : f64[N] @?",
                            "%z = reshape[N of M, H] %u : f64[M,H] @?", "%z = reshape[N of H, M] %A : f64[H,M,M] @?",
                            "%z = reshape[QQ of N, N] %Q : f64[QQ] @?", "%z = reshape[MN of M, N] %m : f64[MN,N] @?",
                            "%z = slice[L of K; by 2] %k : f64[L] @?", "%z = reshape[P of N, M] %p : f64[N,M] @?"}) {
    EXPECT_EQ(fault_of_op(right), "") << right;
  }
  const std::pair<const char*, const char*> cases[] = {
      {"%z = slice[E of M] %A : f64[N,E] @?", "not derived so"},
      {"%z = slice[S of N, M] %A : f64[S,M] @?", "not derived so"},
      {"%z = slice[K of N] %A : f64[K,M] @?", "not derived so"},
      {"%z = slice[E of N] %A : f64[N,M] @?", "its dimensions are"},
      {"%z = slice[E of N] %v : f64[E] @?", "as neighbours"},
      {"%z = slice[E of N; by -1] %u : f64[E] @?", "displaced by -1 lies outside of 'N'"},
      {"%z = slice[K of R; by -9] %r : f64[K] @?", "'R' is L + K + N, with 8 indices before 'K'"},
      {"%z = slice[N of D] %d : f64[N] @?", "not derived so"},
      {"%z = slice[L of K; by 3] %k : f64[L] @?", "K[:8] has the indices 0 to 7"},
      {"%z = slice[E of N] %Q : f64[E,N] @?", "dimension twice"},
      {"%z = slice[E of N] %X : f64[E,E] @?", "dimension twice"},
      {"%z = slice[E of N] %u : i64[E] @?", "it gives f64"},
      {"%z = concat[S of N, M] %v, %u : f64[S] @?", "as neighbours"},
      {"%z = concat[S of N, M] %u, %i : f64[S] @?", "it gives i64"},
      {"%z = concat[S of N, M] %u, %v, %v : f64[S] @?", "3 operands"},
      {"%z = concat[S of N, M] %A, %v : f64[S,M] @?", "its dimensions are"},
      {"%z = reshape[P of N, M] %T : f64[P] @?", "as neighbours"},
      {"%z = reshape[P of M, N] %T : f64[P] @?", "not derived so"},
      {"%z = reshape[M of N, H] %v : f64[N,H] @?", "not derived so"},
      {"%z = reshape[QQ of N, N] %c : f64[QQ,N] @?", "as neighbours, once"},
      {"%z = reshape[S of N, M] %A : f64[S] @?", "not derived so"},
      {"%z = reshape[P of N, M] %p : f64[M,N] @?", "its dimensions are"},
  };
  for (const auto& [op, wanted] : cases)
    EXPECT_NE(fault_of_op(op).find(wanted), std::string::npos) << op << '\n' << fault_of_op(op);
}

}  // namespace
}  // namespace kasen
