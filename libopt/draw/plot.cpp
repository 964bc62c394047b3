#include "libopt/draw/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libopt/draw/page_text.h"
#include "libopt/draw/scale.h"

namespace kasen {
namespace {

constexpr Rect sheet{76, 34, 480, 340};
constexpr double below_paper = 48, beside_paper = 24, row_height = 18;
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
Axes axes_of(Plot& plot, const Rect& paper) {
  const auto kind = [](bool logarithmic) { return logarithmic ? ScaleKind::logarithmic : ScaleKind::linear; };
  Scale x(kind(plot.log_x), paper.x, paper.x + paper.width), y(kind(plot.log_y), paper.y + paper.height, paper.y);
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
  return {paper, x, y, plot.x_name, plot.y_name, plot.x_ticks};
}

// What the pointer shows on a mark.
std::string mark_title(const Plot& plot, const PlotSeries& series, const PlotMark& mark) {
  std::string text = fmt::format("{}\n{} {:.6g}: {} {:.6g}", series.name, plot.x_name, mark.x, plot.y_name, mark.y);
  if (mark.low != mark.high) text += fmt::format(" ({:.6g} to {:.6g})", mark.low, mark.high);
  return text;
}

void draw_series(Canvas& canvas, const Plot& plot, const Axes& axes, const PlotSeries& series, const SeriesLook& look) {
  std::vector<Point> points;
  for (const PlotMark& mark : series.marks) points.push_back({axes.x.place(mark.x), axes.y.place(mark.y)});
  if (series.line && points.size() > 1) canvas.polyline(points, look.line);
  if (series.dashed) return;  // what is not measured has no marks
  for (size_t i = 0; i < points.size(); ++i) {
    const PlotMark& mark = series.marks[i];
    if (mark.low != mark.high && axes.y.shows(mark.low) && axes.y.shows(mark.high)) {
      canvas.line({points[i].x, axes.y.place(mark.low)}, {points[i].x, axes.y.place(mark.high)}, look.mark);
    }
    canvas.circle(points[i], 3.5, look.mark, mark_title(plot, series, mark));
  }
}

// A key with the line and the mark as they are drawn.
void draw_key(Canvas& canvas, const PlotSeries& series, const Point& at, const SeriesLook& look) {
  canvas.begin("g", {});
  if (series.line) canvas.line(at, {at.x + 16, at.y}, look.line);
  if (!series.dashed) canvas.circle({at.x + 8, at.y}, 3.5, look.mark);
  canvas.text({at.x + 22, at.y + 4}, clipped(series.name, longest_name), {{"class", "key"}});
  canvas.end();
}

void draw_sheet(Canvas& canvas, Plot& plot, const Rect& paper) {
  const Axes axes = axes_of(plot, paper);
  canvas.text({paper.x, paper.y - 14}, clipped(plot.title, longest_title), {{"class", "title"}});
  draw_axes(canvas, axes);
  if (plot.square) {
    canvas.line({paper.x, paper.y + paper.height}, {paper.x + paper.width, paper.y}, {{"class", "diagonal"}});
  }
  for (size_t i = 0; i < plot.series.size(); ++i)
    draw_series(canvas, plot, axes, plot.series[i], look_of(plot.series[i], i));
}

// Keys in rows as wide as the sheet; returns their places, and where they end.
std::vector<Point> rows_of_keys(const std::vector<PlotSeries>& all, double top) {
  constexpr double letter = 8.5;  // of the larger texts of narrow windows
  std::vector<Point> places;
  Point at{sheet.x, top + row_height / 2};
  for (const PlotSeries& series : all) {
    const double wide = 40 + letter * static_cast<double>(text_width(clipped(series.name, longest_name)));
    if (at.x > sheet.x && at.x + wide > sheet.x + sheet.width) at = {sheet.x, at.y + row_height};
    places.push_back(at);
    at.x += wide;
  }
  return places;
}

void draw_keys(Canvas& canvas, const std::vector<PlotSeries>& all, const std::vector<Point>& places) {
  for (size_t i = 0; i < all.size(); ++i) draw_key(canvas, all[i], places[i], look_of(all[i], i));
}

double height_of(const std::vector<Point>& keys) {
  return keys.empty() ? 0 : keys.back().y - keys.front().y + row_height;
}

}  // namespace

std::string plot_svg(Plot plot) {
  const double rows = row_height * static_cast<double>(plot.series.size() + 1);
  Canvas canvas = Canvas::as_file(sheet.x + sheet.width + plot.legend_width,
                                  sheet.y + std::max(sheet.height + below_paper, rows), plot.title);
  draw_sheet(canvas, plot, sheet);
  std::vector<Point> keys;
  for (size_t i = 0; i < plot.series.size(); ++i)
    keys.push_back({sheet.x + sheet.width + 14, sheet.y + row_height * static_cast<double>(i) + 8});
  draw_keys(canvas, plot.series, keys);
  return std::move(canvas).markup();
}

std::string plot_in_page(Plot plot) {
  const std::vector<Point> keys = rows_of_keys(plot.series, sheet.y + sheet.height + below_paper);
  Canvas canvas = Canvas::in_page(sheet.x + sheet.width + beside_paper,
                                  sheet.y + sheet.height + below_paper + height_of(keys) + 6, plot.title, "plot");
  draw_sheet(canvas, plot, sheet);
  draw_keys(canvas, plot.series, keys);
  return std::move(canvas).markup();
}

std::string plots_svg(const std::string& title, std::vector<Plot> plots) {
  constexpr double panel = 190;
  const std::vector<PlotSeries> all = plots.empty() ? std::vector<PlotSeries>() : plots.front().series;
  const std::vector<Point> keys = rows_of_keys(all, sheet.y);
  double at = sheet.y + height_of(keys) + sheet.y;
  const double each = panel + below_paper + sheet.y - 8;
  Canvas canvas = Canvas::as_file(sheet.x + sheet.width + beside_paper,
                                  at + each * static_cast<double>(plots.size()) - sheet.y + 8, title);
  canvas.text({sheet.x, 20}, clipped(title, longest_title), {{"class", "title"}, {"font-weight", "bold"}});
  draw_keys(canvas, all, keys);
  for (Plot& plot : plots) {
    draw_sheet(canvas, plot, {sheet.x, at, sheet.width, panel});
    at += each;
  }
  return std::move(canvas).markup();
}

}  // namespace kasen
