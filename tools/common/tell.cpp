// Errors as messages, in the form that --messages names.
#include "tools/common/tell.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "libcore/base/printable.h"
#include "tools/common/tool.h"
#include "tools/system/files.h"
#include "tools/system/messages.h"

namespace kasen::tools {
namespace {

std::string error_json(const std::string& name, const UserError& error) {
  std::string lines;
  for (const Diagnostic& told : error.diagnostics())
    lines += message_json({.severity = Severity::error, .tool = name, .told = told, .status = error.status()});
  return lines;
}

// A line for each broken state rule, which names the page to read.
std::string notes_on_rules(const UserError& error) {
  std::set<int> rules;
  std::string notes;
  for (const Diagnostic& d : error.diagnostics()) {
    if (d.rule >= 0 && rules.insert(d.rule).second)
      notes += fmt::format("note: 'kasen help rule-{:02}' shows rule {}\n", d.rule, d.rule);
  }
  return notes;
}

// The form is known before the command line is read, so that its errors have it, too: of several the last counts.
std::optional<std::string> messages_asked(int argc, char** argv) {
  constexpr std::string_view option = "--messages", with_value = "--messages=";
  std::optional<std::string> asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument == option && i + 1 < argc) asked = argv[i + 1];
    if (argument.starts_with(with_value)) asked = argument.substr(with_value.size());
  }
  return asked;
}

}  // namespace

void tell_error(const std::string& name, const UserError& error, const std::string& about) {
  if (messages_are_json()) {
    write_message(error_json(name, error));
    return;
  }
  const bool colour = colour_wanted(STDERR_FILENO);
  for (const Diagnostic& d : error.diagnostics()) {
    const std::string prefix = d.where.file.empty() ? (about.empty() ? name : printable(about)) + ": " : "";
    write_message(fmt::format("{}{}\n", prefix, format_diagnostic(d, colour)));
  }
  if (const std::string notes = notes_on_rules(error); !notes.empty()) tell("{}", notes);
}

std::string message_of(const std::string& name, const UserError& error) {
  std::string text =
      messages_are_json() ? error_json(name, error) : fmt::format("{}\n{}", error.what(), notes_on_rules(error));
  text.pop_back();
  return text;
}

UserError plain_error(std::string_view text, ExitStatus status) {
  constexpr std::string_view word = "error: ";
  if (text.starts_with(word)) text.remove_prefix(word.size());
  Diagnostic told;
  told.what = text;
  return {status, std::move(told)};
}

void choose_messages(int argc, char** argv) {
  const std::optional<std::string> asked = messages_asked(argc, argv);
  tell_messages_as_json(asked ? asked == "json" : environment_asks_for_json());
}

// Of the environment; another word than these would pass unnoticed.
void check_messages_variable() {
  const char* const word = std::getenv(messages_variable);
  if (word == nullptr || std::string_view(word) == "json" || std::string_view(word) == "text") return;
  fail(ExitStatus::usage, fmt::format("{}={}", messages_variable, word), "it is text or json",
       "leave it out, or set it to one of these");
}

bool colour_wanted(int fd) { return isatty(fd) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace kasen::tools
