// Reading and writing whole texts: `-` is standard input or output; a file appears only once it is complete.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/printable.h"

namespace kasen::tools {

// ExitStatus::missing_input where the file is not there, io where it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);
// What messages call it: the path, or "<stdin>".
[[nodiscard]] std::string shown_name(const std::string& path);

// Of all that a folder holds, sorted; none, and errno says why, where it cannot be listed or is no folder. The standard
// library's iterator would end the process where it has no memory.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(const std::string& folder);

// Through a temporary name, fsync and rename; on any failure the temporary goes and what was there stays. A link stays
// a link to the file that changes. ExitStatus::cannot_create, io.
void write_text(const std::string& path, std::string_view text);
// Fails early (cannot_create) where a file of this name could not be made: its folder is missing or not writable.
void check_writable(const std::string& path);
// Refuses (usage) an output that is one of the inputs or a file of one that is a bundle: it would take their place.
void check_not_input(const std::string& output, const std::vector<std::string>& inputs);
// Refuses (usage) an output that names the same file as another one.
void check_not_output(const std::string& output, const std::vector<std::string>& others);
// What acts on a terminal is shown as '?' (libcore/base/printable.h): names and texts of files may hold anything.
void write_standard_output(std::string_view text);

// To standard error, at once. False if it cannot be written: a message that is lost (the log's disk is full, nobody
// listens) ends nothing, and the exit status stays what it is. As it is: of what may hold texts of files, see tell().
bool write_message(std::string_view text);
// The same, shown as on standard output.
template <typename... T>
bool tell(fmt::format_string<T...> format, T&&... values) {
  return write_message(printable(fmt::format(format, std::forward<T>(values)...)));
}
// Standard streams that are closed would give their numbers to the files that are opened next, and messages would go
// there. Makes them streams on which reading or writing fails.
void hold_standard_streams();

// SIGINT, SIGHUP and the signals of stop_request.h remove what is half made (libcore/system/temporaries.h) before the
// process ends with 130.
void remove_temporaries_on_signals();

}  // namespace kasen::tools
