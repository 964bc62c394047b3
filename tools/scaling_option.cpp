#include "tools/scaling_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "libcomm/data/partition.h"
#include "libopt/scaling.h"
#include "libopt/sizes.h"
#include "tools/common/files.h"
#include "tools/inputs.h"

namespace kasen::tools {
namespace {

// --workers 4,16,256
std::vector<std::int64_t> worker_counts(const std::string& text) {
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

}  // namespace

void declare_scaling_options(Tool& tool) {
  tool.options.add_options()("workers", po::value<std::string>()->value_name("P,P,.."),
                             "how --data would be cut for these numbers of workers, and what that costs")(
      "data", po::value<std::vector<std::string>>()->value_name("NAME=FILE"), "with --workers: an input's data")(
      "plot", po::value<std::string>()->value_name("FILE.svg"), "with --workers: a picture of the same");
  declare_input_options(tool);
  tool.writes.push_back("plot");
}

void check_scaling_options(const po::variables_map& values) {
  if (values.count("workers") > 0) {
    if (values.count("data") == 0) {
      fail(ExitStatus::usage, "--workers needs the data to be cut", "", "give them with --data NAME=FILE");
    }
    if (values.count("bundle") + values.count("sizes") > 0) {
      fail(ExitStatus::usage, "--workers takes its numbers from --data", "a bundle is cut already",
           "leave out --bundle and --sizes");
    }
    return;
  }
  for (const char* option : {"data", "plot"}) {
    if (values.count(option) > 0) fail(ExitStatus::usage, fmt::format("--{} goes with --workers", option));
  }
}

std::string scaling_report(const Module& module, const po::variables_map& values, const MachineProfile& machine) {
  if (module.level < 2) {
    fail(ExitStatus::usage, "--workers needs a plan", "a program without states sends nothing yet",
         "run it through kasen fuse first");
  }
  const ProgramInputs inputs(module, values);
  const std::vector<std::int64_t> counts = worker_counts(values["workers"].as<std::string>());
  std::vector<Sizes> points;
  for (const std::int64_t workers : counts) {
    ProgramData data = inputs.read();
    SizesBuilder sizes(module);
    sizes.leave_out_pairs();
    for (const Part& part : partition(data.dims, std::move(data.inputs), partition_options(values, workers))) {
      sizes.add(part);
    }
    points.push_back(sizes.finish(fmt::format("{}", fmt::join(texts_of(values, "data"), ", "))));
  }
  if (values.count("plot") > 0) write_text(values["plot"].as<std::string>(), scaling_svg(module, points, machine));
  return scaling_text(module, points, machine);
}

}  // namespace kasen::tools
