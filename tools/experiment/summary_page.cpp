// The page of an experiment: the table of its points, and every run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "libopt/pages/experiment_page.h"
#include "libopt/text/report_parts.h"
#include "tools/experiment/means.h"
#include "tools/experiment/summary.h"

namespace kasen::tools {
namespace {

PageTable points_table(const Summary& summary) {
  PageTable table{"Points: medians of their runs", summary.matrix->varied.size(), {}, summary_rows(summary)};
  table.head = std::move(table.rows.front());
  table.rows.erase(table.rows.begin());
  return table;
}

PageTable means_page_table(const Summary& summary) {
  std::vector<std::vector<std::string>> rows = mean_rows(summary, 6);
  if (rows.empty()) return {};
  const std::vector<std::string>& over = summary.experiment->mean_over;
  PageTable table{fmt::format("Means over {}", fmt::join(over, ", ")),
                  summary.matrix->varied.size() - over.size(),
                  std::move(rows.front()),
                  {}};
  table.rows.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
  return table;
}

std::string largest_of(const Json& numbers) {
  std::int64_t most = 0;
  for (const Json& number : numbers) most = std::max(most, number.get<std::int64_t>());
  return grouped(most);
}

std::vector<std::string> done_cells(const Json& run) {
  std::vector<double> iterations;
  for (const Json& seconds : run.at("turn_seconds")) iterations.push_back(seconds.get<double>());
  const Json& bytes = run.at("bytes");
  const auto network = bytes.find("network bytes");
  return {fmt::format("{:.6f}", run.at("seconds").get<double>()),
          iterations.empty() ? "-" : fmt::format("{:.3f}", 1e3 * median(iterations)),
          network == bytes.end() ? "-" : grouped(network->at("counted").get<std::int64_t>()),
          largest_of(run.at("held_bytes")),
          grouped(run.at("peak_bytes").get<std::int64_t>()),
          run.at("agrees").get<bool>() ? "equal" : "differs"};
}

PageTable runs_table(const Summary& summary, const Rows& rows, const std::vector<std::string>& digests) {
  const std::vector<std::string>& varied = summary.matrix->varied;
  PageTable table{"Runs", varied.size(), varied, {}};
  table.head.insert(table.head.end(),
                    {"repetition", "seconds", "turn ms", "network bytes", "most held", "peak", "check"});
  for (std::size_t i = 0; i < digests.size(); ++i) {
    for (int repetition = 0; repetition < summary.experiment->repetitions; ++repetition) {
      const Json* run = rows.find(digests[i], repetition);
      if (run == nullptr) continue;
      std::vector<std::string> row = settings_of(*summary.points[i].point, varied);
      row.push_back(fmt::format("{}", repetition));
      if (run->at("status") == "done") {
        const std::vector<std::string> cells = done_cells(*run);
        row.insert(row.end(), cells.begin(), cells.end());
      } else {
        row.insert(row.end(), 5, "-");
        row.push_back("failed: " + run->at("step").get<std::string>());
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

std::string summary_page(const Summary& summary, const std::string& fixed, const Rows& rows,
                         const std::vector<std::string>& digests) {
  const std::string& name = summary.experiment->name;
  ExperimentPage page{
      name, fixed.substr(std::min(fixed.size(), name.size() + 2)), {"table.csv", "runs.jsonl"}, plots_of(summary), {}};
  page.tables = {points_table(summary), runs_table(summary, rows, digests)};
  if (PageTable means = means_page_table(summary); !means.rows.empty())
    page.tables.insert(page.tables.begin() + 1, std::move(means));
  return experiment_html(page);
}

}  // namespace kasen::tools
