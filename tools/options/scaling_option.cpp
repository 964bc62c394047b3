#include "tools/options/scaling_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcomm/data/cut/sample.h"
#include "libcore/entries/entry_dims.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/system/memory_limit.h"
#include "libopt/cost/sizes.h"
#include "libopt/cost/sizes_sampled.h"
#include "libopt/report/scaling.h"
#include "tools/options/inputs.h"
#include "tools/options/sizes_option.h"
#include "tools/system/files.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

// --workers 4,16,256
std::vector<std::int64_t> parsed_counts(const std::string& text) {
  std::vector<std::int64_t> counts;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::int64_t count = 0;
    const auto [end, fault] = std::from_chars(text.data() + at, text.data() + comma, count);
    if (fault != std::errc{} || end != text.data() + comma || count < 1 || count > 65536) {
      wrong_value("workers", fmt::format("--workers: '{}' is not a number of workers", text.substr(at, comma - at)),
                  "1 to 65536, several with commas between");
    }
    counts.push_back(count);
    at = comma + 1;
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::optional<double> wanted_fraction(const po::variables_map& values) {
  if (values.count("sample") == 0) return std::nullopt;
  const auto fraction = values["sample"].as<double>();
  if (fraction > 0 && fraction <= 1) return fraction;
  wrong_value("sample", fmt::format("--sample {}", fraction), "it is more than 0 and at most 1");
}

// The fraction of the data for which there is memory, or nothing where there is memory for all.
std::optional<double> fraction_that_fits(const ProgramData& data) {
  const std::optional<std::int64_t> room = available_memory();
  const std::int64_t needed = partition_bytes(data.inputs);
  if (!room || needed < *room) return std::nullopt;
  const double fraction = std::clamp(static_cast<double>(*room) / static_cast<double>(needed) / 8, 0.001, 0.1);
  note(
      "kasen-measure: note: cutting the data takes some {} bytes, and {} are available: numbers are estimated "
      "from a sample of {:.3g} % of the indices; --sample FRACTION chooses another, --sample 1 uses all\n",
      needed, *room, fraction * 100);
  return fraction;
}

std::vector<ScalingPoint> exact_points(const Module& module, const ProgramInputs& inputs, ProgramData data,
                                       const po::variables_map& values, const std::vector<std::int64_t>& counts,
                                       const std::string& origin) {
  std::vector<ScalingPoint> points;
  for (const std::int64_t workers : counts) {
    if (!points.empty()) data = inputs.read();
    SizesBuilder sizes(module);
    sizes.leave_out_pairs();
    std::vector<Part> parts = partition(data.dims, std::move(data.inputs), partition_options(values, workers));
    number_entries(module, parts, entry_counts(parts));
    for (const Part& part : parts) sizes.add(part);
    points.push_back({sizes.finish(origin), {}});
  }
  return points;
}

std::vector<ScalingPoint> sampled_points(const Module& module, ProgramData data, double fraction,
                                         const po::variables_map& values, const std::vector<std::int64_t>& counts,
                                         const std::string& origin) {
  const CutSampler sampler(std::move(data.dims), std::move(data.inputs), fraction);
  std::vector<ScalingPoint> points;
  for (const std::int64_t workers : counts) {
    SampledSizes sizes = sampled_sizes(module, sampler.cut(partition_options(values, workers)),
                                       fmt::format("{} (a sample of {:.3g} % of the indices)", origin, fraction * 100));
    points.push_back({std::move(sizes.estimate), {}});
    if (fraction < 1) points.back().bounds.emplace(std::move(sizes.low), std::move(sizes.high));
  }
  return points;
}

std::vector<ScalingPoint> data_points(const Module& module, const po::variables_map& values) {
  const ProgramInputs inputs(module, values);
  if (chooses_method(values))
    wrong_value("method", "--workers looks at one method at a time", "auto is for kasen partition and kasen go",
                "give one of the others");
  const std::vector<std::int64_t> counts = parsed_counts(values["workers"].as<std::string>());
  const std::string origin = fmt::format("{}", fmt::join(texts_of(values, "data"), ", "));
  std::optional<double> fraction = wanted_fraction(values);
  if (fraction && workers_dim(module.dims) != no_dim) {
    wrong_value("sample", "--sample for a program with a dimension of workers", "samples are of sparse matrices",
                "leave it out");
  }
  ProgramData data = inputs.read();
  if (!fraction) fraction = fraction_that_fits(data);
  return fraction ? sampled_points(module, std::move(data), *fraction, values, counts, origin)
                  : exact_points(module, inputs, std::move(data), values, counts, origin);
}

// Of a bundle that any number of workers may read.
std::vector<ScalingPoint> bundle_points(const Module& module, const std::string& name, const std::string& bundle,
                                        const std::vector<std::int64_t>& counts) {
  std::vector<ScalingPoint> points;
  for (const std::int64_t workers : counts)
    points.push_back({bundle_sizes(module, name, bundle, static_cast<int>(workers)), {}});
  return points;
}

}  // namespace

