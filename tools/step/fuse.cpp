// kasen-fuse: turns level 1 IR into a plan. It places states and transitions, fuses operators and assigns buffers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <sstream>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/tiling_text.h"
#include "libopt/optimize/optimize.h"
#include "libopt/optimize/strategies.h"
#include "libopt/options/pass.h"
#include "libopt/prover/prover.h"
#include "libopt/report/explain.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/observed.h"
#include "tools/common/tool.h"
#include "tools/machine/byte_option.h"
#include "tools/machine/machine_file.h"
#include "tools/options/mesh_option.h"
#include "tools/options/report_format.h"
#include "tools/options/sizes_option.h"
#include "tools/options/words.h"
#include "tools/step/fuse_report.h"
#include "tools/step/fusion_tables.h"
#include "tools/step/spread_view.h"
#include "tools/step/step.h"
#include "tools/system/files.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

enum class TilingFormat : std::uint8_t { text, json, dot };
constexpr Words<TilingFormat, 3> tiling_formats{
    {{"text", TilingFormat::text}, {"json", TilingFormat::json}, {"dot", TilingFormat::dot}}};

// A text on standard error is a result where the user asked for it.
void write_explanation(const std::string& text) {
  if (!write_message(printable(text)))
    fail(ExitStatus::io, "cannot write to standard error", "the requested text is lost");
}

void read_memory(const po::variables_map& values, OptimizeOptions& options) {
  const bool swap = values.count("swap") > 0;
  if (swap && values.count("memory") == 0)
    fail(ExitStatus::usage, "--swap without --memory", "it makes a plan fit into so much", "add --memory 2GB");
  if (values.count("memory") == 0) return;
  options.copy_bytes = byte_option(values, "memory");
  if (swap) options.swap_memory = options.copy_bytes;
}

OptimizeOptions options_from(const po::variables_map& values) {
  OptimizeOptions options;
  options.sync = choose(values, "sync", sync_words);
  const EpilogueWord epilogue = choose(values, "epilogue", epilogue_words);
  options.epilogue = epilogue.join;
  options.epilogue_by_size = epilogue.by_size;
  options.split = choose(values, "split", on_off_words);
  options.schedule = values["level"].as<std::string>() == "4";
  read_layout_options(values, options);
  options.tile_costs = choose(values, "tile-costs", tile_cost_words);
  read_memory(values, options);
  if (const auto machine = machine_of(values)) options.machine = *machine;
  if (values.count("print-after") > 0) options.print_after = values["print-after"].as<std::string>();
  options.on_print = [](const std::string& pass, const Module& module) {
    write_explanation(fmt::format("# after {}\n{}", pass, print_module(module, false)));
  };
  if (values.count("time-passes") > 0) {
    options.on_pass = [](const std::string& pass, double seconds, bool changed) {
      write_explanation(fmt::format("{:<16} {:8.3f} ms{}\n", pass, seconds * 1e3, changed ? "" : "  (unchanged)"));
    };
  }
  return options;
}

// From here on, choices are made for this bundle; a plan of level 3 leaves nothing to choose.
void fit(Module& module, const std::string& name, const Sizes& sizes) {
  const std::string& digest = sizes.bundle_digest;
  if (digest.empty() || module.fitted_to == digest) return;
  if (module.level >= 3) {
    fail(ExitStatus::bad_input, "a plan of level 3 is not fitted any more", "its choices are made",
         "give --bundle where the program is fused", Location{name, 1, 0});
  }
  module.fitted_to = digest;
  fit_local_dimensions(module, sizes);
}

// Reports the default sizes that decided something.
void tell_defaults(const PlanNotes& notes) {
  if (notes.defaults.empty()) return;
  const bool loops = std::all_of(notes.defaults.begin(), notes.defaults.end(),
                                 [](const std::string& size) { return size.starts_with("trips"); });
  note("kasen-fuse: note: sizes decide, and these are defaults: {}; {}\n", fmt::join(notes.defaults, ", "),
       loops ? "`expect 30` at the head of the loop says how often it goes round"
             : "--bundle, --sizes or --observed gives them");
}

// The plan may go to standard output, so its explanation goes to standard error.
void explain(const Module& plan, const PlanNotes& notes, const OptimizeOptions& options, LawChecker& laws) {
  const std::optional<Sizes> sizes = options.sizes ? std::optional(options.sizes(plan)) : std::nullopt;
  write_explanation(explain_text(plan, sizes ? &*sizes : nullptr, &notes, options.machine, laws));
}

