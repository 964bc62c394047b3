// kasen-generate: graphs of any size, for tests and measurements.
#include <fmt/format.h>

#include "datasets/edge_file.h"
#include "datasets/kinds.h"
#include "tools/common/tool.h"
#include "tools/system/replace.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

EdgeRuns edges_of(const GraphKind& kind, const po::variables_map& values) {
  GraphOptions options;
  options.scale = values["scale"].as<int>();
  if (options.scale < kind.least_scale || options.scale > 31)
    wrong_value("scale", fmt::format("a graph of scale {}", options.scale),
                fmt::format("scales are {} to 31", kind.least_scale));
  if (values.count("edges") > 0) options.edges = values["edges"].as<std::int64_t>();
  options.seed = values["seed"].as<std::uint64_t>();
  options.a = values["a"].as<double>();
  options.b = values["b"].as<double>();
  options.c = values["c"].as<double>();
  options.rewired = values["rewired"].as<double>();
  options.leaving = values["leaving"].as<double>();
  return kind.make(options);
}

ExitStatus generate(const po::variables_map& values) {
  if (values.count("kind") == 0)
    fail(ExitStatus::usage, "no kind of graph", "", fmt::format("there are {}", graph_kind_names()));
  if (values.count("output") == 0)
    fail(ExitStatus::usage, "no output file for the graph", "", "add -o FILE.txt or FILE.npy");
  const auto path = values["output"].as<std::string>();
  if (path.ends_with(".npy"))
    require_replaceable(path, is_our_npy);
  else
    require_replaceable(path, [](std::string_view) { return false; });  // what is not marked does not tell
  const GraphKind& kind = *find_graph_kind(values["kind"].as<std::string>());
  EdgeFile file(path, path.ends_with(".npy") ? EdgeFormat::npy : EdgeFormat::text);
  file.write(edges_of(kind, values));
  mark_made(path);
  return ExitStatus::done;
}

po::typed_value<double>* part(double value, const char* text) {
  return po::value<double>()->default_value(value, text)->value_name("PART");
}

}  // namespace

int main(int argc, char** argv) {
  std::string kinds;
  for (const GraphKind& kind : graph_kinds()) kinds += (kinds.empty() ? "" : " | ") + std::string(kind.name);
  Tool tool{.info = {"kasen-generate", "makes a graph of any size, the same for the same options",
                     kinds + " [--scale S] [--edges M] [--seed K] -o FILE.txt | FILE.npy",
                     "kasen generate rmat --scale 20 --edges 5242880 -o rmat-20.txt"}};
  tool.options.add_options()("scale", po::value<int>()->default_value(16)->value_name("S"), "2^S vertices")(
      "edges", po::value<std::int64_t>()->value_name("M"),
      "edges drawn (16 a vertex); repeated ones are left out. A grid and a star have as many as they have")(
      "seed", po::value<std::uint64_t>()->default_value(1)->value_name("K"), "another seed, another graph")(
      "a", part(0.57, "0.57"), "rmat: the part of the edges within the lower half of the vertices")(
      "b", part(0.19, "0.19"), "rmat: from the lower half to the upper one")(
      "c", part(0.19, "0.19"), "rmat: from the upper half to the lower one")(
      "rewired", part(0.1, "0.1"), "small-world: the part of a ring's links that lead anywhere")(
      "leaving", part(0.2, "0.2"), "communities: the part of the edges that may leave theirs")(
      "output,o", po::value<std::string>()->value_name("FILE"), ".npy: two 32-bit numbers an edge; else lines of text");
  tool.hidden.add_options()("kind", po::value<std::string>()->value_name("KIND"));
  for (const GraphKind& kind : graph_kinds()) tool.words["kind"].emplace_back(kind.name);
  tool.positional.add("kind", 1);
  tool.writes = {"output"};
  return run_tool(argc, argv, tool, generate);
}
