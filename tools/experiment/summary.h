// The results of an experiment: for each point the median of its runs and their spread, as a table, CSV and plots.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libopt/draw/plot.h"
#include "tools/experiment/rows.h"
#include "tools/experiment/settings.h"

namespace kasen::tools {

// The middle value; for an even number of values the mean of the two middle ones.
[[nodiscard]] double median(std::vector<double> values);

struct PointSummary {
  const Point* point = nullptr;
  int runs = 0, failed = 0, differing = 0;  // differing: predicted and counted are not equal
  std::vector<double> seconds;              // of each run
  // Statistics of `seconds`; MAD is the median of the distances to the median.
  double median = 0, mad = 0, least = 0, most = 0;
  double iteration_median = 0;                               // of all iterations of all runs; 0: no loop
  std::int64_t network_bytes = 0, held = 0, peak_bytes = 0;  // held: by the worker that holds most
  std::int64_t held_all = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> bytes;  // predicted and counted, of the last run
  std::map<std::string, std::string> outputs;                          // scalars of the last run
  double speedup = 0;  // over the first point that differs in the parallel setting alone; 0: none
};

struct Summary {
  const Experiment* experiment = nullptr;
  const Matrix* matrix = nullptr;
  std::string parallel;  // the first of workers, ranks and threads that is varied; empty: none
  std::vector<PointSummary> points;
};

// `digests` are those of the matrix's points.
[[nodiscard]] Summary summarize(const Experiment& experiment, const Matrix& matrix, const Rows& rows,
                                const std::vector<std::string>& digests);
// The settings of a point that have these labels; "-" for one that it lacks.
[[nodiscard]] std::vector<std::string> settings_of(const Point& point, const std::vector<std::string>& labels);
// The table, with its head first.
[[nodiscard]] std::vector<std::vector<std::string>> summary_rows(const Summary& summary);
[[nodiscard]] std::string summary_table(const Summary& summary);
[[nodiscard]] std::string summary_csv(const Summary& summary);
// The same as a report of the kind "experiment"; of a matrix that did not run, of the kind "matrix".
[[nodiscard]] std::string summary_json(const Summary& summary);
[[nodiscard]] std::string matrix_json(const Experiment& experiment, const Matrix& matrix);
// The plots by file name: speedup.svg where a parallel setting varies, bytes.svg, predicted.svg.
[[nodiscard]] std::map<std::string, std::string> summary_plots(const Summary& summary);
[[nodiscard]] std::vector<Plot> plots_of(const Summary& summary);
// All of it as one page, with every run. `fixed` are the settings that all points share.
[[nodiscard]] std::string summary_page(const Summary& summary, const std::string& fixed, const Rows& rows,
                                       const std::vector<std::string>& digests);

}  // namespace kasen::tools
