#include "libcomm/data/text/title_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace kasen {

void check_title(const std::string& path, const std::vector<HeadLine>& head, const std::vector<std::string>& wanted,
                 ExitStatus status) {
  if (head.empty()) return;
  const auto has = [](const HeadLine& line, const std::string& name) {
    return std::find(line.cells.begin(), line.cells.end(), name) != line.cells.end();
  };
  std::vector<std::string> missing;
  for (const std::string& name : wanted)
    if (!has(head[0], name)) missing.push_back(name);
  if (missing.empty()) return;
  const auto line = std::find_if(head.begin() + 1, head.end(), [&](const HeadLine& other) {
    return std::all_of(missing.begin(), missing.end(), [&](const auto& name) { return has(other, name); });
  });
  if (line == head.end()) return;
  const std::int64_t before = line->number - 1;
  fail(status, fmt::format("the first line has no column '{}'", missing[0]),
       fmt::format("line {} has {}", line->number, missing.size() == 1 ? "it" : "the names"),
       before == 1 ? "delete line 1, or put # before it"
                   : fmt::format("delete lines 1 to {}, or put # before each of them", before),
       {path, static_cast<int>(head[0].number)});
}

}  // namespace kasen
