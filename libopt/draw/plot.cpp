#include "libopt/draw/plot.h"

#include <algorithm>
#include <array>

#include "libopt/draw/page_text.h"
#include "libopt/draw/scale.h"

namespace kasen {
namespace {

constexpr Rect sheet{76, 34, 480, 340};
constexpr double below_paper = 48, row_height = 18;
constexpr size_t longest_title = 80, longest_name = 50;
// Told apart by people with any colour vision (Okabe and Ito; the last is not their black, which dark paper hides).
constexpr std::array<const char*, 7> colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#785ef0"};

// Where there are more series than colours, the marks of the next ones are hollow.
struct SeriesLook {
  Canvas::Look line, mark;
};

SeriesLook look_of(const PlotSeries& series, size_t place) {
  const std::string color = series.dashed ? "#999" : colors.at(place % colors.size());
  const bool hollow = place / colors.size() % 2 == 1;
  const std::string dashes = series.dashed ? "5 4" : "";
  return {{{"fill", "none"}, {"stroke", color}, {"stroke-width", "1.5"}, {"stroke-dasharray", dashes}},
          {{"class", hollow ? "hollow" : ""}, {"fill", hollow ? "" : color}, {"stroke", color}}};
}

// Both hold all marks; what has no place on them is left out of the plot.
Axes axes_of(Plot& plot) {
  const auto kind = [](bool logarithmic) { return logarithmic ? ScaleKind::logarithmic : ScaleKind::linear; };
  Scale x(kind(plot.log_x), sheet.x, sheet.x + sheet.width), y(kind(plot.log_y), sheet.y + sheet.height, sheet.y);
  for (PlotSeries& series : plot.series) {
    std::erase_if(series.marks, [&](const PlotMark& mark) { return !x.shows(mark.x) || !y.shows(mark.y); });
    for (const PlotMark& mark : series.marks) {
      for (const double value : {mark.y, mark.low, mark.high}) y.take(value);
      x.take(mark.x);
      if (!plot.square) continue;
      for (const double value : {mark.y, mark.low, mark.high}) x.take(value);
      y.take(mark.x);
    }
  }
  x.leave_room();
  y.leave_room();
  return {sheet, x, y, plot.x_name, plot.y_name, plot.x_ticks};
}

void draw_series(Canvas& canvas, const Axes& axes, const PlotSeries& series, const SeriesLook& look) {
  std::vector<Point> points;
  for (const PlotMark& mark : series.marks) points.push_back({axes.x.place(mark.x), axes.y.place(mark.y)});
  if (series.line && points.size() > 1) canvas.polyline(points, look.line);
  if (series.dashed) return;  // what is not measured has no marks
  for (size_t i = 0; i < points.size(); ++i) {
    const PlotMark& mark = series.marks[i];
    if (mark.low != mark.high && axes.y.shows(mark.low) && axes.y.shows(mark.high)) {
      canvas.line({points[i].x, axes.y.place(mark.low)}, {points[i].x, axes.y.place(mark.high)}, look.mark);
    }
    canvas.circle(points[i], 3.5, look.mark);
  }
}

// A row of the legend, with the line and the mark as they are drawn.
void draw_key(Canvas& canvas, const PlotSeries& series, size_t place, const SeriesLook& look) {
  const double x = sheet.x + sheet.width + 14, y = sheet.y + row_height * static_cast<double>(place) + 8;
  canvas.begin("g", {});
  if (series.line) canvas.line({x, y}, {x + 16, y}, look.line);
  if (!series.dashed) canvas.circle({x + 8, y}, 3.5, look.mark);
  canvas.text({x + 22, y + 4}, clipped(series.name, longest_name), {{"class", "key"}});
  canvas.end();
}

}  // namespace

std::string plot_svg(Plot plot) {
  const Axes axes = axes_of(plot);
  const double rows = row_height * static_cast<double>(plot.series.size() + 1);
  Canvas canvas = Canvas::as_file(sheet.x + sheet.width + plot.legend_width,
                                  sheet.y + std::max(sheet.height + below_paper, rows), plot.title);
  canvas.text({sheet.x, 20}, clipped(plot.title, longest_title), {{"class", "title"}});
  draw_axes(canvas, axes);
  if (plot.square) {
    canvas.line({sheet.x, sheet.y + sheet.height}, {sheet.x + sheet.width, sheet.y}, {{"class", "diagonal"}});
  }
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const SeriesLook look = look_of(plot.series[i], i);
    draw_series(canvas, axes, plot.series[i], look);
    draw_key(canvas, plot.series[i], i, look);
  }
  return std::move(canvas).markup();
}

}  // namespace kasen
