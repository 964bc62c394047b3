// Predicted times against sums by hand: what is counted of a function, that the slower of bytes and computing counts,
// and what caches, threads and processes change.
#include "libopt/time/time_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "libopt/cost/work.h"
#include "libopt/time/times.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

// Of the first map or reduction of a program with the input x : f64[N] and the param c.
OperationCounts counted(const std::string& expression, const std::string& functions = {}) {
  const Module program = compile("dim N\ninput x : f64[N], n : i64[N], p : [f64; 3][N]\nparam c = 2.0\n" + functions +
                                 "a = " + expression + "\noutput a\n");
  for (const Op& op : program.body.ops) {
    if (op.code != OpCode::map) continue;
    std::vector<bool> varies;
    for (const ValueId v : op.operands) varies.push_back(!program.type(v).dims.empty());
    return operations_of(program.fn(op.fns.at(0)), varies);
  }
  throw std::runtime_error("no map");
}

std::int64_t of(const OperationCounts& counts, ScalarWork work) { return counts.at(static_cast<size_t>(work)); }

TEST(Operations, AreCountedByClass) {
  const OperationCounts a = counted("exp(x) + log(x) / sqrt(x) - erf(x)");
  EXPECT_EQ(of(a, ScalarWork::exp), 1);
  EXPECT_EQ(of(a, ScalarWork::log), 1);
  EXPECT_EQ(of(a, ScalarWork::division), 2);  // and the root
  EXPECT_EQ(of(a, ScalarWork::erf), 1);
  EXPECT_EQ(of(a, ScalarWork::plain), 2);
  const OperationCounts b = counted("sin(x) * cos(x) + tanh(x) ^ 0.5");
  EXPECT_EQ(of(b, ScalarWork::sine), 2);
  EXPECT_EQ(of(b, ScalarWork::tanh), 1);
  EXPECT_EQ(of(b, ScalarWork::power), 1);
  EXPECT_EQ(of(b, ScalarWork::plain), 2);
  const OperationCounts c = counted("n * n + n");  // integers keep their infinities
  EXPECT_EQ(of(c, ScalarWork::compound), 2);
  EXPECT_EQ(of(c, ScalarWork::plain), 0);
}

TEST(Operations, OfWhatIsOneForAllElementsCountNothing) {
  const OperationCounts a = counted("x * exp(c) + log(2.0)");
  EXPECT_EQ(of(a, ScalarWork::exp), 0);
  EXPECT_EQ(of(a, ScalarWork::log), 0);
  EXPECT_EQ(of(a, ScalarWork::plain), 2);
}

TEST(Operations, CountOnceWhatIsWrittenTwice) {
  EXPECT_EQ(of(counted("(x + 1) * (x + 1) + exp(x + 1)"), ScalarWork::plain), 3);
  EXPECT_EQ(of(counted("exp(x) * exp(x)"), ScalarWork::exp), 1);
  EXPECT_EQ(of(counted("exp(x) * exp(2 * x)"), ScalarWork::exp), 2);
}

// Plain operations for an element, of sums of the elements that have each of these numbers.
std::int64_t of_sums_by(const std::vector<int>& numbers) {
  std::string text = "dim N\ninput x : f64[N], key : i64[N]\nfn pick(x, k, j) = if k == j then x else 0.0\n";
  for (const int n : numbers) text += fmt::format("s{0} = sum(map(pick, x, key, {0}))\noutput s{0}\n", n);
  TrialLawChecker laws;
  const Module module = optimize(compile(text), laws, {});
  std::int64_t count = 0;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::region) continue;
    const Polynomial work = work_of(cost_context(module), op).operations.at(static_cast<size_t>(ScalarWork::plain));
    for (const auto& [monomial, coefficient] : work.terms()) count += coefficient;
  }
  return count;
}

// A comparison, a choice and an addition. A kernel makes many sums of one key at once.
TEST(Operations, OfSumsByNumbersOfAKeyCountOnce) {
  EXPECT_EQ(of_sums_by({0, 1, 2, 3}), 12) << "few are summed one by one";
  EXPECT_EQ(of_sums_by({0, 1, 2, 3, 4}), 3);
  EXPECT_EQ(of_sums_by({3, 5, 4, 7, 6, 2}), 3);
  EXPECT_EQ(of_sums_by({0, 1, 2, 3, 5}), 15) << "there is a gap";
}

