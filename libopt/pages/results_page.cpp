#include "libopt/pages/results_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libopt/draw/page_text.h"
#include "libopt/draw/scale.h"

namespace kasen {
namespace {

constexpr double paper_width = 560, paper_height = 230;
constexpr Rect paper{66, 26, 480, 166};
constexpr size_t most_letters = 60;

std::string table_of(const PageResult& result) {
  std::string text = "<table><thead><tr>";
  for (const std::string& name : result.head) text += fmt::format("<th>{}</th>", page_text(name));
  text += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : result.rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += fmt::format("<td class=\"n\">{}</td>", page_text(cell));
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

Scale upward(const std::vector<Point>& points) {
  Scale scale(ScaleKind::linear, paper.y + paper.height, paper.y);
  for (const Point& point : points)
    if (scale.shows(point.y)) scale.take(point.y);
  scale.round_out();
  return scale;
}

Scale across(const std::vector<Point>& points, ScaleKind kind) {
  Scale scale(kind, paper.x, paper.x + paper.width);
  for (const Point& point : points) scale.take(point.x);
  scale.close();
  return scale;
}

std::string picture(const std::string& title, const std::string& below, const std::vector<Point>& points,
                    ScaleKind kind, const std::string& values = {}) {
  const Axes axes{paper, across(points, kind), upward(points), clipped(below, most_letters), "", {}, false};
  Canvas canvas = Canvas::in_page(paper_width, paper_height, title, "curve");
  canvas.text({paper.x, 16}, clipped(title, most_letters), {{"class", "title"}});
  draw_axes(canvas, axes);
  std::vector<Point> places;
  for (const Point& point : points)
    if (axes.y.shows(point.y)) places.push_back({axes.x.place(point.x), axes.y.place(point.y)});
  canvas.polyline(places, {{"class", "line"}, {"data-values", values}});
  for (const Point& point : points) {
    if (!values.empty() || !axes.y.shows(point.y)) continue;
    canvas.circle({axes.x.place(point.x), axes.y.place(point.y)}, 2.5, {},
                  fmt::format("{:.0f}: {:.6g}", point.x, point.y));
  }
  return "<figure>" + std::move(canvas).markup() + "</figure>\n";
}

// The outline of its columns.
std::string histogram(const PageResult& result) {
  std::vector<Point> outline;
  const auto columns = static_cast<double>(result.counts.size());
  const double wide = (result.highest - result.lowest) / columns;
  outline.push_back({result.lowest, 0});
  std::string values;  // of each corner of a column, for the page's script
  for (size_t k = 0; k < result.counts.size(); ++k) {
    const auto count = static_cast<double>(result.counts[k]);
    const double left = result.lowest + wide * static_cast<double>(k);
    outline.push_back({left, count});
    outline.push_back({left + wide, count});
    const std::string value = fmt::format("|{:.6g} to {:.6g}: {}", left, left + wide, result.counts[k]);
    values += value + value;
  }
  outline.push_back({result.highest, 0});
  return picture(result.name + ": how many elements have a value", "value", outline, ScaleKind::linear, values + "|");
}

bool several_values(const std::vector<Point>& points) {
  const auto finite = [](const Point& p) { return std::isfinite(p.y) && std::isfinite(p.x); };
  return std::count_if(points.begin(), points.end(), finite) > 1;
}

std::string pictures_of(const PageResult& result) {
  std::string text;
  if (!result.counts.empty() && result.highest > result.lowest) text += histogram(result);
  if (result.counts.empty() && several_values(result.points))
    text += picture(result.name, result.across, result.points, ScaleKind::whole);
  return text.empty() ? text : "<div class=\"curves\">" + text + "</div>\n";
}

}  // namespace

std::string results_section(const std::vector<PageResult>& results) {
  if (results.empty()) return {};
  std::string text = "<section id=\"results\"><h2>Results</h2>\n";
  for (const PageResult& result : results) {
    text += fmt::format("<h3>{}</h3>\n", page_text(result.title));
    if (!result.rows.empty()) text += "<div class=\"scroll\">" + table_of(result) + "</div>\n";
    text += pictures_of(result);
    if (!result.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", page_text(result.note));
  }
  return text + "</section>\n";
}

std::string origin_section(const std::vector<PageOrigin>& origin) {
  std::string rows;
  for (const PageOrigin& row : origin) {
    if (row.lines.empty()) continue;
    std::string cell;
    for (const std::string& line : row.lines) cell += (cell.empty() ? "" : "<br>") + page_text(line);
    rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", page_text(row.what), cell);
  }
  if (rows.empty()) return {};
  return "<section id=\"origin\"><h2>How they were made</h2>\n<table><tbody>\n" + rows + "</tbody></table></section>\n";
}

}  // namespace kasen
