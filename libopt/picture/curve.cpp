// A line over iterations. It is logarithmic where it goes through decades.
#include <fmt/format.h>

#include <algorithm>

#include "libopt/draw/page_text.h"
#include "libopt/draw/scale.h"
#include "libopt/picture/page.h"

namespace kasen {
namespace {

constexpr double curve_width = 560, curve_height = 230;
constexpr Rect curve_paper{66, 26, 480, 166};
constexpr size_t longest_label = 60, most_marks = 120;

Scale upward(const Curve& curve) {
  std::vector<double> values;
  for (const Point& p : curve.points) values.push_back(p.y);
  if (curve.limit) values.push_back(*curve.limit);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  Scale scale(*least > 0 && *most / *least > 30 ? ScaleKind::logarithmic : ScaleKind::linear,
              curve_paper.y + curve_paper.height, curve_paper.y);
  for (const double value : values) scale.take(value);
  scale.round_out();
  return scale;
}

Scale across(const Curve& curve) {
  Scale scale(ScaleKind::whole, curve_paper.x, curve_paper.x + curve_paper.width);
  for (const Point& p : curve.points) scale.take(p.x);
  scale.close();
  return scale;
}

std::string value_of(const Point& p) { return fmt::format("iteration {:.0f}: {:.6g}", p.x, p.y); }

}  // namespace

std::string curve_svg(const Curve& curve) {
  const Axes axes{curve_paper, across(curve), upward(curve), clipped(curve.across, longest_label), "", {}, false};
  Canvas canvas = Canvas::in_page(curve_width, curve_height, curve.title, "curve");
  canvas.text({curve_paper.x, 16}, clipped(curve.title, longest_label), {{"class", "title"}});
  draw_axes(canvas, axes);
  if (curve.limit && axes.y.shows(*curve.limit)) {
    const double at = axes.y.place(*curve.limit), left = curve_paper.x;
    canvas.line({left, at}, {left + curve_paper.width, at}, {{"class", "limit"}});
    canvas.text({left + 6, at - curve_paper.y < line_height ? at + 13 : at - 5},
                "compared with " + number_text(*curve.limit), {{"class", "limit-text"}});
  }
  std::vector<Point> places;
  for (const Point& p : curve.points) places.push_back({axes.x.place(p.x), axes.y.place(p.y)});
  const bool marked = places.size() <= most_marks;
  std::string values;  // of a curve without marks, for the page's script
  for (const Point& p : curve.points) values += (values.empty() ? "" : "|") + value_of(p);
  canvas.polyline(places, {{"class", "line"}, {"data-values", marked ? "" : values}});
  for (size_t i = 0; i < places.size() && marked; ++i) canvas.circle(places[i], 2.5, {}, value_of(curve.points[i]));
  return std::move(canvas).markup();
}

}  // namespace kasen
