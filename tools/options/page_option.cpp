#include "tools/options/page_option.h"

#include <fstream>
#include <utility>

#include "libcore/lang/lang.h"
#include "libopt/optimize/optimize.h"
#include "libopt/prover/prover.h"
#include "tools/options/machine_file.h"
#include "tools/options/sizes_option.h"
#include "tools/options/temporary_file.h"
#include "tools/system/files.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

// Graphviz sees sizes and numbers of boxes, but no text.
std::optional<std::string> place_by_dot(const std::string& graphs) {
  if (!command_exists("dot")) {
    static bool reported = false;
    if (!std::exchange(reported, true))
      tell("kasen-measure: note: Graphviz (dot) is not in PATH: pictures are drawn in the program's order\n");
    return std::nullopt;
  }
  const TemporaryFile file("kasen-picture");
  std::ofstream(file.path()) << graphs;
  std::string placed;
  if (run_process_into(placed, {"dot", "-Tjson0", file.path()}).status == 0) return placed;
  tell("kasen-measure: note: dot could not place the picture: it is drawn in the program's order\n");
  return std::nullopt;
}

}  // namespace

std::optional<Module> unfused(const Module& plan) {
  if (plan.level < 3) return std::nullopt;
  const std::optional<Module> program = program_of(plan);
  if (!program) return std::nullopt;
  Prover laws;
  OptimizeOptions options;
  options.strategy = Strategy::none;
  options.sync = SyncMode::lazy;
  return optimize(*program, laws, options);
}

std::string page_of(const Module& plan, const Sizes* sizes, const Module* before, const po::variables_map& values,
                    PageParts parts) {
  std::optional<Sizes> own;
  std::optional<Measured> measured;
  if (before != nullptr) {
    if (sizes != nullptr) own = sizes_of_plans(values, *sizes)(*before);
    measured.emplace(Measured{*before, own ? &*own : nullptr});
    parts.before = &*measured;
  }
  if (values.count("machine") > 0) {
    parts.machine_name = values["machine"].as<std::string>();
    parts.machine = read_machine(parts.machine_name);
  }
  parts.place = place_by_dot;
  return report_html(plan, sizes, parts);
}

}  // namespace kasen::tools
