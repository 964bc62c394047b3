// Loads of nodes over the tasks of a region.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "libopt/draw/canvas.h"
#include "libopt/draw/page_text.h"
#include "libopt/draw/scale.h"
#include "libopt/tasks/tables.h"

namespace kasen::tasks {
namespace {

constexpr double width = 760, left = 76, right = 110, top = 34, plot_height = 130, gap = 56, key_height = 16;
constexpr std::size_t longest_title = 90, most_keys = 8;

struct Quantity {
  const char* name;
  std::int64_t NodeLoad::*member;
};
constexpr std::array<Quantity, 3> quantities{
    {{"held, MB", &NodeLoad::memory}, {"received, MB", &NodeLoad::in}, {"sent, MB", &NodeLoad::out}}};
// Told apart by people with any colour vision; the page's style has both themes of them.
constexpr std::array<const char*, 4> colours{"#0072b2", "#009e73", "#cc79a7", "#d55e00"};

constexpr double panel_height = plot_height + gap;
constexpr double picture_height = top + panel_height * static_cast<double>(quantities.size());

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// Nodes beyond the colours have dashes.
Canvas::Look look_of(std::size_t node) {
  const std::size_t colour = node % colours.size(), turn = node / colours.size() % 3;
  return {{"class", fmt::format("load n{}", colour)},
          {"fill", "none"},
          {"stroke", colours.at(colour)},
          {"stroke-width", "1.6"},
          {"stroke-dasharray", turn == 0   ? ""
                               : turn == 1 ? "6 3"
                                           : "2 2"}};
}

std::string node_name(const RegionTasks& region, std::size_t node) {
  const bool each = static_cast<std::size_t>(region.nodes) == region.workers.size();
  return fmt::format("{} {}", each ? "worker" : "node", node);
}

void draw_panel(Canvas& canvas, const RegionTasks& region, const Quantity& quantity, double y, bool framed) {
  Scale across(ScaleKind::whole, left, width - right), up(ScaleKind::linear, y + plot_height, y);
  across.take(0);
  across.take(std::max(1.0, static_cast<double>(region.tasks.size())));
  across.close();
  up.take(0);
  up.take(1e-6);
  for (const CurvePoint& point : region.curve)
    for (const NodeLoad& node : point.nodes) up.take(megabytes(node.*quantity.member));
  up.leave_room();
  draw_axes(canvas, {{left, y, width - left - right, plot_height}, across, up, "tasks", quantity.name, {}, framed});
  for (std::size_t node = 0; node < static_cast<std::size_t>(region.nodes); ++node) {
    std::vector<Point> line;
    for (const CurvePoint& point : region.curve)
      line.push_back(
          {across.place(static_cast<double>(point.tasks)), up.place(megabytes(point.nodes[node].*quantity.member))});
    const std::int64_t last = region.curve.back().nodes[node].*quantity.member;
    canvas.begin("g", {}, fmt::format("{}: {:.6g} MB in the end", node_name(region, node), megabytes(last)));
    canvas.polyline(line, look_of(node));
    canvas.end();
  }
}

void draw_keys(Canvas& canvas, const RegionTasks& region, double y) {
  const auto nodes = static_cast<std::size_t>(region.nodes);
  for (std::size_t node = 0; node < std::min(nodes, most_keys); ++node) {
    const double at = y + key_height * static_cast<double>(node) + 8, x = width - right + 12;
    canvas.line({x, at}, {x + 18, at}, look_of(node));
    canvas.text({x + 24, at + 4}, node_name(region, node), {{"class", "key"}});
  }
  if (nodes > most_keys)
    canvas.text({width - right + 12, y + key_height * static_cast<double>(most_keys) + 12},
                fmt::format("and {} more", nodes - most_keys), {{"class", "key"}});
}

void draw_region(Canvas& canvas, const std::string& title, const RegionTasks& region, double y, bool framed) {
  canvas.text({left, y + 20}, clipped(title, longest_title), {{"class", "title"}, {"font-weight", "bold"}});
  draw_keys(canvas, region, y + top);
  double at = y + top;
  for (const Quantity& quantity : quantities) {
    draw_panel(canvas, region, quantity, at, framed);
    at += panel_height;
  }
}

}  // namespace

std::string curves_svg(const std::string& title, const RegionTasks& region, bool in_page) {
  Canvas canvas =
      in_page ? Canvas::in_page(width, picture_height, title, "curve") : Canvas::as_file(width, picture_height, title);
  draw_region(canvas, title, region, 0, !in_page);
  return std::move(canvas).markup();
}

std::string curves_file(const Module& module, const std::vector<RegionTasks>& regions) {
  const CostReport report = measure(module);
  Canvas canvas = Canvas::as_file(width, picture_height * static_cast<double>(std::max<std::size_t>(1, regions.size())),
                                  module.name + ": tasks of regions of blocks");
  double y = 0;
  for (const RegionTasks& region : regions) {
    draw_region(canvas, region_title(report, region), region, y, true);
    y += picture_height;
  }
  return std::move(canvas).markup();
}

}  // namespace kasen::tasks
