#include "tools/run/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "libcomm/data/base/spill.h"
#include "libcore/ir/regions.h"
#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/run/executor.h"
#include "libcore/system/memory.h"
#include "libcore/system/threads.h"
#include "libkernels/kernels.h"
#include "libopt/optimize/optimize.h"
#include "libopt/time/machine.h"
#include "tools/run/cluster.h"
#include "tools/system/stopwatch.h"

namespace kasen::tools {
namespace {

constexpr std::int64_t kib = 1 << 10, mib = kib << 10;

// Times each step of a plan, each time that it runs.
class Watch : public RunObserver {
 public:
  void began(RunPhase phase, int number, const Place&, const OpCount&) override {
    if (phase == RunPhase::step) began_[number] = std::chrono::steady_clock::now();
  }
  // A product may run some of its rows after the others.
  void ended(RunPhase phase, int number, const OpCount& count) override {
    if (phase != RunPhase::step) return;
    const auto took = std::chrono::steady_clock::now() - began_.at(number);
    double& some = parts_[number];
    some += std::chrono::duration<double>(took).count();
    std::vector<double>& all = seconds_[number];
    if (count.executions <= std::ssize(all)) return;
    all.push_back(std::exchange(some, 0));
  }
  // The time in the middle: what memory gives again and again.
  [[nodiscard]] double typical(int number) const {
    std::vector<double> times = seconds_.at(number);
    std::nth_element(times.begin(), times.begin() + std::ssize(times) / 2, times.end());
    return times[times.size() / 2];
  }
  // The shortest time, which other programs disturbed least.
  [[nodiscard]] double least(int number) const {
    const std::vector<double>& times = seconds_.at(number);
    return *std::min_element(times.begin(), times.end());
  }

 private:
  std::map<int, std::chrono::steady_clock::time_point> began_;
  std::map<int, double> parts_;  // of the execution that goes on
  std::map<int, std::vector<double>> seconds_;
};

struct Timed {
  double seconds = 0;  // of the longest step, in its shortest iteration
  double typical = 0;  // and in the one in the middle
  double bytes = 0;    // that this step touches
};

PartDim whole_dim(std::int64_t size, bool local = false) {
  PartDim dim;
  dim.size = size;
  dim.local = local;
  dim.masters = IndexList::run(0, size);
  return dim;
}

// Numbers between 0 and 1.
PartArray random_vector(std::int64_t size) {
  std::mt19937_64 random(1);
  PartArray array{{"N"}, Array(ElementType::of(Scalar::f64), size)};
  for (std::int64_t i = 0; i < size; ++i) array.data.as<double>()[i] = static_cast<double>(random() >> 11) * 0x1p-53;
  return array;
}

// One worker's data: x over N.
Part vectors(std::int64_t size) {
  Part part;
  part.dims["N"] = whole_dim(size);
  part.arrays["x"] = random_vector(size);
  return part;
}

// One worker's data: X over N and the local dimension F.
Part dense_matrix(std::int64_t rows, std::int64_t columns) {
  Part part;
  part.dims["N"] = whole_dim(rows);
  part.dims["F"] = whole_dim(columns, true);
  part.arrays["X"] = random_vector(rows * columns);
  part.arrays["X"].dims = {"N", "F"};
  return part;
}

// One worker's data: x over N, and G over M and N, with 16 nonzeros a row in random columns.
Part with_matrix(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t a_row = 16;
  Part part = vectors(columns);
  part.dims["M"] = whole_dim(rows);
  PartMatrix matrix{"M", "N", ElementType::of(Scalar::null), {}, {}, {}, {}, {}};
  std::mt19937_64 random(2);
  for (std::int64_t row = 0; row <= rows; ++row) matrix.row_pointers.push_back(row * a_row);
  std::vector<std::int32_t> chosen(a_row);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int32_t& column : chosen) {
      column = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns));
    }
    std::sort(chosen.begin(), chosen.end());
    for (std::size_t i = 1; i < chosen.size(); ++i) chosen[i] = std::max(chosen[i], chosen[i - 1] + 1);
    const auto beyond = std::max<std::int64_t>(chosen.back() - (columns - 1), 0);
    for (std::int32_t& column : chosen) column -= static_cast<std::int32_t>(beyond);
    matrix.columns.insert(matrix.columns.end(), chosen.begin(), chosen.end());
  }
  part.matrices["G"] = std::move(matrix);
  return part;
}

