#include "tools/fit/cells.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "tools/options/cell_options.h"

namespace kasen::tools {
namespace {

using How = MissingRule::How;

bool is_finite_number(const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

void take_rule(const std::string& what, MissingRule& rule) {
  if (what == "error") return;
  rule.how = what == "drop" ? How::drop : what == "mean" ? How::mean : How::value;
  if (rule.how != How::value || is_finite_number(what)) {
    rule.value = rule.how == How::value ? what : "";
    return;
  }
  const std::size_t equals = what.find('=');
  const bool named = equals != std::string::npos;
  wrong_value("missing", fmt::format("--missing {}", what),
              named ? "there is one table, which has no name here"
                    : fmt::format("'{}' is none of error, drop, mean, and no finite number", what),
              named ? "write --missing " + what.substr(equals + 1) : "");
}

}  // namespace

void declare_cell_rules(Tool& tool) {
  tool.options.add_options()("missing", po::value<std::string>()->value_name("WHAT"),
                             "for a missing cell: error, drop (the row), mean, or a number")(
      "missing-as", po::value<std::vector<std::string>>()->value_name("WORD"),
      "a further mark of a missing cell, beside NA, ?, an empty one")(
      "decimal", po::value<std::string>()->value_name("CHAR"), "the decimal point of the table: . or ,")(
      "thousands", po::value<std::string>()->value_name("CHAR"), "what groups its digits by three: . , ' or _");
}

CellRules cell_rules(const po::variables_map& values) {
  CellRules rules;
  rules.numbers = number_style(values);
  rules.missing.marks = texts_of(values, "missing-as");
  rules.chosen = values.count("missing") > 0;
  if (rules.chosen) take_rule(values["missing"].as<std::string>(), rules.missing);
  return rules;
}

void refuse_cell_rules(const CellRules& rules, const std::string& what, const std::string& why) {
  if (!rules.any()) return;
  const std::string option = rules.chosen                   ? "missing"
                             : !rules.missing.marks.empty() ? "missing-as"
                             : rules.numbers.point != '.'   ? "decimal"
                                                            : "thousands";
  fail(ExitStatus::usage, fmt::format("--{} for {}", option, what), why, "leave it out");
}

HeadCells head_cells(const CellRules& rules) {
  HeadCells cells{.numbers = rules.numbers, .marks = rules.missing.marks, .is_missing = {}};
  if (rules.missing.how != How::error)
    cells.is_missing = [rule = rules.missing](std::string_view text) { return rule.is_missing(text); };
  return cells;
}

ReadOptions table_read_options(const CellRules& rules) {
  ReadOptions options;
  options.element = ElementType::of(Scalar::f64);
  options.sparse = false;
  options.input.clear();
  options.missing = rules.missing;
  options.numbers = rules.numbers;
  return options;
}

std::vector<std::string> cell_arguments(const CellRules& rules, const std::vector<std::string>& inputs) {
  std::vector<std::string> argv;
  const std::string what = rules.missing.how == How::drop   ? "drop"
                           : rules.missing.how == How::mean ? "mean"
                                                            : rules.missing.value;
  for (const std::string& input : inputs)
    if (rules.missing.how != How::error) argv.push_back(fmt::format("--missing={}={}", input, what));
  for (const std::string& mark : rules.missing.marks) argv.push_back("--missing-as=" + mark);
  if (rules.numbers.point != '.') argv.push_back(fmt::format("--decimal={}", rules.numbers.point));
  if (rules.numbers.group != '\0') argv.push_back(fmt::format("--thousands={}", rules.numbers.group));
  return argv;
}

}  // namespace kasen::tools
