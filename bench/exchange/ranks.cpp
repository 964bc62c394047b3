// One of two ranks that exchange: started by mpirun, told by a line to measure, answering with the seconds of a scatter
// and a gather together: Kasen's, then those written by hand over the same lists.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

#include "bench/serve.h"
#include "libcomm/data/cut/partition.h"
#include "libcomm/exchange/mpi_transport.h"
#include "libcore/lang/lang.h"
#include "libcore/run/executor.h"
#include "libkernels/kernels.h"
#include "libopt/optimize/optimize.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t size = 2'000'000;
constexpr std::int64_t passes = 40;

// Row i has one entry; half of them lie in columns of the other worker.
std::vector<std::int64_t> columns() {
  std::vector<std::int64_t> to(static_cast<size_t>(size));
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::int64_t>(i);
  std::mt19937_64 random(1);
  for (size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[random() % i]);
  return to;
}

std::vector<Part> cut(const std::vector<std::int64_t>& to, int rank) {
  std::vector<std::int64_t> rows(to.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  InputData graph{.name = "G", .dims = {"N", "N"}, .element = ElementType::of(Scalar::null), .sparse = true};
  graph.matrix.entries = EntryList(rows, to, Array(graph.element, size));
  std::vector<DimData> dims{{.name = "N", .size = size}};
  std::vector<InputData> inputs;
  inputs.push_back(std::move(graph));
  std::vector<Part> parts = partition(dims, std::move(inputs), {.workers = 2, .method = PartitionMethod::block});
  std::vector<Part> mine;
  mine.push_back(std::move(parts[static_cast<size_t>(rank)]));
  return mine;
}

Module plan_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  TrialLawChecker laws;
  OptimizeOptions options;
  options.sync = SyncMode::lazy;  // whole gathers and scatters, with nothing computed meanwhile
  return optimize(compile_program(text.str(), file, {}), laws, options);
}

// The time of gathers and scatters, from when both ranks are there: how long one waits for the other's product is not
// the exchange's. The first iteration touches memory for the first time and is left out.
class ExchangeClock : public RunObserver {
 public:
  explicit ExchangeClock(const Module& plan) {
    for_each_op(plan, [&](const Op& op, int, int) {
      exchanges_.push_back(op.code == OpCode::scatter || op.code == OpCode::gather);
    });
  }
  void began(RunPhase phase, int number, const Place&, const OpCount& count) override {
    if (phase != RunPhase::step) return;
    counts_ = exchanges_.at(static_cast<size_t>(number)) && count.executions > 0;
    if (!counts_) return;
    MPI_Barrier(MPI_COMM_WORLD);
    begin_ = MPI_Wtime();
  }
  void ended(RunPhase phase, int /*number*/, const OpCount& /*count*/) override {
    if (phase == RunPhase::step && counts_) seconds_ += MPI_Wtime() - begin_;
    if (phase == RunPhase::step) counts_ = false;  // what holds the exchange goes on
  }
  [[nodiscard]] double seconds() const { return seconds_ / static_cast<double>(passes - 1); }

 private:
  std::vector<bool> exchanges_;
  bool counts_ = false;  // the line that runs is an exchange's, behind its first execution
  double begin_ = 0, seconds_ = 0;
};

double kasen_seconds(const Module& plan, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels) {
  ExchangeClock clock(plan);
  const RunResult result =
      execute(plan, parts, transport, kernels, {.params = {{"passes", {Word::integer(passes)}}}, .observer = &clock});
  const double* x = result.outputs.at(0).parts.at(0).data.as<double>();
  const IndexList& masters = parts[0].dims.at("N").masters;
  for (std::int64_t k = 0; k < masters.size(); ++k) {  // each turn halves: a column's one entry leads there and back
    const double want = std::ldexp(static_cast<double>(masters[k]) * 1e-6 + 1, -static_cast<int>(passes));
    if (std::fabs(x[k] - want) > 1e-12 * want) throw std::runtime_error("kasen: a wrong element");
  }
  return clock.seconds();
}

