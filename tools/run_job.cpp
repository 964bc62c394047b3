#include "tools/run_job.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <thread>

#include "libcomm/data/bundle.h"
#include "libcomm/data/results.h"
#include "libcore/executor.h"
#include "libcore/laws.h"
#include "libkernels/kernels.h"
#include "libopt/run_report.h"
#include "tools/common/files.h"
#include "tools/common/fitted.h"
#include "tools/common/progress.h"
#include "tools/run_gather.h"
#include "tools/run_launch.h"
#include "tools/run_params.h"
#include "tools/run_summary.h"
#include "tools/run_trace.h"

namespace kasen::tools {
namespace {

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Module read_plan(const RunSettings& settings) {
  Module module = parse_module(read_text(settings.plan), settings.plan_name);
  TrialLawChecker laws;
  require_valid(module, laws);
  if (module.level < 3) {
    fail(ExitStatus::bad_input, fmt::format("the plan is at level {}", module.level),
         "states and regions are not placed yet", "run 'kasen fuse' on it first", Location{settings.plan_name, 1, 0});
  }
  return module;
}

std::unique_ptr<KernelSet> make_kernels(const RunSettings& settings, int threads) {
  if (settings.kernels == KernelChoice::interpreter) return make_interpreter_kernels();
  return make_generated_kernels(KernelOptions{.threads = threads});
}

int threads_of(const RunSettings& settings, int ranks) {
  if (settings.threads > 0) return settings.threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks);
}

void show_turn(Progress& progress, const JobOutput& output, const Turn& turn) {
  static auto last = std::chrono::steady_clock::time_point{};
  const auto now = std::chrono::steady_clock::now();
  if (!output.launched) {
    progress.show(turn_text(turn));
  } else if (now - last > std::chrono::milliseconds(100)) {
    last = now;
    fmt::print(stderr, "{}{}\n", progress_mark, turn_text(turn));
  }
}

void say(const JobOutput& output, const std::string& text) {
  if (!output.launched) return write_standard_output(text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) fmt::print(stderr, "{}{}\n", summary_mark, line);
}

std::string result_name(const RunSettings& settings, const Module& module) {
  if (!settings.output.empty()) return settings.output;
  constexpr std::array<std::string_view, 3> endings{".h5", ".csv", ".npy"};
  return module.name + std::string(endings[static_cast<size_t>(settings.format)]);
}

// The result's name may come from the program: that one, too, takes no other file's place.
void check_result(const RunSettings& settings, const Module& module) {
  const std::string result = result_name(settings, module);
  check_writable(result);
  check_not_input(result, {settings.plan, settings.bundle});
  for (const std::string& other : {settings.stats, settings.trace}) {
    if (other.empty()) continue;
    check_writable(other);
    check_not_output(other, {result});
  }
}

// What rank 0 does with the outputs: the file, and the largest elements for the summary.
class Results {
 public:
  Results(const RunSettings& settings, const Module& module, const RunResult& result)
      : module_(module),
        outputs_(result.outputs),
        dims_(read_dims(settings.bundle)),
        writer_(result_name(settings, module), settings.format, module, result.outputs, dims_) {
    for (const Output& output : outputs_) {
      const bool vector = output.type.dims.size() == 1 && output.type.list == 0 && output.type.element.is_scalar();
      const bool wanted = vector && settings.top > 0 && !is_shared(module, output.type);
      top_.emplace_back();
      if (wanted) top_.back().emplace(output.name, output.type.element, static_cast<size_t>(settings.top));
    }
  }

  void take(size_t output, int worker, const Array& data) {
    const bool shared = is_shared(module_, outputs_[output].type);
    if (shared && worker > 0) return;
    writer_.put(output, worker, data);
    if (top_[output]) top_[output]->add(data, dims_[static_cast<size_t>(worker)].at(dim_name(output)));
  }

  [[nodiscard]] std::string finish() {
    std::string text;
    for (size_t i = 0; i < top_.size(); ++i) {
      if (top_[i]) text += top_[i]->text(dim_name(i));
    }
    for (const std::string& file : writer_.finish()) files_ += fmt::format("result: {}\n", file);
    return text;
  }
  [[nodiscard]] const std::string& files() const { return files_; }

