#include "tools/common/tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <new>
#include <optional>
#include <string_view>

#include "libcore/base/printable.h"
#include "libcore/base/suggest.h"
#include "libcore/system/fault.h"
#include "libcore/system/temporaries.h"
#include "tools/common/choice.h"
#include "tools/common/config.h"
#include "tools/common/help.h"
#include "tools/common/tell.h"
#include "tools/common/version.h"
#include "tools/common/wrong_line.h"
#include "tools/system/files.h"
#include "tools/system/last_words.h"
#include "tools/system/messages.h"
#include "tools/system/replace.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

// A path may contain line ends; a line of the history has none.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text);
}

std::string arguments;                        // of this process, for history_line
std::map<std::string, YamlPlace> configured;  // options that the --config file sets

int status_of(ExitStatus status) { return static_cast<int>(status); }

po::variables_map parse(int argc, char** argv, const Tool& tool) {
  po::options_description all;
  all.add(tool.options).add(tool.hidden);
  po::variables_map values;
  refuse_single_dashes(tool, argc, argv);
  try {
    using Style = po::command_line_style::style_t;
    const int style = Style::unix_style & ~Style::allow_guessing;
    po::store(po::command_line_parser(argc, argv).options(all).positional(tool.positional).style(style).run(), values);
    if (values.count("config") > 0) {
      std::map<std::string, YamlPlace> places;
      const po::parsed_options options = read_config(values["config"].as<std::string>(), all, places);
      for (const auto& [name, place] : places) {
        if (values.count(name) == 0 || values[name].defaulted()) configured.emplace(name, place);
      }
      po::store(options, values);  // the command line wins
    }
    po::notify(values);
  } catch (const po::error& error) {
    wrong_line(tool, error, argc, argv);
  }
  return values;
}

// The texts of an option, one or several; none if nobody gave it.
std::vector<std::string> given_texts(const po::variables_map& values, const std::string& option) {
  if (values.count(option) == 0 || values[option].defaulted()) return {};
  const boost::any& value = values[option].value();
  if (const auto* text = boost::any_cast<std::string>(&value)) return {*text};
  if (const auto* texts = boost::any_cast<std::vector<std::string>>(&value)) return *texts;
  return {};
}

// Refuses an empty text of any option but a switch, which has none.
void refuse_empty(const Tool& tool, const po::variables_map& values) {
  for (const auto& [name, value] : values) {
    const po::option_description* option = tool.options.find_nothrow(name, false);
    const bool shown = option != nullptr;
    if (!shown) option = tool.hidden.find_nothrow(name, false);
    if (option == nullptr || option->semantic()->max_tokens() == 0) continue;
    for (const std::string& text : given_texts(values, name)) {
      if (!text.empty()) continue;
      wrong_value(name, fmt::format("{}{} is empty", shown ? "--" : "the argument ", name), "",
                  fmt::format("leave it out, or see '{} --help'", command_of(tool.info)));
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

// Checks the words of options that take only some, before anything is done.
void check_words(const Tool& tool, const po::variables_map& values) {
  for (const auto& [option, words] : tool.words) {
    for (const std::string& word : given_texts(values, option)) {
      if (std::find(words.begin(), words.end(), word) != words.end()) continue;
      if (tool.options.find_nothrow(option, false) != nullptr) unknown_word(option, word, words);
      wrong_value(option, fmt::format("there is no {} '{}'", option, word), did_you_mean(word, words),
                  fmt::format("choose one of {}", fmt::join(words, ", ")));
    }
  }
}

// The WORD of `--help [WORD]`, wherever it stands; nothing if there is no --help.
std::optional<std::string> help_asked(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument != "--help" && argument != "-h") continue;
    return i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : "";
  }
  return std::nullopt;
}

// Prints what the user asked about the tool itself. False: the user asked nothing of this.
bool reported_of_itself(int argc, char** argv, const Tool& tool) {
  if (argc == 2 && std::string_view(argv[1]) == "--describe") {
    write_standard_output(description_json(tool));
    return true;
  }
  const std::optional<std::string> asked = help_asked(argc, argv);
  if (asked) write_standard_output(asked->empty() ? help_text(tool) : help_text(tool, *asked));
  return asked.has_value();
}

void choose_verbosity(const po::variables_map& values) {
  const bool asks_less = values.count("quiet") > 0, asks_more = values.count("verbose") > 0;
  if (asks_less && asks_more)
    fail(ExitStatus::usage, "--quiet and --verbose", "one tells less, the other more", "leave out one of them");
  set_verbosity(asks_less ? Verbosity::quiet : asks_more ? Verbosity::verbose : Verbosity::normal);
}

constexpr std::array<std::pair<std::string_view, bool>, 2> message_forms{{{"text", false}, {"json", true}}};

void check_files(const Tool& tool, const po::variables_map& values) {
  std::vector<std::string> inputs = files_of(values, "config");
  for (const std::string& option : tool.reads) {
    const std::vector<std::string> files = files_of(values, option);
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  const auto standard = [](const std::string& file) { return file == "-" || file == "/dev/stdin"; };
  if (std::count_if(inputs.begin(), inputs.end(), standard) > 1)
    fail(ExitStatus::usage, "standard input is named for two inputs", "it can be read once",
         "name files for all but one input");
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

// "kasen-plan: read a.ks (120 bytes); wrote a.kir (2,312 bytes); 0.004 s", for --verbose.
void tell_details(const Tool& tool, const po::variables_map& values, double seconds) {
  if (!verbose()) return;
  const auto named = [&](const std::vector<std::string>& options, const char* verb) {
    std::string text;
    for (const std::string& option : options) {
      for (const std::string& file : files_of(values, option)) {
        std::error_code none;
        if (!std::filesystem::exists(file, none)) continue;
        text += text.empty() ? fmt::format("{} {}", verb, file) : ", " + file;
        if (std::filesystem::is_regular_file(file, none))
          text += fmt::format(" ({} bytes)", std::filesystem::file_size(file, none));
      }
    }
    return text.empty() ? text : text + "; ";
  };
  detail("{}: {}{}{:.3f} s\n", tool.info.name, named(tool.reads, "read"), named(tool.writes, "wrote"), seconds);
}

// The failures that tests ask of this process (docs/faults.md). mpirun and srun state its rank; else it is alone.
void ask_for_faults_of_environment(const std::string& tool) {
  const char* text = std::getenv("KASEN_FAULT");
  if (text == nullptr) return;
  int rank = 0;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* reported = std::getenv(name);
    if (reported == nullptr) continue;
    rank = std::atoi(reported);
    break;
  }
  ask_for_faults(text, tool.substr(0, tool.find(' ')), rank);  // "kasen go" is kasen
}

}  // namespace

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
                  fmt::format("--{} takes a name and a value", option),
                  equals == 0                   ? ""
                  : configured.contains(option) ? fmt::format("write {}: {{NAME: {}}}", option, text)
                                                : fmt::format("write --{} {}=VALUE", option, text));
    }
    if (!result.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      wrong_value(option, fmt::format("--{} names '{}' twice", option, text.substr(0, equals)), "",
                  "give it one value");
    }
  }
  return result;
}