std::string list_of_passes() {
  std::string text = fmt::format("{:<17} {:<8} {}\n", "pass", "steps", "what it does");
  for (const PassRow& pass : pass_rows()) {
    text += fmt::format("{:<17} {:<8} {}\n", pass.name, pass.steps.empty() ? "-" : pass.steps, pass.doc);
    text += fmt::format("{:<26} order: {}\n", "", pass.why);
  }
  return text +
         "steps: of the five in which KASEN expands a sub-DDAG (1 begin, 2 expand, 3 transitions, 4 buffers, 5 fuse)\n"
         "order: why the pass stands there\n";
}

std::vector<std::string> listed_passes(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

// A plan, or the module after the listed passes alone.
Module planned(Module module, LawChecker& laws, const OptimizeOptions& options, const po::variables_map& values) {
  if (values.count("passes") == 0) return optimize(std::move(module), laws, options);
  if (values.count("explain") > 0)
    fail(ExitStatus::usage, "--explain needs a whole plan", "--passes runs some passes alone", "leave one of them out");
  return run_passes(std::move(module), laws, options, listed_passes(values["passes"].as<std::string>()));
}

// Of the bundle; 0: its own. One for any number of workers is read for those of the mesh.
int workers_option(const po::variables_map& values) {
  if (values.count("workers") == 0) {
    const std::vector<MeshAxis> mesh = mesh_option(values);
    if (mesh.empty() || values.count("bundle") == 0) return 0;
    return read_bundle_info(values["bundle"].as<std::string>()).any_workers ? workers_of(mesh) : 0;
  }
  if (values.count("bundle") > 0) return bounded(values, "workers", 1, most_workers);
  fail(ExitStatus::usage, "--workers without --bundle", "it says for how many workers the bundle is read",
       "add --bundle, or give P with --sizes");
}

// Of --sizes; 0: not given.
std::int64_t known_workers(const Sizes& sizes) {
  const auto it = sizes.totals.find({SymbolKind::workers, "", {}, -1});
  return it == sizes.totals.end() ? 0 : it->second;
}

// What tells of the default layout alone.
void refuse_regions(const po::variables_map& values) {
  for (const char* option : {"print-memo", "print-plans"}) {
    if (values.count(option) == 0) continue;
    fail(ExitStatus::usage, fmt::format("--{} of a plan over a mesh, or with contractions", option),
         "it tells of the default layout alone", "leave it out; kasen measure shows what such a plan costs and sends");
  }
}

// UserError for a module whose arrays are not cut over a mesh, or are cut already.
void require_open_layouts(const Module& module, bool meshed, const std::string& option) {
  if (!meshed) {
    fail(ExitStatus::usage, fmt::format("--{} without --mesh", option), "arrays are cut by choice over a mesh alone",
         "add --mesh auto, or --mesh 2x2");
  }
  if (module.level > 1 || is_tiled(module)) {
    fail(ExitStatus::bad_input, fmt::format("--{} of a module whose arrays are cut", option),
         "nothing is left to choose", "give it the plan of level 1, as kasen plan makes it");
  }
}

// Wraps the sizes at hand, so that all costs take what an earlier run counted where these do not tell. Returns what it
// adds for the module, as "trips@7 = 57".
std::vector<std::string> observe(const po::variables_map& values, const Module& module, OptimizeOptions& options) {
  std::optional<RunReport> run = observed_option(values, module);
  if (!run) return {};
  const auto given = [sizes = options.sizes](const Module& plan) { return sizes ? sizes(plan) : Sizes{}; };
  Sizes all = given(module);
  std::vector<std::string> added = add_observed(module, *run, all);
  options.sizes = [given, run = *std::move(run)](const Module& plan) {
    Sizes sizes = given(plan);
    add_observed(plan, run, sizes);
    return sizes;
  };
  return added;
}

std::string tiling_view(Module module, LawChecker& laws, const OptimizeOptions& options,
                        const po::variables_map& values, std::vector<std::string> observed) {
  const TilingFormat format = choose(values, "print-tiling", tiling_formats);
  TilingView view = view_tilings(before_tiling(std::move(module), laws, options), laws, options);
  view.observed = std::move(observed);
  switch (format) {
    case TilingFormat::json:
      return tiling_json(view);
    case TilingFormat::dot:
      return tiling_dot(view);
    case TilingFormat::text:
      return tiling_text(view);
  }
  throw InternalError("a format outside the table");
}

// The plan and its report cannot both go to standard output, and some tables have forms of their own.
void check_report(const po::variables_map& values) {
  if (!reports_json(values)) return;
  if (values.count("passes") > 0)
    fail(ExitStatus::usage, "--format json with --passes", "it reports a whole plan", "leave one of them out");
  for (const char* table : {"print-tiling", "print-spread"})
    if (values.count(table) > 0)
      fail(ExitStatus::usage, fmt::format("--format json with --{}", table), "the table has forms of its own",
           fmt::format("write --{}=json", table));
  const bool is_table = values.count("print-memo") > 0 || values.count("print-plans") > 0;
  if (is_table || values["output"].as<std::string>() != "-") return;
  fail(ExitStatus::usage, "--format json without -o FILE", "the report goes to standard output, as the plan would",
       "name the plan's file with -o");
}

constexpr const char* vector_work_alone =
    "whatever the strategy, regions hold vector work alone: arrays of this plan have layouts (over a mesh, or with "
    "operators such as lstsq and cumsum over a dimension that is cut)";

// Returns the strategy that plans the module. One that was asked for and has no effect is told of.
std::string strategy_in_use(const po::variables_map& values, bool meshed) {
  const auto& asked = values["strategy"].as<std::string>();
  if (!meshed || asked == "none") return asked;
  if (!values["strategy"].defaulted() && asked != "auto")
    note("kasen-fuse: note: --strategy {} has no effect; {}\n", asked, vector_work_alone);
  return "none";
}

ExitStatus fuse(const ToolInfo& info, const po::variables_map& values) {
  if (values.count("list-passes") > 0) {
    write_text(values["output"].as<std::string>(), reports_json(values) ? passes_document() : list_of_passes());
    return ExitStatus::done;
  }
  check_report(values);
  OptimizeOptions options = options_from(values);
  read_spread_options(values, options);
  const auto& plan = values["plan"].as<std::string>();
  Module module = parse_module(read_text(plan), shown_name(plan));
  Prover laws;
  require_valid(module, laws);
  if (const std::optional<Sizes> sizes = read_sizes(values, module, shown_name(plan), workers_option(values))) {
    fit(module, shown_name(plan), *sizes);
    options.sizes = sizes_of_plans(values, *sizes);
    if (mesh_is_auto(values)) options.mesh_workers = sizes->workers > 0 ? sizes->workers : known_workers(*sizes);
  }
  if (mesh_is_auto(values) && options.mesh_workers == 0) {
    fail(ExitStatus::usage, "--mesh auto without a number of workers", "meshes of so many workers are compared",
         "give --bundle, or --sizes P=4");
  }
  std::vector<std::string> observed = observe(values, module, options);
  const bool meshed = options.mesh_workers > 0 || !options.mesh.empty() || names_layouts(module);
  if (meshed) refuse_regions(values);
  options.strategy = choose(values, "strategy", strategy_choices).value_or(automatic_strategy(module, options));
  if (values.count("print-tiling") > 0) {
    require_open_layouts(module, meshed, "print-tiling");
    write_text(values["output"].as<std::string>(),
               tiling_view(std::move(module), laws, options, values, std::move(observed)));
    return ExitStatus::done;
  }
  PlanNotes notes;
  if (values.count("print-spread") > 0) {
    write_text(values["output"].as<std::string>(), spread_view(module, options, values, notes.defaults));
    tell_defaults(notes);
    return ExitStatus::done;
  }
  const bool plans = values.count("print-plans") > 0;
  if (plans || values.count("print-memo") > 0) {
    write_text(values["output"].as<std::string>(),
               fusion_tables(module, laws, options, plans, reports_json(values), notes));
    tell_defaults(notes);
    return ExitStatus::done;
  }
  const bool json = reports_json(values);
  FuseReport report{strategy_in_use(values, meshed),    values["sync"].as<std::string>(), observed,
                    values["output"].as<std::string>(), values.count("explain") > 0,      {}};
  notes.explain = report.explains;
  if (notes.explain && !observed.empty() && !json)
    write_explanation(fmt::format("an earlier run gave {}\n", fmt::join(observed, ", ")));
  if (meshed && notes.explain) {
    require_open_layouts(module, meshed, "explain");
    const Module open = before_tiling(module, laws, options);
    if (json)
      report.tilings = Json::parse(tiling_json(view_tilings(open, laws, options)));
    else
      write_explanation(fmt::format("{}{}\n", tiling_explanation(open, laws, options), vector_work_alone));
    notes.explain = false;
  }
  options.notes = &notes;
  module = planned(std::move(module), laws, options, values);
  tell_defaults(notes);
  if (notes.explain && !json) explain(module, notes, options, laws);
  if (values.count("no-history") == 0) module.history.push_back(history_line(info));
  write_text(report.output, print_module(module));
  if (json) write_standard_output(fuse_document(module, report, notes, options, laws));
  return ExitStatus::done;
}

void declare_options(Tool& tool) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  auto add = tool.options.add_options();
  takes(tool, "strategy", strategy_choices);
  takes(tool, "sync", sync_words);
  takes(tool, "split", on_off_words);
  takes(tool, "epilogue", epilogue_words);
  add("strategy", text("NAME")->default_value("greedy"),
      "none: every operator by itself; greedy: regions as large as possible; fuse-all, fuse-no-redundancy: heuristics; "
      "cost: the least predicted time; auto: cost, or greedy for long programs");
  add("sync", text("MODE")->default_value("hybrid"),
      "where gather and scatter stand: lazy (together, late), eager (together, early), hybrid (gather early, scatter "
      "late), auto (the cheapest, for each region)");
  add("machine", text("FILE.yaml"), "the machine profile for auto (default: $KASEN_PROFILE)");
  add("split", text("on|off")->default_value("on"), "lazy: a + b*x runs as its two lawful halves");
  add("epilogue", text("on|off|auto")->default_value("off"),
      "fusing: vector work directly follows each row of a product (product_epilogue regions); auto: unless the sizes "
      "show that it costs more than it saves");
  takes(tool, "tile-costs", tile_cost_words);
  add("tile-costs", text("WHAT")->default_value("actual"), "actual bytes sent, or paper: Spartan's costs");
  add("memory", text("SIZE"),
      "with --swap: of a worker's buffers, as 2GB; else: of copies of arrays with other cuts, over a mesh");
  add("swap", "stores arrays that do not fit into --memory on a disk");
  tool.under("Output");
  tool.words["level"] = {"3", "4"};
  add("level", text("3|4")->default_value("3"),
      "4: with the schedule of every block (docs/ir.md): exchanges, rows that run meanwhile, memory");
  add("output,o", text("FILE")->default_value("-"), "the output file of the IR");
  declare_report_format(tool, "text or json: what was chosen (with -o FILE)");
  add("no-history", "leaves out the line that states how the file was made");
}

