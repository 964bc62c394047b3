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

// Throws ExitStatus::missing_input where the file does not exist, io where it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);
// The name in messages: the path, or "<stdin>".
[[nodiscard]] std::string shown_name(const std::string& path);

// All names in a folder, sorted. Nothing, with the reason in errno, where it cannot be listed or is no folder. The
// standard library's iterator would end the process where it has no memory.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(const std::string& folder);

// Writes through a temporary name, fsync and rename. On any failure the temporary file is removed and the old file
// stays. A link stays a link to the file that changes. ExitStatus::cannot_create, io.
void write_text(const std::string& path, std::string_view text);
// From now on, write_text does not wait until the file is on the disk, here and in forks of this process: for files
// that are made again by each start. If the system stops within the next seconds, they may be empty.
void write_without_waiting();
// Fails early (cannot_create) where a file of this name could not be made: its folder is missing or not writable.
void check_writable(const std::string& path);
// Refuses (usage) an output that would replace one of the inputs, or a file of an input that is a bundle.
void check_not_input(const std::string& output, const std::vector<std::string>& inputs);
// Refuses (usage) an output that names the same file as another one.
void check_not_output(const std::string& output, const std::vector<std::string>& others);
// Shows terminal control characters as '?' (libcore/base/printable.h): names and texts of files may hold anything.
void write_standard_output(std::string_view text);

// Writes to standard error, at once. False if it cannot be written: a lost message (the log's disk is full, nobody
// listens) ends nothing, and the exit status stays. The text is whole lines; for texts of files see tell(). With
// --messages json they become JSON (messages.h).
bool write_message(std::string_view text);
// The same for any text, which stays as it is.
bool write_as_it_is(std::string_view text);
// The same, shown as on standard output.
template <typename... T>
bool tell(fmt::format_string<T...> format, T&&... values) {
  return write_message(printable(fmt::format(format, std::forward<T>(values)...)));
}
// Files that are opened next would get the numbers of closed standard streams, and messages would go there. So closed
// streams become ones on which reading or writing fails.
void hold_standard_streams();

// SIGINT, SIGHUP and the signals of stop_request.h remove half-made files (libcore/system/temporaries.h) before the
// process ends with 130.
void remove_temporaries_on_signals();

}  // namespace kasen::tools