// Masters first, then slaves, in the order of the part's lists.
class ByHand {
 public:
  explicit ByHand(const Part& part) {
    const AxisSlaves& axis = part.matrices.at("G").col_slaves;
    masters_ = part.dims.at("N").masters.size();
    for (const std::int64_t m : axis.mirrors) mirrors_.push_back(static_cast<std::int32_t>(m));
    for (size_t k = 0; k < axis.slaves.size(); ++k)
      slaves_.push_back(static_cast<std::int32_t>(masters_ + static_cast<std::int64_t>(k)));
    x_.resize(static_cast<size_t>(masters_) + slaves_.size());
    for (std::int64_t k = 0; k < masters_; ++k)
      x_[static_cast<size_t>(k)] = static_cast<double>(part.dims.at("N").masters[k]);
    out_.resize(std::max(mirrors_.size(), slaves_.size()));
    in_.resize(out_.size());
    wanted_ = axis.slaves;
  }

  double seconds(int peer) {
    double seconds = 0;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      MPI_Barrier(MPI_COMM_WORLD);
      double begin = MPI_Wtime();
      exchange(mirrors_, slaves_, peer);
      for (size_t k = 0; k < slaves_.size(); ++k) x_[static_cast<size_t>(slaves_[k])] = in_[k];
      if (pass > 0) seconds += MPI_Wtime() - begin;
      if (pass == 0) check();
      for (const std::int32_t s : slaves_) x_[static_cast<size_t>(s)] = 0;  // what a product would write
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
      exchange(slaves_, mirrors_, peer);
      for (size_t k = 0; k < mirrors_.size(); ++k) x_[static_cast<size_t>(mirrors_[k])] += in_[k];
      if (pass > 0) seconds += MPI_Wtime() - begin;
    }
    return seconds / static_cast<double>(passes - 1);
  }

 private:
  void exchange(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& into, int peer) {
    for (size_t k = 0; k < from.size(); ++k) out_[k] = x_[static_cast<size_t>(from[k])];
    MPI_Sendrecv(out_.data(), static_cast<int>(from.size()), MPI_DOUBLE, peer, 1, in_.data(),
                 static_cast<int>(into.size()), MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void check() const {
    for (size_t k = 0; k < slaves_.size(); ++k)
      if (x_[static_cast<size_t>(slaves_[k])] != static_cast<double>(wanted_[k]))
        throw std::runtime_error("by hand: a wrong slave");
  }

  std::int64_t masters_ = 0;
  std::vector<std::int32_t> mirrors_, slaves_;
  std::vector<std::int64_t> wanted_;
  std::vector<double> x_, out_, in_;
};

void run(const std::string& program, int argc, char** argv) {
  const MpiSession session(&argc, &argv);
  if (session.ranks() != 2) throw std::runtime_error("two ranks are wanted");
  const std::vector<std::int64_t> to = columns();
  const std::vector<Part> parts = cut(to, session.rank());
  const Module plan = plan_of(program);
  const auto transport = make_mpi_transport(session, 2);
  const auto kernels = make_generated_kernels({.threads = 1});
  kernels->prepare(plan);
  ByHand by_hand(parts[0]);
  say_ready(session);
  serve(session, [&] {
    std::array<double, 2> mine{}, most{};
    mine[0] = kasen_seconds(plan, parts, *transport, *kernels);
    MPI_Barrier(MPI_COMM_WORLD);
    mine[1] = by_hand.seconds(1 - session.rank());
    MPI_Allreduce(mine.data(), most.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
  });
}

}  // namespace
}  // namespace kasen::bench

int main(int argc, char** argv) {
  return kasen::bench::status_of("exchange", [&] { kasen::bench::run(argc > 1 ? argv[1] : "", argc, argv); });
}
