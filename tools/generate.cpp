// kasen-generate: graphs of any size, for tests and measurements.
#include <fmt/format.h>

#include "datasets/edge_file.h"
#include "datasets/rmat.h"
#include "tools/common/tool.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

EdgeRuns rmat(const po::variables_map& values) {
  RmatOptions options;
  options.scale = values["scale"].as<int>();
  options.seed = values["seed"].as<std::uint64_t>();
  if (options.scale < 1 || options.scale > 31)
    wrong_value("scale", fmt::format("a graph of scale {}", options.scale), "scales are 1 to 31");
  const std::int64_t vertices = std::int64_t{1} << options.scale;
  options.edges = values.count("edges") > 0 ? values["edges"].as<std::int64_t>() : 16 * vertices;
  options.a = values["a"].as<double>();
  options.b = values["b"].as<double>();
  options.c = values["c"].as<double>();
  return rmat_edges(options);
}

EdgeRuns star(const po::variables_map& values) {
  const int scale = values["scale"].as<int>();
  if (scale < 0 || scale > 31) wrong_value("scale", fmt::format("a star of scale {}", scale), "scales are 0 to 31");
  return star_edges(std::int64_t{1} << scale);
}

ExitStatus generate(const po::variables_map& values) {
  if (values.count("kind") == 0) fail(ExitStatus::usage, "no kind of graph", "", "there are rmat and star");
  if (values.count("output") == 0)
    fail(ExitStatus::usage, "no output file for the graph", "", "add -o FILE.txt or FILE.npy");
  const auto kind = values["kind"].as<std::string>(), path = values["output"].as<std::string>();
  EdgeFile file(path, path.ends_with(".npy") ? EdgeFormat::npy : EdgeFormat::text);
  file.write(kind == "rmat" ? rmat(values) : star(values));
  return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-generate", "makes a graph of any size, the same for the same options",
                     "rmat | star [--scale S] [--edges M] [--seed K] -o FILE.txt | FILE.npy",
                     "kasen generate rmat --scale 20 --edges 5242880 -o rmat-20.txt"}};
  tool.options.add_options()("scale", po::value<int>()->default_value(16)->value_name("S"), "2^S vertices")(
      "edges", po::value<std::int64_t>()->value_name("M"),
      "rmat: edges drawn (16 a vertex); repeated ones are left out")(
      "seed", po::value<std::uint64_t>()->default_value(1)->value_name("K"), "rmat: another seed, another graph")(
      "a", po::value<double>()->default_value(0.57, "0.57")->value_name("PART"),
      "rmat: the part of the edges within the lower half of the vertices")(
      "b", po::value<double>()->default_value(0.19, "0.19")->value_name("PART"),
      "rmat: from the lower half to the upper one")(
      "c", po::value<double>()->default_value(0.19, "0.19")->value_name("PART"),
      "rmat: from the upper half to the lower one")("output,o", po::value<std::string>()->value_name("FILE"),
                                                    ".npy: two 32-bit numbers an edge; else lines of text");
  tool.hidden.add_options()("kind", po::value<std::string>()->value_name("KIND"));
  tool.words["kind"] = {"rmat", "star"};
  tool.positional.add("kind", 1);
  tool.writes = {"output"};
  return run_tool(argc, argv, tool, generate);
}
