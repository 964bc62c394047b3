// Parameters, and what the executor and the simulated transport refuse.
#include <gtest/gtest.h>

#include "libcore/run/executor.h"
#include "libcore/system/memory_limit.h"
#include "tests/core/executor_cases.h"

namespace kasen {
namespace {

using testing::expect_runs;
using testing::graph;
using testing::pagerank;
using testing::program;
using testing::split;
using testing::TestData;

TEST(Executor, ParametersOverrideDefaults) {
  const Module module = program(pagerank);
  const auto parts = split(graph({2, 20, 60, -1}));
  RunOptions options;
  options.params["r"] = {Word::real(0.5)};
  expect_runs(module, parts, 1e-12, options);
  options.params["q"] = {Word::real(0.5)};
  try {
    testing::run_simulated(module, parts, options);
    FAIL() << "an unknown parameter was taken";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_NE(std::string(error.what()).find("it has r, theta"), std::string::npos) << error.what();
  }
}

TEST(Executor, RefusesWhatDoesNotFit) {
  const auto parts = split(graph({2, 20, 60, -1}));
  const auto status_of = [&](const Module& module, const std::vector<Part>& data) {
    try {
      testing::run_simulated(module, data);
    } catch (const UserError& error) {
      return error.status();
    }
    return ExitStatus::done;
  };
  Module unplaced = program(pagerank);
  unplaced.level = 1;
  EXPECT_EQ(status_of(unplaced, parts), ExitStatus::bad_input);
  EXPECT_EQ(status_of(program(R"(  %x = input "nothing" : f64[N] @part
  output "x" %x
)"),
                      parts),
            ExitStatus::bad_input);
  EXPECT_EQ(status_of(program(R"(  %x = input "k" : f64[N] @part
  output "x" %x
)"),
                      parts),
            ExitStatus::bad_input);
  EXPECT_EQ(status_of(program(R"(  %x = fill 1.0 : f64[M] @part
  output "x" %x
)",
                              "  dim M\n"),
                      parts),
            ExitStatus::bad_input);
  auto other = split(graph({2, 20, 60, -1}));
  other[1].workers = 3;
  EXPECT_EQ(status_of(program(pagerank), other), ExitStatus::bad_input);
}

TEST(Executor, RefusesMoreMemoryThanThereIs) {
  // One element an index, but a local dimension of 2^37: nothing of it is ever made.
  const Module module = program(R"(  %x = fill 1.0 : f64[N,B] @part
  output "x" %x
)",
                                "  dim B local\n");
  TestData data = graph({1, 4, 4, -1});
  auto parts = split(data);
  parts[0].dims["B"] = PartDim{.size = std::int64_t{1} << 37, .local = true};
  try {
    testing::run_simulated(module, parts);
    FAIL() << "it was allocated";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit);
  }
}

// Processes of one machine that each would find enough for itself alone.
TEST(Executor, RefusesMoreMemoryThanTheMachineHasForAll) {
  const Module module = program(R"(  %x = fill 1.0 : f64[N,B] @part
  output "x" %x
)",
                                "  dim B local\n");
  auto parts = split(graph({1, 4, 4, -1}));
  parts[0].dims["B"] = PartDim{.size = 1 << 15, .local = true};  // a MiB
  set_available_memory(5 << 20);
  RunOptions options;
  for (const int processes : {1, 2, 9}) {
    options.sum_on_machine = [processes](std::span<std::int64_t> sums) {
      for (std::int64_t& sum : sums) sum *= processes;
    };
    try {
      (void)testing::run_simulated(module, parts, options);
      EXPECT_LT(processes, 9);
    } catch (const UserError& error) {
      EXPECT_EQ(processes, 9) << error.what();
      EXPECT_EQ(error.status(), ExitStatus::limit);
      EXPECT_NE(std::string(error.what()).find("2 such machines would be enough"), std::string::npos) << error.what();
    }
  }
  set_available_memory(-1);
}

TEST(SimulatedTransport, ChecksThatSendsAndReceivesMeet) {
  const auto transport = make_simulated_transport(2);
  std::byte a[8]{}, b[8]{};
  const Message out{0, 1, a, 8}, in{0, 1, b, 8}, small{0, 1, b, 4};
  EXPECT_THROW(static_cast<void>(transport->start(0, {&out, 1}, {})), InternalError);
  EXPECT_THROW(static_cast<void>(transport->start(0, {}, {&in, 1})), InternalError);
  EXPECT_THROW(static_cast<void>(transport->start(0, {&out, 1}, {&small, 1})), InternalError);
  const std::int64_t before = transport->traffic().worker_bytes;
  a[3] = std::byte{7};
  const int ticket = transport->start(1, {&out, 1}, {&in, 1});
  EXPECT_THROW(transport->finish(ticket + 1), InternalError);
  transport->finish(ticket);
  EXPECT_EQ(b[3], std::byte{7});
  EXPECT_EQ(transport->traffic().worker_bytes, before + 8);
}

}  // namespace
}  // namespace kasen
