#include "libopt/draw/plot.h"

#include <algorithm>
#include <array>

#include "libopt/draw/page_text.h"
#include "libopt/draw/scale.h"

namespace kasen {
namespace {

constexpr Rect plot_paper{76, 34, 480, 340};
constexpr double below_paper = 48, row_height = 18;
constexpr size_t longest_title = 80, longest_name = 50;
// Told apart by people with any colour vision (Okabe and Ito).
constexpr std::array<const char*, 7> colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#000000"};

// How a series is drawn. Where there are more series than colours, the marks of the next ones are hollow.
struct SeriesLook {
  Canvas::Look line, mark, whisker;
};

SeriesLook look_of(const PlotSeries& series, size_t place) {
  const std::string color = series.dashed ? "#999" : colors.at(place % colors.size());
  const bool hollow = place / colors.size() % 2 != 0;
  return {
      {{"fill", "none"}, {"stroke", color}, {"stroke-width", "1.5"}, {"stroke-dasharray", series.dashed ? "5 4" : ""}},
      {{"fill", hollow ? "white" : color}, {"stroke", color}},
      {{"stroke", color}}};
}

Scale scale_of(bool logarithmic, double begin, double end) {
  return {logarithmic ? ScaleKind::logarithmic : ScaleKind::linear, begin, end};
}

// Both hold all marks; what has no place on them is left out of the plot.
Axes axes_of(Plot& plot) {
  const Rect& paper = plot_paper;
  Axes axes{paper,
            scale_of(plot.log_x, paper.x, paper.x + paper.width),
            scale_of(plot.log_y, paper.y + paper.height, paper.y),
            plot.x_name,
            plot.y_name,
            plot.x_ticks};
  for (PlotSeries& series : plot.series) {
    std::erase_if(series.marks, [&](const PlotMark& mark) { return !axes.x.shows(mark.x) || !axes.y.shows(mark.y); });
    for (const PlotMark& mark : series.marks) {
      axes.x.take(mark.x);
      for (const double y : {mark.y, mark.low, mark.high}) axes.y.take(y);
    }
  }
  if (plot.square) {
    axes.x.take(axes.y);
    axes.y.take(axes.x);
  }
  axes.x.leave_room();
  axes.y.leave_room();
  return axes;
}

void draw_series(Canvas& canvas, const Axes& axes, const PlotSeries& series, const SeriesLook& look) {
  std::vector<Point> points;
  for (const PlotMark& mark : series.marks) points.push_back({axes.x.place(mark.x), axes.y.place(mark.y)});
  if (series.line && points.size() > 1) canvas.polyline(points, look.line);
  if (series.dashed) return;  // what is not measured has no marks
  for (size_t i = 0; i < points.size(); ++i) {
    const PlotMark& mark = series.marks[i];
    if (mark.low != mark.high && axes.y.shows(mark.low) && axes.y.shows(mark.high)) {
      canvas.line({points[i].x, axes.y.place(mark.low)}, {points[i].x, axes.y.place(mark.high)}, look.whisker);
    }
    canvas.circle(points[i], 3.5, look.mark);
  }
}

// A row of the legend, with the line and the mark as they are drawn.
void draw_key(Canvas& canvas, const PlotSeries& series, size_t place, const SeriesLook& look) {
  const double x = plot_paper.x + plot_paper.width + 14, y = plot_paper.y + row_height * static_cast<double>(place) + 8;
  canvas.begin("g", {});
  if (series.line) canvas.line({x, y}, {x + 16, y}, look.line);
  if (!series.dashed) canvas.circle({x + 8, y}, 3.5, look.mark);
  canvas.text({x + 22, y + 4}, clipped(series.name, longest_name), {{"class", "key"}});
  canvas.end();
}

}  // namespace

std::string plot_svg(Plot plot) {
  const Rect& paper = plot_paper;
  const Axes axes = axes_of(plot);
  const double rows = row_height * static_cast<double>(plot.series.size() + 1);
  Canvas canvas = Canvas::as_file(paper.x + paper.width + plot.legend_width,
                                  paper.y + std::max(paper.height + below_paper, rows), plot.title);
  canvas.text({paper.x, 20}, clipped(plot.title, longest_title), {{"class", "title"}});
  draw_axes(canvas, axes);
  if (plot.square) {
    canvas.line({paper.x, paper.y + paper.height}, {paper.x + paper.width, paper.y}, {{"class", "diagonal"}});
  }
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const SeriesLook look = look_of(plot.series[i], i);
    draw_series(canvas, axes, plot.series[i], look);
    draw_key(canvas, plot.series[i], i, look);
  }
  return std::move(canvas).markup();
}

}  // namespace kasen