TEST(Operations, InLoopsOverCoordinatesCountForEachTurn) {
  const OperationCounts a = counted("map(f, p)", "fn f(v) = sum(j in 3: exp(v[j]) + 1)\n");
  EXPECT_EQ(of(a, ScalarWork::exp), 3);
  EXPECT_EQ(of(a, ScalarWork::plain), 3 + 3 + 3);  // reading v[j], adding 1, adding up
  const OperationCounts b = counted("map(f, p)", "fn f(v) = sum(j in 3: sum(k in 3: exp(v[k]) * v[j]))\n");
  EXPECT_EQ(of(b, ScalarWork::exp), 3);  // does not depend on j
  EXPECT_EQ(of(b, ScalarWork::plain), 3 + 3 + 9 + 9 + 3);
}

// Sizes that hold for every plan below.
Sizes sizes_of(const Module& module, const std::string& text) { return known_sizes(module, text); }

PredictedTime time_of(const Module& module, const std::string& text, const MachineProfile& machine) {
  const Sizes sizes = sizes_of(module, text);
  const auto time = predicted_times(module, &sizes, machine).program;
  if (!time) throw std::runtime_error("no time");
  return *time;
}

MachineProfile bytes_alone() {
  MachineProfile machine;
  machine.memory_bandwidth = 1e9;
  machine.operation = {};
  machine.loop_latency = machine.near_entry = machine.far_entry = 0;
  return machine;
}

Module exps() {
  return plan(compile("dim N\ninput x : f64[N]\na = exp(x)\noutput a\n"), Strategy::greedy, SyncMode::hybrid);
}

Module plan_of_loop() {
  return plan(compile("dim N\ninput x : f64[N]\nparam turns = 5\na = x\nfor t in 0..turns { a = exp(a) }\noutput a\n"),
              Strategy::greedy, SyncMode::hybrid);
}

TEST(TimeModel, TheSlowerOfReadsAndComputingCountsBesideWrites) {
  MachineProfile machine = bytes_alone();
  const Module plan = exps();
  EXPECT_DOUBLE_EQ(time_of(plan, "N=1000000,P=1", machine).sum(), 16e-3);
  machine.seconds(ScalarWork::exp) = 8e-9;  // 8 ms: hidden behind the reads
  EXPECT_DOUBLE_EQ(time_of(plan, "N=1000000,P=1", machine).sum(), 16e-3);
  machine.seconds(ScalarWork::exp) = 20e-9;
  const PredictedTime slow = time_of(plan, "N=1000000,P=1", machine);
  EXPECT_DOUBLE_EQ(slow.memory, 16e-3);
  EXPECT_NEAR(slow.compute, 12e-3, 1e-12);
  EXPECT_NEAR(time_of(plan, "N=1000000,P=4", machine).sum(), 7e-3, 1e-12);
  machine.loop_latency = 1e-3;
  EXPECT_NEAR(time_of(plan, "N=1000000,P=1", machine).sum(), 29e-3, 1e-12);
}

// A program's buffers, once; an iteration finds them touched.
TEST(TimeModel, FreshMemoryIsTouchedOnce) {
  MachineProfile machine = bytes_alone();
  const Module plan = exps();
  const double touched = time_of(plan, "N=1000000,P=1", machine).sum();
  machine.fresh_bandwidth = 0.5e9;
  EXPECT_NEAR(time_of(plan, "N=1000000,P=1", machine).sum(), touched + 16e-3, 1e-12);  // a's 8 MB
  EXPECT_NEAR(time_of(plan, "N=1000000,P=4", machine).sum(), touched / 4 + 4e-3, 1e-12);
  const Module loop = plan_of_loop();
  const Sizes sizes = sizes_of(loop, "N=1000000,P=1,trips=5");
  const auto iteration = [&] { return predicted_times(loop, &sizes, machine).iterations.at(0)->sum(); };
  const double slow = iteration();
  machine.fresh_bandwidth = 0;
  EXPECT_DOUBLE_EQ(iteration(), slow);
}

