// --bundle BUNDLE and --sizes NAME=NUMBER,...: the numbers for a module's formulas, for fuse and measure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/run_report.h"
#include "tools/common/tool.h"

namespace kasen::tools {

void declare_sizes_options(Tool& tool);  // and their input files

// The sizes of one of the two, or nothing. A plan (`name` in messages) that was fitted to another bundle is refused.
// Only one part of a bundle is in memory at a time. `workers`: the number that a bundle for any number is read for, or
// 0 for its own. `beside`: a module that is compared with this one, or null.
[[nodiscard]] std::optional<Sizes> read_sizes(const po::variables_map& values, const Module& module,
                                              const std::string& name, int workers, const Module* beside = nullptr);
[[nodiscard]] Sizes bundle_sizes(const Module& module, const std::string& name, const std::string& bundle, int workers,
                                 const Module* beside = nullptr);

// UserError(bad_input), as of a run: the bundle has another size of a dimension than the module.
void require_sizes(const Module& module, const BundleInfo& bundle);

// Gives local dimensions that the program leaves to the data their sizes there.
void fit_local_dimensions(Module& module, const Sizes& sizes);

// The module with the sizes that this run of it found (libcore/ir/observed.h).
[[nodiscard]] Module with_sizes_of(Module module, const RunReport& run);

// The numbers known for any plan of that module: the bundle's, or those of --sizes by the plan's own names.
[[nodiscard]] std::function<Sizes(const Module& plan)> sizes_of_plans(const po::variables_map& values, Sizes sizes);

// The same for a report on the plan: ghosts without a number have the most that they can be.
[[nodiscard]] Sizes sizes_to_report(const po::variables_map& values, const Sizes& sizes, const Module& plan);

// --observed RUN.json: the counters of an earlier run of the module's program; nothing without it.
[[nodiscard]] std::optional<RunReport> observed_option(const po::variables_map& values, const Module& module);

}  // namespace kasen::tools
