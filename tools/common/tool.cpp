#include "tools/common/tool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <new>
#include <sstream>

#include "libcore/suggest.h"
#include "tools/common/config.h"
#include "tools/common/files.h"
#include "tools/common/version.h"

namespace kasen::tools {
namespace {

std::string arguments;                        // of this process, for history_line
std::map<std::string, YamlPlace> configured;  // options that the --config file sets

void print_error(const std::string& name, const UserError& error) {
  const bool colour = colour_wanted(STDERR_FILENO);
  for (const Diagnostic& d : error.diagnostics()) {
    const std::string prefix = d.where.file.empty() ? name + ": " : "";
    tell("{}{}\n", prefix, format_diagnostic(d, colour));
  }
}

std::string help_text(const Tool& tool) {
  std::ostringstream options;
  options << tool.options;
  return fmt::format("{}: {}\n\nUsage: {} {}\n\n{}\nExample:\n  {}\n", tool.info.name, tool.info.summary,
                     tool.info.name, tool.info.usage, options.str(), tool.info.example);
}

std::vector<std::string> option_names(const Tool& tool) {
  std::vector<std::string> names;
  for (const auto& option : tool.options.options()) names.push_back("--" + option->long_name());
  return names;
}

[[noreturn]] void wrong_option(const Tool& tool, const po::error& error) {
  std::string remedy = fmt::format("see '{} --help'", tool.info.name);
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string near = nearest_name(unknown->get_option_name(), option_names(tool));
    if (!near.empty()) remedy = fmt::format("did you mean '{}'? {}", near, remedy);
  }
  fail(ExitStatus::usage, error.what(), "", remedy);
}

po::variables_map parse(int argc, char** argv, const Tool& tool) {
  po::options_description all;
  all.add(tool.options).add(tool.hidden);
  po::variables_map values;
  try {
    using Style = po::command_line_style::style_t;
    const int style = Style::unix_style & ~Style::allow_guessing;
    po::store(po::command_line_parser(argc, argv).options(all).positional(tool.positional).style(style).run(), values);
    if (values.count("config") > 0 && values.count("help") == 0) {
      std::map<std::string, YamlPlace> places;
      const po::parsed_options options = read_config(values["config"].as<std::string>(), all, places);
      for (const auto& [name, place] : places) {
        if (values.count(name) == 0 || values[name].defaulted()) configured.emplace(name, place);
      }
      po::store(options, values);  // the command line wins
    }
    po::notify(values);
  } catch (const po::error& error) {
    wrong_option(tool, error);
  }
  return values;
}

// What an option says, whether it is one text or several; none if nobody gave it.
std::vector<std::string> given_texts(const po::variables_map& values, const std::string& option) {
  if (values.count(option) == 0 || values[option].defaulted()) return {};
  const boost::any& value = values[option].value();
  if (const auto* text = boost::any_cast<std::string>(&value)) return {*text};
  if (const auto* texts = boost::any_cast<std::vector<std::string>>(&value)) return *texts;
  return {};
}

// A switch has no text; whatever else is given says something.
void refuse_empty(const Tool& tool, const po::variables_map& values) {
  for (const auto& [name, value] : values) {
    const po::option_description* option = tool.options.find_nothrow(name, false);
    const bool shown = option != nullptr;
    if (!shown) option = tool.hidden.find_nothrow(name, false);
    if (option == nullptr || option->semantic()->max_tokens() == 0) continue;
    for (const std::string& text : given_texts(values, name)) {
      if (!text.empty()) continue;
      wrong_value(name, fmt::format("{}{} is empty", shown ? "--" : "the argument ", name), "",
                  fmt::format("leave it out, or see '{} --help'", tool.info.name));
    }
  }
}

// The files that an option names: FILE, or NAME=FILE where it may be given several times.
std::vector<std::string> files_of(const po::variables_map& values, const std::string& option) {
  std::vector<std::string> files;
  if (values.count(option) > 0 && values[option].defaulted()) {
    if (const auto* text = boost::any_cast<std::string>(&values[option].value())) files.push_back(*text);
  }
  for (const std::string& text : given_texts(values, option)) {
    const size_t equals = text.find('=');
    const bool named = equals != std::string::npos && text.find('/') > equals;
    files.push_back(named ? text.substr(equals + 1) : text);
    if (named) files.push_back(text);
  }
  return files;
}

void check_files(const Tool& tool, const po::variables_map& values) {
  std::vector<std::string> inputs = files_of(values, "config");
  for (const std::string& option : tool.reads) {
    const std::vector<std::string> files = files_of(values, option);
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  const auto standard = [](const std::string& file) { return file == "-" || file == "/dev/stdin"; };
  if (std::count_if(inputs.begin(), inputs.end(), standard) > 1)
    fail(ExitStatus::usage, "standard input is to be read twice", "it has one end", "name files for all but one input");
  std::vector<std::string> outputs;
  for (const std::string& option : tool.writes) {
    for (const std::string& output : given_texts(values, option)) {
      with_value(option, [&] {
        check_not_input(output, inputs);
        check_not_output(output, outputs);
      });
      outputs.push_back(output);
    }
  }
}

int status_of(ExitStatus status) { return static_cast<int>(status); }

}  // namespace

bool colour_wanted(int fd) { return isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr; }

std::string history_line(const ToolInfo& info) { return fmt::format("{} {}{}", info.name, version, arguments); }

std::vector<std::string> texts_of(const po::variables_map& values, const std::string& option) {
  return values.count(option) > 0 ? values[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::map<std::string, std::string> name_values(const po::variables_map& values, const std::string& option) {
  std::map<std::string, std::string> result;
  for (const std::string& text : texts_of(values, option)) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      wrong_value(option, fmt::format("'{}' is not NAME=VALUE", text),
                  fmt::format("--{} takes a name and a value", option));
    }
    if (!result.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      wrong_value(option, fmt::format("--{} names '{}' twice", option, text.substr(0, equals)));
    }
  }
  return result;
}

void wrong_value(const std::string& option, std::string what, std::string why, std::string remedy) {
  const auto place = configured.find(option);
  if (place == configured.end()) fail(ExitStatus::usage, std::move(what), std::move(why), std::move(remedy));
  place->second.fault(std::move(what), std::move(why), std::move(remedy));
}

void with_value(const std::string& option, const std::function<void()>& read) {
  try {
    read();
  } catch (const UserError& error) {
    if (error.status() != ExitStatus::usage) throw;
    const Diagnostic& fault = error.diagnostics().front();
    wrong_value(option, fault.what, fault.why, fault.remedy);
  }
}

int run_tool(int argc, char** argv, Tool& tool, const std::function<ExitStatus(const po::variables_map&)>& body) {
  for (int i = 1; i < argc; ++i) arguments += fmt::format(" {}", argv[i]);
  hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // beyond a limit on sizes a write fails, as on a full disk
  remove_temporaries_on_signals();
  tool.options.add_options()("config", po::value<std::string>()->value_name("FILE.yaml"),
                             "options as YAML keys; the command line wins")("help,h", "show this help")(
      "version", "show the version");
  const std::string& name = tool.info.name;
  try {
    const po::variables_map values = parse(argc, argv, tool);
    if (values.count("help") > 0) {
      write_standard_output(help_text(tool));
      return 0;
    }
    if (values.count("version") > 0) {
      write_standard_output(fmt::format("{} {}\n", name, version));
      return 0;
    }
    refuse_empty(tool, values);
    check_files(tool, values);
    return status_of(body(values));
  } catch (const UserError& error) {
    print_error(name, error);
    return status_of(error.status());
  } catch (const std::bad_alloc&) {
    tell("{}: error: out of memory; the data does not fit; use more workers or a smaller input\n", name);
    return status_of(ExitStatus::limit);
  } catch (const std::exception& error) {
    tell("{}: error: {}; this is a fault of Kasen; please report it with this command line\n", name, error.what());
    return status_of(ExitStatus::internal);
  }
}

}  // namespace kasen::tools
