// One of two ranks that multiply matrices: started by mpirun, told by a line to measure, answering with the seconds of
// one product, by Kasen and by ScaLAPACK, and the bytes that each sends. Messages are counted where MPI is called.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "bench/serve.h"
#include "libcomm/data/cut/partition.h"
#include "libcomm/exchange/mpi_transport.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/lang/lang.h"
#include "libcore/run/executor.h"
#include "libkernels/kernels.h"
#include "libopt/optimize/optimize.h"

namespace {
std::int64_t sent_bytes = 0;
void add_sent(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  sent_bytes += static_cast<std::int64_t>(count) * size;
}
}  // namespace

// The calls by which Kasen and the BLACS send.
extern "C" {
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  add_sent(count, type);
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  add_sent(count, type);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Rsend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  add_sent(count, type);
  return PMPI_Rsend(data, count, type, to, tag, comm);
}
int MPI_Sendrecv(const void* out, int count, MPI_Datatype type, int to, int tag, void* in, int most, MPI_Datatype got,
                 int from, int got_tag, MPI_Comm comm, MPI_Status* status) {
  add_sent(count, type);
  return PMPI_Sendrecv(out, count, type, to, tag, in, most, got, from, got_tag, comm, status);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int me = 0;
  PMPI_Comm_rank(comm, &me);
  if (me == root) add_sent(count, type);
  return PMPI_Bcast(data, count, type, root, comm);
}
}

namespace kasen::bench {
namespace {

constexpr std::int64_t side = 2400;
constexpr std::int64_t passes = 3;

// Rows that add up to 1, so that products stay of one size.
double element(std::int64_t i, std::int64_t k, std::int64_t seed) {
  return static_cast<double>((i * 7919 + k * 104729 + seed) % 1009) / (504.0 * side);
}

std::vector<Part> boxes(const Module& plan, int rank) {
  std::vector<InputData> inputs;
  for (const char* name : {"A", "B"}) {
    InputData input{.name = name, .dims = {"N", "N"}, .element = ElementType::of(Scalar::f64)};
    input.table.values = Array(input.element, side * side);
    for (std::int64_t k = 0; k < side * side; ++k)
      input.table.values.as<double>()[k] = element(k / side, k % side, name[0]) * (name[0] == 'B' ? side : 1);
    input.table.rows = input.table.cols = side;
    input.extents = {side, side};
    inputs.push_back(std::move(input));
  }
  std::vector<DimData> dims{{.name = "N", .size = side}};
  const std::vector<Part> whole = partition(dims, std::move(inputs), {.workers = 1, .method = PartitionMethod::block});
  BoxParts parts(plan, 2, rank, 1);
  for (const Part& part : whole) parts.add(part);
  return parts.finish();
}

Module plan_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  TrialLawChecker laws;
  OptimizeOptions options;
  options.mesh = {{"w", 2}};
  return optimize(compile_program(text.str(), file, {}), laws, options);
}

// The seconds of products and their exchanges; the first iteration touches memory for the first time and is left out.
class ProductClock : public RunObserver {
 public:
  explicit ProductClock(const Module& plan) {
    for_each_op(plan, [&](const Op& op, int, int) {
      counts_.push_back(op.code == OpCode::mxvt || op.code == OpCode::scatter || op.code == OpCode::gather);
    });
  }
  void began(RunPhase phase, int number, const Place&, const OpCount& count) override {
    if (phase != RunPhase::step || !counts_.at(static_cast<size_t>(number)) || count.executions == 0) return;
    MPI_Barrier(MPI_COMM_WORLD);
    begin_ = MPI_Wtime();
    sent_before_ = sent_bytes;
  }
  void ended(RunPhase phase, int number, const OpCount& count) override {
    if (phase != RunPhase::step || !counts_.at(static_cast<size_t>(number)) || count.executions < 2) return;
    seconds_ += MPI_Wtime() - begin_;
    sent_ += sent_bytes - sent_before_;
  }
  [[nodiscard]] double seconds() const { return seconds_ / static_cast<double>(passes - 1); }
  [[nodiscard]] double sent() const { return static_cast<double>(sent_) / static_cast<double>(passes - 1); }

