#include "tools/launch/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/launch/mpirun_start.h"
#include "tools/machine/machine_file.h"
#include "tools/options/result_format.h"
#include "tools/system/cache_folder.h"
#include "tools/system/files.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

constexpr std::array<std::pair<std::string_view, WithinGroups>, 2> master_orders{
    {{"best", WithinGroups::ordered}, {"given", WithinGroups::by_length}}};

constexpr std::array<std::pair<std::string_view, FormUse>, 3> form_words{
    {{"use", FormUse::use}, {"keep", FormUse::keep}, {"none", FormUse::none}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> nan_words{{{"allow", false}, {"error", true}}};

double seconds_option(const po::variables_map& values, const std::string& name, const std::string& what) {
  const double seconds = values[name].as<double>();
  if (!(seconds > 0 && seconds < 1e9))
    wrong_value(name, fmt::format("--{} {} is not {}", name, seconds, what), "it is a number of seconds above 0");
  return seconds;
}

std::string code_cache_of(const po::variables_map& values) {
  if (values.count("code-cache") == 0) return default_code_cache();
  const std::string given = values["code-cache"].as<std::string>();
  return given == "none" ? "" : given;
}

// A number of elements, or a word.
VerifyChoice verify_choice(const po::variables_map& values) {
  using How = VerifyChoice::How;
  if (values.count("verify") == 0) return {};
  const std::string text = values["verify"].as<std::string>();
  if (text == "all") return {How::all, 0};
  if (text == "auto") return {How::automatic, 0};
  std::int64_t elements = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), elements);
  if (error != std::errc() || end != text.data() + text.size() || elements < 0)
    wrong_value("verify", fmt::format("--verify {} is no number of elements", text),
                "it is a number from 0 on, all or auto", "--verify 100");
  return {elements == 0 ? How::nothing : How::sample, elements};
}

void declare_checkpoints(Tool& tool) {
  tool.under("Checkpoints");
  tool.options.add_options()(
      "checkpoint", po::value<std::string>()->value_name("DIR"),
      "saves the run there at intervals; USR1 and TERM save once more and end it with status 75")(
      "every", po::value<int>()->value_name("TURNS"), "a checkpoint after so many iterations or operators")(
      "every-seconds", po::value<double>()->value_name("S"), "a checkpoint after so many seconds (60 without both)")(
      "keep", po::value<int>()->default_value(2)->value_name("K"), "removes all checkpoints but the newest K")(
      "resume", "goes on from the newest whole checkpoint, if any");
}

// Nothing but forms is added to a bundle's folder.
void check_apart(const std::string& folder, const std::string& bundle) {
  std::error_code fault;
  const std::filesystem::path inner = std::filesystem::weakly_canonical(folder, fault),
                              outer = std::filesystem::weakly_canonical(bundle, fault);
  if (fault || std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first != outer.end()) return;
  wrong_value("checkpoint", fmt::format("the folder of checkpoints '{}' is in the bundle '{}'", folder, bundle),
              "a bundle holds nothing but data", "name another folder");
}

void read_checkpoints(const po::variables_map& values, RunSettings& s) {
  s.resume = values.count("resume") > 0;
  const bool named = values.count("checkpoint") > 0;
  for (const char* option : {"every", "every-seconds", "resume"}) {
    if (values.count(option) == 0 || named) continue;
    fail(ExitStatus::usage, fmt::format("--{} without --checkpoint", option), "no folder of checkpoints is named",
         "add --checkpoint DIR");
  }
  if (!named) return;
  s.checkpoint = values["checkpoint"].as<std::string>();
  check_apart(s.checkpoint, s.bundle);
  s.keep = bounded(values, "keep", 1, 1000);
  if (values.count("every") > 0) s.every = bounded(values, "every", 1, 1'000'000'000);
  if (values.count("every-seconds") > 0)
    s.every_seconds = seconds_option(values, "every-seconds", "a time between checkpoints");
  if (s.every == 0 && s.every_seconds == 0) s.every_seconds = 60;
}

}  // namespace

std::string file_option(const po::variables_map& values, const std::string& name) {
  std::string file = values.count(name) > 0 ? values[name].as<std::string>() : std::string();
  if (file != "-") return file;
  wrong_value(name, fmt::format("--{} cannot go to standard output", name),
              "under mpirun it may lose data without an error", "name a file");
}