class Calibration {
 public:
  explicit Calibration(int threads) : threads_(threads), cluster_(make_single_process()) {}

  MachineProfile profile() {
    MachineProfile machine;
    machine.threads = threads_;
    caches(machine);
    machine.loop_latency = chain("", 0, 64, threads_);
    operations(machine);
    entries(machine);
    trials(machine);
    return machine;
  }

 private:
  enum class Step : std::uint8_t { vector, product };
  // The program's step of this kind in its loop (the longest of several).
  Timed time(Step kind, const std::string& program, Part part, const KernelOptions& chosen) {
    TrialLawChecker laws;
    const Module plan = optimize(compile_program(program, "calibration", {}), laws, {});
    std::vector<Part> parts;
    parts.push_back(std::move(part));
    const auto transport = cluster_->transport(1);
    const auto kernels = make_generated_kernels(chosen);
    Watch watch;
    RunOptions options;
    options.observer = &watch;
    const RunResult result = execute(plan, parts, *transport, *kernels, options);
    Timed longest;
    for_each_op(plan, [&](const Op& op, int number, int) {
      const OpCount& count = result.ops.at(static_cast<std::size_t>(number));
      const bool region = op.code == OpCode::region;
      const bool product =
          row(op.code).group == OpGroup::product || (region && row(op.kind).entry != RegionEntry::elementwise);
      const bool vector = row(op.code).group == OpGroup::vector || (region && !product);
      if (count.executions < 2 || !(kind == Step::product ? product : vector)) return;
      if (watch.least(number) <= longest.seconds) return;
      longest = {watch.least(number), watch.typical(number),
                 static_cast<double>(count.read_bytes + count.written_bytes) / static_cast<double>(count.executions)};
    });
    return longest;
  }

  // Bytes a second of one vector, read again and again.
  double read_bandwidth(std::int64_t bytes) {
    const Timed timed = time(Step::vector,
                             fmt::format("dim N\ninput x : f64[N]\ns = 0.0\nfor turn in 0..{} {{\n"
                                         "  s = 1e-6 * sum(x + s)\n}}\noutput s\n",
                                         iterations_over(bytes)),
                             vectors(bytes / 8), {.threads = threads_});
    return timed.bytes / timed.typical;
  }

  // Bytes a second of a matrix of 262 MB that is read row by row.
  double row_bandwidth(std::int64_t columns) {
    const std::int64_t rows = 32000 * kib / columns;
    const Timed timed = time(Step::product,
                             "dim N, F local\ninput X : f64[N, F]\nv : f64[F] = 0.5\n"
                             "for turn in 0..12 {\n  v = 1e-6 * (X' @ (X @ v))\n}\noutput v\n",
                             dense_matrix(rows, columns), {.threads = threads_});
    return timed.bytes / timed.typical;
  }

  // Bytes a second of memory that the system has just given, of which each page is touched.
  [[nodiscard]] double fresh_bandwidth() const {
    constexpr std::int64_t bytes = 256 * mib, page = 4 * kib;
    ThreadPool pool(threads_);
    std::vector<double> seconds;
    for (int k = 0; k < 3; ++k) {
      Bytes room(bytes);
      const auto began = std::chrono::steady_clock::now();
      pool.run([&](int thread) {
        for (std::int64_t at = bytes / page * thread / threads_; at < bytes / page * (thread + 1) / threads_; ++at)
          room.data()[at * page] = std::byte{1};
      });
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + 1, seconds.end());
    return static_cast<double>(bytes) / seconds[1];
  }

