/// \file
/// Output of `kasen measure`: a module's cost by operator, region, iteration and program, as text, JSON, HTML or a
/// graph, or two modules side by side. If `sizes` is null, it has formulas alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/sizes.h"
#include "libopt/draw/canvas.h"
#include "libopt/time/machine.h"
#include "libopt/time/run_report.h"

namespace kasen {

/// The costs of this implementation; with `model` also those by the paper's rules, behind them.
[[nodiscard]] std::string report_text(const Module& module, const Sizes* sizes, bool model = false);
/// Ends with a line end. Keys are in a fixed order (docs/cost.md describes them). With a machine, it has predicted
/// times, too.
[[nodiscard]] std::string report_json(const Module& module, const Sizes* sizes,
                                      const MachineProfile* machine = nullptr);
/// Returns the data dependence graph for Graphviz. Nodes are values, coloured by state, and regions are clusters. The
/// network's edges are dashed.
[[nodiscard]] std::string report_dot(const Module& module);

/// `before` and `after` (for example unfused and fused), by loop and in whole, with the savings. Each has its own
/// sizes, because iterations go by the numbers of its operators.
struct Measured {
  const Module& module;
  const Sizes* sizes;  ///< may be null
};

/// What a way of cutting the arrays over the mesh sends between workers in the whole run, predicted.
struct TilingBytes {
  std::string name;   ///< "this plan", "greedy"
  double bytes = -1;  ///< -1: none was found
  std::string note;   ///< "least, proven"; may be empty
};
/// Some of them, by the same sizes.
struct TilingTable {
  std::vector<TilingBytes> rows;
  std::vector<std::string> defaults;  ///< sizes that nobody gave: "trips = 10"
};

/// A result of a run, for the beginning of its page.
struct PageResult {
  std::string name, title;        ///< "pr", "pr (N = 325,557), the first 10 of 325,557 rows"
  std::vector<std::string> head;  ///< of the table
  std::vector<std::vector<std::string>> rows;
  std::vector<Point> points;       ///< of few numbers: index and value
  std::string across;              ///< what the indices are
  double lowest = 0, highest = 0;  ///< of many numbers: between them, columns of equal width with so many numbers
  std::vector<std::int64_t> counts;
  std::string note;  ///< "3 of them are NaN"; may be empty
};

/// A line of the table that tells how results were made: "params", and each with its value.
struct PageOrigin {
  std::string what;
  std::vector<std::string> lines;
};

/// Further parts of a page beside a module's cost.
using GraphPlacer = std::function<std::optional<std::string>(const std::string& dot)>;
struct PageParts {
  const Measured* before = nullptr;      ///< the module before fusing
  std::vector<PageResult> results = {};  ///< of the run
  std::vector<PageOrigin> origin = {};   ///< what made them
  const RunReport* run = nullptr;        ///< a run of it; `sizes` are then those of its bundle, by worker
  MachineProfile machine = {};           ///< for the run's roofline
  std::string machine_name = {};         ///< its origin; empty: built in
  TilingTable tilings = {};              ///< of a plan over a mesh
  /// Returns `dot -Tjson0` of these graphs, or nothing. If null, operators stand in the program's order.
  GraphPlacer place = nullptr;
  /// Of pictures with more arrows, too. With more than the default dot takes minutes, and nobody can follow the result.
  std::size_t most_arrows = 400;
};
/// Returns one page that holds all that it needs.
[[nodiscard]] std::string report_html(const Module& module, const Sizes* sizes, const PageParts& parts = {});
/// Returns its graph as a picture. Of the parts only `place` and `most_arrows` matter.
[[nodiscard]] std::string report_svg(const Module& module, const Sizes* sizes, const PageParts& parts = {});

/// `model` as for report_text.
[[nodiscard]] std::string compare_text(const Measured& before, const Measured& after, bool model = false);
[[nodiscard]] std::string compare_json(const Measured& before, const Measured& after);

}  // namespace kasen