void declare_lasting_options(Tool& tool) {
  takes(tool, "nan", nan_words);
  takes(tool, "masters", master_orders);
  takes(tool, "forms", form_words);
  takes(tool, "target", levels);
  tool.options.add_options()("code-cache", po::value<std::string>()->value_name("DIR"),
                             "keeps compiled kernels here, or none (~/.cache/kasen)")(
      "target", po::value<std::string>()->default_value("native")->value_name("PROCESSOR"),
      "code for native, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64; affects speed alone")(
      "memory", po::value<std::string>()->value_name("SIZE"),
      "the memory of each process, as 8G: arrays that do not fit go by from disk (default: what is left)")(
      "spill", po::value<std::string>()->value_name("DIR"), "files of what the run makes beyond --memory ($TMPDIR)")(
      "nan", po::value<std::string>()->default_value("allow")->value_name("WHAT"),
      "allow, or error: ends with status 1 at the statement, iteration and worker of the first NaN (slower)")(
      "masters", po::value<std::string>()->default_value("best")->value_name("ORDER"),
      "best (elements that products read often lie together) or given (as in the data); affects speed alone")(
      "forms", po::value<std::string>()->default_value("use")->value_name("WHAT"),
      "forms of sparse matrices in the bundle: use, keep (new ones, too) or none; affects speed alone")(
      "timeout", po::value<double>()->value_name("SECONDS"),
      "ends a run in which no step begins or ends for so long, and prints the last step of each rank")(
      "check-messages", "adds digests to messages between ranks (status 74)");
  tool.options.add_options()("verify", po::value<std::string>()->value_name("N|all"),
                             "computes N elements of each output, or all, again with the interpreter; auto: where "
                             "that takes almost no time; a difference ends the run with status 1");
  declare_checkpoints(tool);
}

void read_lasting_options(const po::variables_map& values, RunSettings& s) {
  s.memory = byte_option(values, "memory");
  if (values.count("spill") > 0) s.spill = values["spill"].as<std::string>();
  s.refuse_nan = choose(values, "nan", nan_words);
  s.check_messages = values.count("check-messages") > 0;
  s.masters = choose(values, "masters", master_orders);
  s.forms = choose(values, "forms", form_words);
  s.target = choose(values, "target", levels);
  s.code_cache = code_cache_of(values);
  s.verify = verify_choice(values);
  if (values.count("timeout") > 0) s.timeout = seconds_option(values, "timeout", "a time");
  read_checkpoints(values, s);
}

void require_target(Level target) {
  const std::string lacks = lacking(target);
  if (lacks.empty()) return;
  wrong_value("target", fmt::format("--target {}: this processor cannot run such code", name_of(target)),
              fmt::format("it lacks {}", lacks), "leave --target out: results have the same bits");
}

std::vector<std::string> lasting_arguments(const po::variables_map& values, const std::string& but) {
  Tool lasting;
  declare_lasting_options(lasting);
  std::vector<std::string> arguments;
  for (const auto& option : lasting.options.options()) {
    const std::string& name = option->long_name();
    if (name == but || values.count(name) == 0 || values[name].defaulted()) continue;
    arguments.push_back("--" + name);
    const boost::any& value = values[name].value();
    if (option->semantic()->max_tokens() == 0) continue;
    if (const auto* text = boost::any_cast<std::string>(&value)) arguments.push_back(*text);
    if (const auto* count = boost::any_cast<int>(&value)) arguments.push_back(std::to_string(*count));
    if (const auto* number = boost::any_cast<double>(&value)) arguments.push_back(fmt::format("{}", *number));
  }
  return arguments;
}

