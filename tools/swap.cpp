// kasen-swap: plans an iteration of a task graph in less memory than it takes: order, size classes and swaps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libopt/swap/bound.h"
#include "libopt/swap/find.h"
#include "libopt/swap/on_demand.h"
#include "libopt/swap/report/report.h"
#include "libopt/swap/report/serve.h"
#include "libopt/swap/search.h"
#include "libopt/swap/tasks_json.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/machine/byte_option.h"
#include "tools/options/report_format.h"
#include "tools/system/files.h"
#include "tools/system/progress.h"
#include "tools/system/verbosity.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

using swap::Way;
constexpr std::array<std::pair<std::string_view, Way>, 3> ways{
    {{"both", Way::both}, {"genetic", Way::genetic}, {"beam", Way::beam}}};

// The best plan of a search over time.
struct Point {
  std::int64_t plans;
  double seconds, best;
};

// Numbers with commas between them, all greater than 0; none: it is something else.
std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0' || !(numbers.back() > 0) || !std::isfinite(numbers.back())) return {};
  }
  return text.empty() || text.back() == ',' ? std::vector<double>() : numbers;
}

swap::Links links_of(const std::string& text) {
  const std::vector<double> speeds = numbers_of(text);
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

swap::FindOptions find_of(const po::variables_map& values) {
  constexpr std::int64_t most = 1'000'000'000;
  swap::FindOptions find{choose(values, "search", ways)};
  find.beam = {bounded<int>(values, "width", 1, 10'000), most};
  if (values.count("evaluations") > 0) find.beam.evaluations = bounded<std::int64_t>(values, "evaluations", 1, most);
  if (values.count("plans") > 0) find.plans = bounded<std::int64_t>(values, "plans", 1, most);
  return find;
}

swap::Rival rival(const swap::Found& found, std::string name) {
  return {std::move(name), found.timeline.seconds, found.plan.bytes_in, found.plan.bytes_out};
}
swap::Rival searched(const swap::TaskGraph& graph, const swap::SearchOptions& options, std::string name) {
  return rival(swap::search(graph, options), std::move(name));
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

// The searches alone, known ways, and the genetic search without one of its parts.
std::vector<swap::Rival> rivals_of(const swap::TaskGraph& graph, const swap::SearchOptions& given,
                                   const swap::FindOptions& find) {
  swap::SearchOptions options = given;
  options.generations = swap::generations_of(graph, given, {.way = Way::genetic, .plans = find.plans});
  std::vector<swap::Rival> rivals;
  rivals.push_back(searched(graph, options, "genetic"));
  rivals.push_back(rival(swap::beam(graph, options, swap::beam_part(graph, find)), "beam"));
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

// What a search found over time, for tables and pictures.
std::string curve_text(const swap::TaskGraph& graph, const swap::SearchOptions& options,
                       const std::vector<Point>& curve) {
  const double bound = swap::least_possible(graph, {options.capacity, options.links, options.plan.once});
  std::string text = "plans,seconds,iteration,of_ideal,of_bound\n";
  for (const Point& point : curve)
    text += fmt::format("{},{:.3f},{:.6g},{:.4f},{:.4f}\n", point.plans, point.seconds, point.best,
                        graph.seconds() / point.best, bound / point.best);
  return text;
}

// One graph: its plan.
void plan_one(const po::variables_map& values, const swap::TaskGraph& graph, swap::SearchOptions options,
              Progress& progress) {
  const swap::FindOptions find = find_of(values);
  std::vector<Point> curve;
  const auto begin = std::chrono::steady_clock::now();
  const auto show = options.watch;
  options.watch = [&](int turn, const swap::Generation& made) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    curve.push_back({made.evaluated, passed.count(), made.best});
    show(turn, made);
  };
  const swap::Found found = swap::find_plan(graph, options, find);
  options.watch = show;
  const std::vector<swap::Rival> rivals =
      values.count("compare") > 0 ? rivals_of(graph, options, find) : std::vector<swap::Rival>();
  progress.finish();
  const std::string document = swap::report_json(graph, options, found, rivals);
  if (values.count("output") > 0) write_text(values["output"].as<std::string>(), document);
  if (values.count("timeline") > 0)
    write_text(values["timeline"].as<std::string>(), swap::timeline_svg(graph, options, found));
  if (values.count("curve") > 0) write_text(values["curve"].as<std::string>(), curve_text(graph, options, curve));
  if (reports_json(values)) return write_standard_output(document);
  if (!quiet() || values.count("output") == 0) write_standard_output(swap::report_text(graph, options, found, rivals));
}

// Several graphs, or one: how long their requests take at each rate.
void serve_all(const po::variables_map& values, const std::vector<swap::TaskGraph>& graphs,
               const swap::SearchOptions& options, Progress& progress) {
  for (const char* one : {"compare", "timeline", "curve", "once"})
    if (values.count(one) > 0)
      fail(ExitStatus::usage, fmt::format("--{} and --serve", one), "it is of the plan of one graph alone",
           "give one of the two");
  const std::vector<double> rates = numbers_of(values["serve"].as<std::string>());
  if (rates.empty())
    wrong_value("serve", fmt::format("--serve {}", values["serve"].as<std::string>()),
                "it is rates, in requests a second", "write them with commas, such as 10,20,40");
  swap::ServeOptions serving;
  serving.capacity = options.capacity;
  serving.seed = options.seed;
  serving.requests = bounded<std::int64_t>(values, "requests", 1, 10'000'000);
  const swap::FindPlan find = [&](const swap::TaskGraph& graph, const swap::SearchOptions& own) {
    return swap::find_plan(graph, own, find_of(values));
  };
  const std::vector<swap::ServedModel> models =
      swap::models_to_serve(graphs, bounded<int>(values, "copies", 1, 10'000), options, find);
  progress.finish();
  std::vector<swap::ServedRate> served;
  for (const double rate : rates) {
    serving.rate = rate;
    served.push_back({rate, {}});
    for (std::size_t way = 0; way < swap::servings.size(); ++way)
      served.back().by[way] = swap::serve(models, swap::servings[way], serving);
  }
  const std::string document = swap::serve_json(models, serving, served);
  if (values.count("output") > 0) write_text(values["output"].as<std::string>(), document);
  write_standard_output(reports_json(values) ? document : swap::serve_text(models, serving, served));
}

ExitStatus plan_swaps(const po::variables_map& values) {
  const std::vector<std::string> files = texts_of(values, "graph");
  if (files.empty()) fail(ExitStatus::usage, "no task graph", "", "name a JSON file; examples/networks makes some");
  swap::SearchOptions options = options_of(values);
  const bool serves = values.count("serve") > 0;
  if (files.size() > 1 && !serves)
    fail(ExitStatus::usage, fmt::format("{} task graphs", files.size()), "a plan is for one",
         "name one, or add --serve RATES");
  std::vector<swap::TaskGraph> graphs;
  for (const std::string& file : files) graphs.push_back(swap::read_tasks(read_text(file), shown_name(file)));
  Progress progress("searching");
  options.watch = [&](int turn, const swap::Generation& made) {
    progress.show(fmt::format("turn {}, {} plans, the best takes {:.4g} s", turn, made.evaluated, made.best));
  };
  if (serves)
    serve_all(values, graphs, options, progress);
  else
    plan_one(values, graphs.front(), options, progress);
  return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool{
      .info = {"kasen-swap", "plans an iteration of a task graph in less memory than its tensors take",
               "GRAPH.json... --memory BYTES [--serve RATES] [-o PLAN.json] [--timeline FILE.svg] [--curve FILE.csv]",
               "kasen swap graph.json --memory 12GB --links 12,12,20 --compare"}};
  const swap::SearchOptions usual;
  const swap::BeamOptions usual_beam;
  tool.options.add_options()("memory", po::value<std::string>()->value_name("BYTES"),
                             "of the faster memory: 12GB, 64MiB")(
      "links", po::value<std::string>()->default_value("12,12,20")->value_name("IN,OUT,BOTH"),
      "gigabytes a second to the faster memory, from there, and both ways at once together")(
      "compare",
      "also plans by each search alone, with a part of the genetic one left out (no-schedule, no-allocation, "
      "any-class, "
      "random), and swaps on demand (lru, lru-ready)")(
      "once", "one iteration alone: nothing has to be as it was in the beginning")(
      "threshold", po::value<int>()->default_value(usual.plan.threshold)->value_name("N"),
      "tensors leave that were used so many operators ago, if there are any");
  tool.under("Serving");
  const swap::ServeOptions usual_serving;
  tool.options.add_options()("serve", po::value<std::string>()->value_name("RATES"),
                             "requests a second, such as 10,20,40: how long they take if the graphs share the device, "
                             "by a part of memory each "
                             "or one after another with all of it")(
      "copies", po::value<int>()->default_value(1)->value_name("N"),
      "models of each graph, with parameters of their own")(
      "requests", po::value<std::int64_t>()->default_value(usual_serving.requests)->value_name("N"),
      "that are followed at each rate");
  tool.under("Search");
  takes(tool, "search", ways);
  tool.options.add_options()(
      "search", po::value<std::string>()->default_value("both")->value_name("WAY"),
      "genetic: orders and allocations cross; beam: orders grow side by side, and the best ones go on; both: a beam, "
      "whose plans are among those that cross. Small changes follow to the best plans of each")(
      "plans", po::value<std::int64_t>()->value_name("N"),
      "that are made in all, at most; left out: fewer for larger graphs")(
      "width", po::value<int>()->default_value(usual_beam.width)->value_name("N"),
      "orders that the beam search follows")("evaluations", po::value<std::int64_t>()->value_name("N"),
                                             "plans that the beam search makes, at most; left out: its share of all")(
      "seed", po::value<std::uint64_t>()->default_value(usual.seed)->value_name("K"),
      "equal seeds give equal plans, with any number of threads")(
      "population", po::value<int>()->default_value(usual.population)->value_name("N"), "plans of a generation")(
      "generations", po::value<int>()->default_value(usual.generations)->value_name("N"), "at most")(
      "patience", po::value<int>()->default_value(usual.patience)->value_name("N"),
      "ends after so many generations without a better plan")(
      "mutation", po::value<double>()->default_value(usual.mutation, "0.1")->value_name("P"),
      "the probability that an element of an order or allocation changes")(
      "threads", po::value<int>()->default_value(1)->value_name("T"), "that share the search");
  tool.under("Output");
  tool.options.add_options()("output,o", po::value<std::string>()->value_name("FILE"),
                             "the plan, or the times of requests, as JSON");
  declare_report_format(tool, "on standard output: text, or json as in the file");
  tool.options.add_options()("timeline", po::value<std::string>()->value_name("FILE.svg"),
                             "a picture of moves, operators and memory")(
      "curve", po::value<std::string>()->value_name("FILE.csv"),
      "plans made, seconds of search, and the best plan so far");
  tool.hidden.add_options()("graph", po::value<std::vector<std::string>>()->value_name("GRAPH.json"));
  tool.positional.add("graph", -1);
  tool.reads = {"graph"};
  tool.writes = {"output", "timeline", "curve"};
  return run_tool(argc, argv, tool, plan_swaps);
}
