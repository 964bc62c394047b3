#include "libopt/draw/canvas.h"

#include <fmt/format.h>

#include "libopt/draw/page_text.h"

namespace kasen {
namespace {

// The colours of a file; `.curve` of page_style.cpp has those of a page.
constexpr std::string_view file_style =
    "text{font:12px sans-serif}.title{font-size:14px}.key{font-size:11px}.mark{text-anchor:end}.across{text-anchor:"
    "middle}.paper{fill:#fff}.grid{stroke:#e4e4e4}.axis{fill:none;stroke:#444}.diagonal{stroke:#999;stroke-dasharray:5 "
    "4}";

std::string points_text(const std::vector<Point>& points, char first, char next) {
  std::string text;
  for (size_t i = 0; i < points.size(); ++i) {
    const char before = i == 0 ? first : i == 1 || next == 'L' ? next : ' ';
    text += fmt::format("{}{:.1f} {:.1f}", before, points[i].x, points[i].y);
  }
  return text;
}

}  // namespace

Canvas Canvas::in_page(double width, double height, const std::string& title, const std::string& style) {
  Canvas canvas;
  canvas.open("svg", {{"class", style}, {"role", "img"}, {"aria-label", title}});
  canvas.text_ +=
      fmt::format(" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n", width, height);
  return canvas;
}

Canvas Canvas::as_file(double width, double height, const std::string& title) {
  Canvas canvas;
  canvas.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"}});
  canvas.text_ += fmt::format(
      " width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n<title>{2}</title>\n<style>{3}</style>\n",
      width, height, page_text(title), file_style);
  canvas.rect({0, 0, width, height}, 0, {{"class", "paper"}});
  return canvas;
}

void Canvas::line(Point from, Point to, const Look& look) { polyline({from, to}, look); }

void Canvas::polyline(const std::vector<Point>& points, const Look& look, bool closed) {
  open("path", look);
  text_ += fmt::format(" d=\"{}{}\"", points_text(points, 'M', 'L'), closed ? "z" : "");
  close("path");
}

void Canvas::curve(const std::vector<Point>& points, const Look& look) {
  open("path", look);
  text_ += fmt::format(" d=\"{}\"", points_text(points, 'M', 'C'));
  close("path");
}

void Canvas::rect(const Rect& rect, double radius, const Look& look) {
  open("rect", look);
  text_ += fmt::format(" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", rect.x, rect.y, rect.width,
                       rect.height);
  if (radius > 0) text_ += fmt::format(" rx=\"{}\"", radius);
  close("rect");
}

void Canvas::circle(Point centre, double radius, const Look& look, std::string_view title) {
  open("circle", look);
  text_ += fmt::format(" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"", centre.x, centre.y, radius);
  close("circle", title);
}

void Canvas::text(Point at, std::string_view words, const Look& look, std::string_view warning) {
  open("text", look);
  text_ += fmt::format(" x=\"{:.1f}\" y=\"{:.1f}\">{}", at.x, at.y, page_text(words));
  if (!warning.empty()) text_ += fmt::format("<tspan class=\"bad\">{}</tspan>", page_text(warning));
  text_ += "</text>";
  line_end();
}

void Canvas::begin(std::string_view element, const Look& look, std::string_view title) {
  open(element, look);
  text_ += ">";
  if (!title.empty()) text_ += fmt::format("<title>{}</title>", page_text(title));
  inside_.emplace_back(element);
}

void Canvas::end() {
  text_ += fmt::format("</{}>", inside_.back());
  inside_.pop_back();
  line_end();
}

std::string Canvas::markup() && { return std::move(text_) + "</svg>\n"; }

void Canvas::open(std::string_view element, const Look& look) {
  text_ += fmt::format("<{}", element);
  for (const auto& [name, value] : look) {
    if (!value.empty()) text_ += fmt::format(" {}=\"{}\"", name, page_text(value));
  }
}

void Canvas::close(std::string_view element, std::string_view title) {
  text_ += title.empty() ? "/>" : fmt::format("><title>{}</title></{}>", page_text(title), element);
  line_end();
}

void Canvas::line_end() {
  if (inside_.empty()) text_ += "\n";
}

}  // namespace kasen
