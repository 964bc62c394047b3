#include "tools/options/auto_method.h"

#include <fmt/format.h>

#include <vector>

#include "libcore/lang/lang.h"
#include "libopt/cost/sizes_sampled.h"
#include "libopt/cuts/cut_choice.h"
#include "libopt/optimize/optimize.h"
#include "libopt/prover/prover.h"
#include "libopt/time/times.h"

namespace kasen::tools {
namespace {

// What ml takes for an entry, about: 0.3 us of a web graph, 1 of a social network, 1.5 to 3.5 of a random graph
// (docs/tried.md, "Partitions"). A fixed figure, so that the same data are cut alike on every machine.
constexpr double multilevel_seconds = 1e-6;

// The most frequent use of a graph.
Module products_of_a_graph() {
  return compile_program(
      "dim N\ninput G : null[N, N]\nx : f64[N] = 1\nchange = 1.0\n"
      "while change > 0.5 {\n  y = G' @ x\n  change = sum(abs(x - y))\n  x = y\n}\noutput x\n",
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

class Chooser {
 public:
  Chooser(CutLook& look, const Module* module, const MachineProfile& machine)
      : look_(look), plan_(plan_of(module)), graph_(module == nullptr), machine_(machine) {
    for (const auto& row : partition_methods)
      if (row.second != PartitionMethod::ml) add(row.second);
    choice_ = choose_cut(plan_, candidates_, machine_);
  }

  // Tries ml where its time may be less than what it saves, and memory has room for it.
  void look_at_multilevel(const std::optional<std::int64_t>& too_large) {
    const double takes = multilevel_seconds * static_cast<double>(look_.entries());
    if (choice_.most_saved < takes) {
      more_ = fmt::format("; ml not tried: it takes some {} and saves {} at most", duration_text(takes),
                          duration_text(std::max(choice_.most_saved, 0.0)));
    } else if (too_large) {
      more_ = fmt::format("; ml not tried: it needs some {} bytes of memory for the whole graph", *too_large);
    } else {
      add(PartitionMethod::ml);
      choice_ = choose_cut(plan_, candidates_, machine_);
    }
  }

  [[nodiscard]] ChosenMethod chosen() const {
    const std::string& name = candidates_[choice_.best].name;
    return {methods_[choice_.best],
            fmt::format("method: {} (auto: {}{}{}{})", name, choice_.why, more_,
                        graph_ ? "; for a product in each, as no program is given" : "",
                        look_.sampled() ? "; from a sample" : ""),
            fmt::format("method: {} (auto: {}; -v tells more)", name, choice_.brief)};
  }

 private:
  void add(PartitionMethod method) {
    methods_.push_back(method);
    candidates_.push_back(
        {std::string(method_name(method)), sampled_sizes(plan_, look_.cut(method), "the data", true).estimate});
  }

  CutLook& look_;
  Module plan_;
  bool graph_;
  const MachineProfile& machine_;
  std::vector<PartitionMethod> methods_;
  std::vector<CutCandidate> candidates_;
  CutChoice choice_;
  std::string more_;
};

// The memory that ml would need, where that is more than may be taken.
std::optional<std::int64_t> too_large(const PartitionOptions& options, std::int64_t multilevel_bytes) {
  if (options.spill == nullptr) return std::nullopt;
  const std::int64_t enough = options.spill->enough_for(multilevel_bytes);
  return enough <= options.spill->limit() ? std::nullopt : std::optional(enough);
}

}  // namespace

ChosenMethod chosen_method(CutLook& look, const Module* module, const MachineProfile& machine,
                           std::optional<std::int64_t> no_room) {
  Chooser chooser(look, module, machine);
  chooser.look_at_multilevel(no_room);
  return chooser.chosen();
}

void choose_automatically(PartitionOptions& options, const Module* module, const MachineProfile& machine,
                          std::int64_t multilevel_bytes, ChosenMethod& told) {
  options.method = told.method;
  options.choose = [&told, module, machine, no_room = too_large(options, multilevel_bytes)](CutLook& look) {
    told = chosen_method(look, module, machine, no_room);
    return told.method;
  };
}

}  // namespace kasen::tools
