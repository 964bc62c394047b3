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

// Of a sampled entry, with the ghosts that it may bring.
constexpr double sampled_bytes = 64;

double fraction_of(const ProgramData& data, const PartitionOptions& options) {
  double entries = 0, most = looked_at;
  for (const InputData& input : data.inputs) entries += static_cast<double>(input.matrix.entries.count());
  if (options.spill != nullptr) most = std::min(most, static_cast<double>(options.spill->work()) / sampled_bytes);
  return entries <= most ? 1 : most / entries;
}

// Whether memory has room for the method; if not, a note says so.
bool fits(PartitionMethod method, const std::vector<InputData>& inputs, const PartitionOptions& options) {
  if (options.spill == nullptr || method != PartitionMethod::ml || options.workers == 1) return true;
  const std::int64_t enough = options.spill->enough_for(multilevel_bytes(inputs));
  if (enough <= options.spill->limit()) return true;
  if (options.notes != nullptr)
    options.notes->push_back(
        fmt::format("auto did not look at ml, which needs some {} bytes of memory for the whole graph", enough));
  return false;
}

}  // namespace

ChosenParts partition_automatically(const Module* module, ProgramData& data, PartitionOptions options,
                                    const MachineProfile& machine) {
  const Module plan = plan_of(module);
  const double fraction = fraction_of(data, options);
  std::vector<PartitionMethod> methods;
  for (const auto& [name, method] : partition_methods)
    if (fits(method, data.inputs, options)) methods.push_back(method);
  CutSampler sampler(data.dims, std::move(data.inputs), fraction, true, options.workers);
  std::vector<CutCandidate> candidates;
  std::vector<std::vector<std::string>> notes(methods.size());
  PartitionOptions tried = options;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    tried.method = methods[m];
    tried.notes = &notes[m];
    candidates.push_back(
        {std::string(method_name(methods[m])), sampled_sizes(plan, sampler.cut(tried), "the data").estimate});
  }
  const CutChoice choice = choose_cut(plan, candidates, machine);
  options.method = methods[choice.best];
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