void declare_looks(Tool& tool) {
  auto add = tool.options.add_options();
  tool.under("A look inside");
  add("explain", "prints the reasons for the plan to standard error");
  add("list-passes", "prints only the passes in their order, with the steps of the paper that each does");
  add("passes", po::value<std::string>()->value_name("NAME,..."),
      "runs these passes alone, in this order (--list-passes), as in place,fuse-vector");
  add("print-after", po::value<std::string>()->value_name("PASS"),
      "prints the IR after a pass, or after 'all', to standard error");
  add("print-memo", "prints only the memo table of partial fusion plans of each block (docs/fusion.md)");
  add("print-plans", "prints only the choice from that table, with and without each pruning, and those of heuristics");
  takes(tool, "print-tiling", tiling_formats);
  add("print-tiling", po::value<std::string>()->implicit_value("text")->value_name("text|json|dot"),
      "with --mesh, prints only how arrays are cut, what moves, and what other searches and meshes would move");
  declare_spread_options(tool);
  add("time-passes", "prints the time of each pass");
  tool.words["print-after"] = {"all"};
  for (const PassRow& pass : pass_rows()) tool.words["print-after"].emplace_back(pass.name);
}

}  // namespace

int fuse_main(int argc, char** argv) {
  Tool tool{.info = {"kasen-fuse", "places states and transitions, fuses operators and assigns buffers (level 3)",
                     "[PLAN.kir] [--bundle BUNDLE | --sizes NAME=NUMBER,...] [--sync lazy|eager|hybrid|auto] "
                     "[--strategy none|greedy|fuse-all|fuse-no-redundancy|cost|auto] [-o FUSED.kir]",
                     "kasen plan examples/pagerank.ks | kasen fuse --sync hybrid > fused.kir"}};
  tool.under("What decides");
  declare_sizes_options(tool);
  tool.options.add_options()("observed", po::value<std::string>()->value_name("FILE"),
                             "an earlier run: sizes and iterations not given")(
      "workers", po::value<int>()->value_name("P"),
      "with a --bundle of dense arrays alone: plans for so many workers (default: the bundle's)");
  declare_mesh_option(tool);
  declare_options(tool);
  declare_looks(tool);
  tool.hidden.add_options()("plan", po::value<std::string>()->default_value("-")->value_name("PLAN.kir"));
  tool.positional.add("plan", 1);
  tool.reads.insert(tool.reads.end(), {"plan", "machine", "observed"});
  tool.writes = {"output"};
  return run_tool(argc, argv, tool, [&](const po::variables_map& values) { return fuse(tool.info, values); });
}

}  // namespace kasen::tools
