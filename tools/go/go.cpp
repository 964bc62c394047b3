#include "tools/go/go.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/ir/layout.h"
#include "libopt/layouts/hints.h"
#include "tools/common/tool.h"
#include "tools/common/version.h"
#include "tools/common/wrap.h"
#include "tools/go/go_files.h"
#include "tools/go/go_report.h"
#include "tools/go/made_from.h"
#include "tools/launch/end.h"
#include "tools/launch/options.h"
#include "tools/options/mesh_option.h"
#include "tools/options/result_format.h"
#include "tools/options/words.h"
#include "tools/step/spread_view.h"
#include "tools/step/step.h"
#include "tools/system/files.h"
#include "tools/system/process.h"
#include "tools/system/progress.h"
#include "tools/system/start_process.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

using Arguments = std::vector<std::string>;

struct StepFailed {  // is thrown; the step has reported why, and its exit status becomes ours
  int status;
};

constexpr const char* own_name = "kasen go";

// 0, or the status of the step that failed.
int status_of_steps(const std::function<void()>& steps) {
  try {
    steps();
  } catch (const StepFailed& failed) {
    return failed.status;
  }
  return 0;
}

class Pipeline {
 public:
  explicit Pipeline(po::variables_map values) : values_(std::move(values)), files_(values_) { check_options(); }

  void run() {
    files_.make_folder();
    const std::unique_ptr<FileLock> held = files_.hold_folder();
    files_.check();
    files_.name_result(false);
    plan();
    check_params(values_, module_);
    files_.add_data_of(module_);
    files_.check_other_results(module_);
    partition();
    fuse();
    if (!reports()) {
      files_.remove_report();
      save_and_run();
      return tell_all("");
    }
    std::string text;  // of the comparison; a quiet go tells of a difference alone
    std::optional<Ended> compared;
    if (has("checkpoint")) {
      describe(nullptr);  // not beside: the run alone handles a request to save and stop
      save_and_run();
    } else {
      compared = describe_and_run(text);
    }
    const Arguments comparison = compare_arguments();
    if (!compared) compared = run_process_into(text, comparison);
    if (json_ || !quiet() || compared->status != 0) tell_all(text);
    check_end(comparison, *compared);
    note("page       {}\n", file("report.html"));
  }

 private:
  // Returns how the comparison ended, if the run was so short that no page had been begun before.
  [[nodiscard]] std::optional<Ended> describe_and_run(std::string& comparison) {
    std::string text;  // kept until the steps beside the run have printed
    std::optional<Ended> compared;
    const SharedMark page;  // whoever claims it makes the next page
    const auto run = [&] {
      execute(text);
      if (page.claim()) compared = run_process_into(comparison, compare_arguments());
    };
    beside(run, [&] { describe(&page); });
    tell_run(text);
    return compared;
  }

  void tell_run(const std::string& text) {
    if (json_)
      run_ = text;  // which is told with all the rest
    else
      write_standard_output(fitted(text, terminal_width()));
  }
  void tell_all(const std::string& comparison) const {
    write_standard_output(json_ ? go_document(files_, run_, comparison) : fitted(comparison, terminal_width()));
  }

  void save_and_run() {
    std::string summary;
    const StopHandedOn handed;
    execute(summary);
    tell_run(summary);
  }

  [[nodiscard]] std::string text(const std::string& option) const { return values_[option].as<std::string>(); }
  [[nodiscard]] bool has(const std::string& option) const { return values_.count(option) > 0; }
  [[nodiscard]] bool reports() const { return !has("no-report"); }
  [[nodiscard]] std::string file(const std::string& name) const { return files_.file(name); }
  [[nodiscard]] Arguments list(const std::string& option) const {
    return has(option) ? values_[option].as<Arguments>() : Arguments{};
  }

