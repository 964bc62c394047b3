#include "tools/options/sizes_option.h"

#include <fmt/format.h>

#include "libcomm/data/bundle/entries.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/boxes/data_dims.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libopt/report/ghost_bounds.h"
#include "libopt/time/observed.h"
#include "tools/common/fitted.h"
#include "tools/system/files.h"

namespace kasen::tools {

void require_sizes(const Module& module, const BundleInfo& bundle) {
  for (const DimId d : used_dims(module)) {
    // Tiles are as many as the run has workers, whatever the bundle has.
    if (follows_observed(module.dims, d) || depends_on_workers(module.dims, d)) continue;
    for (const DimStatistics& dim : bundle.statistics.dims)
      if (dim.name == module.dim(d).name) require_size_of_data(module.dim(d), dim.size);
  }
}

Sizes bundle_sizes(const Module& module, const std::string& name, const std::string& bundle, int workers,
                   const Module* beside) {
  const BundleInfo info = read_bundle_info(bundle, names_layouts(module) ? 0 : workers);
  require_fitted(module, name, bundle, info.digest);
  require_sizes(module, info);
  const std::string origin = fmt::format("bundle {} ({})", bundle, info.digest);
  if (names_layouts(module)) {  // of any number of workers: its sizes are the plan's
    const int own = workers_of_plan(module, info.workers, workers);
    BoxParts boxes(module, own, 0, own, BoxContent::sizes);
    read_all_lists(bundle, [&](const Part& part) { boxes.add(part); });
    SizesBuilder builder(module);
    for (const Part& part : boxes.finish()) builder.add(part);
    return builder.finish(origin, info.digest);
  }
  SizesBuilder builder(module, beside);
  read_all_lists(
      bundle,
      [&](Part& part) {
        number_entries(module, {&part, 1}, info.statistics);
        if (beside != nullptr) number_entries(*beside, {&part, 1}, info.statistics);
        builder.add(part);
      },
      workers);
  return builder.finish(origin, info.digest);
}

void fit_local_dimensions(Module& module, const Sizes& sizes) {
  for (Dimension& dim : module.dims) {
    if (!dim.local || dim.size >= 0 || dim.is_derived()) continue;
    const auto known = sizes.totals.find({SymbolKind::size, dim.name, {}, -1});
    if (known != sizes.totals.end()) dim.size = known->second;
  }
  const auto size_of = [&](DimId source) { return module.dim(source).size; };
  for (Dimension& dim : module.dims) {
    if (dim.is_derived() && !dim.is_workers() && !dim.is_observed() && dim.size < 0)
      dim.size = derived_size(dim.derived, size_of);
  }
}

Module with_sizes_of(Module module, const RunReport& run) {
  for (const DimId d : module.dims.ids()) {
    const auto known = run.sizes.find({SymbolKind::size, module.dim(d).name, {}, -1});
    if (known != run.sizes.end() && follows_observed(module.dims, d)) module.dims[d].size = known->second;
  }
  return module;
}

void declare_sizes_options(Tool& tool) {
  tool.options.add_options()("bundle", po::value<std::string>()->value_name("BUNDLE"), "the data that the plan is for")(
      "sizes", po::value<std::string>()->value_name("NAME=NUMBER,..."), "numbers for the formulas");
  tool.reads.emplace_back("bundle");
}

std::optional<Sizes> read_sizes(const po::variables_map& values, const Module& module, const std::string& name,
                                int workers, const Module* beside) {
  if (values.count("sizes") > 0 && values.count("bundle") > 0) {
    fail(ExitStatus::usage, "--sizes and --bundle both give sizes", "", "give one of them");
  }
  if (values.count("bundle") > 0)
    return bundle_sizes(module, name, values["bundle"].as<std::string>(), workers, beside);
  std::optional<Sizes> sizes;
  if (values.count("sizes") > 0) {
    with_value("sizes", [&] { sizes = parse_sizes(module, values["sizes"].as<std::string>()); });
    bound_ghosts(module, *sizes);
  }
  return sizes;
}

std::function<Sizes(const Module& plan)> sizes_of_plans(const po::variables_map& values, Sizes sizes) {
  if (values.count("sizes") == 0) return [sizes = std::move(sizes)](const Module&) { return sizes; };
  return [text = values["sizes"].as<std::string>()](const Module& plan) { return known_sizes(plan, text); };
}

Sizes sizes_to_report(const po::variables_map& values, const Sizes& sizes, const Module& plan) {
  Sizes found = sizes_of_plans(values, sizes)(plan);
  if (values.count("sizes") > 0) bound_ghosts(plan, found);
  return found;
}

std::optional<RunReport> observed_option(const po::variables_map& values, const Module& module) {
  if (values.count("observed") == 0) return std::nullopt;
  const auto& path = values["observed"].as<std::string>();
  RunReport run = read_run_report(read_text(path), shown_name(path));
  require_run_of(module, run, shown_name(path));
  return run;
}

}  // namespace kasen::tools
