// A line over iterations. It is logarithmic where it goes through decades.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libopt/picture/page.h"
#include "libopt/picture/page_text.h"

namespace kasen {
namespace {

constexpr double paper_width = 560, paper_height = 230, paper_left = 66, paper_right = 14, paper_top = 26,
                 paper_bottom = 38;

// Gives the pixel position of numbers along one axis.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;  // values; pixels
  bool logarithmic = false;
  [[nodiscard]] double operator()(double value) const {
    const double v = logarithmic ? std::log10(value) : value;
    return from + (to - from) * (v - low) / (high - low);
  }
  [[nodiscard]] double value(double mark) const { return logarithmic ? std::pow(10.0, mark) : mark; }
};

// Returns the step of round marks: 1, 2 or 5 times a power of ten. A span has about five of them.
double round_step(double span) {
  const double rough = span / 5, power = std::pow(10.0, std::floor(std::log10(rough)));
  const double factor = rough / power;
  return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

Scale upward(const Curve& curve) {
  double least = curve.points[0].y, most = least;
  for (const Point& p : curve.points) {
    least = std::min(least, p.y);
    most = std::max(most, p.y);
  }
  if (curve.limit) {
    least = std::min(least, *curve.limit);
    most = std::max(most, *curve.limit);
  }
  Scale scale{0, 1, paper_height - paper_bottom, paper_top, least > 0 && most / least > 30};
  if (scale.logarithmic) {
    scale.low = std::floor(std::log10(least));
    scale.high = std::max(std::ceil(std::log10(most)), scale.low + 1);
    return scale;
  }
  if (least > 0 && least < most / 2) least = 0;
  const double span = most > least ? most - least : std::max(std::abs(most), 1.0);
  const double step = round_step(span);
  scale.low = std::floor(least / step) * step;
  scale.high = std::max(std::ceil(most / step) * step, scale.low + step);
  return scale;
}

std::string marks(const Scale& scale) {
  const double step =
      scale.logarithmic ? std::max(1.0, std::ceil((scale.high - scale.low) / 6)) : round_step(scale.high - scale.low);
  std::string text;
  for (double mark = scale.low; mark <= scale.high + step / 100; mark += step) {
    const double at = std::abs(mark) < step / 1000 ? 0 : mark, y = scale(scale.value(at));
    text += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"mark\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
        paper_left, y, paper_width - paper_right, paper_left - 6, y + 4,
        page_text(fmt::format("{:.4g}", scale.value(at))));
  }
  return text;
}

std::string iterations(const Scale& scale) {
  std::string text;
  const double step = std::max(1.0, round_step(std::max(scale.high - scale.low, 1.0)));
  for (double x = std::ceil(scale.low / step) * step; x <= scale.high; x += step) {
    text += fmt::format("<text class=\"turn\" x=\"{:.1f}\" y=\"{:.1f}\">{:.0f}</text>", scale(x),
                        paper_height - paper_bottom + 16, x);
  }
  return text;
}

}  // namespace

std::string curve_svg(const Curve& curve) {
  const Scale y = upward(curve);
  const double first = curve.points.front().x, last = curve.points.back().x;
  const Scale x{first, std::max(last, first + 1), paper_left, paper_width - paper_right};
  std::string text = fmt::format(
      "<svg class=\"curve\" role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-label=\"{}\"><text class=\"title\" "
      "x=\"{:.0f}\" "
      "y=\"16\">{}</text>",
      paper_width, paper_height, page_text(curve.title), paper_left, page_text(clipped(curve.title, 60)));
  text += marks(y) + iterations(x);
  text +=
      fmt::format("<text class=\"across\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>",
                  (paper_left + paper_width - paper_right) / 2, paper_height - 6, page_text(clipped(curve.across, 60)));
  if (curve.limit && (!y.logarithmic || *curve.limit > 0)) {
    const double at = y(*curve.limit), right = paper_width - paper_right;
    text += fmt::format(
        "<path class=\"limit\" d=\"M{:.1f} {:.1f}H{:.1f}\"><title>{:.4g}</title></path><text class=\"limit-text\" "
        "x=\"{:.1f}\" y=\"{:.1f}\">compared with {:.4g}</text>",
        paper_left, at, right, *curve.limit, paper_left + 6, at - paper_top < line_height ? at + 13 : at - 5,
        *curve.limit);
  }
  std::string path;
  for (const Point& p : curve.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(p.x), y(p.y));
  }
  text += fmt::format("<path class=\"line\" d=\"{}\"/>", path);
  if (curve.points.size() <= 120) {
    for (const Point& p : curve.points) {
      text +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>iteration {:.0f}: {:.6g}</title></circle>",
                      x(p.x), y(p.y), p.x, p.y);
    }
  }
  return text + "</svg>";
}

}  // namespace kasen
