// kasen show: the numbers of a result, on the terminal or as CSV or JSON.
#pragma once

#include <string_view>

namespace kasen::tools {

// In a folder of kasen go: a file with the name of its last run's result; empty until the run has ended.
inline constexpr std::string_view result_note = "last-run";

[[nodiscard]] int show_main(int argc, char** argv);

}  // namespace kasen::tools
