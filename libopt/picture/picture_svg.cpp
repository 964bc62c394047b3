#include <fmt/format.h>

#include <cmath>

#include "libopt/picture/page.h"

namespace kasen {
namespace {

// What the page's script asks of a box or frame: its operator, and the line of the program. Without a key there is no
// page around it.
Canvas::Look group_look(const std::string& style, int number, int line, const std::string& key, bool named = true) {
  if (key.empty()) return {{"class", style}};
  const std::string op = number >= 0 ? fmt::format("{}{}", key, number) : "";
  return {{"class", style},
          {"id", named ? op : ""},
          {"data-op", op},
          {"data-line", line > 0 ? fmt::format("{}", line) : ""}};
}

void draw_frame(Canvas& canvas, const PictureFrame& frame, const Rect& rect, const std::string& key) {
  const bool named = frame.style != "branch";  // a branch's operator is the box that joins both
  const std::string style = fmt::format("frame {}{}", frame.style, frame.warning.empty() ? "" : " differs");
  canvas.begin("g", group_look(style, frame.number, frame.line, key, named), frame.about);
  canvas.rect(rect, 6);
  canvas.end();
}

void draw_node(Canvas& canvas, const PictureNode& node, const Rect& rect, const std::string& key) {
  const std::string link = key.empty()     ? ""
                           : node.unfold   ? fmt::format("#{}{}-inside", key, node.number)
                           : node.line > 0 ? fmt::format("#L{}", node.line)
                                           : "";
  const std::string style = fmt::format("node {}{}", node.style, node.warnings.empty() ? "" : " differs");
  if (!link.empty()) canvas.begin("a", {{"href", link}});
  canvas.begin("g", group_look(style, node.number, node.line, key), node.title);
  canvas.rect(rect, node.style.find("shared") != std::string::npos ? 12 : 4);
  Point at{rect.x + 8, rect.y + 15};
  const auto write = [&](const std::string& line, const std::string& line_style) {
    canvas.text(at, line, {{"class", line_style}});
    at.y += line_height;
  };
  for (const std::string& line : node.lines) write(line, &line == node.lines.data() ? "name" : "");
  for (const std::string& line : node.warnings) write(line, "bad");
  if (!node.badge.empty()) canvas.text({rect.x + rect.width - 6, rect.y + 15}, node.badge, {{"class", "badge"}});
  canvas.end();
  if (!link.empty()) canvas.end();
}

// A curve that ends in a small triangle at its last point.
void draw_edge(Canvas& canvas, const PictureEdge& edge, const std::vector<Point>& points) {
  if (points.size() < 5) return;
  const Point tip = points.back(), from = points[points.size() - 2];
  const double length = std::max(std::hypot(tip.x - from.x, tip.y - from.y), 0.1);
  constexpr double half = 2.6;
  const double x = half * (tip.x - from.x) / length, y = half * (tip.y - from.y) / length;
  canvas.begin("g", {{"class", fmt::format("edge{}{}", edge.network ? " network" : "", edge.back ? " back" : "")}});
  canvas.curve({points.begin(), points.end() - 1}, {});
  canvas.polyline({tip, {from.x - y, from.y + x}, {from.x + y, from.y - x}}, {{"class", "tip"}}, true);
  canvas.end();
}

void draw(Canvas& canvas, const Picture& picture, const Placed& placed, const std::string& key) {
  for (size_t f = 0; f < picture.frames.size(); ++f) draw_frame(canvas, picture.frames[f], placed.frames[f], key);
  for (size_t e = 0; e < picture.edges.size(); ++e) draw_edge(canvas, picture.edges[e], placed.edges[e]);
  for (size_t f = 0; f < picture.frames.size(); ++f) {  // titles over the arrows, which pass where they like
    const PictureFrame& frame = picture.frames[f];
    canvas.text({placed.frames[f].x + 8, placed.frames[f].y + 14}, frame.title,
                {{"class", "heading " + frame.style}, {"xml:space", "preserve"}}, frame.warning);
  }
  for (size_t n = 0; n < picture.nodes.size(); ++n) draw_node(canvas, picture.nodes[n], placed.nodes[n], key);
}

}  // namespace

std::string picture_svg(const Picture& picture, const Placed& placed, const std::string& key) {
  Canvas canvas = Canvas::in_page(placed.width, placed.height, picture.title, "ddag");
  draw(canvas, picture, placed, key);
  return std::move(canvas).markup();
}

void draw_picture(Canvas& canvas, const Picture& picture, const Placed& placed) { draw(canvas, picture, placed, {}); }

}  // namespace kasen