std::vector<std::int64_t> worker_counts(const po::variables_map& values) {
  return parsed_counts(values["workers"].as<std::string>());
}

bool scales_workers(const po::variables_map& values) {
  return values.count("workers") > 0 && (values.count("bundle") == 0 || worker_counts(values).size() > 1);
}

void declare_scaling_options(Tool& tool) {
  tool.under("Other numbers of workers");
  tool.options.add_options()(
      "workers", po::value<std::string>()->value_name("P,P,.."),
      "predicts the cut of --data for these numbers of workers, and its cost; with a --bundle of "
      "dense arrays alone: reads it for them (one: the whole report)")(
      "data", po::value<std::vector<std::string>>()->value_name("NAME=FILE"), "with --workers: an input's data")(
      "sample", po::value<double>()->value_name("FRACTION"),
      "with --workers: estimates from this fraction of the indices, with error bars (default: memory decides)")(
      "plot", po::value<std::string>()->value_name("FILE.svg"), "with --workers: a picture of the same");
  declare_input_options(tool);
  declare_cut_options(tool);
  tool.writes.push_back("plot");
}

void check_scaling_options(const po::variables_map& values) {
  if (values.count("workers") > 0) {
    if (values.count("data") + values.count("bundle") == 0) {
      fail(ExitStatus::usage, "--workers needs the data to be cut", "",
           "give them with --data NAME=FILE, or a bundle of dense arrays alone with --bundle");
    }
    if (values.count("data") > 0 && values.count("bundle") + values.count("sizes") > 0) {
      fail(ExitStatus::usage, "--workers takes its numbers from --data", "a bundle is cut already",
           "leave out --bundle and --sizes");
    }
    if (values.count("sizes") > 0) {
      fail(ExitStatus::usage, "--workers takes its numbers from the bundle", "", "leave out --sizes");
    }
    for (const char* option : {"sample", "plot"}) {
      if (values.count(option) > 0 && !scales_workers(values))
        fail(ExitStatus::usage, fmt::format("--{} goes with several --workers", option));
    }
    if (values.count("sample") > 0 && values.count("bundle") > 0)
      fail(ExitStatus::usage, "--sample goes with --data", "a bundle is read whole");
    return;
  }
  for (const char* option : {"data", "plot", "sample"}) {
    if (values.count(option) > 0) fail(ExitStatus::usage, fmt::format("--{} goes with --workers", option));
  }
}

std::string scaling_report(const Module& module, const std::string& name, const po::variables_map& values,
                           const MachineProfile& machine) {
  if (module.level < 2) {
    fail(ExitStatus::usage, "--workers needs a plan", "a program without states sends nothing yet",
         "run it through kasen fuse first");
  }
  const std::vector<ScalingPoint> points =
      values.count("bundle") > 0
          ? bundle_points(module, name, values["bundle"].as<std::string>(), worker_counts(values))
          : data_points(module, values);
  if (values.count("plot") > 0) write_text(values["plot"].as<std::string>(), scaling_svg(module, points, machine));
  return scaling_text(module, points, machine);
}

}  // namespace kasen::tools
