// kasen-measure: predicts what a module reads, writes, allocates and sends, and checks a run against that.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/observed.h"
#include "libcore/json/report.h"
#include "libcore/lang/lang.h"
#include "libopt/bounds/tables.h"
#include "libopt/cost/sizes.h"
#include "libopt/optimize/replan.h"
#include "libopt/prover/prover.h"
#include "libopt/report/explain.h"
#include "libopt/report/report.h"
#include "libopt/report/streams.h"
#include "libopt/report/timeline.h"
#include "libopt/tasks/tables.h"
#include "libopt/time/run_report.h"
#include "libopt/time/times.h"
#include "tools/common/choice.h"
#include "tools/common/fitted.h"
#include "tools/common/tool.h"
#include "tools/common/wrap.h"
#include "tools/launch/inputs.h"
#include "tools/machine/byte_option.h"
#include "tools/machine/machine_file.h"
#include "tools/options/calibrate.h"
#include "tools/options/page_option.h"
#include "tools/options/result_format.h"
#include "tools/options/scaling_option.h"
#include "tools/options/sizes_option.h"
#include "tools/show/page.h"
#include "tools/step/disk.h"
#include "tools/step/measure_format.h"
#include "tools/step/step.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

Module read_module(const std::string& path) {
  Module module = parse_module(read_text(path), shown_name(path));
  Prover laws;
  require_valid(module, laws);
  return module;
}

std::string report(const Module& module, const Sizes* sizes, const Module* before, const po::variables_map& values,
                   Format format, const MachineProfile* machine) {
  switch (format) {
    case Format::text:
      return report_text(module, sizes, values.count("model") > 0);
    case Format::json:
      return report_json(module, sizes, machine);
    case Format::html:
      return page_of(module, sizes, before, values);
    case Format::dot:
      return report_dot(module);
    case Format::svg:
      return picture_of(module, sizes, values);
    case Format::csv:
      break;
  }
  throw InternalError("a format outside the table");
}

std::string comparison(const Module& module, const Module& other, const po::variables_map& values, const Sizes* sizes,
                       Format format) {
  const auto& path = values["compare"].as<std::string>();
  if (sizes != nullptr && !sizes->bundle_digest.empty()) {
    require_fitted(other, shown_name(path), values["bundle"].as<std::string>(), sizes->bundle_digest);
  }
  std::optional<Sizes> of_other;
  if (sizes != nullptr) of_other = sizes_to_report(values, *sizes, other);
  const Measured before{module, sizes}, after{other, of_other ? &*of_other : nullptr};
  if (values.count("picture") > 0)
    write_text(values["picture"].as<std::string>(), picture_of(other, after.sizes, values));
  if (format == Format::text) return compare_text(before, after, values.count("model") > 0);
  if (format == Format::json) return compare_json(before, after);
  if (format == Format::html) return page_of(other, after.sizes, &module, values);
  refuse_format("--compare");
}

// The workers that the bundle is read for; 0: its own. A run is held against the bundle as it read it.
int bundle_workers(const po::variables_map& values, const Module& module) {
  if (values.count("bundle") == 0) return 0;
  if (values.count("workers") > 0) {
    const std::vector<std::int64_t> counts = worker_counts(values);
    return counts.size() == 1 ? static_cast<int>(counts[0]) : 0;
  }
  if (values.count("against") == 0 || !module.mesh.empty()) return 0;
  const bool any = names_layouts(module) || read_bundle_info(values["bundle"].as<std::string>()).any_workers;
  if (!any) return 0;
  const auto& path = values["against"].as<std::string>();
  return read_run_report(read_text(path), shown_name(path)).workers;
}

// With --memory: what such a run does with disks.
std::optional<MemoryPlan> limited_memory(const Module& module, const po::variables_map& values) {
  if (values.count("memory") == 0 || names_layouts(module) || observes(module)) return std::nullopt;
  if (values.count("bundle") == 0) {
    fail(ExitStatus::usage, "--memory needs the bundle", "what goes to disks depends on the data",
         "give it with --bundle");
  }
  if (module.level < 3) {
    fail(ExitStatus::usage, "--memory needs a plan", "a program has no buffers yet", "run it through kasen fuse first");
  }
  std::vector<WorkersOfRank> ranks;
  if (values.count("against") > 0) {
    const auto& path = values["against"].as<std::string>();
    for (const RankCount& rank : read_run_report(read_text(path), shown_name(path)).by_rank)
      ranks.push_back({rank.first_worker, rank.workers});
  }
  const auto& bundle = values["bundle"].as<std::string>();
  const int workers = bundle_workers(values, module);
  const std::int64_t memory = byte_option(values, "memory");
  const int processes = std::max(1, static_cast<int>(ranks.size()));
  const bool in_memory = matrices_surely_fit(module, read_bundle_info(bundle, workers).statistics, processes, memory);
  return plan_of_memory(module, bundle, workers, std::move(ranks), memory, in_memory);
}