  // The tools would report these, too, but each only when it starts.
  void check_options() const {
    (void)choose(values_, "method", method_words);
    (void)choose(values_, "compress", compress_words);
    (void)choose(values_, "sync", sync_words);
    (void)choose(values_, "strategy", strategy_choices);
    (void)choose(values_, "epilogue", epilogue_words);
    (void)choose(values_, "kernels", kernel_words);
    (void)mpirun_option(values_);
    if (has("repeats")) (void)choose(values_, "repeats", repeats_words);
    for (const char* output : {"output", "trace"}) (void)file_option(values_, output);
    if (has("swap") && !has("memory"))
      fail(ExitStatus::usage, "--swap without --memory", "it makes a plan fit into so much", "add --memory 2GB");
    OptimizeOptions layouts;
    read_layout_options(values_, layouts);
    check_spread(layouts);
    const int parts = mesh_.empty() ? bounded(values_, "workers", 1, most_workers) : workers_of_mesh();
    if (has("ranks")) {
      (void)bounded(values_, "ranks", 1, parts, fmt::format("a rank holds at least one part, and there are {}", parts));
    }
    (void)bounded(values_, "theta", 0, std::numeric_limits<int>::max());
    (void)bounded(values_, "threads", 0, most_threads);
    for (const char* rows : {"top", "show"}) (void)bounded(values_, rows, 0, most_top);
    RunSettings settings;
    settings.bundle = file("bundle");
    read_lasting_options(values_, settings);
    if (!has("ranks")) require_target(settings.target);
  }

  void check_spread(OptimizeOptions& options) const {
    if (has("spread") && !has("mesh"))
      fail(ExitStatus::usage, "--spread without --mesh", "it places block operators on the workers of a mesh",
           "add --mesh 2x2");
    if (has("grid") && !has("spread"))
      fail(ExitStatus::usage, "--grid without --spread", "it cuts arrays into blocks, which --spread places",
           "add --spread lshs");
    if (has("spread")) read_spread_options(values_, options);
  }

  // --workers may say the same.
  [[nodiscard]] int workers_of_mesh() const {
    const int workers = workers_of(mesh_);
    const int given = bounded(values_, "workers", 1, most_workers);
    if (values_["workers"].defaulted() || given == workers) return workers;
    fail(ExitStatus::usage, fmt::format("--workers {} and --mesh {}", given, text("mesh")),
         fmt::format("the mesh has {} workers", workers), "leave out --workers");
  }

  void step(Arguments argv) const {
    add_verbosity(argv);
    check_end(argv, run_process(argv));
  }

  // Both at a time.
  static void beside(const std::function<void()>& one, const std::function<void()>& other) {
    const auto beside_it = [&](const std::function<bool()>& is_first) {
      return reporting_errors(own_name, [&] {
        try {
          const int status = status_of_steps(other);
          const bool interrupted = status == static_cast<int>(ExitStatus::interrupted);
          if (status != 0 && !interrupted) (void)is_first();  // the step has reported it
          return status;
        } catch (const UserError& error) {
          if (is_first()) throw;
          return static_cast<int>(error.status());
        }
      });
    };
    const Ended ended = side_by_side(one, beside_it);
    if (ended.signal != 0) throw UserError(ended_by_signal(own_name, ended));
    if (ended.status != 0) throw StepFailed{ended.status};
  }

  // A failed step has reported why, unless a signal ended it.
  void check_end(const Arguments& argv, const Ended& ended) const {
    if (ended.status == 0) return;
    const std::string step = std::filesystem::path(argv[0]).filename().string();
    if (ended.signal != 0) fail_by_signal(step, ended);
    const bool interrupted = ended.status == static_cast<int>(ExitStatus::interrupted);
    if (interrupted && !has("ranks"))
      fail(ExitStatus::interrupted, fmt::format("{} was interrupted", step), "a signal ended it", "start it again");
    throw StepFailed{ended.status};
  }

  // A saved checkpoint lets the run go on, as where kasen run reports a killed rank.
  [[noreturn]] void fail_by_signal(const std::string& step, const Ended& ended) const {
    const UserError error = ended_by_signal(step, ended);
    const bool saves = has("checkpoint") && step == "kasen-run" && error.status() == ExitStatus::limit;
    const std::string saved = saves ? newest_checkpoint(text("checkpoint")) : "";
    if (saved.empty()) throw UserError(error);
    Diagnostic reported = error.diagnostics().front();
    reported.remedy = fmt::format("all is saved in {}; the same command with --resume goes on from there", saved);
    throw UserError(ExitStatus::resumable, std::move(reported));
  }

  [[nodiscard]] static std::string tool(const std::string& name) { return tool_folder() + "/kasen-" + name; }

  void add(Arguments& argv, const std::string& option, const std::string& flag) const {
    for (const std::string& value : list(option)) {
      argv.push_back(flag);
      argv.push_back(value);
    }
  }