 private:
  std::vector<bool> counts_;
  double begin_ = 0, seconds_ = 0;
  std::int64_t sent_before_ = 0, sent_ = 0;
};

struct Measured {
  double seconds = 0, sent = 0, sum = 0;
};

Measured kasen_product(const Module& plan, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels) {
  ProductClock clock(plan);
  const RunResult result =
      execute(plan, parts, transport, kernels, {.params = {{"passes", {Word::integer(passes)}}}, .observer = &clock});
  const Array& c = result.outputs.at(0).parts.at(0).data;
  Measured made{clock.seconds(), clock.sent(), 0};
  for (std::int64_t k = 0; k < c.count; ++k) made.sum += c.as<double>()[k];
  return made;
}

class Scalapack {
 public:
  explicit Scalapack(int rank) : library_(dlopen("libscalapack-openmpi.so.2.2", RTLD_NOW | RTLD_GLOBAL)) {
    if (library_ == nullptr) return;
    const auto find = [&](auto*& f, const char* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library_, name));
      if (f == nullptr) throw std::runtime_error(std::string("ScaLAPACK lacks ") + name);
    };
    void (*get)(int, int, int*) = nullptr;
    void (*gridinit)(int*, const char*, int, int) = nullptr;
    int (*numroc)(const int*, const int*, const int*, const int*, const int*) = nullptr;
    void (*descinit)(int*, const int*, const int*, const int*, const int*, const int*, const int*, const int*,
                     const int*, int*) = nullptr;
    find(get, "Cblacs_get");
    find(gridinit, "Cblacs_gridinit");
    find(numroc, "numroc_");
    find(descinit, "descinit_");
    find(pdgemm_, "pdgemm_");
    int context = 0, info = 0;
    get(-1, 0, &context);
    gridinit(&context, "Row", 2, 1);
    const int zero = 0, two = 2, rows = numroc(&n_, &block_, &rank, &zero, &two);
    descinit(descriptor_.data(), &n_, &n_, &block_, &block_, &zero, &zero, &context, &rows, &info);
    a_.resize(static_cast<size_t>(rows) * side);
    c_ = b_ = a_;
    for (int k = 0; k < n_; ++k) {
      for (int r = 0; r < rows; ++r) {
        const int i = (r / block_ * 2 + rank) * block_ + r % block_;
        a_[static_cast<size_t>(k) * rows + r] = element(i, k, 'A');
        b_[static_cast<size_t>(k) * rows + r] = element(i, k, 'B') * side;
      }
    }
  }
  [[nodiscard]] bool is_here() const { return library_ != nullptr; }

  Measured product() {
    c_ = b_;
    Measured made;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      d_ = c_;
      const std::int64_t before = sent_bytes;
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime(), one = 1, none = 0;
      const int first = 1;
      pdgemm_("N", "N", &n_, &n_, &n_, &one, a_.data(), &first, &first, descriptor_.data(), d_.data(), &first, &first,
              descriptor_.data(), &none, c_.data(), &first, &first, descriptor_.data());
      MPI_Barrier(MPI_COMM_WORLD);
      if (pass == 0) continue;
      made.seconds += (MPI_Wtime() - begin) / static_cast<double>(passes - 1);
      made.sent += static_cast<double>(sent_bytes - before) / static_cast<double>(passes - 1);
    }
    for (const double x : c_) made.sum += x;
    return made;
  }

 private:
  void* library_;
  void (*pdgemm_)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const int*, const int*, const double*, const int*, const int*, const int*, const double*,
                  double*, const int*, const int*, const int*) = nullptr;
  const int n_ = static_cast<int>(side), block_ = 128;
  std::array<int, 9> descriptor_{};
  std::vector<double> a_, b_, c_, d_;  // by columns
};

Measured of_both(const Measured& mine) {
  const std::array<double, 3> own{mine.seconds, mine.sent, mine.sum};
  std::array<double, 3> most{}, all{};
  MPI_Allreduce(own.data(), most.data(), 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(own.data(), all.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {most[0], all[1], all[2]};
}

void run(const std::string& program, int argc, char** argv) {
  const MpiSession session(&argc, &argv);
  if (session.ranks() != 2) throw std::runtime_error("two ranks are wanted");
  Scalapack peer(session.rank());
  say_ready(session, peer.is_here() ? nullptr : "libscalapack-openmpi.so.2.2");
  if (!peer.is_here()) return;
  const Module plan = plan_of(program);
  const std::vector<Part> parts = boxes(plan, session.rank());
  const auto transport = make_mpi_transport(session, 2);
  const auto kernels = make_generated_kernels({.threads = 1});
  serve(session, [&] {
    const Measured kasen = of_both(kasen_product(plan, parts, *transport, *kernels)), other = of_both(peer.product());
    if (std::fabs(kasen.sum - other.sum) > 1e-10 * std::fabs(other.sum)) throw std::runtime_error("results differ");
    if (kasen.sent > other.sent) throw std::runtime_error("kasen sends more than pdgemm");
    return std::array{kasen.seconds, other.seconds, kasen.sent, other.sent};
  });
}

}  // namespace
}  // namespace kasen::bench

int main(int argc, char** argv) {
  return kasen::bench::status_of("distributed", [&] { kasen::bench::run(argc > 1 ? argv[1] : "", argc, argv); });
}
