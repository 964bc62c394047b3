// kasen-measure: what a module reads, writes, allocates and sends, before it runs; and whether a run did so.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "libcore/laws.h"
#include "libcore/module.h"
#include "libopt/report.h"
#include "libopt/sizes.h"
#include "tools/common/choice.h"
#include "tools/common/files.h"
#include "tools/common/tool.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

enum class Format : std::uint8_t { text, json, html, dot };
constexpr std::array<std::pair<std::string_view, Format>, 4> formats{
    {{"text", Format::text}, {"json", Format::json}, {"html", Format::html}, {"dot", Format::dot}}};

Module read_module(const std::string& path) {
  Module module = parse_module(read_text(path), shown_name(path));
  TrialLawChecker laws;
  require_valid(module, laws);
  return module;
}

std::optional<Sizes> sizes_from(const po::variables_map& values, const Module& module) {
  if (values.count("sizes") > 0) return parse_sizes(module, values["sizes"].as<std::string>());
  return std::nullopt;
}

ExitStatus run_measure(const po::variables_map& values) {
  const Module module = read_module(values["module"].as<std::string>());
  const Format format = choose(values["format"].as<std::string>(), "--format", formats);
  const std::optional<Sizes> sizes = sizes_from(values, module);
  const Sizes* known = sizes ? &*sizes : nullptr;
  std::string text;
  switch (format) {
    case Format::text:
      text = report_text(module, known);
      break;
    case Format::json:
      text = report_json(module, known);
      break;
    case Format::html:
      text = report_html(module, known);
      break;
    case Format::dot:
      text = report_dot(module);
      break;
  }
  write_text(values["output"].as<std::string>(), text);
  return ExitStatus::done;
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-measure", "predicts what a module reads, writes, allocates and sends",
                     "[MODULE.kir] [--bundle BUNDLE | --sizes NAME=NUMBER,...] [--compare OTHER.kir] "
                     "[--against RUN.json [--check]] [--format text|json|html|dot] [-o FILE]",
                     "kasen measure fused.kir --sizes V=325557,nnz=3216152,P=4"}};
  tool.options.add_options()("sizes", po::value<std::string>()->value_name("NAME=NUMBER,..."),
                             "numbers for the formulas")(
      "format", po::value<std::string>()->default_value("text")->value_name("FORMAT"), "text, json, html or dot")(
      "output,o", po::value<std::string>()->default_value("-")->value_name("FILE"), "where the report goes");
  tool.hidden.add_options()("module", po::value<std::string>()->default_value("-"));
  tool.positional.add("module", 1);
  return run_tool(argc, argv, tool, run_measure);
}
