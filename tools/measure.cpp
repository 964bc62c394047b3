// kasen-measure: what a module reads, writes, allocates and sends, before it runs; and whether a run did so.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "libcore/module.h"
#include "libopt/prover/prover.h"
#include "libopt/report.h"
#include "libopt/run_report.h"
#include "libopt/sizes.h"
#include "tools/common/choice.h"
#include "tools/common/files.h"
#include "tools/common/fitted.h"
#include "tools/common/tool.h"
#include "tools/sizes_option.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

enum class Format : std::uint8_t { text, json, html, dot };
constexpr std::array<std::pair<std::string_view, Format>, 4> formats{
    {{"text", Format::text}, {"json", Format::json}, {"html", Format::html}, {"dot", Format::dot}}};

Module read_module(const std::string& path) {
  Module module = parse_module(read_text(path), shown_name(path));
  Prover laws;
  require_valid(module, laws);
  return module;
}

std::string report(const Module& module, const Sizes* sizes, Format format) {
  switch (format) {
    case Format::text:
      return report_text(module, sizes);
    case Format::json:
      return report_json(module, sizes);
    case Format::html:
      return report_html(module, sizes);
    case Format::dot:
      return report_dot(module);
  }
  throw InternalError("a format outside the table");
}

[[noreturn]] void refuse_format(const std::string& option) {
  fail(ExitStatus::usage, fmt::format("{} prints text or json only", option), "",
       "leave out --format, or take --format json");
}

std::string comparison(const Module& module, const po::variables_map& values, const Sizes* sizes, Format format) {
  const auto& path = values["compare"].as<std::string>();
  const Module other = read_module(path);
  if (sizes != nullptr && !sizes->bundle_digest.empty()) {
    require_fitted(other, shown_name(path), values["bundle"].as<std::string>(), sizes->bundle_digest);
  }
  if (format == Format::text) return compare_text(module, other, sizes);
  if (format == Format::json) return compare_json(module, other, sizes);
  refuse_format("--compare");
}

// The check as text; `right` tells whether it holds.
std::string against(const Module& module, const po::variables_map& values, const Sizes* sizes, Format format,
                    bool& right) {
  if (sizes == nullptr || sizes->by_worker.empty()) {
    fail(ExitStatus::usage, "--against needs the bundle that was run", "counters are checked for each worker",
         "give it with --bundle");
  }
  const auto& path = values["against"].as<std::string>();
  const Check check = check_against(module, *sizes, read_run_report(read_text(path), shown_name(path)));
  right = check.mismatches.empty();
  if (format == Format::text) return check_text(module, check);
  if (format == Format::json) return check_json(check);
  refuse_format("--against");
}

ExitStatus run_measure(const po::variables_map& values) {
  const Format format = choose(values, "format", formats);
  if (values.count("compare") > 0 && values.count("against") > 0) {
    fail(ExitStatus::usage, "--compare and --against cannot go together", "", "give one of them");
  }
  if (values.count("check") > 0 && values.count("against") == 0) {
    fail(ExitStatus::usage, "--check needs --against", "it turns a difference between the two into exit status 1");
  }
  const auto& path = values["module"].as<std::string>();
  const Module module = read_module(path);
  const std::optional<Sizes> sizes = read_sizes(values, module, shown_name(path));
  const Sizes* known = sizes ? &*sizes : nullptr;
  bool right = true;
  std::string text;
  if (values.count("against") > 0) {
    text = against(module, values, known, format, right);
  } else if (values.count("compare") > 0) {
    text = comparison(module, values, known, format);
  } else {
    text = report(module, known, format);
  }
  write_text(values["output"].as<std::string>(), text);
  return values.count("check") > 0 && !right ? ExitStatus::check_failed : ExitStatus::done;
}

void add_options(Tool& tool) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  declare_sizes_options(tool);
  auto add = tool.options.add_options();
  add("compare", text("OTHER.kir"), "another module beside this one, and what it saves");
  add("against", text("RUN.json"), "what a run counted (kasen run --stats)");
  add("check", "with --against: exit status 1 if predicted and counted differ");
  add("format", text("FORMAT")->default_value("text"), "text, json, html or dot");
  add("output,o", text("FILE")->default_value("-"), "where the report goes");
  tool.hidden.add_options()("module", po::value<std::string>()->default_value("-"));
  tool.positional.add("module", 1);
  tool.reads.insert(tool.reads.end(), {"module", "compare", "against"});
  tool.writes = {"output"};
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-measure", "predicts what a module reads, writes, allocates and sends",
                     "[MODULE.kir] [--bundle BUNDLE | --sizes NAME=NUMBER,...] [--compare OTHER.kir] "
                     "[--against RUN.json [--check]] [--format text|json|html|dot] [-o FILE]",
                     "kasen measure fused.kir --sizes N=325557,nnz=3216152,P=4"}};
  add_options(tool);
  return run_tool(argc, argv, tool, run_measure);
}