// The numbers that the run has written, for its page.
std::vector<PageResult> results_of(const Module& module, const po::variables_map& values) {
  if (values.count("result") == 0) return {};
  std::vector<std::string> outputs;
  for (const Op& op : module.body.ops)
    if (op.code == OpCode::output) outputs.push_back(op.name);
  return page_results(values["result"].as<std::string>(), choose(values, "result-format", result_format_choices),
                      outputs);
}

// What made them: params, data, what partition told, the tools' lines.
std::vector<PageOrigin> origin_of(const Module& module, const po::variables_map& values, const RunReport& run) {
  std::vector<std::string> params;
  for (const auto& [name, value] : run.params) params.push_back(fmt::format("{} = {}", name, value));
  BundleInfo info = read_bundle_info(values["bundle"].as<std::string>(), bundle_workers(values, module));
  info.notes.insert(info.notes.begin(), info.read_notes.begin(), info.read_notes.end());
  std::vector<std::string> steps = module.history;
  return {{"params", params},
          {"data", info.sources},
          {"notes", info.notes},
          {"steps", steps},
          {"processor", run.processor.empty() ? std::vector<std::string>{} : std::vector{run.processor}}};
}

// The check as text; `right` states whether it holds.
std::string against(const Module& module, const po::variables_map& values, const Sizes* sizes, Format format,
                    const Module* before, const MachineProfile* machine, bool& right) {
  if (sizes == nullptr || sizes->by_worker.empty()) {
    fail(ExitStatus::usage, "--against needs the bundle that was run", "counters are checked for each worker",
         "give it with --bundle");
  }
  const auto& path = values["against"].as<std::string>();
  const RunReport run = read_run_report(read_text(path), shown_name(path));
  const std::optional<MemoryPlan> limited = limited_memory(module, values);
  const Check check = check_against(module, *sizes, run, limited ? &*limited : nullptr);
  right = check.mismatches.empty();
  if (values.count("page") > 0)
    write_text(values["page"].as<std::string>(),
               page_of(module, sizes, before, values,
                       {.results = results_of(module, values), .origin = origin_of(module, values, run), .run = &run}));
  if (format == Format::html) return page_of(module, sizes, before, values, {.run = &run});
  if (format != Format::text && format != Format::json) refuse_format("--against");
  std::vector<ComparedTime> times;
  if (machine != nullptr) times = times_against(module, *sizes, run, *machine);
  if (machine != nullptr && limited) times.push_back(time_with_disk(module, *sizes, run, *machine, *limited));
  if (format == Format::json) return check_json(check, machine != nullptr ? compared_times_json(times) : Json());
  return check_text(module, check, values.count("differences") == 0) + compared_times_text(times);
}

// The schedule over time; with a run's counters also as it was measured.
std::string over_time(const Module& module, const po::variables_map& values, const Sizes* sizes, Format format,
                      const MachineProfile& machine) {
  if (sizes == nullptr || sizes->by_worker.empty()) {
    fail(ExitStatus::usage, "--timeline needs the bundle", "it shows what each worker holds", "give it with --bundle");
  }
  if (module.level < 2) {
    fail(ExitStatus::usage, "--timeline needs a plan", "a program has no schedule yet",
         "run it through kasen fuse first");
  }
  std::optional<RunReport> run;
  if (values.count("against") > 0) {
    const auto& path = values["against"].as<std::string>();
    run = read_run_report(read_text(path), shown_name(path));
    (void)check_against(module, *sizes, *run);  // a run of this plan, on this bundle
  }
  const RunReport* counted = run ? &*run : nullptr;
  if (format == Format::json) return timeline_json(module, *sizes, machine, counted);
  if (format == Format::svg) return streams_file(module, *sizes, machine, counted);
  if (format != Format::text) refuse_format("--timeline");
  return timeline_text(module, *sizes, machine, counted);
}

// The tasks of regions of blocks.
std::string tasks_report(const Module& module, const Sizes* sizes, Format format) {
  if (!tasks::has_tasks(module)) {
    fail(ExitStatus::usage, "--tasks of a plan without regions of blocks", "no operator of it works block by block",
         "plan it with kasen fuse --mesh 2x2 --spread lshs");
  }
  const std::optional<Module> sized = sizes != nullptr ? tasks::sized_for_tasks(module, *sizes) : std::nullopt;
  if (!sized) {
    fail(ExitStatus::usage, "--tasks needs all sizes", "the blocks of tasks follow from them",
         "give --bundle, or --sizes N=1000");
  }
  const std::vector<tasks::RegionTasks> regions = tasks::tasks_of(*sized);
  if (format == Format::text) return tasks::tasks_text(*sized, regions);
  if (format == Format::json) return tasks::tasks_json(*sized, regions);
  if (format == Format::csv) return tasks::tasks_csv(*sized, regions);
  if (format == Format::svg) return tasks::curves_file(*sized, regions);
  refuse_format("--tasks");
}

