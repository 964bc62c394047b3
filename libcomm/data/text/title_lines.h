// Files whose first line is a title, and names no columns: 'Census 2024;;;', as spreadsheets write it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/error.h"

namespace kasen {

struct HeadLine {
  std::int64_t number = 0;  // within the file, from 1
  std::vector<std::string> cells;
};

// `head`: the first lines with content, the names of the columns first. UserError(status) if some of the `wanted` names
// are not among these, and another of the lines has all of them.
void check_title(const std::string& path, const std::vector<HeadLine>& head, const std::vector<std::string>& wanted,
                 ExitStatus status);

}  // namespace kasen
