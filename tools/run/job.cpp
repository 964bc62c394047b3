#include "tools/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/spill.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/entries.h"
#include "libcomm/data/bundle/forms.h"
#include "libcomm/data/compress/compress.h"
#include "libcomm/data/hdf5/file.h"
#include "libcomm/data/results/results.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/laws/laws.h"
#include "libcore/run/executor.h"
#include "libcore/system/memory_limit.h"
#include "libcore/system/processors.h"
#include "libkernels/kernels.h"
#include "libkernels/run/emit_kernels.h"
#include "libopt/time/run_report.h"
#include "tools/common/fitted.h"
#include "tools/common/wrap.h"
#include "tools/launch/boxes.h"
#include "tools/launch/inputs.h"
#include "tools/launch/launch.h"
#include "tools/launch/params.h"
#include "tools/run/arrows.h"
#include "tools/run/checkpoint.h"
#include "tools/run/gather.h"
#include "tools/run/node.h"
#include "tools/run/results.h"
#include "tools/run/summary.h"
#include "tools/run/trace.h"
#include "tools/run/turns.h"
#include "tools/run/verify.h"
#include "tools/run/watch.h"
#include "tools/system/files.h"
#include "tools/system/progress.h"
#include "tools/system/stopwatch.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

// Standard input is rank 0's alone: mpirun and srun give it to no other.
std::string read_plan_text(const RunSettings& settings, Cluster& cluster) {
  const bool streamed = cluster.largest(settings.plan == "-" ? 1 : 0) != 0;
  std::string text;
  cluster.together([&] {
    if (!streamed || cluster.rank() == 0) text = read_text(settings.plan);
  });
  if (streamed) cluster.broadcast(text);
  return text;
}

Module read_plan(const RunSettings& settings, const std::string& text) {
  Module module = parse_module(text, settings.plan_name);
  TrialLawChecker laws;
  require_valid(module, laws);
  if (module.level < 3) {
    fail(ExitStatus::bad_input, fmt::format("the plan is at level {}", module.level),
         "states and regions are not placed yet", "run 'kasen fuse' on it first", Location{settings.plan_name, 1, 0});
  }
  return module;
}

// Tells of trials in the machine profile that do not count.
std::unique_ptr<KernelSet> make_kernels(const RunSettings& settings, int threads, const Cluster& cluster,
                                        const JobOutput& output) {
  if (settings.kernels == KernelChoice::interpreter) return make_interpreter_kernels();
  KernelOptions options{.threads = threads, .target = settings.target, .code_cache = settings.code_cache};
  if (settings.machine && !settings.machine->trials.empty()) {
    options.trials = settings.machine->trials;
    const std::string reason = reason_against(*options.trials);
    if (!reason.empty() && cluster.rank() == 0) {
      tell_of_job(output, fmt::format("kasen-run: warning: the trials in the machine profile are not used: {}; kernels "
                                      "choose by trials of their own (kasen measure --calibrate makes a profile)",
                                      reason));
    }
  }
  return make_generated_kernels(options);
}

void show_iteration(Progress& progress, const JobOutput& output, const Iteration& iteration) {
  static auto last = std::chrono::steady_clock::time_point{};
  const auto now = std::chrono::steady_clock::now();
  if (!output.launched) {
    progress.show(iteration_text(iteration));
  } else if (now - last > std::chrono::milliseconds(100)) {
    last = now;
    write_message(fmt::format("{}{}\n", progress_mark, iteration_text(iteration)));
  }
}

