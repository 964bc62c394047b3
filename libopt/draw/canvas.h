// A picture as SVG. No other code writes SVG elements: only this code rounds coordinates and escapes texts.
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
  // Names and values. Attributes without a value are left out.
  using Look = std::vector<std::pair<std::string_view, std::string>>;

  // Part of a page, whose style gives class `style` its colours (libopt/picture/page_style.cpp has both themes).
  static Canvas in_page(double width, double height, const std::string& title, const std::string& style);
  // A file of its own, light or dark as the reader's system is. `rules` are more rules of CSS, with colours of theme.h.
  static Canvas as_file(double width, double height, const std::string& title, std::string_view rules = {});

  // `title` is the text that appears when the pointer is on the shape.
  void line(Point from, Point to, const Look& look);
  void polyline(const std::vector<Point>& points, const Look& look, bool closed = false);
  // Bezier curves: a point, then three for each piece.
  void curve(const std::vector<Point>& points, const Look& look);
  void rect(const Rect& rect, double radius);
  void circle(Point centre, double radius, const Look& look, std::string_view title = {});
  // `warning` follows the words and has class "bad".
  void text(Point at, std::string_view words, const Look& look = {}, std::string_view warning = {});
  // Begins an element, "g" or "a". All elements up to its end() are inside it.
  void begin(std::string_view element, const Look& look, std::string_view title = {});
  void end();

  [[nodiscard]] std::string markup() &&;

 private:
  Canvas(double width, double height, const Look& look);
  void open(std::string_view element, const Look& look);
  void shape(std::string_view element, const Look& look, const std::string& geometry, const std::string& inner = {});

  std::string text_;
  std::vector<std::string> inside_;  // elements that are open
};

}  // namespace kasen
