// What `kasen measure` prints: a module's cost by operator, region, turn and program, as text, JSON, HTML or a graph;
// two modules side by side. `sizes` may be null: then formulas alone.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"
#include "libopt/time/run_report.h"

namespace kasen {

[[nodiscard]] std::string report_text(const Module& module, const Sizes* sizes);
// Ends with a line end; keys in a fixed order (docs/cost.md describes them).
[[nodiscard]] std::string report_json(const Module& module, const Sizes* sizes);
// The data dependence graph for Graphviz: nodes are values, coloured by state; regions are clusters; the network's
// edges are dashed.
[[nodiscard]] std::string report_dot(const Module& module);

// `before` and `after` (say, unfused and fused) by loop and in whole, with what is saved. Each has its own sizes,
// because turns go by the numbers of its operators.
struct Measured {
  const Module& module;
  const Sizes* sizes;  // may be null
};

// What a page may hold beside a module's cost.
using GraphPlacer = std::function<std::optional<std::string>(const std::string& dot)>;
struct PageParts {
  const Measured* before = nullptr;  // what it was before it was fused
  const RunReport* run = nullptr;    // a run of it; then `sizes` are those of its bundle, by worker
  MachineProfile machine = {};       // for the run's roofline
  std::string machine_name = {};     // where it is from; empty: built in
  // `dot -Tjson0` of these graphs, or nothing; null: operators stand in the program's order.
  GraphPlacer place = nullptr;
};
// One page that holds all it needs.
[[nodiscard]] std::string report_html(const Module& module, const Sizes* sizes, const PageParts& parts = {});

[[nodiscard]] std::string compare_text(const Measured& before, const Measured& after);
[[nodiscard]] std::string compare_json(const Measured& before, const Measured& after);

}  // namespace kasen
