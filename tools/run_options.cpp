#include "tools/run_options.h"

#include <fmt/format.h>

#include "tools/common/choice.h"
#include "tools/common/files.h"

namespace kasen::tools {
namespace {

constexpr std::array<std::pair<std::string_view, KernelChoice>, 2> kernel_choices{
    {{"generated", KernelChoice::generated}, {"interpreter", KernelChoice::interpreter}}};
ResultFormat format_from(const std::string& word) {
  const std::optional<ResultFormat> format = find_result_format(word);
  if (!format)
    fail(ExitStatus::usage, fmt::format("--format does not know '{}'", word), "", "choose one of hdf5, csv, npy");
  return *format;
}

int bounded(const po::variables_map& values, const std::string& name, int least, int most) {
  const int value = values[name].as<int>();
  if (value >= least && value <= most) return value;
  fail(ExitStatus::usage, fmt::format("--{} {}", name, value), fmt::format("it is {} to {}", least, most));
}

}  // namespace

void declare_run_options(Tool& tool) {
  tool.options.add_options()("bundle", po::value<std::string>()->value_name("BUNDLE"),
                             "the data, as kasen partition wrote them")(
      "ranks,n", po::value<int>()->value_name("R"), "runs over R MPI ranks (without it: this process alone, no MPI)")(
      "threads", po::value<int>()->default_value(0)->value_name("T"),
      "threads of each rank (0: the cores, shared by the ranks)")(
      "param,D", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"), "sets a param of the program")(
      "output,o", po::value<std::string>()->value_name("FILE"),
      "where the results go (default: the program's name, .h5, .csv or .npy)")(
      "format", po::value<std::string>()->default_value("hdf5")->value_name("NAME"), "hdf5, csv or npy")(
      "kernels", po::value<std::string>()->default_value("generated")->value_name("NAME"),
      "generated (compiled for this processor) or interpreter (the reference: slow)")(
      "stats", po::value<std::string>()->value_name("FILE"), "writes what was counted, as JSON")(
      "top", po::value<int>()->default_value(0)->value_name("K"),
      "prints the K largest elements of each vector result");
  tool.hidden.add_options()("plan", po::value<std::string>()->default_value("-"))(
      "plan-name", po::value<std::string>(), "what messages call a plan that kasen-run -n has stored");
  tool.positional.add("plan", 1);
}

RunSettings read_run_options(const po::variables_map& values) {
  RunSettings s;
  s.plan = values["plan"].as<std::string>();
  s.plan_name = values.count("plan-name") > 0 ? values["plan-name"].as<std::string>() : shown_name(s.plan);
  if (values.count("bundle") == 0) fail(ExitStatus::usage, "no data", "a plan runs on a bundle", "add --bundle BUNDLE");
  s.bundle = values["bundle"].as<std::string>();
  if (values.count("output") > 0) s.output = values["output"].as<std::string>();
  if (s.output == "-") {
    fail(ExitStatus::usage, "results cannot go to standard output", "under mpirun it may lose data without an error",
         "name a file with -o");
  }
  if (values.count("stats") > 0) s.stats = values["stats"].as<std::string>();
  s.format = format_from(values["format"].as<std::string>());
  s.kernels = choose(values["kernels"].as<std::string>(), "--kernels", kernel_choices);
  if (values.count("ranks") > 0) s.ranks = bounded(values, "ranks", 1, 1 << 16);
  s.threads = bounded(values, "threads", 0, 4096);
  s.top = bounded(values, "top", 0, 1 << 20);
  const auto params =
      values.count("param") > 0 ? values["param"].as<std::vector<std::string>>() : std::vector<std::string>{};
  s.params = name_values(params, "-D");
  return s;
}

}  // namespace kasen::tools
