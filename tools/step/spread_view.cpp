#include "tools/step/spread_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "libcore/ir/derived_dims.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/tile.h"
#include "libopt/spread/report/report.h"
#include "libopt/spreading/from_module.h"
#include "tools/options/words.h"

namespace kasen::tools {
namespace {

using spread::Grid;

enum class SpreadFormat : std::uint8_t { text, json, csv };
constexpr Words<SpreadFormat, 3> spread_formats{
    {{"text", SpreadFormat::text}, {"json", SpreadFormat::json}, {"csv", SpreadFormat::csv}}};
enum class GridRule : std::uint8_t { shares, softmax };
constexpr Words<GridRule, 2> grid_rules{{{"shares", GridRule::shares}, {"softmax", GridRule::softmax}}};

constexpr Words<spread::Dealing, 2> dealings{
    {{"cyclic", spread::Dealing::cyclic}, {"packed", spread::Dealing::packed}}};

// "4x4x1"
std::optional<Grid> numbers(const std::string& text) {
  Grid result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) {
    std::int64_t number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size() || number < 1) return std::nullopt;
    result.push_back(number);
  }
  if (result.empty() || text.back() == 'x') return std::nullopt;
  return result;
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream parts(text);
  for (std::string name; std::getline(parts, name, ',');) names.push_back(name);
  return names;
}

// "0.1", or "shared": workers of a node share its memory.
void read_intra(const po::variables_map& values, spread::Cluster& cluster) {
  const auto& text = values["intra"].as<std::string>();
  cluster.shared = text == "shared";
  if (cluster.shared) return;
  double weight = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(weight >= 0 && weight <= 1)) {
    wrong_value("intra", fmt::format("--intra {}", text), "it is a weight from 0 to 1, or the word shared",
                "--intra 0.1, or --intra shared");
  }
  cluster.intra = static_cast<int>(std::lround(weight * static_cast<double>(spread::element_load)));
}

// "16x32": 16 nodes of 32 workers. "4x4x32": the nodes are a grid of 4 x 4. "16x32,packed": they have runs of blocks.
spread::Layout layout_of(const po::variables_map& values) {
  const auto& text = values["cluster"].as<std::string>();
  const std::size_t comma = text.find(',');
  const std::string word = comma == std::string::npos ? "cyclic" : text.substr(comma + 1);
  const auto dealing =
      std::find_if(dealings.begin(), dealings.end(), [&](const auto& known) { return known.first == word; });
  const std::optional<Grid> grid = dealing == dealings.end() ? std::nullopt : numbers(text.substr(0, comma));
  if (!grid || grid->size() < 2) {
    wrong_value("cluster", fmt::format("--cluster {} is no cluster", text),
                "it is the nodes, as a number or a grid, and the workers of each; 'packed' deals blocks out in runs",
                "--cluster 16x32, --cluster 4x4x32, or --cluster 16x32,packed");
  }
  std::int64_t nodes = 1;
  for (std::size_t axis = 0; axis + 1 < grid->size(); ++axis) {
    if (nodes > spread::most_workers / (*grid)[axis]) nodes = spread::most_workers + 1;
    if (nodes <= spread::most_workers) nodes *= (*grid)[axis];
  }
  const std::int64_t workers = grid->back();
  if (nodes > spread::most_workers / workers) {
    wrong_value("cluster", fmt::format("--cluster {}", text),
                fmt::format("at most {} workers are placed on", spread::most_workers));
  }
  spread::Layout layout{
      {static_cast<int>(nodes), static_cast<int>(workers)}, {grid->begin(), grid->end() - 1}, dealing->second};
  read_intra(values, layout.cluster);
  return layout;
}

std::map<std::string, Grid> grids_of(const po::variables_map& values) {
  std::map<std::string, Grid> grids;
  for (const auto& one : name_values(values, "grid")) {
    const std::optional<Grid> grid = numbers(one.second);
    if (!grid) {
      wrong_value("grid", fmt::format("--grid {}={} is no grid", one.first, one.second),
                  "it has a number of blocks for each axis", "--grid X=512x1");
    }
    grids[one.first] = *grid;
  }
  return grids;
}

