// The tasks of regions of blocks as text, JSON and CSV, as a picture, and as a section of the report page. `regions`
// are those of `module`.
#pragma once

#include <string>
#include <vector>

#include "libopt/tasks/tasks.h"

namespace kasen::tasks {

// Long tables end with how many rows are left out.
[[nodiscard]] std::string tasks_text(const Module& module, const std::vector<RegionTasks>& regions);
[[nodiscard]] std::string tasks_json(const Module& module, const std::vector<RegionTasks>& regions);
// A row for each task, and one for each block that is handed on.
[[nodiscard]] std::string tasks_csv(const Module& module, const std::vector<RegionTasks>& regions);

// Memory, bytes received and bytes sent by node over the tasks in their order, one below the other. In a page, its
// style gives the colours.
[[nodiscard]] std::string curves_svg(const std::string& title, const RegionTasks& region, bool in_page);
// Curves of several regions in one file.
[[nodiscard]] std::string curves_file(const Module& module, const std::vector<RegionTasks>& regions);

// Empty for a module without regions of blocks, or with unknown sizes.
[[nodiscard]] std::string tasks_section(const Module& module, const Sizes* sizes);

// Internal to this room: rows that text and page share. Each has a heading row first.
inline constexpr std::size_t most_shown = 40;
using Rows = std::vector<std::vector<std::string>>;
[[nodiscard]] std::string region_title(const CostReport& report, const RegionTasks& region);
[[nodiscard]] std::string totals_text(const RegionTasks& region);
[[nodiscard]] Rows worker_rows(const RegionTasks& region);
[[nodiscard]] Rows task_rows(const CostReport& report, const RegionTasks& region, std::size_t most);
[[nodiscard]] Rows handed_on_rows(const RegionTasks& region, std::size_t most);

}  // namespace kasen::tasks