TEST(TimeModel, WhatFitsInTheCachesIsFaster) {
  MachineProfile machine = bytes_alone();
  machine.cache_bandwidth = 4e9;
  machine.cache_bytes = 16e6;
  const Module plan = exps();  // holds 16 N bytes
  EXPECT_DOUBLE_EQ(time_of(plan, "N=1000000,P=1", machine).sum(), 4e-3);
  EXPECT_DOUBLE_EQ(time_of(plan, "N=2000000,P=1", machine).sum(), 4e-3 + 16e-3);  // one half is there, one is not
  EXPECT_DOUBLE_EQ(time_of(plan, "N=2000000,P=2", machine).sum(), 4e-3);
}

TEST(TimeModel, WritesHaveARateOfTheirOwn) {
  MachineProfile machine = bytes_alone();
  machine.write_bandwidth = 0.5e9;
  machine.cache_bandwidth = 4e9;
  const Module plan = exps();
  EXPECT_DOUBLE_EQ(time_of(plan, "N=1000000,P=1", machine).sum(), 8e-3 + 16e-3);
  EXPECT_DOUBLE_EQ(time_of(plan, "N=1000000,P=1", machine.part(0.5)).sum(), 16e-3 + 32e-3);
  machine.cache_bytes = 16e6;
  EXPECT_DOUBLE_EQ(time_of(plan, "N=1000000,P=1", machine).sum(), 4e-3);
}

TEST(TimeModel, ReadsOfAProductTakeLongerFromALongerVector) {
  MachineProfile machine = bytes_alone();
  machine.memory_bandwidth = 1e30;
  machine.near_entry = 1e-9;
  machine.far_entry = 4e-9;
  const Module plan = kasen::plan(compile("dim M, N\ninput G : null[M, N], x : f64[N]\ny = G @ x\noutput y\n"),
                                  Strategy::greedy, SyncMode::hybrid);
  const auto time = [&](std::int64_t indices) {
    return time_of(plan, "M=1000,N=" + std::to_string(indices) + ",S(M)=0,S(N)=0,nnz=8000000,P=1", machine).sum();
  };
  EXPECT_NEAR(time(1000), 8e-3, 1e-9);
  EXPECT_NEAR(time(32 << 10), 8e-3, 1e-9);  // 256 KiB
  EXPECT_NEAR(time(1 << 20), 16e-3, 1e-9);  // 8 MiB: half way
  EXPECT_NEAR(time(32 << 20), 32e-3, 1e-9);
  EXPECT_NEAR(time(64 << 20), 32e-3, 1e-9);
  machine.middle_entry = 3e-9;
  EXPECT_NEAR(time(1 << 20), 24e-3, 1e-9);
  EXPECT_NEAR(time(32 << 10), 8e-3, 1e-9);
  EXPECT_NEAR(time(32 << 20), 32e-3, 1e-9);
  EXPECT_NEAR(time(16 << 20), 8e6 * 3e-9 * std::pow(4. / 3, 0.8), 1e-9);  // four of five doublings
  machine.seconds(ScalarWork::plain) = 4e-9;                              // one product (with 1) and one sum an entry
  EXPECT_NEAR(time(1000), 64e-3, 1e-9);
}

// The reads of the vector wait for the matrix, and operations hide behind both.
TEST(TimeModel, ReadsOfAProductAddToTheMatrix) {
  MachineProfile machine = bytes_alone();
  const Module plan = kasen::plan(compile("dim M, N\ninput G : null[M, N], x : f64[N]\ny = G @ x\noutput y\n"),
                                  Strategy::greedy, SyncMode::hybrid);
  const auto time = [&] { return time_of(plan, "M=1000,N=1000,S(M)=0,S(N)=0,nnz=8000000,P=1", machine).sum(); };
  const double matrix = time();
  EXPECT_NEAR(matrix, 32e-3, 1e-4);  // 4 bytes each
  machine.near_entry = 1e-9;
  EXPECT_NEAR(time(), matrix + 8e-3, 1e-9);
  machine.seconds(ScalarWork::plain) = 2e-9;
  EXPECT_NEAR(time(), matrix + 8e-3, 1e-9);
  machine.seconds(ScalarWork::plain) = 4e-9;
  EXPECT_GT(time(), 64e-3);
}