  void plan() {
    Arguments argv{tool("plan"), text("program"), "-o", file("plan.kir")};
    add(argv, "define", "-D");
    step(argv);
    module_ = parse_module(read_text(file("plan.kir")), file("plan.kir"));
    if (has("mesh") || names_layouts(module_)) require_dense(module_, has("mesh"));  // both plans would report it
    note("plan       {}\n", file("plan.kir"));
  }

  void partition() const {
    Arguments options{"--method",   text("method"),  "--theta", std::to_string(values_["theta"].as<int>()),
                      "--compress", text("compress")};
    for (const std::string each : {"dim", "columns", "words", "one-hot", "missing", "missing-as", "dates"})
      add(options, each, "--" + each);
    if (has("dictionary")) options.insert(options.end(), {"--dictionary", text("dictionary")});
    for (const std::string each : {"repeats", "decimal", "thousands", "rest"})
      if (has(each)) options.insert(options.end(), {"--" + each, text(each)});
    for (const std::string& data : list("data")) options.push_back(data);
    for (const std::string& data : files_.data_of_program()) options.push_back(data);
    BundleRecord record(file("bundle"),
                        fmt::format("{}\n{}\n{}\n{}", version, fmt::join(options, "\n"),
                                    fmt::join(files_.places(), "\n"), wanted_data(module_, text("method"), workers())),
                        workers(), files_.partitioned());
    if (record.holds()) return tell_kept(file("bundle"));
    Arguments argv{tool("partition"), "--program", file("plan.kir"),         "--replace", "--no-sync", "-o",
                   file("bundle"),    "--workers", std::to_string(workers())};
    if (text("compress") == "none") argv.push_back("--references");
    for (const std::string limit : {"memory", "spill"})
      if (has(limit) && !has("swap")) argv.insert(argv.end(), {"--" + limit, text(limit)});
    argv.insert(argv.end(), options.begin(), options.end());
    step(argv);
    note("partition  {}{}\n", file("bundle"), record.write() ? "" : " (the data may change: made again the next time)");
  }

  [[nodiscard]] int workers() const { return mesh_.empty() ? values_["workers"].as<int>() : workers_of_mesh(); }

  // Adds the bundle to a step's arguments. One for any number of workers may have been made for another.
  void add_bundle(Arguments& argv) const {
    argv.insert(argv.end(), {"--bundle", file("bundle")});
    if (read_bundle_info(file("bundle")).any_workers) argv.insert(argv.end(), {"--workers", std::to_string(workers())});
  }

  void fuse() const {
    Arguments unfused{tool("fuse"), file("plan.kir"), "--strategy", "none",
                      "--sync",     "lazy",           "-o",         file("unfused.kir")};
    Arguments fused{tool("fuse"), file("plan.kir"), "--strategy", text("strategy"), "--sync", text("sync"),
                    "--epilogue", text("epilogue"), "-o",         file("fused.kir")};
    add_bundle(unfused);
    add_bundle(fused);
    if (has("observed")) fused.insert(fused.end(), {"--observed", text("observed")});
    if (has("mesh")) fused.insert(fused.end(), {"--mesh", text("mesh"), "--tile", text("tile")});
    add(fused, "layout", "--layout");
    if (has("nodes")) fused.insert(fused.end(), {"--nodes", text("nodes")});
    if (has("spread")) fused.insert(fused.end(), {"--spread", text("spread")});
    add(fused, "grid", "--grid");
    if (has("swap")) fused.insert(fused.end(), {"--swap", "--memory", text("memory")});
    if (!reports()) {
      step(fused);
      note("fuse       {}\n", file("fused.kir"));
      return;
    }
    beside([&] { step(fused); }, [&] { step(unfused); });
    note("fuse       {} (and {} to compare with)\n", file("fused.kir"), file("unfused.kir"));
  }