  // Writes a file, and reads it. Many disks give more at first than they go on with, so the last passes count.
  static void disk(MachineProfile& machine) {
    constexpr std::int64_t bytes = 256 * mib, some = 4 * mib;
    constexpr int passes = 4;
    const ElementType element = ElementType::of(Scalar::f64);
    const Bytes room(bytes);
    const ElementMemory memory{const_cast<std::byte*>(room.data()), element, bytes / 8};
    std::mt19937_64 numbers(1);  // what can be made shorter may take less time
    for (std::int64_t k = 0; k < bytes / 8; ++k) {
      const std::uint64_t number = numbers();
      std::memcpy(memory.data + 8 * k, &number, 8);
    }
    SpillFolder folder(spill_folder());
    const auto file = folder.make(element, bytes / 8);
    const auto rate = [&](const auto& begin, const auto& move) {
      std::vector<double> seconds;
      for (int pass = 0; pass < passes; ++pass) {
        begin();
        const Stopwatch::Clock::time_point began = Stopwatch::Clock::now();
        for (std::int64_t at = some; at <= bytes; at += some) move(at / 8);
        seconds.push_back(std::chrono::duration<double>(Stopwatch::Clock::now() - began).count());
      }
      return 2 * static_cast<double>(bytes) / (seconds[passes - 2] + seconds[passes - 1]);
    };
    machine.disk_write_bandwidth =
        rate([&] { file->begin_store(0, bytes / 8); }, [&](std::int64_t end) { (void)file->store(end, memory); });
    machine.disk_read_bandwidth =
        rate([&] { file->begin(0, bytes / 8); }, [&](std::int64_t end) { file->load(end, memory); });
  }

  // Bytes a second of a vector that is written while another one is read: in the time beyond that of the reads, of
  // which at least a tenth is counted.
  double write_bandwidth(std::int64_t bytes, double read_rate) {
    const Timed timed = time(Step::vector,
                             fmt::format("dim N\ninput x : f64[N]\na = x\nfor turn in 0..{} {{\n"
                                         "  a = f64(turn) * x\n}}\noutput a\n",
                                         iterations_over(bytes)),
                             vectors(bytes / 16), {.threads = threads_});
    const double reads = timed.bytes / 2 / read_rate;
    return timed.bytes / 2 / std::max(timed.typical - reads, reads / 10);
  }

  static std::int64_t iterations_over(std::int64_t bytes) {
    return std::clamp<std::int64_t>(512 * mib / bytes, 8, 200);
  }

  // Memory has the rate of the largest vectors. The caches hold the vectors whose rate is above the geometric mean of
  // that and the highest rate.
  void caches(MachineProfile& machine) {
    std::vector<std::pair<std::int64_t, double>> rates;
    for (std::int64_t bytes = 4 * mib; bytes <= 512 * mib; bytes *= 2) rates.emplace_back(bytes, read_bandwidth(bytes));
    machine.memory_bandwidth = rates.back().second;
    machine.write_bandwidth = write_bandwidth(rates.back().first, machine.memory_bandwidth);
    machine.fresh_bandwidth = fresh_bandwidth();
    disk(machine);
    machine.row_bandwidth = row_bandwidth(static_cast<std::int64_t>(wide_row) / 8);
    machine.narrow_row_bandwidth = row_bandwidth(static_cast<std::int64_t>(narrow_row) / 8);
    const auto slower = [](const auto& a, const auto& b) { return a.second < b.second; };
    const double highest = std::max_element(rates.begin(), rates.end(), slower)->second;
    const double between = std::sqrt(highest * machine.memory_bandwidth);
    for (const auto& [bytes, rate] : rates) {
      if (rate < between) continue;
      machine.cache_bytes = static_cast<double>(bytes);
      machine.cache_bandwidth = rate;
    }
  }

  // A sum of a function of each element, with `link` (of `@`) applied so many times.
  double chain(const std::string& link, int times, std::int64_t size, int threads) {
    std::string function = "v + s";
    for (int i = 0; i < times; ++i) {
      std::string longer = link;
      longer.replace(longer.find('@'), 1, function);
      function = "(" + longer + ")";
    }
    return time(Step::vector,
                fmt::format("dim N\ninput x : f64[N]\nfn f(v, s) = {}\ns = 0.0\nfor turn in 0..200 {{\n"
                            "  s = 1e-6 * sum(map(f, x, s))\n}}\noutput s\n",
                            function),
                vectors(size), {.threads = threads})
        .seconds;
  }

  // Seconds of one link. One thread measures it alone, undisturbed by waiting for others; all threads together are as
  // many times faster.
  double link(const std::string& text, int fewer, int more) {
    constexpr std::int64_t size = 16 * kib;
    const double beyond = chain(text, more, size, 1) - chain(text, fewer, size, 1);
    return std::max(beyond, 0.0) / (more - fewer) / static_cast<double>(size) / threads_;
  }

