// Plans whose arrays go by from a disk: results have the bits that they have in memory, whatever the limit is, and the
// work is the same. What is read and written is what the residency says.
#include "tests/support/on_disk.h"

#include <gtest/gtest.h>

#include "tests/opt/random_program.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

constexpr std::int64_t some_bytes = std::int64_t{32} << 10;  // that are brought at a time

// Every worker has the next rows, as where arrays stay in a file.
std::vector<Part> parts_of(const Module& program, int workers, std::int64_t size, std::int64_t entries = 1) {
  testing::TestData data = testing::random_data(program, workers, size, entries, 7);
  for (auto& [name, dim] : data.dims) {
    for (size_t i = 0; i < dim.owner.size(); ++i) dim.owner[i] = static_cast<int>(i * workers / dim.owner.size());
  }
  return testing::split(data);
}

RunResult run(const Module& plan, const std::vector<Part>& parts, KernelSet& kernels, std::int64_t memory,
              bool spills) {
  return testing::run_limited(plan, parts, kernels, {memory, some_bytes, spills});
}

std::int64_t needed(const Module& plan, const std::vector<Part>& parts, KernelSet& kernels, bool spills) {
  return testing::needed_bytes(plan, parts, kernels, {0, some_bytes, spills});
}

std::map<std::string, std::vector<Word>> words_of(const Module& plan, const RunResult& result,
                                                  const std::vector<Part>& parts) {
  std::map<std::string, std::vector<Word>> words;
  for (const Output& output : result.outputs) words[output.name] = testing::whole_words(plan, output, parts);
  return words;
}

struct DiskBytes {
  std::int64_t read = 0, written = 0;
};
DiskBytes disk_bytes(const RunResult& result) {
  DiskBytes sum;
  for (const OpCount& count : result.ops) {
    sum.read += count.disk_read_bytes;
    sum.written += count.disk_written_bytes;
  }
  return sum;
}

// Runs a plan in less and less memory. Returns the bytes to and from the disk at the least.
// `gone` are the same parts, on the disk.
DiskBytes expect_same_bits(const Module& plan, const std::vector<Part>& parts, const std::vector<Part>& gone,
                           KernelSet& kernels) {
  const RunResult whole = run(plan, parts, kernels, 0, false);
  const auto wanted = words_of(plan, whole, parts);
  const std::int64_t most = needed(plan, parts, kernels, false), least = needed(plan, gone, kernels, true);
  EXPECT_LE(least, most + most / 100);  // each part has a share of the memory, the largest, too
  DiskBytes moved;
  for (const std::int64_t quarter : {4, 2, 1, 0}) {
    const std::int64_t memory = least + (std::max(most, least) - least) * quarter / 4;
    const RunResult limited = run(plan, gone, kernels, memory, true);
    for (const auto& [name, words] : words_of(plan, limited, gone)) {
      EXPECT_TRUE(std::equal(words.begin(), words.end(), wanted.at(name).begin(), wanted.at(name).end(),
                             [](const Word& a, const Word& b) { return a.i == b.i; }))
          << name << " in " << memory << " bytes\n"
          << print_module(plan);
    }
    for (size_t op = 0; op < whole.ops.size(); ++op) {
      EXPECT_EQ(limited.ops[op].read_bytes, whole.ops[op].read_bytes) << op;
      EXPECT_EQ(limited.ops[op].written_bytes, whole.ops[op].written_bytes) << op;
    }
    std::int64_t held = 0;
    for (const PartCount& part : limited.parts) held += part.held() - part.list_bytes;  // lists are the data's own
    EXPECT_LE(held, memory) << memory;
    moved = disk_bytes(limited);
  }
  return moved;
}

