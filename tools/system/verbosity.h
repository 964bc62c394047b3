// How much a tool tells, by --quiet and --verbose, which mean the same in all of them. Errors, warnings and what the
// command line asks for by name are told in any case.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/system/files.h"

namespace kasen::tools {

enum class Verbosity : std::uint8_t { quiet, normal, verbose };

void set_verbosity(Verbosity verbosity);
[[nodiscard]] Verbosity verbosity();
[[nodiscard]] inline bool quiet() { return verbosity() == Verbosity::quiet; }
[[nodiscard]] inline bool verbose() { return verbosity() == Verbosity::verbose; }

// tell(), but for quiet tools: progress, notes, and names of files that were made.
template <typename... T>
void note(fmt::format_string<T...> format, T&&... values) {
  if (!quiet()) tell(format, std::forward<T>(values)...);
}
// tell() of verbose tools alone.
template <typename... T>
void detail(fmt::format_string<T...> format, T&&... values) {
  if (verbose()) tell(format, std::forward<T>(values)...);
}

// Of a tool that this one starts.
inline void add_verbosity(std::vector<std::string>& argv) {
  if (quiet()) argv.emplace_back("--quiet");
  if (verbose()) argv.emplace_back("--verbose");
}

}  // namespace kasen::tools
