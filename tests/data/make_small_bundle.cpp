// Writes into the folder argv[1]: a small bundle `bundle`, the entries that went into it as text (`G.txt`, `X.txt`:
// row, column, value, in the user's ids), and results of a made-up run as `results.h5`, `results.npy` and
// `results-*.npy`. For the check with h5py, which reads them by other means. The bundle has a compressed table, too.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/compress/compress.h"
#include "libcomm/data/results/results.h"
#include "tests/data/partition_cases.h"

namespace {

using namespace kasen::cases;

void write_entries(const std::string& file, const std::vector<Edge>& edges, bool valued) {
  std::ofstream out(file);
  for (const auto& [i, j] : edges) out << fmt::format("{} {} {}\n", i, j, valued ? 1000 * i + j : 1);
}

// A column for each format of a compressed matrix, and one that the first one tells.
kasen::InputData table_to_compress(std::int64_t rows) {
  kasen::InputData input = table("table", {"R", "C"}, kasen::ElementType::of(kasen::Scalar::f64), rows, 5);
  double* cell = input.table.values.as<double>();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (const std::int64_t value : {r % 7, r / 20000, r % 90 == 5 ? r : 0, r * r, r % 7 * 2})
      *cell++ = static_cast<double>(value);
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::string folder = argv[1];
  auto edges = random_edges(50, 50, 200, 11);
  for (auto& [i, j] : edges) {
    i = 2 * i + 5;
    j = 2 * j + 5;
  }
  const auto oblong = random_edges(20, 30, 80, 12);
  write_entries(folder + "/G.txt", edges, false);
  write_entries(folder + "/X.txt", oblong, true);

  std::vector<kasen::InputData> inputs;
  inputs.push_back(pattern("G", "N", "N", edges));
  inputs.push_back(valued("X", "H", "W", oblong));
  inputs.push_back(table("points", {"H"}, kasen::ElementType::array(kasen::Scalar::f64, 3), 20, 3));
  inputs.push_back(table_to_compress(200'000));
  std::vector<kasen::DimData> dims{
      {.name = "N"}, {.name = "H"}, {.name = "W"}, {.name = "R"}, {.name = "C", .local = true}};
  auto parts = kasen::partition(dims, std::move(inputs), {.workers = 3, .theta = 5});
  (void)kasen::compress(parts);
  (void)kasen::write_bundle(folder + "/bundle", parts, {.workers = 3, .method = "hybrid-cut", .theta = 5}, false);

  kasen::Module module;
  module.dims = {{.name = "N"}, {.name = "H"}};
  std::vector<kasen::Output> outputs;
  outputs.push_back({.name = "rank", .type = {.element = {}, .dims = {kasen::DimId(0)}}, .parts = {}});
  outputs.push_back({.name = "points",
                     .type = {.element = kasen::ElementType::array(kasen::Scalar::f64, 3), .dims = {kasen::DimId(1)}},
                     .parts = {}});
  for (const kasen::Part& part : parts) {
    const auto& masters = part.dims.at("N").original;
    kasen::Array ranks(kasen::ElementType{}, static_cast<std::int64_t>(masters.size()));
    for (std::size_t m = 0; m < masters.size(); ++m) ranks.as<double>()[m] = 0.5 * static_cast<double>(masters[m]);
    outputs[0].parts.push_back({.worker = part.worker, .data = std::move(ranks)});
    const kasen::Array& from = part.arrays.at("points").data;
    kasen::Array copy(from.element, from.count);
    std::copy(from.bytes.data(), from.bytes.data() + from.bytes.size(), copy.bytes.data());
    outputs[1].parts.push_back({.worker = part.worker, .data = std::move(copy)});
  }
  (void)kasen::write_results(folder + "/results.h5", kasen::ResultFormat::hdf5, module, outputs, parts);
  (void)kasen::write_results(folder + "/results.npy", kasen::ResultFormat::npy, module, outputs, parts);
  return 0;
}