Module sized_module(const Module& module, const OptimizeOptions& options, int workers,
                    std::vector<std::string>& defaults) {
  TilingSizes sizes = tiling_sizes(module, options);
  for (const std::string& size : sizes.defaults)
    if (size.substr(0, 4) != "P = ") defaults.push_back(size);  // the cluster says how many workers there are
  Module sized = module;
  for (Dimension& dim : sized.dims)
    if (!dim.is_derived()) dim.size = sizes.bindings.at({SymbolKind::size, dim.name, {}, -1});
  derive_sizes(sized.dims, "the sizes", workers);
  return sized;
}

}  // namespace

void declare_spread_options(Tool& tool) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  auto add = tool.options.add_options();
  takes(tool, "print-spread", spread_formats);
  takes(tool, "grid-rule", grid_rules);
  add("print-spread", text("text|json|csv")->implicit_value("text"),
      "prints only where block operators run on a cluster");
  add("cluster", text("16x32"), "16 nodes of 32 workers; 4x4x32, or 16x32,packed");
  add("grid", po::value<std::vector<std::string>>()->value_name("X=512x1"), "blocks along an input's axes");
  add("grid-rule", text("RULE")->default_value("shares"), "blocks by shares (NumS's) or softmax (paper)");
  add("spread", text("NAME,...")->default_value("all"),
      "owner, round-robin, lshs, lshs-all, ahead=K, heft, exact; with --mesh: of the plan");
  add("intra", text("0.1|shared")->default_value("0.1"), "weight of traffic in a node");
}

void read_spread_options(const po::variables_map& values, OptimizeOptions& options) {
  if (values.count("print-spread") > 0) return;
  const auto given = [&](const char* option) { return values.count(option) > 0 && !values[option].defaulted(); };
  const bool plans = given("spread") && values.count("mesh") > 0;
  for (const char* option : {"cluster", "grid", "grid-rule", "spread", "intra"}) {
    const bool of_plans = plans && (option == std::string_view("grid") || option == std::string_view("spread"));
    if (!given(option) || of_plans) continue;
    fail(ExitStatus::usage, fmt::format("--{} without --print-spread", option),
         "the workers of plans are those of a mesh, and a plan has one placement",
         "add --print-spread; or plan with --mesh 2x2 --spread lshs, and --grid");
  }
  if (!plans) return;
  options.spread.search = values["spread"].as<std::string>();
  spread::require_search(options.spread.search);
  for (const auto& [array, blocks] : grids_of(values)) options.spread.grids.push_back({array, blocks});
}

std::string spread_view(const Module& module, const OptimizeOptions& options, const po::variables_map& values,
                        std::vector<std::string>& defaults) {
  const SpreadFormat format = choose(values, "print-spread", spread_formats);
  if (values.count("cluster") == 0)
    fail(ExitStatus::usage, "--print-spread without --cluster", "blocks are placed on its workers",
         "add --cluster 4x8");
  if (module.level > 1 || is_tiled(module)) {
    fail(ExitStatus::bad_input, "--print-spread of a module whose arrays are cut", "nothing is left to place",
         "give it the plan of level 1, as kasen plan makes it");
  }
  SpreadingOptions spreading{layout_of(values), grids_of(values),
                             choose(values, "grid-rule", grid_rules) == GridRule::softmax};
  std::vector<std::string> searches = listed(values["spread"].as<std::string>());
  if (searches.empty()) searches = {"all"};
  const spread::Cluster& cluster = spreading.layout.cluster;
  const Module sized = sized_module(module, options, cluster.size(), defaults);
  const spread::Arrays arrays = block_operators(sized, spreading);
  const spread::Comparison all = spread::compare(module.name, arrays.graph(), cluster, searches, {});
  switch (format) {
    case SpreadFormat::json:
      return spread::comparison_json(all);
    case SpreadFormat::csv:
      return spread::curves_csv(all);
    case SpreadFormat::text:
      return spread::comparison_text(all);
  }
  throw InternalError("a format outside the table");
}

}  // namespace kasen::tools
