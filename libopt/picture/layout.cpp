#include "libopt/picture/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "libopt/draw/page_text.h"

namespace kasen {
namespace {

using LayoutJson = nlohmann::json;
constexpr double points_an_inch = 72, character = 6.62;  // character: of an 11 pixel font with letters of one width
constexpr double margin = 12, frame_title = 18;

struct Extent {
  double width = 0, height = 0;
};

Extent extent_of(const PictureNode& node) {
  double widest = 0;
  for (const std::string& line : node.lines) widest = std::max(widest, line_width(line));
  for (const std::string& line : node.warnings) widest = std::max(widest, line_width(line));
  const double badge = node.badge.empty() ? 0 : line_width(node.badge) + 8;
  const double first = node.lines.empty() ? 0 : line_width(node.lines[0]) + badge;
  const size_t lines = node.lines.size() + node.warnings.size();
  return {std::max({widest, first, 30.0}) + 16, static_cast<double>(lines) * line_height + 9};
}

// ---- to Graphviz

class DotGraph {
 public:
  explicit DotGraph(const Picture& picture) : picture_(picture) {}

  std::string text() {
    const bool large = picture_.edges.size() > 150;
    text_ =
        "digraph g {\n  rankdir=TB; nodesep=0.2; ranksep=0.32; node [shape=box, fixedsize=true, label=\"\"]; "
        "edge [arrowsize=0.5];\n";
    if (large) text_ += "  nslimit=2; mclimit=0.5;\n";
    frame(-1);
    for (size_t e = 0; e < picture_.edges.size(); ++e) {
      const PictureEdge& edge = picture_.edges[e];
      text_ += fmt::format("  n{} -> n{}{};\n", edge.from, edge.to, edge.back ? " [constraint=false]" : "");
    }
    return text_ + "}\n";
  }

 private:
  // Writes its boxes and the frames in it. A table without text leaves space for the title.
  void frame(int number) {
    if (number >= 0) {
      const PictureFrame& f = picture_.frames[static_cast<size_t>(number)];
      text_ += fmt::format(
          "subgraph cluster_{} {{ margin=10; labeljust=l; label=<<TABLE BORDER=\"0\" FIXEDSIZE=\"TRUE\" "
          "WIDTH=\"{:.0f}\" HEIGHT=\"{:.0f}\"><TR><TD></TD></TR></TABLE>>;\n",
          number, line_width(f.title + f.warning) + 8, frame_title - 6);
    }
    for (size_t n = 0; n < picture_.nodes.size(); ++n) {
      if (picture_.nodes[n].frame != number) continue;
      const Extent extent = extent_of(picture_.nodes[n]);
      text_ += fmt::format("  n{} [width={:.4f}, height={:.4f}];\n", n, extent.width / points_an_inch,
                           extent.height / points_an_inch);
    }
    for (size_t f = 0; f < picture_.frames.size(); ++f) {
      if (picture_.frames[f].parent == number) frame(static_cast<int>(f));
    }
    if (number >= 0) text_ += "}\n";
  }

  const Picture& picture_;
  std::string text_;
};

// ---- and back

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    double number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec == std::errc() && std::isfinite(number)) numbers.push_back(number);
    at = read.ec == std::errc() ? read.ptr : at + 1;
  }
  return numbers;
}

class Placing {
 public:
  Placing(const LayoutJson& json, const Picture& picture) : picture_(picture) {
    const std::vector<double> box = numbers_in(json.at("bb").get<std::string>());
    placed_.width = box.at(2) + 2 * margin;
    height_ = box.at(3);
    placed_.height = height_ + 2 * margin;
    placed_.nodes.resize(picture.nodes.size());
    placed_.frames.resize(picture.frames.size());
    placed_.edges.resize(picture.edges.size());
    for (const LayoutJson& object : json.value("objects", LayoutJson::array())) place(object);
    for (const LayoutJson& edge : json.value("edges", LayoutJson::array())) route(edge);
  }

  [[nodiscard]] bool is_whole() const {
    const auto empty = [](const Rect& r) { return r.width <= 0; };
    return std::none_of(placed_.nodes.begin(), placed_.nodes.end(), empty);
  }
  Placed take() { return std::move(placed_); }

 private:
  [[nodiscard]] Point point(double x, double y) const { return {x + margin, height_ - y + margin}; }

  void place(const LayoutJson& object) {
    const auto name = object.at("name").get<std::string>();
    if (name.starts_with("cluster_")) {
      const std::vector<double> box = numbers_in(object.at("bb").get<std::string>());
      const Point corner = point(box.at(0), box.at(3));
      placed_.frames.at(std::stoul(name.substr(8))) = {corner.x, corner.y, box.at(2) - box.at(0),
                                                       box.at(3) - box.at(1)};
      return;
    }
    const size_t n = std::stoul(name.substr(1));
    const Extent extent = extent_of(picture_.nodes.at(n));
    const std::vector<double> at = numbers_in(object.at("pos").get<std::string>());
    const Point centre = point(at.at(0), at.at(1));
    placed_.nodes.at(n) = {centre.x - extent.width / 2, centre.y - extent.height / 2, extent.width, extent.height};
    by_id_[object.at("_gvid").get<int>()] = static_cast<int>(n);
  }