void say(const JobOutput& output, const std::string& text) {
  // mpirun shows its ranks a terminal that is none.
  if (!output.launched)
    return write_standard_output(output.progress && !text.starts_with('{') ? fitted(text, terminal_width()) : text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    write_message(fmt::format("{}{}\n", summary_mark, printable(line)));
}

// The data that all ranks need before they run.
struct Prepared {
  Module module;
  BundleInfo info;
  RunOptions options;
  std::unique_ptr<Transport> transport;
  std::vector<Part> parts;
  MappedTables mapped;                 // in these
  std::unique_ptr<BundleForms> forms;  // null: all are made
  std::unique_ptr<KernelSet> kernels;
  std::unique_ptr<TimelineRecorder> recorder;  // null: nobody asked for it
  RunTimes times;
};

// Ranks that were started apart, or see other files under a name, would diverge sooner or later.
void require_same_run(const RunSettings& settings, const Prepared& p, Cluster& cluster) {
  std::string text = print_module(p.module, false) + p.info.digest + params_text(p.module, p.options.params);
  text += fmt::format("\n{}\n{} {} {} {} {} {} {} {} {} {} {} {} {} {}", result_name(settings, p.module),
                      static_cast<int>(settings.format), settings.top, settings.show, settings.stats, settings.trace,
                      settings.checkpoint, settings.resume, settings.refuse_nan, settings.timeout > 0,
                      static_cast<int>(settings.verify.how), settings.verify.elements, settings.program,
                      settings.check_messages, settings.workers);
  const std::string digest = digest_of(text);
  const auto differs = static_cast<std::int64_t>(hash_of(digest));
  if (cluster.largest(differs) == ~cluster.largest(~differs)) return;
  cluster.together([&] {
    fail(ExitStatus::bad_input, "the ranks do not do the same",
         "they read different plans or bundles, or were started with different options",
         "start all of them with one command line, and see that every node has the same files");
  });
}

// With a limit of memory, inputs stay on the disk unless something else reads them, too. Verification by itself does
// not come then.
bool inputs_may_pass(const RunSettings& settings) {
  using How = VerifyChoice::How;
  const bool asked = settings.verify.how != How::nothing && settings.verify.how != How::automatic;
  return settings.memory > 0 && !settings.refuse_nan && !asked && !settings.make_forms;
}

Prepared prepare(const RunSettings& settings, Cluster& cluster, const JobOutput& output, int threads) {
  Prepared p;
  Stopwatch watch;
  const std::string text = read_plan_text(settings, cluster);
  cluster.together([&] {
    p.module = read_plan(settings, text);
    const int workers = names_layouts(p.module) ? 0 : settings.workers;  // of the bundle
    p.info = read_bundle_info(settings.bundle, workers);
    if (names_layouts(p.module)) p.info.workers = workers_of_mesh(settings, p.module, p.info);
    require_a_part_each(cluster.ranks(), p.module, p.info);
    require_fitted(p.module, settings.plan_name, settings.bundle, p.info.digest);
    const auto dims = [&] { return read_dims(settings.bundle, workers); };
    with_value("param", [&] { p.options.params = read_params(p.module, settings.params, p.info.names, dims); });
    if (cluster.rank() == 0 && !settings.make_forms)
      check_result(settings, p.module, !p.info.dictionaries.empty() || !p.info.names.empty());
  });
  require_same_run(settings, p, cluster);
  p.transport = cluster.transport(p.info.workers, settings.check_messages);
  cluster.together([&] {
    if (names_layouts(p.module)) {
      p.parts = read_boxes(settings.bundle, p.module, *p.transport);
    } else {
      PartsWanted wanted{.workers = settings.workers, .mapped = maps_inputs(p.module) ? &p.mapped : nullptr};
      if (inputs_may_pass(settings) &&
          !matrices_surely_fit(p.module, p.info.statistics, cluster.ranks(), settings.memory)) {
        wanted.streamed = [names = passing_inputs(p.module)](const std::string& name) { return names.contains(name); };
      }
      p.parts = read_parts(settings.bundle, p.transport->first_worker(), p.transport->local_workers(), wanted);
      for (Part& part : p.parts) expand(part, read_compressed(p.module));
      number_entries(p.module, p.parts, p.info.statistics);
    }
    p.times.reading = watch.lap();
    p.kernels = make_kernels(settings, threads, cluster, output);
    const bool kept = std::none_of(p.parts.begin(), p.parts.end(), stays_on_disk);
    if (kept && (settings.forms != FormUse::none || settings.make_forms)) {
      p.forms = std::make_unique<BundleForms>(settings.bundle, p.info.digest,
                                              settings.forms == FormUse::keep || settings.make_forms,
                                              settings.make_forms ? Sync::yes : Sync::no);
    }
  });
  return p;
}

// The watch sees every step, and when a checkpoint is written.
void attach_watch(RunWatch& watch, Prepared& p, const RunCheckpoints* checkpoints) {
  watch.know(p.module);
  watch.forward_to(p.options.observer);
  p.options.observer = &watch;
  watch.enter(JobPhase::preparing);
  if (checkpoints == nullptr) return;
  watch.saved(checkpoints->newest());
  p.options.on_border = [&watch, checkpoints, inner = p.options.on_border](const Border& border) {
    watch.enter(JobPhase::saving);
    inner(border);
    watch.saved(checkpoints->newest());
    watch.enter(JobPhase::running);
  };
}

RunReport report_of(const Prepared& p, const RunResult& result, const RunSettings& settings, const Cluster& cluster,
                    int threads) {
  RunReport report = make_run_report(p.module, result);
  report.bundle_digest = p.info.digest;
  report.sizes = data_sizes(p.info.statistics);
  for (const ObservedSize& found : result.observed) report.sizes[{SymbolKind::size, found.dim, {}, -1}] = found.size;
  report.workers = p.info.workers;
  report.params = shown_params(p.module, settings.params);
  report.ranks = cluster.ranks();
  report.threads = threads;
  report.by_rank.at(0).rank = cluster.rank();
  report.by_rank.at(0).resident_bytes = most_resident_memory();
  report.by_rank.at(0).preparing_seconds = p.times.preparing;
  report.by_rank.at(0).loaded_forms = p.forms == nullptr ? 0 : p.forms->loaded();
  report.by_rank.at(0).made_forms = p.forms == nullptr ? 0 : p.forms->made();
  const KernelCounts kernels = p.kernels->kernels();
  report.by_rank.at(0).made_kernels = kernels.made;
  report.by_rank.at(0).kept_kernels = kernels.kept;
  report.kernels = settings.kernels == KernelChoice::interpreter ? "interpreter" : "generated";
  report.processor = p.kernels->processor();
  report.choices = p.kernels->choices();
  report.timeline = disk_timeline(p.recorder.get(), settings.memory);
  return report;
}

// A run that stops before its end leaves the trace of its steps, where all ranks stop together or there is one rank.
RunResult executed(const Prepared& p, const RunSettings& settings, Cluster& cluster, Trace& trace) {
  const auto leave_trace = [&] {
    if (settings.trace.empty()) return;
    trace.close();
    const TraceFile file = gather_trace(cluster, p.module, trace, p.parts, p.recorder.get());
    if (cluster.rank() != 0) return;
    try {
      write_text(settings.trace, file.text);
    } catch (const UserError& error) {  // the error that stops the run says more
      tell("{}\n", error.what());
    }
  };
  try {
    return execute(p.module, p.parts, *p.transport, *p.kernels, p.options);
  } catch (const Stopped&) {
    leave_trace();
    throw;
  } catch (const UserError&) {
    if (cluster.ranks() == 1) leave_trace();
    throw;
  }
}

// Each rank keeps those of its own workers.
void make_forms_alone(const Prepared& p, Cluster& cluster, const JobOutput& output) {
  make_forms(p.module, p.parts, *p.transport, *p.kernels, p.options);
  if (cluster.rank() == 0 && !quiet())
    say(output, fmt::format("forms: {} there, {} made\n", p.forms->loaded(), p.forms->made()));
}

void write_stats(const RunSettings& settings, const Module& module, const RunReport& report) {
  if (!settings.stats.empty()) write_text(settings.stats, run_report_json(module, report));
}

// Verifies outputs before they become results: no wrong number does, but the counters record all findings.
std::vector<VerifiedOutput> verified_outputs(RunVerification& verification, const Prepared& p, const RunResult& result,
                                             const RunSettings& settings, Cluster& cluster, const JobOutput& output,
                                             const RunReport& mine) {
  std::vector<VerifiedOutput> outputs = verification.check(result.outputs, p.options.params);
  if (cluster.rank() == 0 && !quiet())
    for (const std::string& line : verified_lines(outputs)) tell_of_job(output, "kasen-run: " + line);
  cluster.together([&] { p.mapped.check(); });  // a file that was written explains a difference
  const std::string difference = verification.difference();
  if (difference.empty()) return outputs;
  RunReport report = gather_report(cluster, p.module, mine);
  report.verified = outputs;
  cluster.together([&] {
    if (cluster.rank() == 0) write_stats(settings, p.module, report);
    fail(ExitStatus::check_failed, difference, "the run made a wrong number, so no result is written",
         "this is a bug of Kasen or a failure of the machine; see whether it stays with --kernels interpreter or "
         "another 'kasen fuse --strategy', and report it with the plan");
  });
  return outputs;
}

}  // namespace

