// The tasks of regions of blocks in the report page.
#include <fmt/format.h>

#include "libopt/draw/page_text.h"
#include "libopt/tasks/tables.h"
#include "libopt/text/report_parts.h"

namespace kasen::tasks {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos;
}

std::string table(const Rows& rows, const char* style) {
  std::string text = fmt::format("<div class=\"scroll\"><table class=\"{}\"><thead><tr>", style);
  const std::size_t names = rows.size() > 1 ? rows[1].size() : 0;
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    const bool number = i < names && is_number(rows[1][i]);
    text += fmt::format("<th{}>{}</th>", number ? " class=\"n\"" : "", page_text(rows.front()[i]));
  }
  text += "</tr></thead><tbody>\n";
  for (std::size_t r = 1; r < rows.size(); ++r) {
    text += "<tr>";
    for (const std::string& cell : rows[r])
      text += fmt::format("<td{}>{}</td>", is_number(cell) ? " class=\"n\"" : "", page_text(cell));
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

// The first rows, with the number of all.
std::string folded(const Rows& rows, std::size_t all, const char* what, const char* style) {
  const std::size_t shown = rows.size() - 1;
  const std::string some = shown < all ? fmt::format("the first {} of ", shown) : std::string();
  return fmt::format("<details><summary>{}{} {}</summary>\n{}</details>\n", some,
                     grouped(static_cast<std::int64_t>(all)), what, table(rows, style));
}

std::string region_text(const CostReport& report, const RegionTasks& region) {
  const std::string title = region_title(report, region);
  std::string text = fmt::format("<h3>{}</h3>\n<p>{}</p>\n", page_text(title), page_text(totals_text(region)));
  text += fmt::format("<div class=\"two\"><div>{}", table(worker_rows(region), "workers"));
  text += folded(task_rows(report, region, most_shown), region.tasks.size(), "tasks", "tasks");
  if (!region.handed_on.empty()) {
    text += folded(handed_on_rows(region, most_shown), region.handed_on.size(), "blocks of results go to their owners",
                   "handed-on");
  }
  return text + fmt::format("</div><figure>{}</figure></div>\n", curves_svg("Nodes over the tasks", region, true));
}

}  // namespace

std::string tasks_section(const Module& module, const Sizes* sizes) {
  const std::optional<Module> sized = sizes != nullptr ? sized_for_tasks(module, *sizes) : std::nullopt;
  if (!sized) return {};
  const CostReport report = measure(module);
  std::string text = "<section id=\"tasks\"><h2>Tasks of regions of blocks</h2>\n";
  for (const RegionTasks& region : tasks_of(*sized)) text += region_text(report, region);
  return text +
         "<p class=\"note\">Each table is of one execution. A worker gets the blocks that it lacks before a round, and "
         "a block goes to a worker once: \"from\" has the bytes that each other worker sends for a task. As the "
         "planner "
         "counts, a node holds its operands' blocks, what it received and what it made, and forgets nothing; the "
         "columns \"blocks\" and \"area\" say what a worker really keeps at a time, without and with messages. kasen "
         "measure --tasks --format csv prints all tasks.</p></section>\n";
}

}  // namespace kasen::tasks