std::string explanation(const Module& module, const po::variables_map& values, const Sizes* sizes, Format format,
                        const MachineProfile& machine) {
  if (format != Format::text && format != Format::json) refuse_format("--explain");
  if (module.level < 2) {
    fail(ExitStatus::usage, "--explain needs a plan", "a program has no states, regions or buffers yet",
         "run it through kasen fuse first");
  }
  Prover laws;
  const auto known = sizes != nullptr ? sizes_of_plans(values, *sizes) : std::function<Sizes(const Module&)>();
  const std::optional<Module> program = program_of(module);
  const auto again = program ? plan_again(module, *program, laws, known, machine) : std::nullopt;
  const Explanation made = explanation_of(module, sizes, again ? &again->notes : nullptr, machine, laws);
  if (format == Format::text) return explanation_text(made);
  Json report = new_report("explanation");
  report.update(explanation_json(made));
  return report_document(report);
}

// With --against, it has the sizes that the run found.
Module module_to_measure(const po::variables_map& values, const std::string& path) {
  Module module = read_module(path);
  if (values.count("against") == 0 || !observes(module)) return module;
  const auto& run = values["against"].as<std::string>();
  return with_sizes_of(std::move(module), read_run_report(read_text(run), shown_name(run)));
}

ExitStatus run_measure(const po::variables_map& values) {
  if (values.count("calibrate") > 0) {
    for (const char* other :
         {"module", "bundle", "sizes", "compare", "against", "explain", "machine", "workers", "timeline"}) {
      if (values.count(other) == 0 || values[other].defaulted()) continue;
      fail(ExitStatus::usage, "--calibrate measures this machine alone",
           fmt::format("'{}' does not apply to it", other), "leave out one of them");
    }
    write_text(values["output"].as<std::string>(), calibrated_profile());
    return ExitStatus::done;
  }
  const Format format = format_of(values);
  const bool tells_tasks = values.count("tasks") > 0;
  const bool tells_times = format == Format::text || format == Format::html || format == Format::json;
  if (values.count("machine") > 0 && values.count("timeline") == 0 && !tells_times)
    fail(ExitStatus::usage, "--machine adds predicted times to text, JSON and pages alone", "", "leave out --format");
  if (format == Format::csv && !tells_tasks)
    fail(ExitStatus::usage, "--format csv without --tasks", "it has a row for each task", "add --tasks");
  const bool scales = scales_workers(values);
  if (values.count("compare") + values.count("against") + values.count("explain") + (scales ? 1U : 0U) > 1) {
    fail(ExitStatus::usage, "only one of --compare, --against, --explain and several --workers at a time", "",
         "give one of them");
  }
  if (values.count("timeline") > 0 && (values.count("compare") + values.count("explain") > 0 || scales))
    fail(ExitStatus::usage, "--timeline does not go with --compare, --explain or several --workers", "",
         "give one of them");
  if (tells_tasks &&
      (scales ||
       values.count("compare") + values.count("explain") + values.count("timeline") + values.count("against") > 0)) {
    fail(ExitStatus::usage, "--tasks does not go with --compare, --against, --explain, --timeline or several --workers",
         "", "give one of them");
  }
  check_scaling_options(values);
  if (values.count("trace") > 0 &&
      (values.count("against") == 0 || (format != Format::html && values.count("page") == 0)))
    fail(ExitStatus::usage, "--trace needs --against and --format html", "the page of a run links it");
  if (values.count("check") > 0 && values.count("against") == 0) {
    fail(ExitStatus::usage, "--check needs --against", "it turns a difference between the two into exit status 1");
  }
  const auto& path = values["module"].as<std::string>();
  const Module module = module_to_measure(values, path);
  std::optional<Module> other;
  if (values.count("compare") > 0) {
    other = read_module(values["compare"].as<std::string>());
  } else if (format == Format::html || values.count("page") > 0) {
    other = unfused(module);
  }
  const std::optional<Sizes> sizes =
      read_sizes(values, module, shown_name(path), bundle_workers(values, module), other ? &*other : nullptr);
  const Module* beside = other ? &*other : nullptr;
  const Sizes* known = sizes ? &*sizes : nullptr;
  bool right = true;
  std::string text;
  const std::optional<MachineProfile> machine = machine_of(values);
  if (tells_tasks) {
    text = tasks_report(module, known, format);
  } else if (values.count("timeline") > 0) {
    text = over_time(module, values, known, format, machine.value_or(MachineProfile{}));
  } else if (scales) {
    if (format != Format::text && format != Format::json) refuse_format("--workers");
    text = scaling_report(module, shown_name(path), values, machine.value_or(MachineProfile{}), format == Format::json);
  } else if (values.count("against") > 0) {
    text = against(module, values, known, format, beside, machine ? &*machine : nullptr, right);
  } else if (values.count("compare") > 0) {
    text = comparison(module, *other, values, known, format);
  } else if (values.count("explain") > 0) {
    text = explanation(module, values, known, format, machine.value_or(MachineProfile{}));
  } else {
    text = report(module, known, beside, values, format, machine ? &*machine : nullptr);
    if (machine && format == Format::text)
      text += times_text(module, known, *machine) + bounds_times_text(module, known, *machine);
    if (const auto limited = limited_memory(module, values)) {
      if (format != Format::text && format != Format::json) refuse_format("--memory");
      text = format == Format::json ? disk_json(module, *limited)
                                    : text + disk_text(module, *limited, byte_option(values, "memory"),
                                                       machine.value_or(MachineProfile{}));
    }
  }
  const auto& output = values["output"].as<std::string>();
  write_text(output, output == "-" && format == Format::text ? fitted(text, terminal_width()) : text);
  if (values.count("graph") > 0) write_text(values["graph"].as<std::string>(), report_dot(other ? *other : module));
  return values.count("check") > 0 && !right ? ExitStatus::check_failed : ExitStatus::done;
}

