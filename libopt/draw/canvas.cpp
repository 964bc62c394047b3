#include "libopt/draw/canvas.h"

#include <fmt/format.h>

#include "libopt/draw/page_text.h"
#include "libopt/draw/theme.h"

namespace kasen {
namespace {

// A file begins as those of older versions, which tools may replace, and is never wider than the window. `.curve` of
// page_style.cpp has what stands on a page.
constexpr std::string_view file_layout =
    "text{font:12px sans-serif}svg{max-width:100%;height:auto}.title{font-size:14px}.key{font-size:11px}.mark{text-"
    "anchor:end}.across{text-anchor:middle}";
constexpr std::string_view file_colours =
    "svg{background:var(--bg);color-scheme:light "
    "dark}text{fill:var(--ink)}.paper,.hollow{fill:var(--bg)}.grid{stroke:var(--rule)}.axis{fill:none;stroke:var(--"
    "soft)}"
    ".diagonal{stroke:var(--edge);stroke-dasharray:5 4}";

std::string title_of(std::string_view title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", page_text(title));
}

std::string points_text(const std::vector<Point>& points, char first, char next) {
  std::string text;
  for (size_t i = 0; i < points.size(); ++i) {
    const char before = i == 0 ? first : i == 1 || next == 'L' ? next : ' ';
    text += fmt::format("{}{:.1f} {:.1f}", before, points[i].x, points[i].y);
  }
  return text;
}

}  // namespace

Canvas::Canvas(double width, double height, const Look& look) {
  open("svg", look);
  text_ += fmt::format(" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n", width, height);
}

Canvas Canvas::in_page(double width, double height, const std::string& title, const std::string& style) {
  return {width, height, {{"class", style}, {"role", "img"}, {"aria-label", title}}};
}

Canvas Canvas::as_file(double width, double height, const std::string& title, std::string_view rules) {
  Canvas canvas(width, height, {{"xmlns", "http://www.w3.org/2000/svg"}});
  canvas.text_ += fmt::format("{}\n<style>{}{}</style>\n", title_of(title), file_layout,
                              in_both_themes(std::string(file_colours) + std::string(rules)));
  canvas.shape("rect", {{"class", "paper"}}, fmt::format("width=\"{:.0f}\" height=\"{:.0f}\"", width, height));
  return canvas;
}

void Canvas::line(Point from, Point to, const Look& look) { polyline({from, to}, look); }

void Canvas::polyline(const std::vector<Point>& points, const Look& look, bool closed) {
  shape("path", look, fmt::format("d=\"{}{}\"", points_text(points, 'M', 'L'), closed ? "z" : ""));
}

void Canvas::curve(const std::vector<Point>& points, const Look& look) {
  shape("path", look, fmt::format("d=\"{}\"", points_text(points, 'M', 'C')));
}

void Canvas::rect(const Rect& rect, double radius) {
  shape("rect", {},
        fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\"", rect.x, rect.y,
                    rect.width, rect.height, radius));
}

void Canvas::circle(Point centre, double radius, const Look& look, std::string_view title) {
  shape("circle", look, fmt::format("cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"", centre.x, centre.y, radius),
        title_of(title));
}

void Canvas::text(Point at, std::string_view words, const Look& look, std::string_view warning) {
  const std::string behind = warning.empty() ? "" : fmt::format("<tspan class=\"bad\">{}</tspan>", page_text(warning));
  shape("text", look, fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", at.x, at.y), page_text(words) + behind);
}

void Canvas::begin(std::string_view element, const Look& look, std::string_view title) {
  open(element, look);
  text_ += ">" + title_of(title);
  inside_.emplace_back(element);
}

void Canvas::end() {
  text_ += fmt::format("</{}>", inside_.back());
  inside_.pop_back();
  if (inside_.empty()) text_ += "\n";
}

std::string Canvas::markup() && { return std::move(text_) + "</svg>\n"; }

void Canvas::open(std::string_view element, const Look& look) {
  text_ += fmt::format("<{}", element);
  for (const auto& [name, value] : look) {
    if (!value.empty()) text_ += fmt::format(" {}=\"{}\"", name, page_text(value));
  }
}

void Canvas::shape(std::string_view element, const Look& look, const std::string& geometry, const std::string& inner) {
  open(element, look);
  text_ += " " + geometry + (inner.empty() ? "/>" : fmt::format(">{}</{}>", inner, element));
  if (inside_.empty()) text_ += "\n";
}

}  // namespace kasen
