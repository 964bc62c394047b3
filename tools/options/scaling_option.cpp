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
#include "libcore/patterns/recipe.h"
#include "libcore/system/memory_limit.h"
#include "libopt/cost/sizes.h"
#include "libopt/cost/sizes_sampled.h"
#include "libopt/cuts/methods.h"
#include "libopt/report/scaling.h"
#include "tools/options/auto_method.h"
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

// What all points of a table have in common.
struct Question {
  const Module& module;
  const po::variables_map& values;
  const MachineProfile& machine;
  std::vector<std::int64_t> counts;
  std::string origin;
};

std::vector<ScalingPoint> exact_points(const Question& question, const ProgramInputs& inputs, ProgramData data) {
  std::vector<ScalingPoint> points;
  for (const std::int64_t workers : question.counts) {
    if (!points.empty()) data = inputs.read();
    SizesBuilder sizes(question.module);
    sizes.leave_out_pairs();
    PartitionOptions options = partition_options(question.values, workers);
    ChosenMethod chosen{.method = options.method};
    if (chooses_method(question.values))
      choose_automatically(options, &question.module, question.machine, multilevel_bytes(data.inputs), chosen);
    std::vector<Part> parts = partition(data.dims, std::move(data.inputs), options);
    number_entries(question.module, parts, entry_counts(parts));
    for (const Part& part : parts) sizes.add(part);
    points.push_back({sizes.finish(question.origin), {}, std::string(method_name(chosen.method))});
  }
  return points;
}

// What a sampler knows, for the choice of a method.
class SamplerLook : public CutLook {
 public:
  SamplerLook(const CutSampler& sampler, PartitionOptions options, std::int64_t entries, bool sampled)
      : sampler_(sampler), options_(std::move(options)), entries_(entries), sampled_(sampled) {}
  [[nodiscard]] std::int64_t entries() const override { return entries_; }
  [[nodiscard]] bool sampled() const override { return sampled_; }
  [[nodiscard]] CutSample cut(PartitionMethod method) override {
    options_.method = method;
    return sampler_.cut(options_);
  }

 private:
  const CutSampler& sampler_;
  PartitionOptions options_;
  std::int64_t entries_;
  bool sampled_;
};

// Nothing but cutting the data tells how many entries a pattern of several matrices has, and on which workers.
void refuse_patterns(const Module& module) {
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || !is_recipe(op.name)) continue;
    fail(ExitStatus::usage, fmt::format("the sizes of the pattern {} are not known before the data are cut", op.name),
         "the program has expressions of several sparse matrices, or of a matrix and its transposed one",
         "cut the data for each number of workers with kasen partition, and give --bundle BUNDLE", op.where);
  }
}

std::vector<ScalingPoint> sampled_points(const Question& question, ProgramData data, double fraction) {
  refuse_patterns(question.module);
  std::int64_t entries = 0;
  for (const InputData& input : data.inputs) entries += input.matrix.entries.count();
  const CutSampler sampler(std::move(data.dims), std::move(data.inputs), fraction);
  const std::string origin =
      fraction < 1 || !compares_methods(question.values)
          ? fmt::format("{} (a sample of {:.3g} % of the indices)", question.origin, fraction * 100)
          : question.origin;
  std::vector<ScalingPoint> points;
  for (const std::int64_t workers : question.counts) {
    PartitionOptions options = partition_options(question.values, workers);
    std::vector<PartitionMethod> methods{options.method};
    if (compares_methods(question.values)) {
      methods.clear();
      for (const auto& row : partition_methods) methods.push_back(row.second);
    } else if (chooses_method(question.values) && workers > 1 && entries > 0) {
      SamplerLook look(sampler, options, entries, fraction < 1);
      methods = {chosen_method(look, &question.module, question.machine, std::nullopt).method};
    }
    for (const PartitionMethod method : methods) {
      options.method = method;
      SampledSizes sizes = sampled_sizes(question.module, sampler.cut(options), origin, methods.size() > 1);
      points.push_back({std::move(sizes.estimate), {}, std::string(method_name(method))});
      if (fraction < 1) points.back().bounds.emplace(std::move(sizes.low), std::move(sizes.high));
    }
  }
  return points;
}

std::vector<ScalingPoint> data_points(const Module& module, const po::variables_map& values,
                                      const MachineProfile& machine) {
  const ProgramInputs inputs(module, values);
  const Question question{module, values, machine, parsed_counts(values["workers"].as<std::string>()),
                          fmt::format("{}", fmt::join(texts_of(values, "data"), ", "))};
  std::optional<double> fraction = wanted_fraction(values);
  const bool of_workers = workers_dim(module.dims) != no_dim;
  if (fraction && of_workers) {
    wrong_value("sample", "--sample for a program with a dimension of workers", "samples are of sparse matrices",
                "leave it out");
  }
  if (compares_methods(values) && of_workers) {
    wrong_value("method", "--method all for a program with a dimension of workers",
                "methods differ in how they cut sparse matrices", "leave it out");
  }
  ProgramData data = inputs.read();
  if (!fraction) fraction = fraction_that_fits(data);
  if (!fraction && compares_methods(values)) fraction = 1;
  return fraction ? sampled_points(question, std::move(data), *fraction)
                  : exact_points(question, inputs, std::move(data));
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
      "plot", po::value<std::string>()->value_name("FILE.svg"), "with --workers: a picture, with a line for a method");
  declare_input_options(tool);
  declare_cut_options(tool, true);
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
    if (compares_methods(values) && values.count("bundle") > 0)
      fail(ExitStatus::usage, "--method all goes with --data", "a bundle is cut already", "leave out --method");
    if (values.count("sample") > 0 && values.count("bundle") > 0)
      fail(ExitStatus::usage, "--sample goes with --data", "a bundle is read whole");
    return;
  }
  if (compares_methods(values)) fail(ExitStatus::usage, "--method all goes with --workers");
  for (const char* option : {"data", "plot", "sample"}) {
    if (values.count(option) > 0) fail(ExitStatus::usage, fmt::format("--{} goes with --workers", option));
  }
}

std::string scaling_report(const Module& module, const std::string& name, const po::variables_map& values,
                           const MachineProfile& machine, bool json) {
  if (module.level < 2) {
    fail(ExitStatus::usage, "--workers needs a plan", "a program without states sends nothing yet",
         "run it through kasen fuse first");
  }
  const std::vector<ScalingPoint> points =
      values.count("bundle") > 0
          ? bundle_points(module, name, values["bundle"].as<std::string>(), worker_counts(values))
          : data_points(module, values, machine);
  if (values.count("plot") > 0) write_text(values["plot"].as<std::string>(), scaling_svg(module, points, machine));
  if (compares_methods(values) && !json) return methods_text(module, points, machine);
  return json ? scaling_json(module, points, machine) : scaling_text(module, points, machine);
}

}  // namespace kasen::tools
