// The positions of a picture's boxes: as Graphviz places them, or one below another in the order of the program.
// Graphviz sees sizes and numbers alone, none of the program's text. Internal to libopt.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libopt/draw/canvas.h"
#include "libopt/picture/graph.h"

namespace kasen {

struct Placed {
  double width = 0, height = 0;
  std::vector<Rect> nodes, frames;
  std::vector<std::vector<Point>> edges;  // Bezier curves: a point, then three for each piece
};

// Pictures with more than `most` arrows are not for dot.
[[nodiscard]] bool is_for_dot(const Picture& picture, std::size_t most);
// Returns the pictures as graphs for `dot -Tjson0`, one after another, without those that are not for it.
[[nodiscard]] std::string dot_text(const std::vector<Picture>& pictures, std::size_t most);
// Reads the answer of dot. Returns nothing if it is not a placing of these pictures.
[[nodiscard]] std::optional<std::vector<Placed>> read_placing(const std::string& json,
                                                              const std::vector<Picture>& pictures, std::size_t most);
[[nodiscard]] Placed place_in_order(const Picture& picture);

// Returns the pixels of a line of text in the pictures' font.
[[nodiscard]] double line_width(const std::string& text);
inline constexpr double line_height = 14;

}  // namespace kasen
