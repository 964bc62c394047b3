// One of two ranks of one thread that run PageRank: started by mpirun, told by a line to measure, answering with the
// seconds of a turn, those of a turn where each exchange is waited for at once, the sum of the squared ranks and the
// turns. Arguments: the graph, the method by which it is cut, the program.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bench/pagerank/pagerank.h"
#include "libcomm/data/cut/partition.h"
#include "libcomm/exchange/mpi_transport.h"
#include "libcore/lang/lang.h"
#include "libcore/run/executor.h"
#include "libkernels/kernels.h"
#include "libopt/optimize/optimize.h"

namespace kasen::bench {
namespace {

// Finishes each exchange before anything is computed: what overlapping gains is the difference.
class WaitingTransport : public Transport {
 public:
  explicit WaitingTransport(Transport& moves) : moves_(moves) {}
  [[nodiscard]] int workers() const override { return moves_.workers(); }
  [[nodiscard]] int first_worker() const override { return moves_.first_worker(); }
  [[nodiscard]] int local_workers() const override { return moves_.local_workers(); }
  [[nodiscard]] int start(std::int64_t step, std::span<const Message> sends,
                          std::span<const Message> receives) override {
    moves_.finish(moves_.start(step, sends, receives));
    return 0;
  }
  void finish(int /*ticket*/) override {}
  void moved_here(std::int64_t bytes) override { moves_.moved_here(bytes); }
  [[nodiscard]] const Traffic& traffic() const override { return moves_.traffic(); }

 private:
  Transport& moves_;
};

Module plan_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  TrialLawChecker laws;
  return optimize(compile_program(text.str(), file, {}), laws, {.epilogue = true});
}

struct Measured {
  double seconds = 0, squares = 0, iterations = 0;
};

Measured one_run(const Module& plan, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels) {
  std::vector<double> times;
  RunOptions options;
  options.params = {{"r", {Word::real(damping)}}, {"theta", {Word::real(theta)}}};
  options.on_iteration = [&](const Iteration& iteration) { times.push_back(iteration.seconds); };
  MPI_Barrier(MPI_COMM_WORLD);
  const RunResult result = execute(plan, parts, transport, kernels, options);
  if (times.size() < 2) throw std::runtime_error("too few turns to time");
  Measured made{(times.back() - times.front()) / static_cast<double>(times.size() - 1), 0,
                static_cast<double>(times.size())};
  for (const OutputPart& part : result.outputs.at(0).parts) {
    for (std::int64_t i = 0; i < part.data.count; ++i)
      made.squares += part.data.as<double>()[i] * part.data.as<double>()[i];
  }
  return made;
}

// Rank 0 reads a line, the other looks for its word now and then: neither takes a core from who is measured meanwhile.
bool another(int rank) {
  int more = 0;
  if (rank == 0) {
    std::array<char, 64> line{};
    more = std::fgets(line.data(), line.size(), stdin) != nullptr ? 1 : 0;
    MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return more != 0;
  }
  for (int there = 0; there == 0;) {
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there == 0) usleep(1000);
  }
  MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return more != 0;
}

void serve(int argc, char** argv) {
  if (argc != 4) throw std::runtime_error("GRAPH METHOD PROGRAM are wanted");
  const std::string graph = argv[1], method = argv[2], program = argv[3];
  const MpiSession session(&argc, &argv);
  if (session.ranks() != 2) throw std::runtime_error("two ranks are wanted");
  std::vector<Part> all =
      cut_graph(read_graph(graph), 2, method == "ml" ? PartitionMethod::ml : PartitionMethod::hybrid_cut);
  std::vector<Part> mine;
  mine.push_back(std::move(all[static_cast<size_t>(session.rank())]));
  all.clear();
  const Module plan = plan_of(program);
  const auto transport = make_mpi_transport(session, 2);
  WaitingTransport waiting(*transport);
  const auto kernels = make_generated_kernels({.threads = 1});
  if (session.rank() == 0) {
    std::puts("ready");
    std::fflush(stdout);
  }
  while (another(session.rank())) {
    const Measured overlapped = one_run(plan, mine, *transport, *kernels);
    const Measured apart = one_run(plan, mine, waiting, *kernels);
    std::array<double, 2> seconds{overlapped.seconds, apart.seconds}, slower{};
    double squares = 0;
    MPI_Allreduce(seconds.data(), slower.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&overlapped.squares, &squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (session.rank() != 0) continue;
    std::printf("%.9g %.9g %.17g %.0f\n", slower[0], slower[1], squares, overlapped.iterations);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace kasen::bench

int main(int argc, char** argv) {
  try {
    kasen::bench::serve(argc, argv);
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "pagerank-ranks: %s\n", fault.what());
    return 1;
  }
}
