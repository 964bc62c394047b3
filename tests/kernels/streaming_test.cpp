// Results that are too large for the caches are stored past them: the same bits, and only where it may be.
#include <gtest/gtest.h>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libkernels/kernels.h"
#include "libopt/optimize/optimize.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

#ifdef __x86_64__
constexpr bool may_stream_here = true;
#else
constexpr bool may_stream_here = false;
#endif

const std::string program =
    "dim N\ndim F local\ninput x : f64[N], y : f32[N], z : i32[N], A : f64[N, F], c : f64[F]\n"
    "w : f64[N] = 1\ntotal = 0.0\n"
    "for k in 0..3 {\n  w = w + 0.5 * x\n  total = sum(w)\n}\n"
    "both = map((a, b) -> (a + 1, [i in 3: b * a], i32(b)), x, f64(y))\n"
    "output w, total, both, more = z + 3i32, low = y < f32(x), B = A * c, D = (A - x) / sqrt(c * c), f = exp(y)\n";

testing::TestData make_data(int workers, std::int64_t n, std::int64_t columns) {
  std::mt19937_64 random(3);
  testing::TestData data;
  data.workers = workers;
  std::vector<int> owner;
  for (std::int64_t i = 0; i < n; ++i) owner.push_back(static_cast<int>(i * workers / n));
  data.dims["N"] = {n, false, owner};
  data.dims["F"] = {columns, true, {}};
  data.arrays["x"] = testing::random_vector(random, {"N"}, n, Scalar::f64);
  data.arrays["y"] = testing::random_vector(random, {"N"}, n, Scalar::f32);
  data.arrays["z"] = testing::random_vector(random, {"N"}, n, Scalar::i32);
  data.arrays["A"] = testing::random_vector(random, {"N", "F"}, columns * n, Scalar::f64);
  data.arrays["c"] = testing::random_vector(random, {"F"}, columns, Scalar::f64);
  return data;
}

Module make_plan() {
  TrialLawChecker laws;
  return optimize(compile_program(program, "test.ks", {}), laws, OptimizeOptions{});
}

struct Made {
  std::vector<std::vector<Word>> outputs;
  bool streams = false;
};

Made run(const Module& plan, const std::vector<Part>& parts, KernelOptions options) {
  options.keep_assembly = true;
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  const auto kernels = make_generated_kernels(options);
  const RunResult result = execute(plan, parts, *transport, *kernels, {});
  Made made;
  for (const Output& output : result.outputs) made.outputs.push_back(testing::whole_words(plan, output, parts));
  made.streams = kernels->assembly().find("movnt") != std::string::npos;
  return made;
}

bool same_bits(const Made& a, const Made& b) {
  const auto bits = [](const Word& v, const Word& w) { return v.i == w.i; };
  return std::equal(
      a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
      [&](const auto& v, const auto& w) { return std::equal(v.begin(), v.end(), w.begin(), w.end(), bits); });
}

TEST(Streaming, GivesTheSameBits) {
  const Module plan = make_plan();
  for (const int workers : {1, 2}) {
    // Rows of fewer elements than a vector, and of several vectors.
    for (const auto& [n, columns] : {std::pair(7, 3), std::pair(7, 21), std::pair(4096, 3), std::pair(20011, 21)}) {
      const std::vector<Part> parts = testing::split(make_data(workers, n, columns));
      const Made cached = run(plan, parts, {.threads = 1});
      EXPECT_FALSE(cached.streams);
      for (const int threads : {1, 2, 3}) {
        const Made streamed = run(plan, parts, {.threads = threads, .cached_bytes = 1});
        EXPECT_EQ(streamed.streams, may_stream_here);
        EXPECT_TRUE(same_bits(streamed, cached)) << workers << " workers, " << n << " elements, " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace kasen