// Its bytes are read once, but each product computes.
TEST(TimeModel, OnePassOverADenseMatrixTakesOneReadOfIt) {
  MachineProfile machine = bytes_alone();
  const Module program =
      compile("dim N, F local = 10\ninput X : f64[N, F], v : f64[F], u : f64[N]\noutput y = X @ v, z = X' @ u\n");
  const auto time = [&](Strategy strategy) {
    return time_of(plan(program, strategy, SyncMode::hybrid), "N=1000000,P=1", machine).sum();
  };
  EXPECT_NEAR(time(Strategy::greedy), 96.00016e-3, 1e-12);  // X 80 MB, u and y 8 MB each; v and z 80 bytes
  EXPECT_NEAR(time(Strategy::none), 176.00016e-3, 1e-12);
  machine.seconds(ScalarWork::term) = 10e-9;                 // 20 million terms either way
  EXPECT_NEAR(time(Strategy::greedy), 208.00008e-3, 1e-12);  // y's 8 MB and z are written meanwhile by none
  EXPECT_NEAR(time(Strategy::none), 208.00008e-3, 1e-12);
}

TEST(TimeModel, AProcessWithHalfTheThreadsHasHalfTheRates) {
  const MachineProfile machine;
  const MachineProfile half = machine.part(0.5);
  const Module plan = exps();
  MachineProfile idle = machine, idle_half = half;
  idle.loop_latency = idle_half.loop_latency = 0;
  EXPECT_NEAR(time_of(plan, "N=10000000,P=1", idle_half).sum(), 2 * time_of(plan, "N=10000000,P=1", idle).sum(), 1e-9);
  EXPECT_EQ(half.loop_latency, machine.loop_latency);
  EXPECT_EQ(half.network_bandwidth, machine.network_bandwidth);
}

// The file to edit holds what is built in, every key of it.
TEST(MachineProfile, TheFileInConfigsIsWhatIsBuiltIn) {
  std::ifstream file(KASEN_ROOT "/configs/machine.yaml");
  std::map<std::string, double> written;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    written[line.substr(0, colon)] = std::stod(line.substr(colon + 1));
  }
  MachineProfile machine;
  std::set<std::string_view> unknown{"threads"};  // these are measured
  for (const ChoiceRow& row : choice_rows) unknown.insert(row.keys.begin(), row.keys.end());
  for (const MachineKey& key : machine_keys()) {
    if (unknown.contains(key.name)) continue;
    ASSERT_TRUE(written.contains(std::string(key.name))) << key.name;
    EXPECT_DOUBLE_EQ(written.at(std::string(key.name)), key.of(machine)) << key.name;
  }
}

// Every key of the table is written, and stands for a number of its own.
TEST(MachineProfile, KeysAreOfDifferentNumbers) {
  MachineProfile machine;
  std::set<const double*> numbers;
  for (const MachineKey& key : machine_keys()) numbers.insert(&key.of(machine));
  EXPECT_EQ(numbers.size(), machine_keys().size());
  EXPECT_EQ(machine_keys().size(), 15U + scalar_works + 2 * choice_rows.size());  // one class is nothing's; the threads
  const std::string lines = machine_lines(machine, [](const MachineKey&) { return true; });
  for (const MachineKey& key : machine_keys()) EXPECT_NE(lines.find(std::string(key.name) + ": "), std::string::npos);
}

