// A program of its own on Kasen's installed libraries: PageRank of a small graph over four workers in this process,
// planned, priced before it runs, then run with the reference kernels and with generated ones.
// Usage: program EDGES.txt
#include <kasen.h>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace {

constexpr int workers = 4;
constexpr const char* text = R"(
dim N
input G : null[N, N]
param theta = 1e-8
pr : f64[N] = 1
degree = G @ pr
more = true
while more expect 40 {
  new_pr = 0.15 + 0.85 * (G' @ (pr / degree))
  more = sum(abs(new_pr - pr)) > theta
  pr = new_pr
}
output pr
)";

std::vector<kasen::Part> read_and_cut(const std::string& file) {
  kasen::ReadOptions options;
  options.element = kasen::ElementType::of(kasen::Scalar::null);
  std::vector<kasen::DimData> dims(1);
  dims[0].name = "N";
  std::vector<kasen::InputData> inputs(1);
  inputs[0].name = "G";
  inputs[0].dims = {"N", "N"};
  inputs[0].element = options.element;
  inputs[0].sparse = true;
  inputs[0].matrix = kasen::read_matrix(file, options);
  kasen::PartitionOptions cut;
  cut.workers = workers;
  return kasen::partition(dims, std::move(inputs), cut);
}

// The ranks in the order of the graph's nodes.
std::vector<double> run(const kasen::Module& plan, const std::vector<kasen::Part>& parts, kasen::KernelSet& kernels) {
  const auto transport = kasen::make_simulated_transport(workers);
  const kasen::RunResult result = kasen::execute(plan, parts, *transport, kernels, {});
  std::vector<double> ranks;
  for (const kasen::OutputPart& part : result.outputs.at(0).parts) {
    const auto& masters = parts.at(static_cast<size_t>(part.worker)).dims.at("N").masters;
    for (size_t k = 0; k < masters.size(); ++k) {
      const auto place = static_cast<size_t>(masters[k]);
      ranks.resize(std::max(ranks.size(), place + 1));
      ranks[place] = part.data.as<double>()[k];
    }
  }
  return ranks;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<kasen::Part> parts = read_and_cut(argc > 1 ? argv[1] : "edges.txt");
  kasen::Prover laws;
  const kasen::Module plan = kasen::optimize(kasen::compile_program(text, "pagerank.ks", {}), laws, {});
  const kasen::Sizes sizes = kasen::sizes_from_parts(plan, parts);
  std::cout << kasen::report_text(plan, &sizes);

  const auto plain = kasen::make_interpreter_kernels();
  const auto generated = kasen::make_generated_kernels({});
  const std::vector<double> ranks = run(plan, parts, *plain);
  const bool same = ranks == run(plan, parts, *generated);
  // Every page has a link, so that no rank is lost: the ranks sum up to the number of pages.
  double sum = 0;
  for (const double rank : ranks) sum += rank;
  const bool whole = std::abs(sum - static_cast<double>(ranks.size())) < 1e-6;
  std::cout << ranks.size() << " pages, ranks sum up to " << std::round(sum * 1e6) / 1e6 << ", generated kernels give "
            << (same ? "the same bits" : "OTHER BITS") << '\n';
  return same && whole ? 0 : 1;
} catch (const kasen::UserError& error) {
  std::cerr << error.what() << '\n';
  return static_cast<int>(error.status());
}