 private:
  [[nodiscard]] const std::string& dim_name(size_t output) const {
    return module_.dim(outputs_[output].type.dims[0]).name;
  }

  const Module& module_;
  const std::vector<Output>& outputs_;
  DimsOfWorkers dims_;
  ResultWriter writer_;
  std::vector<std::optional<TopElements>> top_;
  std::string files_;
};

// What all ranks need before they run.
struct Prepared {
  Module module;
  BundleInfo info;
  RunOptions options;
  std::unique_ptr<Transport> transport;
  std::vector<Part> parts;
  std::unique_ptr<KernelSet> kernels;
  RunTimes times;
};

Prepared prepare(const RunSettings& settings, Cluster& cluster, int threads) {
  Prepared p;
  Stopwatch watch;
  cluster.together([&] {
    p.module = read_plan(settings);
    p.info = read_bundle_info(settings.bundle);
    if (cluster.ranks() > p.info.workers) {
      fail(ExitStatus::usage, fmt::format("{} ranks for {} parts", cluster.ranks(), p.info.workers),
           "a rank holds at least one part",
           fmt::format("use -n {} or fewer, or partition for more workers", p.info.workers));
    }
    require_fitted(p.module, settings.plan_name, settings.bundle, p.info.digest);
    with_value("param", [&] {
      p.options.params = read_params(p.module, settings.params, [&] { return read_dims(settings.bundle); });
    });
    if (cluster.rank() == 0) check_result(settings, p.module);
  });
  p.transport = cluster.transport(p.info.workers);
  cluster.together([&] {
    p.parts = read_parts(settings.bundle, p.transport->first_worker(), p.transport->local_workers());
    p.times.reading = watch.lap();
    p.kernels = make_kernels(settings, threads);
    p.kernels->prepare(p.module);
    p.times.preparing = watch.lap();
  });
  return p;
}

RunReport report_of(const Prepared& p, const RunResult& result, const RunSettings& settings, int ranks, int threads) {
  RunReport report = make_run_report(p.module, result);
  report.bundle_digest = p.info.digest;
  report.workers = p.info.workers;
  report.ranks = ranks;
  report.threads = threads;
  report.kernels = settings.kernels == KernelChoice::interpreter ? "interpreter" : "generated";
  return report;
}

}  // namespace

void run_job(const RunSettings& settings, Cluster& cluster, const JobOutput& output) {
  const int threads = threads_of(settings, cluster.ranks());
  Prepared p = prepare(settings, cluster, threads);
  Progress progress("run");
  Trace trace(settings.trace.empty() ? 0 : events_of_rank(cluster.ranks()));
  if (!settings.trace.empty()) p.options.observer = &trace;
  if (cluster.rank() == 0) p.options.on_turn = [&](const Turn& turn) { show_turn(progress, output, turn); };
  const RunResult result = execute(p.module, p.parts, *p.transport, *p.kernels, p.options);
  progress.finish();

  Stopwatch watch;
  std::unique_ptr<Results> results;
  cluster.together([&] {
    if (cluster.rank() == 0) results = std::make_unique<Results>(settings, p.module, result);
  });
  gather_outputs(cluster, result, [&](size_t i, int worker, const Array& data) { results->take(i, worker, data); });
  const bool traced = !settings.trace.empty();
  const std::string trace_text = traced ? gather_trace(cluster, p.module, trace, p.parts) : std::string();
  const RunReport report = gather_report(cluster, p.module, report_of(p, result, settings, cluster.ranks(), threads));
  cluster.together([&] {
    if (cluster.rank() != 0) return;
    std::string text = results->finish();
    p.times.writing = watch.lap();
    text += summary_text(p.module, report, p.times) + results->files();
    if (!settings.stats.empty()) {
      write_text(settings.stats, run_report_json(p.module, report));
      text += fmt::format("counters: {}\n", settings.stats);
    }
    if (traced) {
      write_text(settings.trace, trace_text);
      text += trace_summary(settings.trace, trace);
    }
    say(output, text);
  });
}

}  // namespace kasen::tools
