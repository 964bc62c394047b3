// kasen-pack: gives buffers of known lifetimes their offsets in one pool, as small as it can.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/json/report.h"
#include "libopt/packing/packing.h"
#include "libopt/packing/read.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/machine/byte_option.h"
#include "tools/options/report_format.h"
#include "tools/system/files.h"
#include "tools/system/verbosity.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

double gap_of(const packing::Packing& packing) {
  if (packing.bound == 0) return 0;
  return 100.0 * static_cast<double>(packing.size - packing.bound) / static_cast<double>(packing.bound);
}

std::string report_of(const packing::Packing& packing, std::size_t buffers) {
  return fmt::format(
      "buffers    {}\nsize       {} bytes\nbound      {} bytes\ncertified  {}\ngap        {} bytes, {:.2f} %\n"
      "steps      {}\n",
      buffers, packing.size, packing.bound, packing.is_certified() ? "yes: no pool is smaller" : "no",
      packing.size - packing.bound, gap_of(packing), packing.steps);
}

std::string json_of(const packing::Packing& packing, std::size_t buffers) {
  Json json = new_report("packing");
  json["buffers"] = buffers;
  json["size"] = packing.size;
  json["bound"] = packing.bound;
  json["certified"] = packing.is_certified();
  json["gap"] = packing.size - packing.bound;
  json["steps"] = packing.steps;
  return report_document(json, -1);
}

packing::Options options_of(const po::variables_map& values) {
  packing::Options options;
  if (values.count("memory") > 0) options.capacity = byte_option(values, "memory");
  options.steps = bounded<std::int64_t>(values, "steps", 0, 1'000'000'000'000);
  return options;
}

void require_within(const packing::Packing& packing, const packing::Options& options) {
  if (options.capacity < 0 || packing.size <= options.capacity) return;
  const std::string what = fmt::format("no packing within {} bytes (--memory)", options.capacity);
  if (packing.bound > options.capacity)
    fail(ExitStatus::limit, what, fmt::format("there is none: every pool has at least {} bytes", packing.bound),
         fmt::format("the smallest pool that was found has {} bytes", packing.size));
  fail(ExitStatus::limit, what,
       fmt::format("none was found in {} steps, but there may be one: the bound is {} bytes", packing.steps,
                   packing.bound),
       fmt::format("add --steps with more, or --memory {}", packing.size));
}

ExitStatus pack_buffers(const po::variables_map& values) {
  if (values.count("buffers") == 0)
    fail(ExitStatus::usage, "no buffers", "",
         "name a CSV file with the columns id,lower,upper,size, or - for standard input");
  const auto file = values["buffers"].as<std::string>();
  const packing::Options options = options_of(values);
  const std::vector<packing::Buffer> buffers = packing::read_buffers(read_text(file), shown_name(file));
  const packing::Packing packing = packing::pack(buffers, options);
  require_within(packing, options);
  packing::require_valid(buffers, packing);
  const std::string report =
      reports_json(values) ? json_of(packing, buffers.size()) : report_of(packing, buffers.size());
  const std::string output = values.count("output") > 0 ? values["output"].as<std::string>() : "";
  if (!output.empty()) write_text(output, packing::buffers_csv(buffers, packing));
  if (output == "-")  // the buffers alone stand there
    note("{}", report);
  else if (output.empty() || !quiet())
    write_standard_output(report);
  return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-pack", "places buffers of known lifetimes in one pool of memory, as small as it can",
                     "BUFFERS.csv [--memory BYTES] [--steps N] [--format text|json] [-o OFFSETS.csv]",
                     "kasen pack buffers.csv --memory 1MiB -o offsets.csv"}};
  tool.options.add_options()("memory", po::value<std::string>()->value_name("BYTES"),
                             "any packing within so much will do: 1MiB, 64kB; without it, the smallest that is found")(
      "steps", po::value<std::int64_t>()->default_value(packing::Options{}.steps)->value_name("N"),
      "limit of the search, in placements; equal limits give equal packings")(
      "output,o", po::value<std::string>()->value_name("OFFSETS.csv"),
      "the buffers with their offsets; with -, the report goes to standard error");
  declare_report_format(tool);
  tool.hidden.add_options()("buffers", po::value<std::string>()->value_name("BUFFERS.csv"));
  tool.positional.add("buffers", 1);
  tool.reads = {"buffers"};
  tool.writes = {"output"};
  return run_tool(argc, argv, tool, pack_buffers);
}
