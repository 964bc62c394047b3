// The plots of an experiment.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "libopt/draw/plot.h"
#include "tools/experiment/summary.h"

namespace kasen::tools {
namespace {

double number_of(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;  // ranks of `none` are 0
}

class Plotter {
 public:
  explicit Plotter(const Summary& summary) : summary_(summary) {
    for (const std::string& label : summary.matrix->varied) {
      if (label != summary.parallel) labels_.push_back(label);
    }
    for (size_t i = 0; i < summary.points.size(); ++i) {
      const double x = x_of(i);
      if (std::find(ticks_.begin(), ticks_.end(), x) == ticks_.end()) ticks_.push_back(x);
    }
    std::sort(ticks_.begin(), ticks_.end());
  }

  [[nodiscard]] Plot speedup() const {
    Plot plot = plot_of("speed-up", "speed-up");
    for (size_t i = 0; i < summary_.points.size(); ++i) {
      const PointSummary& s = summary_.points[i];
      if (s.speedup <= 0) continue;
      const double base = s.speedup * s.median;  // the median of the first
      add(plot, s, "", {x_of(i), s.speedup, base / s.most, base / s.least});
    }
    // The ideal: twice the workers, ranks or threads take half the time.
    if (ticks_.size() > 1 && ticks_.front() > 0) {
      PlotSeries ideal{"proportional", {}, true, true};
      for (const double x : ticks_) ideal.marks.push_back({x, x / ticks_.front()});
      plot.series.push_back(std::move(ideal));
    }
    return plot;
  }

  [[nodiscard]] Plot bytes() const {
    Plot plot = plot_of("bytes of a worker", "bytes of a worker");
    plot.log_y = true;
    for (size_t i = 0; i < summary_.points.size(); ++i) {
      const PointSummary& s = summary_.points[i];
      if (s.runs == 0) continue;
      add(plot, s, "held", {x_of(i), static_cast<double>(s.held)});
      const double sent = static_cast<double>(s.network_bytes) / s.point->workers();
      if (sent > 0) add(plot, s, "network", {x_of(i), sent});
    }
    return plot;
  }

  [[nodiscard]] Plot predicted() const {
    Plot plot;
    plot.title = summary_.experiment->name + ": predicted against counted";
    plot.x_name = "predicted";
    plot.y_name = "counted";
    plot.log_x = plot.log_y = plot.square = true;
    for (const PointSummary& s : summary_.points) {
      for (const auto& [what, both] : s.bytes) {
        if (both.first <= 0 || both.second <= 0) continue;  // 0 has no logarithm; the table shows it
        PlotSeries& series = series_of(plot, what);
        series.line = false;
        series.marks.push_back({static_cast<double>(both.first), static_cast<double>(both.second)});
      }
    }
    return plot;
  }

 private:
  // Where no parallel setting varies, points stand in the order of the table.
  [[nodiscard]] double x_of(size_t i) const {
    if (summary_.parallel.empty()) return static_cast<double>(i + 1);
    return number_of(summary_.points[i].point->text(summary_.parallel));
  }

  [[nodiscard]] Plot plot_of(const std::string& title, const std::string& y_name) const {
    Plot plot;
    plot.title = fmt::format("{}: {}", summary_.experiment->name, title);
    plot.x_name = summary_.parallel.empty() ? "row of the table" : summary_.parallel;
    plot.y_name = y_name;
    plot.x_ticks = ticks_;
    return plot;
  }

  static PlotSeries& series_of(Plot& plot, const std::string& name) {
    const auto found =
        std::find_if(plot.series.begin(), plot.series.end(), [&](const auto& s) { return s.name == name; });
    if (found != plot.series.end()) return *found;
    plot.series.push_back({name, {}, true, false});
    return plot.series.back();
  }

  // Adds a mark to the series of the points that differ in the parallel setting alone.
  void add(Plot& plot, const PointSummary& s, const std::string& what, PlotMark mark) const {
    const std::string group = summary_.parallel.empty() ? std::string() : s.point->shown(labels_);
    std::string name = what.empty() || group.empty() ? what + group : fmt::format("{}, {}", what, group);
    if (name.empty()) name = "all";
    PlotSeries& series = series_of(plot, name);
    series.line = !summary_.parallel.empty();
    series.marks.push_back(mark);
    std::stable_sort(series.marks.begin(), series.marks.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  }

  const Summary& summary_;
  std::vector<std::string> labels_;
  std::vector<double> ticks_;
};

}  // namespace

std::vector<Plot> plots_of(const Summary& summary) {
  const Plotter plotter(summary);
  std::vector<Plot> plots;
  if (!summary.parallel.empty()) plots.push_back(plotter.speedup());
  plots.push_back(plotter.bytes());
  plots.push_back(plotter.predicted());
  return plots;
}

std::map<std::string, std::string> summary_plots(const Summary& summary) {
  const Plotter plotter(summary);
  std::map<std::string, std::string> plots{{"bytes.svg", plot_svg(plotter.bytes())},
                                           {"predicted.svg", plot_svg(plotter.predicted())}};
  if (!summary.parallel.empty()) plots["speedup.svg"] = plot_svg(plotter.speedup());
  return plots;
}

}  // namespace kasen::tools
