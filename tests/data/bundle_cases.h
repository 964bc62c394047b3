// A bundle that holds all that one can hold.
#pragma once

#include <utility>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "tests/data/partition_cases.h"

namespace kasen::cases {

// A bundle with all that one can hold: names with gaps, patterns, values, points, tuples, shareds, ids, bools.
inline std::vector<Part> rich_parts(int workers, unsigned seed = 1) {
  auto edges = random_edges(40, 40, 150, seed);
  for (auto& [i, j] : edges) {
    i = 3 * i + 1;
    j = 3 * j + 1;
  }
  std::vector<InputData> inputs;
  inputs.push_back(pattern("G", "N", "N", edges));
  inputs.push_back(valued("X", "H", "W", random_edges(20, 30, 60, seed + 1)));
  inputs.push_back(table("points", {"H"}, ElementType::array(Scalar::f64, 3), 20, 3));
  inputs.push_back(table("dense", {"H", "K"}, ElementType::of(Scalar::f64), 20, 2));
  inputs.push_back(table("weights", {"K"}, ElementType::of(Scalar::f64), 2, 1));
  inputs.push_back(table("pairs", {"H"}, ElementType{{Component{}, Component{Scalar::f64, no_dim, 2}}, true}, 20, 3));
  InputData start = table("start", {}, ElementType::id(DimId(0)), 1, 1);
  start.table.values = Array(ElementType::of(Scalar::i64), 1);
  start.table.values.as<std::int64_t>()[0] = 4;
  inputs.push_back(std::move(start));
  InputData flags = table("flags", {"H"}, ElementType::of(Scalar::boolean), 20, 1);
  flags.table.values = Array(ElementType::of(Scalar::boolean), 20);
  for (int i = 0; i < 20; i += 3) flags.table.values.as<std::uint8_t>()[i] = 1;
  inputs.push_back(std::move(flags));
  std::vector<DimData> dims{{.name = "N"}, {.name = "H"}, {.name = "W"}, {.name = "K", .local = true}};
  return partition(dims, std::move(inputs), {.workers = workers, .theta = 4});
}

inline BundleInfo rich_info(int workers) {
  BundleInfo info{.workers = workers,
                  .method = "hybrid-cut",
                  .theta = 4,
                  .sources = {"graph.txt xxh3:00ff", "x.csv xxh3:12"},
                  .notes = {"said \"so\""}};
  info.dims = {"N", "H", "W", "K"};
  info.dictionaries["points"] = {{2, {"", {"tcp", "udp"}}}, {3, {"service", {"a \"b\"", "\xC3\xA4"}}}};
  return info;
}

}  // namespace kasen::cases
