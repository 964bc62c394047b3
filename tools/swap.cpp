// kasen-swap: plans an iteration of a task graph in less memory than it takes: order, size classes and swaps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "libopt/swap/on_demand.h"
#include "libopt/swap/report.h"
#include "libopt/swap/search.h"
#include "libopt/swap/tasks_json.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/options/byte_option.h"
#include "tools/system/files.h"
#include "tools/system/progress.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

swap::Links links_of(const std::string& text) {
  std::vector<double> speeds;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    char* end = nullptr;
    speeds.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0' || !(speeds.back() > 0) || !std::isfinite(speeds.back())) speeds.assign(4, 0);
  }
  if (speeds.size() != 3)
    wrong_value("links", fmt::format("--links {}", text), "it is three numbers of gigabytes a second",
                "write IN,OUT,BOTH, such as 12,12,20");
  return {speeds[0] * 1e9, speeds[1] * 1e9, speeds[2] * 1e9};
}

swap::SearchOptions options_of(const po::variables_map& values) {
  if (values.count("memory") == 0)
    fail(ExitStatus::usage, "no size of memory", "plans are made for it", "add --memory 12GB");
  swap::SearchOptions options;
  options.capacity = byte_option(values, "memory");
  options.links = links_of(values["links"].as<std::string>());
  options.seed = values["seed"].as<std::uint64_t>();
  options.population = bounded<int>(values, "population", 2, 100'000);
  options.generations = bounded<int>(values, "generations", 0, 1'000'000);
  options.patience = bounded<int>(values, "patience", 1, 1'000'000);
  options.mutation = bounded<double>(values, "mutation", 0, 1);
  options.threads = bounded<int>(values, "threads", 1, 1024);
  options.plan.threshold = bounded<int>(values, "threshold", 0, 1'000'000);
  options.plan.once = values.count("once") > 0;
  return options;
}

swap::Rival searched(const swap::TaskGraph& graph, swap::SearchOptions options, std::string name) {
  const swap::Found found = swap::search(graph, options);
  return {std::move(name), found.timeline.seconds, found.plan.bytes_in, found.plan.bytes_out};
}

swap::Rival on_demand(const swap::TaskGraph& graph, const swap::SearchOptions& options, const swap::Order& order,
                      std::string name) {
  try {
    const swap::SwapPlan plan = swap::on_demand(graph, order, options.capacity);
    return {std::move(name), swap::simulate(graph, plan, options.links).seconds, plan.bytes_in, plan.bytes_out};
  } catch (const UserError&) {  // with sizes rounded up, a task does not fit
    return {std::move(name), std::numeric_limits<double>::infinity()};
  }
}

// Known ways, and the search without one of its parts.
std::vector<swap::Rival> rivals_of(const swap::TaskGraph& graph, const swap::SearchOptions& options) {
  std::vector<swap::Rival> rivals;
  swap::SearchOptions part = options;
  part.orders = false;
  rivals.push_back(searched(graph, part, "no-schedule"));
  part = options;
  part.allocations = false;
  rivals.push_back(searched(graph, part, "no-allocation"));
  part = options;
  part.any_class = true;
  rivals.push_back(searched(graph, part, "any-class"));
  part = options;
  part.seeded = false;
  part.generations = 0;
  rivals.push_back(searched(graph, part, "random"));
  rivals.push_back(on_demand(graph, options, swap::program_order(graph), "lru"));
  rivals.push_back(on_demand(graph, options, swap::breadth_first(graph), "lru-ready"));
  return rivals;
}

ExitStatus plan_swaps(const po::variables_map& values) {
  if (values.count("graph") == 0)
    fail(ExitStatus::usage, "no task graph", "", "name a JSON file; examples/networks makes some");
  const auto file = values["graph"].as<std::string>();
  swap::SearchOptions options = options_of(values);
  const swap::TaskGraph graph = swap::read_tasks(read_text(file), shown_name(file));
  Progress progress("searching");
  options.watch = [&](int generation, const swap::Generation& made) {
    progress.show(fmt::format("generation {} of at most {}: {:.3f} of ideal", generation, options.generations,
                              graph.seconds() / std::max(made.best, 1e-300)));
  };
  const swap::Found found = swap::search(graph, options);
  const std::vector<swap::Rival> rivals =
      values.count("compare") > 0 ? rivals_of(graph, options) : std::vector<swap::Rival>();
  progress.finish();
  if (values.count("output") > 0)
    write_text(values["output"].as<std::string>(), swap::report_json(graph, options, found, rivals));
  if (values.count("timeline") > 0)
    write_text(values["timeline"].as<std::string>(), swap::timeline_svg(graph, options, found));
  write_standard_output(swap::report_text(graph, options, found, rivals));
  return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-swap", "plans an iteration of a task graph in less memory than its tensors take",
                     "GRAPH.json --memory BYTES [--links IN,OUT,BOTH] [-o PLAN.json] [--timeline FILE.svg]",
                     "kasen swap graph.json --memory 12GB --links 12,12,20 --compare"}};
  const swap::SearchOptions usual;
  tool.options.add_options()("memory", po::value<std::string>()->value_name("BYTES"),
                             "of the faster memory: 12GB, 64MiB")(
      "links", po::value<std::string>()->default_value("12,12,20")->value_name("IN,OUT,BOTH"),
      "gigabytes a second to the faster memory, from there, and both ways at once together")(
      "compare",
      "also plans with a part of the search left out (no-schedule, no-allocation, any-class, random), and swaps on "
      "demand "
      "(lru, lru-ready)")("once", "one iteration alone: nothing has to be as it was in the beginning")(
      "threshold", po::value<int>()->default_value(usual.plan.threshold)->value_name("N"),
      "tensors leave that were used so many operators ago, if there are any");
  tool.under("Search");
  tool.options.add_options()("seed", po::value<std::uint64_t>()->default_value(usual.seed)->value_name("K"),
                             "equal seeds give equal plans, with any number of threads")(
      "population", po::value<int>()->default_value(usual.population)->value_name("N"), "plans of a generation")(
      "generations", po::value<int>()->default_value(usual.generations)->value_name("N"), "at most")(
      "patience", po::value<int>()->default_value(usual.patience)->value_name("N"),
      "ends after so many generations without a better plan")(
      "mutation", po::value<double>()->default_value(usual.mutation, "0.1")->value_name("P"),
      "the probability that an element of an order or allocation changes")(
      "threads", po::value<int>()->default_value(1)->value_name("T"), "that share the search");
  tool.under("Output");
  tool.options.add_options()("output,o", po::value<std::string>()->value_name("FILE"), "the plan as JSON")(
      "timeline", po::value<std::string>()->value_name("FILE.svg"), "a picture of moves, operators and memory");
  tool.hidden.add_options()("graph", po::value<std::string>()->value_name("GRAPH.json"));
  tool.positional.add("graph", 1);
  tool.reads = {"graph"};
  tool.writes = {"output", "timeline"};
  return run_tool(argc, argv, tool, plan_swaps);
}
