// One axis of a plot: the position of a number on the picture, and the numbers written beside the axis.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "libopt/draw/canvas.h"

namespace kasen {

enum class ScaleKind : std::uint8_t { linear, whole, logarithmic };  // `whole`: no ticks between integers

class Scale {
 public:
  Scale(ScaleKind kind, double begin, double end) : kind_(kind), begin_(begin), end_(end) {}

  // Call take() for all numbers first; numbers that it cannot show are left out. Then call one of the next three.
  void take(double value);
  void close();       // ends at the least and the largest number
  void leave_room();  // adds a margin; a linear axis begins at 0
  void round_out();   // ends at whole steps; a linear axis begins at 0 if that is near

  [[nodiscard]] double place(double value) const {
    return begin_ + (of(value) - least_) / (most_ - least_) * (end_ - begin_);
  }
  // Finite; for a logarithm also above 0.
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!is_log() || value > 0); }
  [[nodiscard]] bool has(double value) const;
  // Returns about six round numbers, 1, 2 or 5 times a power of ten apart. Over decades: powers of ten, and a few
  // between.
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  [[nodiscard]] bool is_log() const { return kind_ == ScaleKind::logarithmic; }
  [[nodiscard]] double of(double value) const { return is_log() ? std::log10(value) : value; }

  ScaleKind kind_;
  double begin_, end_;                          // on the picture
  double least_ = INFINITY, most_ = -INFINITY;  // of the numbers, or of their logarithms
};

// The text of a tick, or beside a line.
[[nodiscard]] std::string number_text(double value);

// Both axes of a plot, around `paper`.
struct Axes {
  Rect paper;
  Scale x, y;
  std::string x_name, y_name;
  std::vector<double> x_ticks;  // empty: chosen
  bool framed = true;           // else only horizontal lines
};
void draw_axes(Canvas& canvas, const Axes& axes);

}  // namespace kasen
