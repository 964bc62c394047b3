#include "tools/common/wrong_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <typeinfo>

#include "libcore/base/suggest.h"
#include "tools/common/option_rows.h"

namespace kasen::tools {
namespace {

std::string see_help(const Tool& tool) { return fmt::format("see '{} --help'", command_of(tool.info)); }

// The option that a message of the parser names, "--ranks" or "-n"; null if it names none.
const OptionRow* row_named(const std::vector<OptionRow>& rows, std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const OptionRow& r) { return r.name == name || r.letter == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::string both_names(const OptionRow& row) {
  return row.letter.empty() ? fmt::format("--{}", row.name) : fmt::format("--{} (-{})", row.name, row.letter);
}

std::string kind_of_value(const Tool& tool, const std::string& option) {
  const po::option_description* found = tool.options.find_nothrow(option, false);
  const auto* typed = found == nullptr ? nullptr : dynamic_cast<const po::typed_value_base*>(found->semantic().get());
  if (typed == nullptr) return "another value";
  const std::type_info& type = typed->value_type();
  if (type == typeid(double) || type == typeid(float)) return "a number";
  return type == typeid(std::string) ? "another value" : "an integer";
}

// "the argument ('two') for option '--ranks' is invalid"
std::string quoted_value(std::string_view message) {
  const size_t from = message.find("('"), to = message.rfind("') for option");
  if (from == std::string_view::npos || to == std::string_view::npos || to < from + 2) return {};
  return std::string(message.substr(from + 2, to - from - 2));
}

[[noreturn]] void wrong_option_value(const Tool& tool, const po::error_with_option_name& error) {
  const std::vector<OptionRow> rows = option_rows(tool);
  const OptionRow* row = row_named(rows, error.get_option_name());
  if (row == nullptr) fail(ExitStatus::usage, error.what(), "", see_help(tool));
  const std::string value = quoted_value(error.what());
  if (value.empty()) {
    fail(ExitStatus::usage, fmt::format("{} has no value", both_names(*row)), row->text,
         fmt::format("write --{} {}, or {}", row->name, row->argument, see_help(tool)));
  }
  fail(ExitStatus::usage, fmt::format("{} takes {}, not '{}'", both_names(*row), kind_of_value(tool, row->name), value),
       row->text, see_help(tool));
}

bool is_bundle(const std::string& path) {
  std::error_code fault;
  return std::filesystem::exists(std::filesystem::path(path) / "manifest.json", fault);
}

// All arguments on the line that belong to no option.
std::vector<std::string> bare_arguments(const Tool& tool, int argc, char** argv) {
  po::options_description all;
  all.add(tool.options).add_options()("argument", po::value<std::vector<std::string>>());
  po::positional_options_description any;
  any.add("argument", -1);
  using Style = po::command_line_style::style_t;
  const int style = Style::unix_style & ~Style::allow_guessing;
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(any).style(style).run(), values);
  return texts_of(values, "argument");
}

[[noreturn]] void too_many_arguments(const Tool& tool, int argc, char** argv) {
  const std::vector<std::string> given = bare_arguments(tool, argc, argv);
  std::string taken;
  for (const OptionRow& row : argument_rows(tool)) taken += fmt::format("{}{}", taken.empty() ? "" : " ", row.argument);
  const size_t most = tool.positional.max_total_count();
  const std::string why = taken.empty() ? fmt::format("{} takes options alone", command_of(tool.info))
                                        : fmt::format("{} takes one: {}", command_of(tool.info), taken);
  const auto bundle = std::find_if(given.begin(), given.end(), is_bundle);
  const bool bundled = bundle != given.end() && tool.options.find_nothrow("bundle", false) != nullptr;
  fail(ExitStatus::usage, fmt::format("'{}' is one argument too many", given.size() > most ? given[most] : ""), why,
       bundled ? fmt::format("give the bundle with --bundle {}", *bundle) : see_help(tool));
}

// Options do different things, so few letters may differ.
std::string near_option(const std::string& wanted, const std::vector<std::string>& names) {
  const std::string word = wanted.substr(std::min(wanted.find_first_not_of('-'), wanted.size()));
  const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if ((word == "time" || word == "times" || word == "timing") && has("trace"))
    return "times of a run's operators are told with -v, and over time with --trace FILE";
  const std::string near = nearest_name(word, names, Slips::few);
  return near.empty() ? std::string() : fmt::format("did you mean '--{}'?", near);
}

}  // namespace

void refuse_single_dashes(const Tool& tool, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") return;
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    const std::string name(argument.substr(1, argument.find('=') - 1));
    if (name.size() < 2 || tool.options.find_nothrow(name, false) == nullptr) continue;
    fail(ExitStatus::usage, fmt::format("'-{}' has one dash", name), "an option that is a word has two",
         fmt::format("write --{}", name));
  }
}

void wrong_line(const Tool& tool, const po::error& error, int argc, char** argv) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string name = unknown->get_option_name();
    std::vector<std::string> names;
    for (const OptionRow& row : option_rows(tool)) names.push_back(row.name);
    fail(ExitStatus::usage, fmt::format("unknown option '{}'", name), near_option(name, names), see_help(tool));
  }
  if (dynamic_cast<const po::too_many_positional_options_error*>(&error) != nullptr) {
    too_many_arguments(tool, argc, argv);
  }
  const auto* of_option = dynamic_cast<const po::error_with_option_name*>(&error);
  const bool repeated = dynamic_cast<const po::multiple_occurrences*>(&error) != nullptr;
  if (of_option != nullptr && repeated) {
    fail(ExitStatus::usage, fmt::format("{} is given twice", of_option->get_option_name()), "it takes one value",
         "give it once");
  }
  if (of_option != nullptr) wrong_option_value(tool, *of_option);
  fail(ExitStatus::usage, error.what(), "", see_help(tool));
}

}  // namespace kasen::tools