  // A cheap operation is measured in a chain of many, which hides the sum's own reads. A library's function is measured
  // once an element, because calls that wait for one another take longer.
  void operations(MachineProfile& machine) {
    const double plain = link("0.3 + 0.7 * @", 1, 8) / 2;
    machine.seconds(ScalarWork::plain) = plain;
    const auto measure = [&](ScalarWork work, const char* text, int fewer, int more) {
      machine.seconds(work) = std::max(link(text, fewer, more) - plain, plain);
    };
    measure(ScalarWork::compound, "max(0.9 * @, s)", 1, 8);
    measure(ScalarWork::division, "1.5 / (0.5 + @)", 1, 8);
    measure(ScalarWork::exp, "exp(-@)", 0, 1);
    measure(ScalarWork::log, "log(2.0 + @)", 0, 1);
    measure(ScalarWork::erf, "erf(0.5 + @)", 0, 1);
    measure(ScalarWork::tanh, "tanh(0.5 + @)", 0, 1);
    measure(ScalarWork::sine, "sin(0.5 + @)", 0, 1);
    measure(ScalarWork::power, "(0.5 + @) ^ 0.7", 0, 1);
    machine.seconds(ScalarWork::term) = term() / threads_;
  }

  // A pass over the rows of a matrix of 1.6 MB with two products of eight columns each, on one thread.
  double term() {
    constexpr std::int64_t rows = 4096, columns = 50, vectors_along = 8;
    const Timed timed = time(Step::product,
                             fmt::format("dim N, F local, K local = {}\ninput X : f64[N, F]\nB : f64[F, K] = 0.5\n"
                                         "for turn in 0..60 {{\n  B = 1e-6 * (X' @ (X @ B))\n}}\noutput B\n",
                                         vectors_along),
                             dense_matrix(rows, columns), {.threads = 1});
    return timed.seconds / static_cast<double>(2 * rows * columns * vectors_along);
  }

  // Seconds of a nonzero in the time beyond that of reading the matrix, at `rate` bytes a second of all threads; a
  // tenth is counted at least.
  double entry(std::int64_t rows, std::int64_t columns, int iterations, int threads, double rate) {
    const Timed timed = time(Step::product,
                             fmt::format("dim M, N\ninput G : null[M, N], x : f64[N]\ns = 1.0\nfor turn in 0..{} {{\n"
                                         "  y = G @ (x * s)\n  s = 1e-6 * sum(y)\n}}\noutput s\n",
                                         iterations),
                             with_matrix(rows, columns), {.threads = threads});
    constexpr double a_row = 16, index = 4, bytes = index + 8 / a_row;  // of a nonzero, with its share of a row pointer
    const double seconds = timed.typical / (a_row * static_cast<double>(rows)), matrix = bytes / rate;
    return std::max(seconds - matrix, seconds / 10);
  }

  void entries(MachineProfile& machine) {
    constexpr auto near = static_cast<std::int64_t>(near_span) / 8, far = static_cast<std::int64_t>(far_span) / 8,
                   middle = static_cast<std::int64_t>(middle_span) / 8;
    const double cache = machine.cache_bytes > 0 ? machine.cache_bandwidth : machine.memory_bandwidth;
    machine.near_entry = entry(64 * kib, near, 60, 1, cache / threads_) / threads_;
    const auto large = [&](std::int64_t columns) { return entry(mib, columns, 8, threads_, machine.memory_bandwidth); };
    machine.middle_entry = std::max(large(middle), machine.near_entry);
    machine.far_entry = std::max(large(far), machine.middle_entry);
  }

  // A loop whose results are too large for the caches, for the choice that shows only there.
  double store(Way way) {
    constexpr std::int64_t size = 16 * mib;
    KernelOptions options{.threads = threads_, .cached_bytes = mib, .ways = Ways()};
    (*options.ways)[Choice::stores] = way;
    const std::string program =
        "dim N\ninput x : f64[N]\nz = x\nfor turn in 0..6 {\n  z = x + f64(turn)\n}\noutput z\n";
    return time(Step::vector, program, vectors(size), options).seconds / static_cast<double>(size);
  }

  void trials(MachineProfile& machine) {
    machine.trials = measured_trials();
    machine.trials.trials[Choice::stores] = {store(Way::first), store(Way::second)};
  }

  int threads_;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace

std::string machine_profile(int threads) {
  return machine_lines(Calibration(threads).profile(),
                       [](const MachineKey& key) { return !key.name.starts_with("network"); });
}

}  // namespace kasen::tools
