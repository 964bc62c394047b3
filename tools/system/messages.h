// The form of messages on standard error: text for people, or JSON, one object a line (docs/schemas).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/error.h"

namespace kasen::tools {

enum class Severity : std::uint8_t { note, warning, error };

struct Message {
  Severity severity = Severity::note;
  std::string tool;                  // "kasen-run"; empty: not known
  Diagnostic told;                   // a text that is not taken apart is its `what`
  std::optional<ExitStatus> status;  // of a tool that this error ends, where it is known
};

// --messages json and its variable of the environment, by which the processes that this one starts tell in the same
// form. Progress is not shown then.
inline constexpr const char* messages_variable = "KASEN_MESSAGES";
void tell_messages_as_json(bool json);
[[nodiscard]] bool environment_asks_for_json();
[[nodiscard]] bool messages_are_json();

// The help page on an error: "rule-14" of a broken state rule, else the exit status. Empty where neither is known.
[[nodiscard]] std::string page_on(const Message& message);
// One line, with its end.
[[nodiscard]] std::string message_json(const Message& message);
// Lines of text as such lines: "kasen-run: warning: ..." is a warning of kasen-run, and a line without such a word a
// note. Lines that are JSON, or begin with a mark of the launcher's (launch/launch.h), stay.
[[nodiscard]] std::string messages_of(std::string_view text);
// Whether one of these lines, in either form, tells of an error.
[[nodiscard]] bool tells_of_error(std::string_view text);

// The text of a JSON string without its quotes, piece by piece into `put`. It allocates nothing: for last words.
template <class Put>
void escape_json(std::string_view text, const Put& put) {
  for (const char& c : text) {
    const bool control = static_cast<unsigned char>(c) < ' ';
    if (c == '"' || c == '\\') put("\\");
    put(control ? std::string_view(" ") : std::string_view(&c, 1));
  }
}

}  // namespace kasen::tools