void add_options(Tool& tool) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  tool.under("Sizes");
  declare_sizes_options(tool);
  auto add = tool.options.add_options();
  tool.under("Report");
  add("compare", text("OTHER.kir"), "compares with another module; prints what that saves");
  add("against", text("RUN.json"), "the counters of a run (kasen run --stats)");
  add("trace", text("FILE"), "the run's trace, for a link on its page (html)");
  add("check", "status 1 if predicted and counted bytes differ");
  add("tasks", "prints the tasks of regions of blocks: where and when each runs, and who sends it what");
  add("model", "also the costs by the rules of the KASEN paper (docs/cost.md), behind those of this implementation");
  add("explain", "explains transitions, splits, laws, regions, buffers");
  add("memory", text("SIZE"),
      "what a run with so much memory a process, as 2G, reads from disks and writes to them (with --bundle)");
  add("format", text("FORMAT")->default_value("text"),
      "text, json, html (one page with pictures), dot or svg (its graph); with --timeline svg: streams over time, "
      "of a plan or a run with arrays on disks; with --tasks also csv and svg");
  add("output,o", text("FILE")->default_value("-"), "the output file of the report");
  takes(tool, "format", formats);
  tool.under("Times");
  add("machine", text("FILE.yaml"),
      "adds times predicted for that machine (see --calibrate; default: $KASEN_PROFILE); with html its rates beside a "
      "run");
  add("timeline",
      "prints the schedule (docs/ir.md) over time: when each line begins, what it takes, what a worker holds; with "
      "--against also what it took in the run");
  add("calibrate", "measures this machine and writes such a file; takes no module");
  declare_scaling_options(tool);
  tool.hidden.add_options()("places", text("FILE"),
                            "for html and svg: keeps where Graphviz places boxes, for the next page")(
      "differences", "with --against: rows where predicted and counted differ, no others")(
      "result", text("FILE"), "for --page: the results of the run")(
      "result-format", text("NAME")->default_value("hdf5"), "their format")(
      "page", text("FILE"), "with --against: also as html, to this file")(
      "graph", text("FILE"), "also the last module as a graph (dot), to this file")(
      "picture", text("FILE"), "with --compare: also the last module as svg, to this file")(
      "module", po::value<std::string>()->default_value("-")->value_name("MODULE.kir"));
  tool.positional.add("module", 1);
  tool.reads.insert(tool.reads.end(), {"module", "compare", "against", "machine", "trace"});
  tool.writes.insert(tool.writes.end(), {"output", "places", "page", "graph", "picture"});
}

}  // namespace

int measure_main(int argc, char** argv) {
  Tool tool{.info = {"kasen-measure", "predicts what a module reads, writes, allocates and sends",
                     "[MODULE.kir] [--bundle BUNDLE | --sizes NAME=NUMBER,...] [--compare OTHER.kir] "
                     "[--against RUN.json [--check]] [--model] [--explain] [--timeline] [--tasks] "
                     "[--machine FILE.yaml] [--calibrate] [--workers P,P,.. --data NAME=FILE [--sample FRACTION] "
                     "[--plot FILE.svg]] "
                     "[--format text|json|html|dot|csv|svg] [-o FILE]",
                     "kasen measure fused.kir --sizes N=325557,nnz=3216152,P=4"}};
  add_options(tool);
  return run_tool(argc, argv, tool, run_measure);
}

}  // namespace kasen::tools
