#include <fmt/format.h>

#include <cmath>

#include "libopt/picture/page.h"
#include "libopt/picture/page_text.h"

namespace kasen {
namespace {

std::string about(const std::string& key, int number, int line) {
  std::string text;
  if (number >= 0) text += fmt::format(" data-op=\"{}{}\"", key, number);
  if (line > 0) text += fmt::format(" data-line=\"{}\"", line);
  return text;
}

std::string frame_svg(const PictureFrame& frame, const Rect& rect, const std::string& key) {
  const bool named = frame.style != "branch";  // a branch's operator is the box that joins both
  const std::string id = named ? fmt::format(" id=\"{}{}\"", key, frame.number) : "";
  const std::string about_it = frame.about.empty() ? "" : fmt::format("<title>{}</title>", page_text(frame.about));
  return fmt::format(
      "<g class=\"frame {}{}\"{}{}>{}<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"6\"/></g>\n",
      frame.style, frame.warning.empty() ? "" : " differs", id, about(key, frame.number, frame.line), about_it, rect.x,
      rect.y, rect.width, rect.height);
}

// Drawn over the arrows, which may pass anywhere.
std::string frame_title_svg(const PictureFrame& frame, const Rect& rect) {
  const std::string warning =
      frame.warning.empty() ? "" : fmt::format("<tspan class=\"bad\">{}</tspan>", page_text(frame.warning));
  return fmt::format("<text class=\"heading {}\" x=\"{:.1f}\" y=\"{:.1f}\" xml:space=\"preserve\">{}{}</text>\n",
                     frame.style, rect.x + 8, rect.y + 14, page_text(frame.title), warning);
}

std::string node_svg(const PictureNode& node, const Rect& rect, const std::string& key) {
  const std::string id = node.number >= 0 ? fmt::format(" id=\"{}{}\"", key, node.number) : "";
  const std::string link = node.unfold     ? fmt::format("#{}{}-inside", key, node.number)
                           : node.line > 0 ? fmt::format("#L{}", node.line)
                                           : "";
  std::string text = link.empty() ? "" : fmt::format("<a href=\"{}\">", link);
  text += fmt::format(
      "<g class=\"node {}\"{}{}><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"{}\"/>",
      node.style + (node.warnings.empty() ? "" : " differs"), id, about(key, node.number, node.line),
      page_text(node.title), rect.x, rect.y, rect.width, rect.height,
      node.style.find("shared") != std::string::npos ? 12 : 4);
  double y = rect.y + 15;
  const auto write = [&](const std::string& line, const char* style) {
    text += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", style, rect.x + 8, y, page_text(line));
    y += line_height;
  };
  for (const std::string& line : node.lines) write(line, &line == node.lines.data() ? " class=\"name\"" : "");
  for (const std::string& line : node.warnings) write(line, " class=\"bad\"");
  if (!node.badge.empty()) {
    text += fmt::format("<text class=\"badge\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", rect.x + rect.width - 6,
                        rect.y + 15, node.badge);
  }
  return text + "</g>" + (link.empty() ? "\n" : "</a>\n");
}

// A curve that ends in a small triangle at its last point.
std::string edge_svg(const PictureEdge& edge, const std::vector<Point>& points) {
  if (points.size() < 5) return {};
  std::string path = fmt::format("M{:.1f} {:.1f}C", points[0].x, points[0].y);
  for (size_t i = 1; i + 1 < points.size(); ++i) path += fmt::format("{:.1f} {:.1f} ", points[i].x, points[i].y);
  const Point tip = points.back(), from = points[points.size() - 2];
  const double length = std::max(std::hypot(tip.x - from.x, tip.y - from.y), 0.1);
  const double x = (tip.x - from.x) / length, y = (tip.y - from.y) / length;
  constexpr double half = 2.6;
  return fmt::format(
      "<g class=\"edge{}{}\"><path d=\"{}\"/><path class=\"tip\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} "
      "{:.1f}z\"/></g>\n",
      edge.network ? " network" : "", edge.back ? " back" : "", path.substr(0, path.size() - 1), tip.x, tip.y,
      from.x - half * y, from.y + half * x, from.x + half * y, from.y - half * x);
}

}  // namespace

std::string picture_svg(const Picture& picture, const Placed& placed, const std::string& key) {
  std::string text = fmt::format(
      "<svg class=\"ddag\" role=\"img\" aria-label=\"{}\" width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"0 0 {:.0f} "
      "{:.0f}\">\n",
      page_text(picture.title), placed.width, placed.height, placed.width, placed.height);
  for (size_t f = 0; f < picture.frames.size(); ++f) text += frame_svg(picture.frames[f], placed.frames[f], key);
  for (size_t e = 0; e < picture.edges.size(); ++e) text += edge_svg(picture.edges[e], placed.edges[e]);
  for (size_t f = 0; f < picture.frames.size(); ++f) text += frame_title_svg(picture.frames[f], placed.frames[f]);
  for (size_t n = 0; n < picture.nodes.size(); ++n) text += node_svg(picture.nodes[n], placed.nodes[n], key);
  return text + "</svg>\n";
}

}  // namespace kasen
