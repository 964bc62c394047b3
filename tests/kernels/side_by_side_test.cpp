// Parts of one process that run side by side, each on one thread, give the bits and counts of one thread alone, and of
// each part on all threads: products, vector loops and epilogues with sums, over parts long enough for it, and over
// parts of which one is too long.
#include <cstring>

#include "tests/kernels/epilogue_support.h"

namespace kasen::testing {
namespace {

// A product each way, vector work over masters and over slaves, and sums.
const std::string both_ways =
    "dim N\ninput G : null[N, N]\npr : f64[N] = 1\ntotal = 0.0\nfor k in 0..3 {\n  pr = 0.15 + 0.85 * (G @ (pr * "
    "0.5))\n"
    "  h = G' @ pr\n  total = total + sum(h * pr) + max(h)\n  pr = pr + h * 1e-3\n}\noutput pr\noutput total\n";

// The owners of half of all indices become worker 0: its part is longer than all others together.
TestData lopsided(TestData data) {
  for (auto& [name, dim] : data.dims) {
    for (size_t i = 0; i < dim.owner.size() / 2; ++i) dim.owner[i] = 0;
  }
  TestMatrix& g = data.matrices.at("G");
  for (size_t e = 0; e < g.entries.size(); ++e) {
    g.owner[e] = data.dims.at("N").owner[static_cast<size_t>(g.entries[e].first)];
  }
  return data;
}

void expect_same_on_threads(const Module& plan, const std::vector<Part>& parts, const std::string& what) {
  const auto on = [&](int threads) {
    const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
    const auto kernels = testing::make_kernels({.threads = threads});
    return execute(plan, parts, *transport, *kernels, {});
  };
  const RunResult one = on(1);
  for (const int threads : {2, 3, 8}) {
    const RunResult many = on(threads);
    for (size_t o = 0; o < one.outputs.size(); ++o) {
      for (size_t p = 0; p < one.outputs[o].parts.size(); ++p) {
        const Array& a = one.outputs[o].parts[p].data;
        const Array& b = many.outputs[o].parts[p].data;
        ASSERT_EQ(words_of(a).size(), words_of(b).size());
        EXPECT_EQ(std::memcmp(a.bytes.data(), b.bytes.data(), static_cast<size_t>(a.count) * 8), 0)
            << what << ": " << one.outputs[o].name << " of worker " << p << " on " << threads << " threads";
      }
    }
    for (size_t i = 0; i < one.ops.size(); ++i) {
      EXPECT_EQ(one.ops[i].read_bytes, many.ops[i].read_bytes) << what << ", operator " << i;
      EXPECT_EQ(one.ops[i].written_bytes, many.ops[i].written_bytes) << what << ", operator " << i;
      EXPECT_EQ(one.ops[i].network_bytes, many.ops[i].network_bytes) << what << ", operator " << i;
    }
  }
}

TEST(SideBySide, PartsGiveTheBitsOfOneThread) {
  for (const int workers : {4, 16}) {
    for (const bool epilogue : {false, true}) {
      const Module plan = make_plan(both_ways, epilogue);
      const TestData data = band(workers, 60000, Scalar::null);
      const std::string what = std::to_string(workers) + (epilogue ? " workers, joined" : " workers");
      expect_same_on_threads(plan, split(data), what);
      expect_same_on_threads(plan, split(lopsided(data)), what + ", lopsided");
    }
  }
}

}  // namespace
}  // namespace kasen::testing