  // Makes what a run does not wait for: cost and picture. The page has the run's times: none is there before a short
  // run.
  void describe(const SharedMark* page_of_run) const {
    constexpr std::chrono::seconds short_run{2};
    Arguments compare{
        tool("measure"),    file("unfused.kir"), "--compare",      file("fused.kir"), "--model",        "-o",
        file("report.txt"), "--graph",           file("plan.dot"), "--picture",       file("plan.svg"), "--places",
        file("plan.places")};
    add_bundle(compare);
    step(compare);
    write_message(over_progress());
    note("measure    {}\n", file("report.txt"));
    note("picture    {}\n", file("plan.svg"));
    if (page_of_run != nullptr && (page_of_run->wait_for(short_run) || !page_of_run->claim())) return;
    Arguments page{tool("measure"), file("fused.kir"),   "--format", "html",
                   "--places",      file("plan.places"), "-o",       file("report.html")};
    add_bundle(page);
    step(page);
  }

  void execute(std::string& summary) const {
    Arguments argv{tool("run"), file("fused.kir"),
                   "-o",        files_.result(),
                   "--format",  json_ ? report_word : std::string(row(files_.format()).name),
                   "--stats",   file("run.json"),
                   "--threads", std::to_string(values_["threads"].as<int>()),
                   "--top",     std::to_string(values_["top"].as<int>()),
                   "--show",    std::to_string(values_["show"].as<int>()),
                   "--kernels", text("kernels")};
    add_bundle(argv);
    if (has("ranks")) argv.insert(argv.end(), {"-n", std::to_string(values_["ranks"].as<int>())});
    if (has("mpirun")) argv.insert(argv.end(), {"--mpirun", text("mpirun")});
    if (has("trace")) argv.insert(argv.end(), {"--trace", text("trace")});
    if (values_["forms"].defaulted() && has_large_forms(file("bundle"))) argv.insert(argv.end(), {"--forms", "keep"});
    for (const std::string& lasting : lasting_arguments(values_, has("swap") ? "memory" : "")) argv.push_back(lasting);
    if (!has("verify")) argv.insert(argv.end(), {"--verify", "auto"});
    add_verbosity(argv);
    if (has("force")) argv.emplace_back("--force");
    argv.insert(argv.end(), {"--program", file("plan.kir")});
    add(argv, "param", "--param");
    const Ended ended = run_process_into(summary, argv);
    if (ended.status == 0) files_.name_result(true);
    if (ended.status != 0) write_standard_output(fitted(summary, terminal_width()));
    check_end(argv, ended);
  }

  // Compares predicted and counted, for the terminal and, with times, as the page that opens in a browser.
  [[nodiscard]] Arguments compare_arguments() const {
    Arguments argv{tool("measure"), file("fused.kir"), "--bundle", file("bundle"), "--against", file("run.json")};
    argv.insert(argv.end(), {"--check", "--page", file("report.html"), "--result", files_.result(), "--result-format",
                             std::string(row(files_.format()).name), "--places", file("plan.places")});
    if (has("trace")) argv.insert(argv.end(), {"--trace", text("trace")});
    if (json_) argv.insert(argv.end(), {"--format", report_word});
    if (!verbose()) argv.emplace_back("--differences");
    const bool whole = text("nan") == "error" || (has("verify") && text("verify") != "auto");
    if (has("memory") && !has("swap") && !whole) argv.insert(argv.end(), {"--memory", text("memory")});
    return argv;
  }

  const po::variables_map values_;
  const std::vector<MeshAxis> mesh_ = mesh_option(values_);
  GoFiles files_;
  const bool json_ = asks_for_json(values_);
  std::string run_;  // the run's report in JSON
  Module module_;    // the program, planned
};

}  // namespace

int go_main(int argc, char** argv) {
  Tool tool{.info = {own_name, "plans, partitions, fuses, measures and runs a program",
                     "PROGRAM.ks NAME=DATA... [--workers P] [-n R]",
                     "kasen go examples/pagerank.ks G=datasets/cnr-2000.txt.xz --workers 4 -n 2"}};
  declare_go_options(tool);
  int status = 0;
  const int own = run_tool(argc, argv, tool, [&](const po::variables_map& values) {
    if (values.count("program") == 0) fail(ExitStatus::usage, "no program", "", "see 'kasen go --help'");
    write_without_waiting();  // the steps' files; the run's own results are on the disk at its end
    start_as_forks({{"kasen-plan", plan_main},
                    {"kasen-partition", partition_main},
                    {"kasen-fuse", fuse_main},
                    {"kasen-measure", measure_main}});
    status = status_of_steps([&] { Pipeline(with_parts_for_ranks(values)).run(); });
    return ExitStatus::done;
  });
  return status != 0 ? status : own;
}

}  // namespace kasen::tools
