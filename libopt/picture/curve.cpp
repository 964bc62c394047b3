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
constexpr size_t longest_name = 60, most_marks = 120;

Scale upward(const Curve& curve) {
  double least = curve.points[0].y, most = least;
  const auto take = [&](double y) {
    least = std::min(least, y);
    most = std::max(most, y);
  };
  for (const Point& p : curve.points) take(p.y);
  if (curve.limit) take(*curve.limit);
  Scale scale(least > 0 && most / least > 30 ? ScaleKind::logarithmic : ScaleKind::linear,
              curve_paper.y + curve_paper.height, curve_paper.y);
  scale.take(least);
  scale.take(most);
  scale.round_out();
  return scale;
}

Scale across(const Curve& curve) {
  Scale scale(ScaleKind::whole, curve_paper.x, curve_paper.x + curve_paper.width);
  scale.take(curve.points.front().x);
  scale.take(curve.points.back().x);
  scale.close();
  return scale;
}

void draw_limit(Canvas& canvas, const Axes& axes, double limit) {
  const double at = axes.y.place(limit), left = curve_paper.x;
  const std::string text = "compared with " + number_text(limit);
  canvas.line({left, at}, {left + curve_paper.width, at}, {{"class", "limit"}});
  canvas.text({left + 6, at - curve_paper.y < line_height ? at + 13 : at - 5}, text, {{"class", "limit-text"}});
}

}  // namespace

std::string curve_svg(const Curve& curve) {
  Axes axes{curve_paper, across(curve), upward(curve), clipped(curve.across, longest_name), "", {}, false};
  Canvas canvas = Canvas::in_page(curve_width, curve_height, curve.title, "curve");
  canvas.text({curve_paper.x, 16}, clipped(curve.title, longest_name), {{"class", "title"}});
  draw_axes(canvas, axes);
  if (curve.limit && axes.y.shows(*curve.limit)) draw_limit(canvas, axes, *curve.limit);
  std::vector<Point> places;
  for (const Point& p : curve.points) places.push_back({axes.x.place(p.x), axes.y.place(p.y)});
  canvas.polyline(places, {{"class", "line"}});
  for (size_t i = 0; i < places.size() && places.size() <= most_marks; ++i) {
    const Point& p = curve.points[i];
    canvas.circle(places[i], 2.5, {}, fmt::format("iteration {:.0f}: {:.6g}", p.x, p.y));
  }
  return std::move(canvas).markup();
}

}  // namespace kasen
