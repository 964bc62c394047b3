#include "tools/options/auto_method.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/cut/sample.h"
#include "libcore/lang/lang.h"
#include "libopt/cost/sizes_sampled.h"
#include "libopt/optimize/optimize.h"
#include "libopt/prover/prover.h"
#include "libopt/report/cut_choice.h"

namespace kasen::tools {
namespace {

// For more nonzeros than this, ghost elements are estimated from a sample of indices with about this many nonzeros.
constexpr double looked_at = 1 << 24;

// The most frequent use of a graph. All its iterations weigh alike, whatever their number.
Module products_of_a_graph() {
  return compile_program(
      "dim N\ninput G : null[N, N]\nx : f64[N] = 1\nchange = 1.0\n"
      "while change > 0.5 likely expect 30 {\n  y = G' @ x\n  change = sum(abs(x - y))\n  x = y\n}\noutput x\n",
      "graph.ks", {});
}

Module plan_of(const Module* module) {
  Module plan = module != nullptr ? *module : products_of_a_graph();
  if (plan.level >= 3) return plan;
  Prover laws;
  require_valid(plan, laws);
  OptimizeOptions options;
  options.epilogue = true;
  return optimize(std::move(plan), laws, options);
}

double fraction_of(const ProgramData& data) {
  double entries = 0;
  for (const InputData& input : data.inputs) entries += static_cast<double>(input.matrix.entries.count());
  return entries <= looked_at ? 1 : looked_at / entries;
}

}  // namespace

ChosenParts partition_automatically(const Module* module, ProgramData& data, PartitionOptions options,
                                    const MachineProfile& machine) {
  const Module plan = plan_of(module);
  const double fraction = fraction_of(data);
  CutSampler sampler(data.dims, std::move(data.inputs), fraction, true, options.workers);
  std::vector<CutCandidate> candidates;
  std::vector<std::vector<std::string>> notes(partition_methods.size());
  PartitionOptions tried = options;
  for (std::size_t m = 0; m < partition_methods.size(); ++m) {
    tried.method = partition_methods[m].second;
    tried.notes = &notes[m];
    candidates.push_back(
        {std::string(partition_methods[m].first), sampled_sizes(plan, sampler.cut(tried), "the data").estimate});
  }
  const CutChoice choice = choose_cut(plan, candidates, machine);
  options.method = partition_methods[choice.best].second;
  if (options.notes != nullptr) {
    options.notes->push_back(
        fmt::format("auto chose {}: {}{}{}", candidates[choice.best].name, choice.why,
                    module == nullptr ? "; no program was given: for one product an iteration" : "",
                    fraction < 1 ? "; estimated from a sample" : ""));
    for (std::string& note : notes[choice.best]) options.notes->push_back(std::move(note));
  }
  options.notes = nullptr;
  ChosenParts chosen{options.method, sampler.parts(options)};
  data.dims = sampler.dims();
  return chosen;
}

}  // namespace kasen::tools
