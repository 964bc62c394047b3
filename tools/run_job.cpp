#include "tools/run_job.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "libcomm/data/bundle.h"
#include "libcomm/data/results.h"
#include "libcore/executor.h"
#include "libcore/lang.h"
#include "libcore/laws.h"
#include "libcore/suggest.h"
#include "libkernels/kernels.h"
#include "libopt/run_report.h"
#include "tools/common/files.h"
#include "tools/common/progress.h"
#include "tools/run_gather.h"
#include "tools/run_launch.h"
#include "tools/run_summary.h"

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

const Op* find_param(const Module& module, const std::string& name) {
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::param && op.name == name) return &op;
  }
  return nullptr;
}

std::string zero_text(Scalar scalar) {
  return scalar == Scalar::boolean ? "false" : fmt::format("0{}", scalar_name(scalar));
}

std::string zero_text(const ElementType& element) {
  std::vector<std::string> parts;
  for (const Component& c : element.components) {
    const std::vector<std::string> zeros(static_cast<size_t>(c.planes()), zero_text(c.scalar));
    parts.push_back(c.count > 0 ? fmt::format("[{}]", fmt::join(zeros, ", ")) : zeros[0]);
  }
  return element.tuple ? fmt::format("({},)", fmt::join(parts, ", ")) : parts[0];
}

// A param's value is written as in programs, and means what it means to `plan -D`: a program of that param reads it.
std::vector<Word> read_value(const Module& module, const ElementType& element, const std::string& name,
                             const std::string& text) {
  const std::string program =
      fmt::format("param {0} : {1} = {2}\noutput {0}\n", name, print_element_type(module, element), zero_text(element));
  const Module made = compile_program(program, "-D", {{name, text}});
  const Op* op = find_param(made, name);
  if (op == nullptr) fail(ExitStatus::usage, fmt::format("-D {}: not a name of the language", name));
  return op->literal;
}

std::map<std::string, std::vector<Word>> read_params(const Module& module,
                                                     const std::map<std::string, std::string>& given) {
  std::map<std::string, std::vector<Word>> params;
  for (const auto& [name, text] : given) {
    const Op* op = find_param(module, name);
    if (op == nullptr) {
      std::vector<std::string> names;
      for (const Op& o : module.body.ops) {
        if (o.code == OpCode::param) names.push_back(o.name);
      }
      const std::string near = nearest_name(name, names);
      fail(ExitStatus::usage, fmt::format("-D: the program has no param '{}'", name), "",
           near.empty() ? fmt::format("it has: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
    }
    params[name] = read_value(module, module.type(op->results[0]).element, name, text);
  }
  return params;
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

// No output takes the place of the plan, of a file of the bundle, or of another output.
void check_outputs(const RunSettings& settings, const Module& module) {
  namespace fs = std::filesystem;
  const std::string result = result_name(settings, module);
  check_writable(result);
  std::vector<std::string> inputs{settings.plan};
  std::error_code none;
  for (const fs::directory_entry& file : fs::directory_iterator(settings.bundle, none))
    inputs.push_back(file.path().string());
  check_not_input(result, inputs);
  if (settings.stats.empty()) return;
  check_not_input(settings.stats, inputs);
  if (fs::weakly_canonical(fs::absolute(settings.stats)) == fs::weakly_canonical(fs::absolute(result)))
    fail(ExitStatus::usage, fmt::format("--stats and -o both name '{}'", result), "one would replace the other",
         "give two names");
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
    p.options.params = read_params(p.module, settings.params);
    if (cluster.rank() == 0) check_outputs(settings, p.module);
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
  if (cluster.rank() == 0) p.options.on_turn = [&](const Turn& turn) { show_turn(progress, output, turn); };
  const RunResult result = execute(p.module, p.parts, *p.transport, *p.kernels, p.options);
  progress.finish();

  Stopwatch watch;
  std::unique_ptr<Results> results;
  cluster.together([&] {
    if (cluster.rank() == 0) results = std::make_unique<Results>(settings, p.module, result);
  });
  gather_outputs(cluster, result, [&](size_t i, int worker, const Array& data) { results->take(i, worker, data); });
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
    say(output, text);
  });
}

}  // namespace kasen::tools