namespace {

void declare_data(Tool& tool) {
  tool.under("Data and results");
  tool.options.add_options()("bundle", po::value<std::string>()->value_name("BUNDLE"),
                             "the data, as kasen partition wrote them")(
      "workers", po::value<int>()->value_name("P"),
      "the number of workers, for a bundle of dense arrays alone (default: the bundle's)")(
      "param,D", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"), "sets a param of the program")(
      "output,o", po::value<std::string>()->value_name("FILE"),
      "the file of the results (default: the program's name and the format's ending)")(
      "program", po::value<std::string>()->value_name("PLAN.kir"),
      "with --verify: the output of kasen plan, computed again in place of the plan itself");
  declare_format(tool);
  tool.options.add_options()("top", po::value<int>()->default_value(0)->value_name("K"),
                             "prints the K largest elements of each vector result, in place of its first rows")(
      "show", po::value<int>()->default_value(default_rows)->value_name("N"),
      "prints N rows of each output, and all of one of up to 2 N; 0: none")(
      "make-forms", "keeps the forms of sparse matrices that the plan needs in the bundle, and runs nothing");
}

void declare_processes(Tool& tool) {
  tool.under("Processes, memory and speed");
  tool.options.add_options()("ranks,n", po::value<int>()->value_name("R"),
                             "runs over R MPI ranks (without it: this process alone, no MPI)")(
      "mpirun", po::value<std::string>()->value_name("'OPTIONS'"),
      "with -n: more options for mpirun, such as '--hostfile hosts --bind-to socket'; -v shows its line")(
      "threads", po::value<int>()->default_value(0)->value_name("T"),
      "threads of each rank (0: its share of the processors that it may use, or OMP_NUM_THREADS, SLURM_CPUS_PER_TASK "
      "where they say fewer)")("kernels", po::value<std::string>()->default_value("generated")->value_name("NAME"),
                               "generated (compiled for this processor) or interpreter (the reference: slow)")(
      "machine", po::value<std::string>()->value_name("FILE.yaml"),
      "a machine profile, by whose trials kernels choose, if it is of this processor (default: $KASEN_PROFILE, else "
      "trials of their own); affects speed alone");
  takes(tool, "kernels", kernel_words);
}

void declare_reports(Tool& tool) {
  tool.under("Counters, times, code and machine profiles");
  tool.options.add_options()("emit-kernels", po::value<std::string>()->value_name("FILE"),
                             "writes the generated code for --target: assembly for FILE.s, else an ELF object; runs "
                             "no plan")("stats", po::value<std::string>()->value_name("FILE"),
                                        "writes the counters, as JSON")(
      "trace", po::value<std::string>()->value_name("FILE"),
      "writes the times of each step of each rank, for Perfetto or chrome://tracing")(
      "network-profile", "measures the network between two ranks, and prints lines of a machine profile; runs no plan")(
      "machine-profile", "measures computing and memory here, and prints lines of a machine profile; runs no plan");
}

}  // namespace

void declare_run_options(Tool& tool) {
  declare_data(tool);
  declare_processes(tool);
  declare_lasting_options(tool);
  declare_reports(tool);
  tool.hidden.add_options()("plan", po::value<std::string>()->default_value("-")->value_name("FUSED.kir"));
  tool.positional.add("plan", 1);
  tool.reads = {"plan", "bundle", "program", "machine"};
  tool.writes = {"output", "stats", "trace", "emit-kernels"};
}

std::vector<std::string> mpirun_option(const po::variables_map& values) {
  if (values.count("mpirun") == 0) return {};
  if (values.count("ranks") == 0) {
    fail(ExitStatus::usage, "--mpirun without -n", "the run is one process, without MPI", "add -n R");
  }
  return mpirun_words(values["mpirun"].as<std::string>());
}

RunSettings read_run_options(const po::variables_map& values) {
  RunSettings s;
  s.plan = values["plan"].as<std::string>();
  s.plan_name = shown_name(s.plan);
  if (values.count("bundle") == 0) fail(ExitStatus::usage, "no data", "a plan runs on a bundle", "add --bundle BUNDLE");
  s.bundle = values["bundle"].as<std::string>();
  s.output = file_option(values, "output");
  s.stats = file_option(values, "stats");
  s.trace = file_option(values, "trace");
  s.format = chosen_format(values);
  s.json = asks_for_json(values);
  s.kernels = choose(values, "kernels", kernel_words);
  if (values.count("workers") > 0) s.workers = bounded(values, "workers", 1, most_workers);
  if (values.count("ranks") > 0) s.ranks = bounded(values, "ranks", 1, most_workers);
  s.mpirun = mpirun_option(values);
  s.threads = bounded(values, "threads", 0, most_threads);
  s.machine = machine_of(values);
  s.top = bounded(values, "top", 0, most_top);
  s.show = quiet() && !s.json ? 0 : bounded(values, "show", 0, most_top);
  s.params = name_values(values, "param");
  s.make_forms = values.count("make-forms") > 0;
  if (values.count("program") > 0) s.program = values["program"].as<std::string>();
  read_lasting_options(values, s);
  return s;
}

}  // namespace kasen::tools