// An iteration of PageRank on four workers: the gather of the product travels while the rows without ghosts run.
TEST(Overlap, HidesAnExchangeBehindTheRowsThatAreLeft) {
  const Module module = plan(example("pagerank.ks"), Strategy::greedy, SyncMode::hybrid);
  const Sizes sizes = sizes_of(module, "N=1000000,S=500000,nnz=8000000,P=4");
  const auto iteration = [&](double network) {
    MachineProfile machine;
    machine.network_bandwidth = network;
    return predicted_times(module, &sizes, machine).iterations.at(0).value();
  };
  const PredictedTime fast = iteration(1e15), slow = iteration(1e3), slower = iteration(1e2);
  EXPECT_NEAR(fast.hidden, MachineProfile{}.network_latency, 1e-9);  // all of the gather, nothing of the scatter
  EXPECT_NEAR(slow.hidden, slower.hidden, 1e-9 * slow.hidden);       // all of the rows
  const CostReport report = measure(module);
  const TimeModel model(module, report);
  TimeCase in;
  in.workers = in.processes = 4;
  in.refined = true;
  in.value = [&](const Polynomial& polynomial) -> std::optional<double> {
    return static_cast<double>(polynomial.value(sizes.totals));
  };
  for_each_op(module, [&](const Op& op, int number, int) {
    if (op.code != OpCode::mxv) return;
    const double all = model.once(number, TimePart::work, in)->sum();
    EXPECT_NEAR(slow.hidden, all * 1e6 / 1.5e6, 1e-3 * slow.hidden);
  });
}

TEST(Overlap, IsNoneWhereOneProcessRunsAll) {
  const Module module = plan(example("pagerank.ks"), Strategy::greedy, SyncMode::hybrid);
  const Sizes sizes = sizes_of(module, "N=1000,S=0,nnz=8000,P=1");
  EXPECT_EQ(predicted_times(module, &sizes, {}).iterations.at(0).value().hidden, 0);
}

// The time of an iteration of X' (X v) or X' (X B), whose steps but the pass over X take next to nothing.
PredictedTime pass_over_rows(const std::string& sizes, const MachineProfile& machine) {
  const bool columns = sizes.find("K=") != std::string::npos;
  const Module module =
      plan(compile(std::string("dim N, F local") + (columns ? ", K local" : "") + "\ninput X : f64[N, F]\nb : f64[F" +
                   (columns ? ", K" : "") + "] = 0.5\nfor turn in 0..5 {\n  b = 1e-6 * (X' @ (X @ b))\n}\noutput b\n"),
           Strategy::greedy, SyncMode::hybrid);
  const Sizes known = sizes_of(module, sizes);
  return predicted_times(module, &known, machine).iterations.at(0).value();
}

TEST(Rows, AreReadAtARateOfTheirOwn) {
  MachineProfile machine;
  machine.row_bandwidth = 5e9;
  machine.narrow_row_bandwidth = 2e9;
  const auto rate = [&](double columns) {
    const std::string sizes = "N=10000000,P=1,F=" + std::to_string(static_cast<int>(columns));
    return 8e7 * columns / pass_over_rows(sizes, machine).memory;
  };
  EXPECT_NEAR(rate(50), 5e9, 1e-3 * 5e9);
  EXPECT_NEAR(rate(100), 5e9, 1e-3 * 5e9);
  EXPECT_NEAR(rate(10), 2e9, 1e-3 * 2e9);
  EXPECT_NEAR(rate(5), 2e9, 1e-3 * 2e9);
  EXPECT_GT(rate(20), 2.1e9);
  EXPECT_LT(rate(20), rate(30));
  machine.narrow_row_bandwidth = 0;
  EXPECT_NEAR(rate(10), 5e9, 1e-3 * 5e9);
  machine.row_bandwidth = 0;
  EXPECT_NEAR(rate(10), machine.memory_bandwidth, 1e-3 * machine.memory_bandwidth);
}

TEST(Rows, ComputeColumnsInWholeVectors) {
  MachineProfile machine;
  machine.memory_bandwidth = 1e15;
  machine.seconds(ScalarWork::term) = 1e-9;
  const auto seconds = [&](const std::string& columns) {
    return pass_over_rows("N=1000000,F=20,P=1,K=" + columns, machine).compute;
  };
  EXPECT_NEAR(seconds("8"), 2 * 1e6 * 20 * 8 * 1e-9, 1e-3 * seconds("8"));
  EXPECT_NEAR(seconds("5"), seconds("8"), 1e-3 * seconds("8"));
  EXPECT_NEAR(seconds("9"), seconds("16"), 1e-3 * seconds("16"));
  EXPECT_NEAR(seconds("1") * 8, seconds("8"), 1e-2 * seconds("8"));
}

}  // namespace
}  // namespace kasen
