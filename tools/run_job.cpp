#include "tools/run_job.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

#include "libcomm/data/bundle.h"
#include "libcore/executor.h"
#include "libcore/laws.h"
#include "libcore/suggest.h"
#include "libkernels/kernels.h"
#include "libopt/run_report.h"
#include "tools/common/files.h"
#include "tools/common/progress.h"
#include "tools/run_gather.h"
#include "tools/run_launch.h"
#include "tools/run_result.h"
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

Module read_plan(const std::string& path) {
  Module module = parse_module(read_text(path), shown_name(path));
  TrialLawChecker laws;
  require_valid(module, laws);
  if (module.level < 3) {
    fail(ExitStatus::bad_input, fmt::format("the plan is at level {}", module.level), "states and regions are not placed yet",
         "run 'kasen fuse' on it first", Location{shown_name(path), 1, 0});
  }
  return module;
}

template <class T>
std::optional<T> read_as(const std::string& text) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Word> read_word(Scalar scalar, const std::string& text) {
  if (scalar == Scalar::boolean) {
    if (text != "true" && text != "false") return std::nullopt;
    return Word::integer(text == "true" ? 1 : 0);
  }
  if (is_float(scalar)) {
    const std::optional<double> value = read_as<double>(text);
    if (!value) return std::nullopt;
    return Word::real(scalar == Scalar::f32 ? static_cast<double>(static_cast<float>(*value)) : *value);
  }
  const std::optional<std::int64_t> value = read_as<std::int64_t>(text);
  const bool narrow = scalar == Scalar::i32;
  if (!value || (narrow && *value != static_cast<std::int32_t>(*value))) return std::nullopt;
  return Word::integer(*value);
}

const Op* find_param(const Module& module, const std::string& name) {
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::param && op.name == name) return &op;
  }
  return nullptr;
}

std::map<std::string, std::vector<Word>> read_params(const Module& module, const std::map<std::string, std::string>& given) {
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
    const ElementType& element = module.type(op->results[0]).element;
    const std::optional<Word> word = element.is_scalar() ? read_word(element.scalar(), text) : std::nullopt;
    if (!word) {
      fail(ExitStatus::usage, fmt::format("-D {}={}: not a value of type {}", name, text, print_element_type(module, element)));
    }
    params[name] = {*word};
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

}  // namespace

void run_job(const RunSettings& settings, Cluster& cluster, const JobOutput& output) {
  Stopwatch watch;
  RunFacts facts;
  const Module module = read_plan(settings.plan);
  const BundleInfo info = read_bundle_info(settings.bundle);
  facts.workers = info.workers;
  facts.ranks = cluster.ranks();
  if (facts.ranks > facts.workers) {
    fail(ExitStatus::usage, fmt::format("{} ranks for {} parts", facts.ranks, facts.workers), "a rank holds at least one part",
         fmt::format("use -n {} or fewer, or partition for more workers", facts.workers));
  }
  RunOptions options;
  options.params = read_params(module, settings.params);
  facts.result_file = result_name(settings, module);
  if (cluster.rank() == 0) check_result_place(facts.result_file);

  const std::unique_ptr<Transport> transport = cluster.transport(facts.workers);
  const std::vector<Part> parts = read_parts(settings.bundle, transport->first_worker(), transport->local_workers());
  facts.reading_seconds = watch.lap();
  facts.threads = threads_of(settings, facts.ranks);
  const std::unique_ptr<KernelSet> kernels = make_kernels(settings, facts.threads);
  facts.kernels = settings.kernels == KernelChoice::interpreter ? "interpreter" : "generated kernels";
  kernels->prepare(module);
  facts.preparing_seconds = watch.lap();

  Progress progress("run");
  if (cluster.rank() == 0) options.on_turn = [&](const Turn& turn) { show_turn(progress, output, turn); };
  const RunResult result = execute(module, parts, *transport, *kernels, options);
  watch.lap();
  const std::vector<WholeOutput> outputs = gather_outputs(cluster, module, result, parts);
  const RunResult counts = gather_counts(cluster, result);
  if (cluster.rank() == 0) {
    write_result(facts.result_file, settings.format, module, outputs);
    facts.writing_seconds = watch.lap();
    facts.stats_file = settings.stats;
    if (!settings.stats.empty()) write_text(settings.stats, run_report(module, counts, info.digest, facts.workers, facts.ranks, facts.threads));
    say(output, top_text(outputs, settings.top) + summary_text(module, counts, facts));
  }
  cluster.barrier();
}

}  // namespace kasen::tools
