// One axis of a plot: where a number stands on the picture, and which numbers are written beside it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "libopt/draw/canvas.h"

namespace kasen {

enum class ScaleKind : std::uint8_t { linear, whole, logarithmic };  // `whole`: no ticks between whole numbers

class Scale {
 public:
  Scale(ScaleKind kind, double begin, double end) : kind_(kind), begin_(begin), end_(end) {}

  // First all that it has to hold (what it cannot show is left out), then one of the next three.
  void take(double value);
  void close();       // ends with what it holds
  void leave_room();  // some beyond what it holds; a linear one begins at 0
  void round_out();   // ends with whole steps; a linear one begins at 0 where that is near

  [[nodiscard]] double place(double value) const {
    return begin_ + (of(value) - least_) / (most_ - least_) * (end_ - begin_);
  }
  // Finite; for a logarithm also above 0.
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!is_log() || value > 0); }
  [[nodiscard]] bool has(double value) const;
  // Some six round numbers: 1, 2 or 5 times a power of ten apart; over decades their powers, and a few between.
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  [[nodiscard]] bool is_log() const { return kind_ == ScaleKind::logarithmic; }
  [[nodiscard]] double of(double value) const { return is_log() ? std::log10(value) : value; }

  ScaleKind kind_;
  double begin_, end_;                          // on the picture
  double least_ = INFINITY, most_ = -INFINITY;  // of the numbers that it holds, or of their logarithms
};

// Of a tick or beside a line.
[[nodiscard]] std::string number_text(double value);

// Both axes of a plot, around `paper`.
struct Axes {
  Rect paper;
  Scale x, y;
  std::string x_name, y_name;
  std::vector<double> x_ticks;  // empty: chosen
  bool framed = true;           // else it has lines across alone
};
void draw_axes(Canvas& canvas, const Axes& axes);

}  // namespace kasen
