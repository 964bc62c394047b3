// The time of an iteration as the model predicts it, with the profile that is measured here, beside the measured one.
// Without a loop it is the whole program's, whose buffers are touched for the first time. "predicted" is no contestant:
// a ratio of Kasen's time over it above 1 says that it promised too much. A host's rates move within minutes, so the
// profile is measured again for each program.
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/blackscholes/blackscholes.h"
#include "bench/dense_samples.h"
#include "bench/driver.h"
#include "bench/endtoend/endtoend.h"
#include "bench/kasen_run.h"
#include "bench/kmeans/kmeans.h"
#include "bench/numbers.h"
#include "bench/pagerank/pagerank.h"
#include "bench/samples.h"
#include "datasets/kinds.h"
#include "libcomm/data/cut/partition.h"
#include "libopt/time/machine.h"

namespace kasen::bench {
namespace {

struct Program {
  std::string name, file;
  std::function<Parts(const Settings&)> data;
  std::map<std::string, std::vector<Word>> params;
  std::map<std::string, std::string> defines{};
  bool move_statements = true;
  int workers = 1;  // several: over a mesh of one axis
};

Parts whole(const Graph& graph) {
  return std::make_shared<std::vector<Part>>(cut_graph(graph, 1, PartitionMethod::block));
}

Parts links(const Settings& settings) { return whole(read_graph(settings.graph)); }

Parts power_law(const Settings& /*settings*/) {
  constexpr GraphOptions options{.scale = 20, .edges = 5'242'880};
  return whole(graph_of(std::int64_t{1} << options.scale, find_graph_kind("rmat")->make(options)));
}

Parts wide(const Settings& /*settings*/) { return dense_matrix("X", 800'000, 50, {{"K", 5}}); }

Parts points(const Settings& /*settings*/) {
  return std::make_shared<std::vector<Part>>(points_on_one_part(1'000'000));
}

Parts rows_of_ten(const Settings& /*settings*/) {
  DenseSamples samples = dense_samples();
  samples.part.dims["K"] = whole_dim(5, true);
  return labelled(std::move(samples), [](double reported) { return reported; });
}

Parts sparse_rows(const Settings& /*settings*/) {
  constexpr std::int64_t rows = 300'000, columns = 300'000;
  return partitioned(make_samples(rows, columns), {make_labels("label", rows)}, 1);
}

// Five entries a row: a grid's Laplace operator, and 1 more on the diagonal, so that it is positive definite.
Parts grid(const Settings& /*settings*/) {
  constexpr std::int64_t side = 1000;
  SparseInput a{"A", "N", "N", side * side, side * side, {}, {}, {}};
  VectorInput b{"b", "N", {}};
  for (std::int64_t row = 0; row < a.row_count; ++row) {
    const auto add = [&](bool is_there, std::int64_t column, double value) {
      if (!is_there) return;
      a.rows.push_back(row);
      a.cols.push_back(column);
      a.values.push_back(value);
    };
    add(row >= side, row - side, -1);
    add(row % side > 0, row - 1, -1);
    add(true, row, 5);
    add(row % side + 1 < side, row + 1, -1);
    add(row + side < a.row_count, row + side, -1);
    b.values.push_back(uniform(31, static_cast<std::uint64_t>(row)));
  }
  return partitioned(std::move(a), {std::move(b)}, 1);
}

// Lengths between vertices at random, eight a vertex.
Parts roads(const Settings& /*settings*/) {
  constexpr std::int64_t vertices = 500'000, degree = 8;
  SparseInput g{"G", "V", "V", vertices, vertices, {}, {}, {}};
  for (std::int64_t from = 0; from < vertices; ++from) {
    std::set<std::int64_t> ends;
    for (std::int64_t e = 0; e < degree; ++e) {
      const auto draw = static_cast<std::uint64_t>(from * degree + e);
      ends.insert(static_cast<std::int64_t>(uniform(32, draw) * static_cast<double>(vertices)));
    }
    for (const std::int64_t to : ends) {
      g.rows.push_back(from);
      g.cols.push_back(to);
      g.values.push_back(1 + uniform(33, static_cast<std::uint64_t>(from * degree + to)));
    }
  }
  return partitioned(std::move(g), {}, 1);
}

Parts descents(const Settings& /*settings*/) {
  constexpr std::int64_t rows = 300'000, columns = 30'000;
  return partitioned(make_samples(rows, columns), {make_labels("y", rows)}, 1);
}

Parts squares(const Settings& /*settings*/) {
  constexpr std::int64_t side = 1500;
  Part part;
  part.dims["N"] = whole_dim(side);
  for (const char* name : {"A", "B"}) {
    PartArray& array = part.arrays[name];
    array = {{"N", "N"}, Array(ElementType::of(Scalar::f64), side * side)};
    for (std::int64_t k = 0; k < side * side; ++k)
      array.data.as<double>()[k] = uniform(34, static_cast<std::uint64_t>(k)) / static_cast<double>(side);
  }
  auto parts = std::make_shared<std::vector<Part>>();
  parts->push_back(std::move(part));
  return parts;
}

std::vector<Word> count(std::int64_t number) { return {Word::integer(number)}; }

std::vector<Program> programs() {
  const std::vector<Word> never{Word::real(0)};
  return {
      {"rank", "/examples/pagerank.ks", links, {{"theta", {Word::real(theta)}}}},
      {"rank-rmat", "/examples/pagerank.ks", power_law, {{"theta", {Word::real(1e4)}}}},
      {"lbfgs", "/examples/lbfgs.ks", sparse_rows, {{"turns", count(6)}}},
      {"kmeans", "/examples/kmeans.ks", points, {{"turns", count(lloyd_iterations)}}, {{"k", "10"}, {"d", "10"}}},
      {"kmeans-matrix",
       "/examples/kmeans-matrix.ks",
       rows_of_ten,
       {{"steps", count(10)}, {"tolerance", {Word::real(-1)}}},
       {{"k", "5"}}},
      {"xtxv", "/bench/fused/xtxv.ks", wide, {{"passes", count(6)}}},
      {"gradient", "/bench/rows/gradient.ks", wide, {{"passes", count(6)}}},
      {"hessian", "/bench/rows/hessian.ks", wide, {{"passes", count(6)}}},
      {"multinomial",
       "/examples/multinomial.ks",
       [](const Settings&) { return in_classes(5); },
       {{"steps", count(3)}, {"inner_steps", count(5)}},
       {{"classes", "5"}}},
      {"l2svm",
       "/examples/l2svm.ks",
       [](const Settings&) { return in_two_classes(); },
       {{"steps", count(6)}, {"tolerance", never}}},
      {"glm",
       "/examples/glm.ks",
       [](const Settings&) { return in_two_classes(); },
       {{"steps", count(3)}, {"inner_steps", count(5)}, {"tolerance", never}}},
      {"options",
       "/bench/blackscholes/blackscholes.ks",
       [](const Settings&) { return make_options(10'000'000); },
       {{"rate", {Word::real(option_rate)}},
        {"volatility", {Word::real(option_volatility)}},
        {"years", {Word::real(option_years)}},
        {"passes", count(option_passes)}},
       {},
       false},
      {"options-cold",
       "/examples/blackscholes.ks",
       [](const Settings&) { return make_options(10'000'000); },
       {{"rate", {Word::real(option_rate)}},
        {"volatility", {Word::real(option_volatility)}},
        {"years", {Word::real(option_years)}}}},
      {"hits", "/examples/hits.ks", links, {{"turns", count(20)}}},
      {"logistic", "/examples/logistic.ks", descents, {{"turns", count(10)}}},
      {"cg", "/examples/cg.ks", grid, {{"tolerance", never}, {"most", count(20)}}},
      {"sssp", "/examples/sssp.ks", roads, {{"source", count(0)}}},
      {"product", "/bench/distributed/product.ks", squares, {{"passes", count(6)}}, {}, true, 2},
  };
}

// Lines of "key: number  # comment".
MachineProfile read_profile(const std::string& file) {
  std::map<std::string, double> numbers;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos && line[colon + 2] != '"')
      numbers[line.substr(0, colon)] = std::stod(line.substr(colon + 2));
  }
  MachineProfile machine;
  for (const MachineKey& key : machine_keys()) {
    const auto found = numbers.find(std::string(key.name));
    if (found != numbers.end()) key.of(machine) = found->second;
  }
  return machine;
}

// Measured by kasen-run.
MachineProfile measured_machine() {
  const WorkFolder folder;
  const std::string lines = folder.file("machine.yaml");
  (void)wall_seconds({built("tools/kasen-run"), "--machine-profile"}, lines);
  return read_profile(lines);
}

Question question(const Program& program, const Settings& settings) {
  OptimizeOptions options;
  options.move_statements = program.move_statements;
  if (program.workers > 1) options.mesh = {{"w", program.workers}};
  const auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT + program.file, program.data(settings),
                                              KernelOptions{.threads = settings.threads}, options, program.defines);
  run->run(program.params);
  const double predicted = run->predicted_seconds_per_iteration(measured_machine());
  return {"predicted-" + program.name,
          "ms/iteration",
          1e3,
          {{"kasen",
            [run, program] {
              run->run(program.params);
              return run->iterations() > 0 ? run->seconds_per_iteration() : run->seconds();
            }},
           {"predicted", [predicted] { return predicted; }}}};
}

}  // namespace

Questions predicted_questions(const Settings& settings) {
  Questions made;
  for (const Program& program : programs()) made.emplace_back([=] { return question(program, settings); });
  return made;
}

}  // namespace kasen::bench