void tell_of_job(const JobOutput& output, const std::string& text, char mark) {
  std::string named = printable(text.starts_with("error:") ? "kasen-run: " + text : text);
  if (output.launched) std::replace(named.begin(), named.end(), '\n', line_break_mark);
  write_message(fmt::format("{}{}\n", output.launched ? std::string(1, mark) : "", named));
}

void run_job(const RunSettings& settings, Cluster& cluster, const JobOutput& output) {
  std::optional<RunWatch> watch;
  if (settings.timeout > 0) watch.emplace(settings.timeout, cluster, output);
  if (output.watched) output.watched();
  const int share = threads_of_rank(cluster), threads = settings.threads > 0 ? settings.threads : share;
  set_usable_threads(threads);
  Prepared p = prepare(settings, cluster, output, threads);
  Progress progress("run");
  const bool traced = !settings.trace.empty();
  Trace trace(traced ? events_of_rank(cluster.ranks()) : 0, traced ? time_zero(cluster) : Stopwatch::Clock::now());
  if (traced) {
    p.options.observer = &trace;
    p.transport = make_traced_transport(std::move(p.transport), cluster.ranks(), trace);
  }
  if (traced || !settings.stats.empty()) p.recorder = record_disks(p.module, p.options, settings.memory);
  p.options.on_formed = [&](size_t part, const std::string& name) { drop_entries(p.module, p.parts[part], name); };
  p.options.masters = settings.masters;
  p.options.forms = p.forms.get();
  p.options.refuse_nan = settings.refuse_nan;
  p.options.memory = settings.memory;
  SpillFolder spill(settings.spill.empty() ? spill_folder() : settings.spill);
  p.options.spill = &spill;
  if (cluster.ranks() > 1) p.options.sum_on_machine = [&](std::span<std::int64_t> sums) { sum_on_node(cluster, sums); };
  if (settings.make_forms) return make_forms_alone(p, cluster, output);
  IterationRecord iterations;
  if (cluster.rank() == 0) {
    p.options.on_iteration = [&](const Iteration& iteration) {
      if (!settings.stats.empty()) iterations.add(iteration);
      show_iteration(progress, output, iteration);
    };
  }
  std::optional<RunCheckpoints> checkpoints;
  if (!settings.checkpoint.empty()) {
    checkpoints.emplace(settings, p.module, p.info, p.parts.front(), p.options, *p.transport, cluster, output);
    checkpoints->attach(p.options);
  }
  std::optional<RunVerification> verification;
  const auto prepare_verification = [&] {
    if (settings.verify.how != VerifyChoice::How::nothing && !inputs_may_pass(settings))
      verification.emplace(settings, p.module, p.info, p.parts, cluster);
  };
  if (!observes(p.module)) prepare_verification();
  if (cluster.rank() != 0 || settings.show == 0) stop_examiner();  // all files are read, but for the result
  if (watch) attach_watch(*watch, p, checkpoints ? &*checkpoints : nullptr);
  Stopwatch stopwatch;
  const RunResult result = executed(p, settings, cluster, trace);
  progress.finish();
  if (observes(p.module)) {
    take_sizes(p.module, p.parts, result.observed);
    prepare_verification();  // of results of these sizes
  }
  p.times.preparing = stopwatch.lap() - result.seconds;
  std::vector<VerifiedOutput> verified;
  if (verification) {
    if (watch) watch->enter(JobPhase::verifying);
    verified = verified_outputs(*verification, p, result, settings, cluster, output,
                                report_of(p, result, settings, cluster, threads));
    p.times.verifying = stopwatch.lap();
  } else {
    cluster.together([&] { p.mapped.check(); });
  }
  if (watch) watch->enter(JobPhase::writing);

  ResultWriter writer(result_name(settings, p.module), settings.format, p.module, result.outputs, p.parts, cluster,
                      default_window_bytes, p.info.names);
  std::set<std::string> topped;
  std::string text = top_text(settings, p.module, result.outputs, p.parts, p.info.names, cluster, topped);
  const TraceFile trace_file = traced ? gather_trace(cluster, p.module, trace, p.parts, p.recorder.get()) : TraceFile();
  RunReport report = gather_report(cluster, p.module, report_of(p, result, settings, cluster, threads));
  report.verified = verified;
  if (cluster.rank() == 0) report.loops = iterations.loops(p.module, report.ops, p.options.params);
  const std::vector<std::string> files = writer.finish();
  cluster.together([&] {
    if (cluster.rank() != 0) return;
    p.times.writing = stopwatch.lap();
    mark_results(files);
    MadeFiles made{files, "", settings.stats, settings.trace};
    made.dictionary = write_dictionary(result_name(settings, p.module), p.module, p.info);
    write_stats(settings, p.module, report);
    if (traced) write_text(settings.trace, trace_file.text);
    const RunSummary summary = summarize(p.module, report, p.times);
    if (settings.json) {
      const Json results = results_json(settings, files.front(), result.outputs, made.dictionary);
      return say(output, run_document(summary, results, made, checkpoints ? checkpoints->facts() : Json()));
    }
    if (quiet()) return;
    text = shown_text(settings, files.front(), result.outputs, made.dictionary, topped) + text + summary_text(summary);
    if (checkpoints) text += checkpoints->summary();
    text += files_text(made);
    if (traced) text += trace_summary(settings.trace, trace, trace_file);
    say(output, text);
  });
}

void write_kernels(const RunSettings& settings, const std::string& file) {
  const Module module = read_plan(settings, read_text(settings.plan));
  const EmittedKernels kernels = emit_kernels(module, {.target = settings.target});
  write_text(file, file.ends_with(".s") ? kernels.assembly : kernels.object);
}

}  // namespace kasen::tools
