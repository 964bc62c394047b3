#include "tools/system/messages.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "libcore/base/printable.h"
#include "libcore/json/report.h"

namespace kasen::tools {
namespace {

bool as_json = false;

constexpr std::array<std::pair<std::string_view, Severity>, 3> words{
    {{"note", Severity::note}, {"warning", Severity::warning}, {"error", Severity::error}}};

std::string_view word_of(Severity severity) { return words.at(static_cast<size_t>(severity)).first; }

// As messages of text show it: names and lines of the user's files may have any length and hold anything.
std::string shown(const std::string& text) {
  constexpr size_t longest = 2000;
  return printable(text.size() <= longest ? text : text.substr(0, longest) + "...");
}

Json known(int number) { return number > 0 ? Json(number) : Json(); }
Json known(const std::string& text) { return text.empty() ? Json() : Json(shown(text)); }

// "kasen-run: " or "kasen go: " in front of a text; taken off.
std::string tool_before(std::string_view& text) {
  constexpr std::string_view own = "kasen", end = ": ";
  const size_t at = text.find(end);
  if (!text.starts_with(own) || at == std::string_view::npos) return {};
  const std::string_view name = text.substr(0, at);
  constexpr size_t longest = 20;  // the name of a tool, not a sentence
  if (name.size() > longest || name.find_first_of(".'\",") != std::string_view::npos) return {};
  text.remove_prefix(at + end.size());
  return std::string(name);
}

Message taken_apart(std::string_view line) {
  Message message;
  message.tool = tool_before(line);
  for (const auto& [word, severity] : words) {
    const std::string begin = fmt::format("{}: ", word);
    if (!line.starts_with(begin)) continue;
    message.severity = severity;
    line.remove_prefix(begin.size());
    break;
  }
  message.told.what = line;
  return message;
}

bool stays(std::string_view line) {
  return line.empty() || line.front() == '{' || (line.front() >= '\1' && line.front() < '\t');
}

}  // namespace

void tell_messages_as_json(bool json) {
  as_json = json;
  if (json)
    setenv(messages_variable, "json", 1);
  else if (environment_asks_for_json())
    unsetenv(messages_variable);
}

bool environment_asks_for_json() {
  const char* const word = std::getenv(messages_variable);
  return word != nullptr && std::string_view(word) == "json";
}

bool messages_are_json() { return as_json; }

std::string page_on(const Message& message) {
  if (message.told.rule >= 0) return fmt::format("rule-{:02}", message.told.rule);
  return message.status ? fmt::format("{}", static_cast<int>(*message.status)) : std::string();
}

std::string message_json(const Message& message) {
  const Diagnostic& told = message.told;
  Json json = new_report("message");
  json["severity"] = word_of(message.severity);
  json["tool"] = known(message.tool);
  json["file"] = known(told.where.file);
  json["line"] = known(told.where.line);
  json["column"] = known(told.where.column);
  json["source"] = known(told.source_line);
  json["what"] = shown(told.what);
  json["why"] = shown(told.why);
  json["remedy"] = shown(told.remedy);
  json["status"] = message.status ? Json(static_cast<int>(*message.status)) : Json();
  json["code"] = known(page_on(message));
  return json_text(json, -1) + '\n';
}

std::string messages_of(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    lines += stays(line) ? std::string(line) + '\n' : message_json(taken_apart(line));
  }
  return lines;
}

bool tells_of_error(std::string_view text) {
  return text.find("error:") != std::string_view::npos ||
         (as_json && text.find(R"("severity":"error")") != std::string_view::npos);
}

}  // namespace kasen::tools