  // "e,x,y" is the end of the arrow's head; "s,x,y", its tail, does not occur here.
  void route(const LayoutJson& edge) {
    const int from = by_id_.at(edge.at("tail").get<int>()), to = by_id_.at(edge.at("head").get<int>());
    const auto at = std::find_if(picture_.edges.begin(), picture_.edges.end(),
                                 [&](const PictureEdge& e) { return e.from == from && e.to == to; });
    if (at == picture_.edges.end()) return;
    const std::vector<double> all = numbers_in(edge.at("pos").get<std::string>());
    std::vector<Point> points;
    for (size_t i = 2; i + 1 < all.size(); i += 2) points.push_back(point(all[i], all[i + 1]));
    if (points.size() < 4) return;
    points.push_back(point(all[0], all[1]));
    placed_.edges[static_cast<size_t>(at - picture_.edges.begin())] = std::move(points);
  }

  const Picture& picture_;
  double height_ = 0;
  Placed placed_;
  std::map<int, int> by_id_;
};

}  // namespace

double line_width(const std::string& text) { return character * static_cast<double>(text_width(text)); }

bool is_for_dot(const Picture& picture, std::size_t most) { return picture.edges.size() <= most; }

std::string dot_text(const std::vector<Picture>& pictures, std::size_t most) {
  std::string text;
  for (const Picture& picture : pictures) {
    if (is_for_dot(picture, most)) text += DotGraph(picture).text();
  }
  return text;
}

std::optional<std::vector<Placed>> read_placing(const std::string& json, const std::vector<Picture>& pictures,
                                                std::size_t most) {
  std::istringstream stream(json);
  std::vector<Placed> all;
  try {
    for (const Picture& picture : pictures) {
      if (!is_for_dot(picture, most)) {
        all.push_back(place_in_order(picture));
        continue;
      }
      LayoutJson graph;
      stream >> graph;
      Placing placing(graph, picture);
      if (!placing.is_whole()) return std::nullopt;
      all.push_back(placing.take());
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  } catch (const std::logic_error&) {  // a name or a number of another form
    return std::nullopt;
  }
  return all;
}

// Frames are indents. Lines run beside the boxes, the longer ones further out.
Placed place_in_order(const Picture& picture) {
  constexpr double indent = 18, gap = 12, least_bow = 14;
  Placed placed;
  placed.nodes.resize(picture.nodes.size());
  placed.frames.resize(picture.frames.size());
  std::vector<int> depth(picture.frames.size(), 1);
  for (size_t f = 0; f < picture.frames.size(); ++f) {
    if (picture.frames[f].parent >= 0) depth[f] = 1 + depth[static_cast<size_t>(picture.frames[f].parent)];
  }
  double y = margin, right = 0;
  std::vector<bool> open(picture.frames.size(), false);
  const auto enter = [&](auto&& self, int f) -> void {
    if (f < 0 || open[static_cast<size_t>(f)]) return;
    self(self, picture.frames[static_cast<size_t>(f)].parent);
    open[static_cast<size_t>(f)] = true;
    const double x = margin + indent * (depth[static_cast<size_t>(f)] - 1);
    const PictureFrame& frame = picture.frames[static_cast<size_t>(f)];
    placed.frames[static_cast<size_t>(f)] = {x, y, line_width(frame.title + frame.warning) + 20, 0};
    y += frame_title + 4;
  };
  for (const bool outside : std::array{true, false}) {
    for (size_t n = 0; n < picture.nodes.size(); ++n) {
      const PictureNode& node = picture.nodes[n];
      if ((node.style == "outside") != outside) continue;
      enter(enter, node.frame);
      const Extent extent = extent_of(node);
      const double x = margin + (node.frame < 0 ? 0 : indent * depth[static_cast<size_t>(node.frame)]);
      placed.nodes[n] = {x, y, extent.width, extent.height};
      y += extent.height + gap;
      right = std::max(right, x + extent.width);
      for (int f = node.frame; f >= 0; f = picture.frames[static_cast<size_t>(f)].parent) {
        Rect& rect = placed.frames[static_cast<size_t>(f)];
        rect.width = std::max(rect.width, x + extent.width + margin - rect.x);
        rect.height = y - gap / 2 - rect.y;
      }
    }
  }
  double beyond = right;
  for (const PictureEdge& edge : picture.edges) {
    const Rect& a = placed.nodes[static_cast<size_t>(edge.from)];
    const Rect& b = placed.nodes[static_cast<size_t>(edge.to)];
    const Point from{a.x + a.width, a.y + a.height / 2}, to{b.x + b.width, b.y + b.height / 2};
    const double bow = std::max(from.x, to.x) + least_bow + 6 * std::sqrt(std::abs(to.y - from.y));
    placed.edges.push_back({from, {bow, from.y}, {bow, to.y}, {to.x + 6, to.y}, to});
    beyond = std::max(beyond, bow);
  }
  placed.width = beyond + margin;
  placed.height = y + margin;
  return placed;
}

}  // namespace kasen
