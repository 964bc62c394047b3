#include "tools/common/tool.h"

#include <fmt/format.h>
#include <unistd.h>

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

std::string arguments;  // of this process, for history_line

void print_error(const std::string& name, const UserError& error) {
  const bool colour = colour_wanted(STDERR_FILENO);
  for (const Diagnostic& d : error.diagnostics()) {
    const std::string prefix = d.where.file.empty() ? name + ": " : "";
    fmt::print(stderr, "{}{}\n", prefix, format_diagnostic(d, colour));
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
      po::store(read_config(values["config"].as<std::string>(), all), values);  // the command line wins
    }
    po::notify(values);
  } catch (const po::error& error) {
    wrong_option(tool, error);
  }
  return values;
}

int status_of(ExitStatus status) { return static_cast<int>(status); }

}  // namespace

bool colour_wanted(int fd) { return isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr; }

std::string history_line(const ToolInfo& info) { return fmt::format("{} {}{}", info.name, version, arguments); }

std::map<std::string, std::string> name_values(const std::vector<std::string>& texts, const std::string& option) {
  std::map<std::string, std::string> result;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail(ExitStatus::usage, fmt::format("'{}' is not NAME=VALUE", text),
           fmt::format("{} takes a name and a value", option));
    }
    if (!result.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      fail(ExitStatus::usage, fmt::format("{} names '{}' twice", option, text.substr(0, equals)));
    }
  }
  return result;
}

int run_tool(int argc, char** argv, Tool& tool, const std::function<ExitStatus(const po::variables_map&)>& body) {
  for (int i = 1; i < argc; ++i) arguments += fmt::format(" {}", argv[i]);
  std::signal(SIGPIPE, SIG_IGN);
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
    return status_of(body(values));
  } catch (const UserError& error) {
    print_error(name, error);
    return status_of(error.status());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: error: out of memory; the data does not fit; use more workers or a smaller input\n", name);
    return status_of(ExitStatus::limit);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}; this is a fault of Kasen; please report it with this command line\n", name,
               error.what());
    return status_of(ExitStatus::internal);
  }
}

}  // namespace kasen::tools
