// Reports command lines that are not understood, in the words of the tool's own help.
#pragma once

#include "tools/common/tool.h"

namespace kasen::tools {

// Refuses `-output`: with one dash it would be `-o utput`.
void refuse_single_dashes(const Tool& tool, int argc, char** argv);
// Reports the error of the parser of the command line.
[[noreturn]] void wrong_line(const Tool& tool, const po::error& error, int argc, char** argv);

}  // namespace kasen::tools
