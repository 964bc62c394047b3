// kasen: dispatches `kasen plan ...` to the tool kasen-plan beside it. Help, `kasen verify`, `kasen go`, `kasen
// show`, `kasen fit`, `kasen predict` and `kasen experiment` are part of this program.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "libcore/base/built_from.h"
#include "libcore/json/report.h"
#include "tools/common/pages.h"
#include "tools/common/tool.h"
#include "tools/common/version.h"
#include "tools/common/wrap.h"
#include "tools/experiment/experiment.h"
#include "tools/experiment/machine_facts.h"
#include "tools/fit/fit.h"
#include "tools/go/go.h"
#include "tools/show/show.h"
#include "tools/system/files.h"
#include "tools/verify.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

struct Command {
  std::string_view name, summary;
};
constexpr auto commands = std::to_array<Command>({
#define COMMAND(name, summary) {#name, summary},
#include "tools/commands.def"
#undef COMMAND
});
constexpr std::string_view about = "array programs, measured before they run, fused, and run over MPI";
constexpr std::string_view example = "kasen go examples/pagerank.ks G=datasets/cnr-2000.txt.xz --workers 4 -n 2";

std::string overview() {
  std::string text = fmt::format(
      "Example:\n  {}\n\nkasen {}: {}\nUsage: kasen COMMAND ...\n\nCommands (kasen COMMAND --help shows more):\n",
      example, version, about);
  const size_t width = text_width();
  for (const Command& c : commands) text += fmt::format("  {:<14} {}\n", c.name, wrapped(c.summary, width, 17, 17));
  text += "\nTopics (kasen help TOPIC):\n";
  std::string numbers;
  for (const Page& page : pages()) {
    if (page.topic) text += fmt::format("  {:<14} {}\n", page.name, wrapped(page.title, width, 17, 17));
    if (!page.topic) numbers += fmt::format(" {}", page.name);
  }
  return text + fmt::format("\nError numbers (kasen help NUMBER):\n  {}\n", wrapped(numbers, width, 2, 2));
}

// The source of completion and of the page of `kasen` itself, which are made when Kasen is built.
std::string overview_json() {
  Json json = new_report("tools");
  json["name"] = "kasen";
  json["summary"] = about;
  json["example"] = example;
  json["release"] = version;
  for (const char* list : {"commands", "topics", "errors"}) json[list] = Json::array();
  for (const Command& c : commands) json["commands"].push_back({{"name", c.name}, {"summary", c.summary}});
  for (const Page& page : pages())
    json[page.topic ? "topics" : "errors"].push_back({{"name", page.name}, {"summary", page.title}});
  return report_document(json);
}

// Replaces this process by the tool beside it.
int dispatch(const std::string& command, char** argv) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string path = (self.parent_path() / ("kasen-" + command)).string();
  execv(path.c_str(), argv);
  fail(ExitStatus::missing_input, fmt::format("cannot start '{}'", path), std::strerror(errno),
       "build the tools first (scripts/setup)");
}

bool is_command(std::string_view name) {
  return std::any_of(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& c : commands) names.emplace_back(c.name);
  return names;
}

int start(const std::string& command, int argc, char** argv) {
  if (command == "verify") return verify_main(argc, argv);
  if (command == "experiment") return experiment_main(argc, argv);
  if (command == "go") return go_main(argc, argv);
  if (command == "show") return show_main(argc, argv);
  if (command == "fit") return fit_main(argc, argv);
  if (command == "predict") return predict_main(argc, argv);
  return dispatch(command, argv);
}

// kasen help [COMMAND | TOPIC | NUMBER]
int help(int argc, char** argv) {
  if (argc < 3) {
    write_standard_output(overview());
    return 0;
  }
  std::string word = argv[2];
  if (is_command(word)) {
    std::string option = "--help";
    std::array<char*, 4> line{argv[2], option.data(), argc > 3 ? argv[3] : nullptr, nullptr};
    return start(word, argc > 3 ? 3 : 2, line.data());
  }
  if (const Page* page = find_page(word)) {
    write_standard_output(page_text(*page, text_width()));
    return 0;
  }
  std::vector<std::string> known = command_names(), topics = page_names();
  known.insert(known.end(), topics.begin(), topics.end());
  fail(ExitStatus::usage, fmt::format("there is no help on '{}'", word), did_you_mean(word, known), "see 'kasen help'");
}

// What a report of a fault needs.
std::string version_text() {
  std::string text = fmt::format("kasen {}\nsources    {}\n", version, built_from().substr(0, 12));
  const Json versions = built_versions();
  for (const auto& [name, built] : versions.items()) {
    if (name != "kasen") text += fmt::format("{:<10} {}\n", name, built.get<std::string>());
  }
  return text;
}

int kasen_main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "help";
  if (command == "--help" || command == "-h" || command == "help") {
    const int status = help(argc, argv);
    return argc > 1 ? status : static_cast<int>(ExitStatus::usage);
  }
  if (command == "--version") {
    write_standard_output(version_text());
    return 0;
  }
  if (command == "--describe") {
    write_standard_output(overview_json());
    return 0;
  }
  if (is_command(command)) return start(command, argc - 1, argv + 1);
  std::vector<std::string> known = command_names();
  known.emplace_back("help");
  std::string remedy = "see 'kasen --help'";
  if (command.ends_with(".ks")) remedy = fmt::format("write kasen go {}, or kasen plan {}", command, command);
  if (command.starts_with("-")) remedy = "write the command first: kasen go PROGRAM.ks NAME=FILE " + command;
  fail(ExitStatus::usage, fmt::format("unknown command '{}'", command), did_you_mean(command, known), remedy);
}

}  // namespace

int main(int argc, char** argv) {
  choose_messages(argc, argv);
  try {
    return kasen_main(argc, argv);
  } catch (const UserError& error) {
    tell_error("kasen", error);
    return static_cast<int>(error.status());
  }
}