constexpr NamedProgram passing_programs[] = {
    {"a map", "input x : f64[N]\noutput y = exp(x) / 2"},
    {"a sum", "input x : f64[N]\noutput s = sum(x * x), m = max(x)"},
    {"rows of a matrix",
     "input X : f64[N, F], v : f64[F]\ne = exp(X - max(X, over F))\nP = e / sum(e, over F)\n"
     "output P, c = sum(P, over N), g = P' @ (P @ v)"},
    {"sums in a loop", "input x : f64[N], y : f64[N]\ns = 0.0\nfor i in 0..3 { s = s + sum(x * y + s) }\noutput s"},
    {"points",
     "input P : [f64; 3][N]\nfn far(p, c) = sum(j in 3: (p[j] - c) ^ 2)\nd = map(far, P, 0.5)\n"
     "output d, n = sum(if d > 1.0 then 1 else 0)"},
    {"a product of rows", "input X : f64[N, F], v : f64[F]\noutput p = X @ v"},
    {"a product of columns", "input X : f64[N, F], y : f64[N]\noutput g = X' @ y"},
    {"both", "input X : f64[N, F], v : f64[F]\nw = v\nfor i in 0..3 { w = w - 0.001 * (X' @ (X @ w)) }\noutput w"},
    {"squares", "input X : f64[N, F]\noutput S = X' @ X"},
    {"columns", "input X : f64[N, F], W : f64[F, K]\noutput Z = X @ W, g = X' @ (X @ W)"},
    {"logistic",
     "input X : f64[N, F], y : f64[N]\nt = if y > 0.5 then 1.0 else 0.0\nw : f64[F] = 0\n"
     "for i in 0..4 {\n  e = 1 / (1 + exp(-(X @ w))) - t\n  w = w - 0.01 * (X' @ e)\n}\n"
     "output w, e = X @ w - t"},
    {"indices", "input x : f64[N]\nk = index(N)\noutput a = map((x, k) -> x * f64(i64(k)), x, k), s = sum(x)"},
    {"rows of sums", "input X : f64[N, F]\nr = sum(X, over F)\noutput Y = X / r, c = sum(X, over N)"},
    {"whole for one", "input x : f64[N]\noutput s = scan(plus, x), t = sum(x)"},
    {"values that stay", "input x : f64[N]\na = exp(x)\nb = a / sum(a)\nc = b / max(b)\noutput c, d = a * b"},
    {"f32", "input x : f32[N], y : f32[N]\na = x * y + 0.5f32\noutput a, s = sum(a), m = min(a)"},
    {"whole numbers",
     "input k : i64[N], j : i32[N]\na = k % 7 + i64(j)\noutput a, s = sum(a), b = j * 2i32, m = max(j)"},
    {"tuples",
     "input x : f64[N]\np = map(x -> (x, x > 0.5), x)\nq = map(x -> (x, 2.0 * x), x)\n"
     "output p, s = sum(q.0 * q.1), b = (p.0 + q.1, index(N))"},
    {"f32 products", "input X : f32[N, F], v : f32[F]\noutput p = X @ v, g = X' @ (X @ v)"},
    {"groups",
     "dim G local = 5\ninput k : i64[N], x : f64[N], X : f64[N, F]\nj = k % 5 + 2\ng = if j < 0 then 0 else if j > 4 "
     "then 4 else j\n"
     "output s = sum(x, by g in G), m = max(X, by g in G), n = sum(1, by g in G)"},
    {"many groups",
     "dim G local = 7000\ninput k : i64[N], x : f64[N]\ng = min(max(k * 7 + 3000, 0), 6999)\noutput s = sum(x, by g in "
     "G)"},
    {"lines",
     "input X : f64[N, F], k : i64[N], j : i32[N, K]\nY = sort(X, over F)\nt = min(max(k, 0), 5)\n"
     "output Y, p = argsort(X, over F), c = cumsum(X * 0.5, over F), a = take(X, t, over F), "
     "b = take(Y, min(max(j, 0i32), 5i32), over F)"},
    {"other semirings",
     "input X : f64[N, F], v : f64[F], k : i64[N, F], j : i64[F]\noutput d = mxvt(add, min, X, v), g = mxv(mul, max, "
     "X, sum(X, over F)), "
     "i = k @ j"},
    {"carried", "input x : f64[N]\nu = x\nfor i in 0..3 { u = 0.5 * u + x }\noutput u"},
    {"carried twice",
     "input x : f64[N], X : f64[N, F]\nu = x\nv = 2.0 * x\nU = X\n"
     "for i in 0..5 {\n  t = 0.5 * u + 0.1 * v\n  v = u\n  u = t + x\n  U = exp(0.1 * U) - X * t\n}\n"
     "output u, v, U, s = sum(U)"},
    {"nested loops",
     "input x : f64[N]\nu = x + 1\nw = u * 2.0\n"
     "for i in 0..2 {\n  u = w + x\n  for j in 0..3 { w = 0.5 * w + 0.1 * u }\n  u = u - w\n}\noutput u, w"},
    {"branches",
     "input x : f64[N]\nu = x\nk = 0\nwhile k < 4 {\n  w = u * 0.5\n"
     "  if sum(w) > 100.0 { u = w - 0.5 } else { u = w + x }\n  k = k + 1\n}\noutput u"},
    {"factors of rows",
     "input X : f64[N, F]\nV = random(1, F, K) - 0.5\nU = fill(0.0, N, K)\n"
     "for i in 0..3 {\n  U = X @ V\n  V = 1e-6 * (X' @ U)\n}\noutput U, V, e = sum(U * (X @ V))"},
    {"some of a row",
     "input X : f64[N, F]\noutput y = at(X, 2) * at(X, 4), R = range(X, K, 1), s = sum(range(X, K, 3))"},
};