void wrong_value(const std::string& option, std::string what, std::string why, std::string remedy) {
  const auto place = configured.find(option);
  if (place == configured.end()) fail(ExitStatus::usage, std::move(what), std::move(why), std::move(remedy));
  place->second.fault(std::move(what), std::move(why), std::move(remedy));
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& names) {
  const std::string near = nearest_name(name, names);
  return near.empty() ? std::string() : fmt::format("did you mean '{}'?", near);
}

void unknown_word(const std::string& option, const std::string& word, const std::vector<std::string>& words) {
  wrong_value(option, fmt::format("--{} does not know '{}'", option, word), did_you_mean(word, words),
              fmt::format("choose one of {}", fmt::join(words, ", ")));
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
  arguments.clear();  // in a fork, those of the program that was forked
  configured.clear();
  for (int i = 1; i < argc; ++i) arguments += fmt::format(" {}", one_line(argv[i]));
  tool.under("General");
  tool.options.add_options()("config", po::value<std::string>()->value_name("FILE.yaml"),
                             "options as YAML keys; the command line wins")(
      "force", "replaces files that Kasen did not make")("quiet,q", "tells errors and warnings alone")(
      "verbose,v", "tells more: whole tables, files and times")(
      "messages", po::value<std::string>()->value_name("FORM"), "text or json: errors, warnings and notes")(
      "help,h", "shows this help, or with a word the help on that")("version", "shows the version");
  takes(tool, "messages", message_forms);
  const std::string& name = tool.info.name;
  choose_messages(argc, argv);
  return reporting_errors(name, [&] {
    check_messages_variable();
    ask_for_faults_of_environment(name);
    if (reported_of_itself(argc, argv, tool)) return 0;
    if (argc == 1 && tool.positional.max_total_count() > 0 && isatty(STDIN_FILENO) == 1) {  // nobody pipes anything in
      write_standard_output(help_text(tool));
      return status_of(ExitStatus::usage);
    }
    const po::variables_map values = parse(argc, argv, tool);
    if (values.count("version") > 0) {
      write_standard_output(fmt::format("{} {}\n", name, version));
      return 0;
    }
    choose_verbosity(values);
    if (values.count("messages") > 0) tell_messages_as_json(choose(values, "messages", message_forms));
    if (values.count("force") > 0) replace_any_file(true);
    refuse_empty(tool, values);
    check_words(tool, values);
    check_files(tool, values);
    const auto begin = std::chrono::steady_clock::now();
    const ExitStatus status = body(values);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    tell_details(tool, values, spent.count());
    return status_of(status);
  });
}

int reporting_errors(const std::string& name, const std::function<int()>& body) {
  prepare_last_words(name);
  hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // beyond a limit on sizes a write fails, as on a full disk
  remove_temporaries_on_signals();
  try {
    return body();
  } catch (const UserError& error) {
    tell_error(name, error);
    return status_of(error.status());
  } catch (const std::bad_alloc&) {
    tell_error(name, plain_error(no_memory(), ExitStatus::limit));
    return status_of(ExitStatus::limit);
  } catch (const std::exception& error) {
    if (errno == ENOMEM) {  // a library that reports it in its own words
      tell_error(name, plain_error(no_memory(), ExitStatus::limit));
      return status_of(ExitStatus::limit);
    }
    tell_error(name, plain_error(fmt::format("{}; this is a bug of Kasen; please report it with this command line",
                                             error.what()),
                                 ExitStatus::internal));
    return status_of(ExitStatus::internal);
  }
}

}  // namespace kasen::tools
