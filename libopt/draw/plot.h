// A plot as an SVG file. Equal numbers give equal text.
#pragma once

#include <string>
#include <vector>

namespace kasen {

struct PlotMark {
  double x = 0, y = 0;
  double low = 0, high = 0;  // a whisker, if they differ
};

struct PlotSeries {
  std::string name;
  std::vector<PlotMark> marks;  // each is a circle
  bool line = true;             // through the marks
  bool dashed = false;
};

struct Plot {
  std::string title, x_name, y_name;
  bool log_x = false, log_y = false;  // marks of 0 or less are left out
  bool square = false;                // both axes have one range; a line shows y = x
  std::vector<double> x_ticks;        // empty: chosen
  std::vector<PlotSeries> series;
  double legend_width = 350;  // beside it
};

[[nodiscard]] std::string plot_svg(Plot plot);
// As part of a page, with the legend beneath.
[[nodiscard]] std::string plot_in_page(Plot plot);
// Several in one file, one below another, with one legend: each has the same series.
[[nodiscard]] std::string plots_svg(const std::string& title, std::vector<Plot> plots);

}  // namespace kasen
