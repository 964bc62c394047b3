// A picture as SVG. No other code writes an element of SVG: coordinates are rounded and texts escaped here alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kasen {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
};

class Canvas {
 public:
  // Names and values; one without a value is left out.
  using Look = std::vector<std::pair<std::string_view, std::string>>;

  // Within a page, whose style colours what is of class `style` (libopt/picture/page_style.cpp has both themes).
  static Canvas in_page(double width, double height, const std::string& title, const std::string& style);
  // A file of its own. It is drawn on white paper, so that it can be read in either theme.
  static Canvas as_file(double width, double height, const std::string& title);

  // `title` is what a shape says when it is pointed at.
  void line(Point from, Point to, const Look& look);
  void polyline(const std::vector<Point>& points, const Look& look, bool closed = false);
  // Bezier curves: a point, then three for each piece.
  void curve(const std::vector<Point>& points, const Look& look);
  void rect(const Rect& rect, double radius);
  void circle(Point centre, double radius, const Look& look, std::string_view title = {});
  // `warning` stands behind the words, of class "bad".
  void text(Point at, std::string_view words, const Look& look = {}, std::string_view warning = {});
  // All that follows is inside of this element, "g" or "a", up to its end().
  void begin(std::string_view element, const Look& look, std::string_view title = {});
  void end();

  [[nodiscard]] std::string markup() &&;

 private:
  Canvas(double width, double height, const Look& look);
  void open(std::string_view element, const Look& look);
  void shape(std::string_view element, const Look& look, const std::string& geometry, const std::string& inner = {});

  std::string text_;
  std::vector<std::string> inside_;  // elements that are begun
};

}  // namespace kasen