class OnDisk : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(OnDisk, HasTheBitsOfMemory) {
  const Module program =
      compile("dim N, F local = 6, K local = 2\nfn plus(a, b) = a + b\n" + std::string(GetParam().text));
  for (const Strategy strategy : {Strategy::none, Strategy::greedy, Strategy::fuse_all}) {
    const SyncMode sync = strategy == Strategy::none     ? SyncMode::lazy
                          : strategy == Strategy::greedy ? SyncMode::eager
                                                         : SyncMode::hybrid;
    const Module made = plan(program, strategy, sync);
    for (const int workers : {1, 2}) {
      SCOPED_TRACE(std::string(strategy_name(strategy)) + ", workers: " + std::to_string(workers));
      const std::vector<Part> parts = parts_of(program, workers, 30000);
      const std::vector<Part> gone = testing::on_disk(parts_of(program, workers, 30000));
      for (const int threads : {1, 3}) {
        const auto kernels = testing::make_kernels({.threads = threads});
        const DiskBytes moved = expect_same_bits(made, parts, gone, *kernels);
        EXPECT_GT(moved.read, 0);
        if (::testing::Test::HasFailure()) return;
      }
      const auto plain = make_interpreter_kernels();
      if (strategy != Strategy::greedy) continue;
      (void)expect_same_bits(made, parts, gone, *plain);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnDisk, ::testing::ValuesIn(passing_programs), [](const auto& named) {
  std::string word = named.param.name;
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
});

// Neither loops nor branches nor keys keep rows in memory.
TEST(LeastMemory, IsThatOfWindows) {
  constexpr std::int64_t size = 400000, vector_bytes = 8 * size;
  for (const char* const name : {"carried", "carried twice", "nested loops", "branches", "factors of rows",
                                 "some of a row", "groups", "lines"}) {
    SCOPED_TRACE(name);
    const auto* const named = std::find_if(std::begin(passing_programs), std::end(passing_programs),
                                           [&](const NamedProgram& one) { return std::string_view(one.name) == name; });
    ASSERT_NE(named, std::end(passing_programs));
    const Module program =
        compile("dim N, F local = 6, K local = 2\nfn plus(a, b) = a + b\n" + std::string(named->text));
    const Module made = plan(program, Strategy::greedy, SyncMode::hybrid);
    const std::vector<Part> parts = testing::on_disk(parts_of(program, 1, size));
    EXPECT_LT(needed(made, parts, *testing::make_kernels({.threads = 1}), true), vector_bytes);
  }
}

constexpr NamedProgram sparse_programs[] = {
    {"a product", "input A : f64[N, M], x : f64[M]\noutput y = A @ x"},
    {"a transposed one", "input A : f64[N, M], x : f64[N]\noutput y = A' @ x"},
    {"both", "input A : f64[N, M], v : f64[M]\nw = v\nfor i in 0..3 { w = w - 0.001 * (A' @ (A @ w)) }\noutput w"},
    {"power iteration",
     "input A : f64[N, N], x : f64[N]\nr = x\nfor i in 0..4 {\n  t = 0.5 + 0.1 * (A @ r)\n  e = sum(abs(t - r))\n"
     "  r = t / (1 + e)\n}\noutput r"},
    {"pattern",
     "input A : null[N, N], x : f64[N]\nr = x\nfor i in 0..3 { r = 0.3 * (A' @ r) + x }\noutput r, s = sum(r)"},
    {"whole numbers", "input A : i64[N, M], k : i64[M]\noutput y = A @ k, s = sum(A @ k)"},
    {"f32 entries", "input A : f32[N, M], x : f32[M]\noutput y = A @ x, r = sum(A * A, over M)"},
    {"i32 entries", "input A : i32[N, M], k : i32[N]\noutput y = A' @ k, m = sum(A, over M)"},
    {"bool entries", "input A : bool[N, M], x : f64[M]\noutput y = f64(A) @ x"},
    {"several columns", "input A : f64[N, M], X : dense f64[M, K]\noutput Y = A @ X, Z = A' @ (A @ X)"},
    {"rows of entries", "input A : f64[N, M]\noutput r = sum(A * A, over M), c = sum(A, over N)"},
    {"factors",
     "input A : f64[N, M], U : dense f64[N, K], V : dense f64[M, K]\nseen = f64(A != 0)\n"
     "output e = sumsq(A - seen * (U @ V')), g = (A - seen * (U @ V')) @ V, h = (A - seen * (U @ V'))' @ U"},
};

// Nonzeros without a value, or with a short one, take fewer bytes.
std::int64_t entries_for(const NamedProgram& program, std::int64_t of_eight_bytes) {
  const std::string text = program.text;
  const bool short_ones = text.find("A : null") != std::string::npos || text.find("A : bool") != std::string::npos;
  if (short_ones) return 3 * of_eight_bytes;
  const bool eight = text.find("A : f64") != std::string::npos || text.find("A : i64") != std::string::npos;
  return eight ? of_eight_bytes : 2 * of_eight_bytes;
}

class EntriesOnDiskTest : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(EntriesOnDiskTest, HasTheBitsOfMemory) {
  const Module program = compile("dim N, M, K local = 2\n" + std::string(GetParam().text));
  for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
    const Module made = plan(program, strategy, strategy == Strategy::none ? SyncMode::lazy : SyncMode::hybrid);
    for (const int workers : {1, 3}) {
      SCOPED_TRACE(std::string(strategy_name(strategy)) + ", workers: " + std::to_string(workers));
      const std::vector<Part> parts = parts_of(program, workers, 9000, entries_for(GetParam(), 150000));
      const std::vector<Part> gone =
          testing::on_disk(parts_of(program, workers, 9000, entries_for(GetParam(), 150000)));
      const auto kernels = testing::make_kernels({.threads = workers == 1 ? 3 : 1});
      const DiskBytes moved = expect_same_bits(made, parts, gone, *kernels);
      EXPECT_GT(moved.read, 0);
      if (workers == 1) {  // the nonzeros of several fit into a window
        EXPECT_GT(moved.written, 0);
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// The plain kernels are slow.
TEST_P(EntriesOnDiskTest, HasTheBitsOfMemoryByThePlainKernels) {
  const Module program = compile("dim N, M, K local = 2\n" + std::string(GetParam().text));
  const Module made = plan(program, Strategy::greedy, SyncMode::eager);
  const auto kernels = make_interpreter_kernels();
  for (const int workers : {1, 2}) {
    const std::vector<Part> parts = parts_of(program, workers, 2000, entries_for(GetParam(), 40000));
    const std::vector<Part> gone = testing::on_disk(parts_of(program, workers, 2000, entries_for(GetParam(), 40000)));
    (void)expect_same_bits(made, parts, gone, *kernels);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EntriesOnDiskTest, ::testing::ValuesIn(sparse_programs), [](const auto& named) {
  std::string word = named.param.name;
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
});

// Every pass over an array reads what does not stay; the first reads all.
TEST(DiskBytes, ReadsWhatDoesNotStay) {
  const Module program = compile(
      "dim N, F local = 6\ninput X : f64[N, F], v : f64[F]\nw = v\n"
      "for i in 0..5 { w = w - 0.001 * (X' @ (X @ w)) }\noutput w");
  const Module made = plan(program, Strategy::greedy, SyncMode::hybrid);
  const std::vector<Part> parts = testing::on_disk(parts_of(program, 1, 100000));
  const auto kernels = testing::make_kernels({.threads = 2});
  const std::int64_t all = 100000 * 6 * 8;
  const std::int64_t most = needed(made, parts_of(program, 1, 100000), *kernels, false);
  EXPECT_EQ(disk_bytes(run(made, parts, *kernels, most + all, false)).read, all);
  for (const std::int64_t memory : {most - 1, most - all / 4, most - all / 2}) {
    const RunResult result = run(made, parts, *kernels, memory, false);
    const std::int64_t kept = (all - (disk_bytes(result).read - all) / 4);
    EXPECT_EQ((disk_bytes(result).read - all) % 4, 0);
    EXPECT_EQ(kept % (6 * 8), 0);  // rows
    EXPECT_LE(kept, all - (most - memory));
    EXPECT_GE(kept, all - (most - memory) - 4 * all / 10);
    EXPECT_EQ(disk_bytes(result).written, 0);
  }
}

TEST(DiskBytes, OfRandomPrograms) {
  std::int64_t read = 0, written = 0;
  for (int seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Module program = compile(testing::ProgramWriter(static_cast<std::uint64_t>(seed), {}).write());
    const Module made = plan(program, seed % 2 == 0 ? Strategy::greedy : Strategy::none, SyncMode::hybrid);
    const std::vector<Part> parts = parts_of(program, 1 + seed % 2, 20000, 40000);
    const std::vector<Part> gone = testing::on_disk(parts_of(program, 1 + seed % 2, 20000, 40000));
    const auto kernels = testing::make_kernels({.threads = 2});
    const DiskBytes moved = expect_same_bits(made, parts, gone, *kernels);
    read += moved.read;
    written += moved.written;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(written, 0);
}

}  // namespace
}  // namespace kasen
