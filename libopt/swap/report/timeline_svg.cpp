#include <fmt/format.h>

#include <algorithm>

#include "libopt/draw/canvas.h"
#include "libopt/draw/scale.h"
#include "libopt/swap/report/report.h"
#include "libopt/text/report_parts.h"

namespace kasen::swap {
namespace {

constexpr double width = 1100, left = 110, right = 30, lane_height = 26, lane_gap = 12, top = 50, plot_height = 170;
constexpr std::size_t most_steps = 2000;  // of the line of bytes: as many as pixels can show

// A stream's times. Neighbours that a pixel cannot tell apart are one bar.
struct Lane {
  std::string_view name, colour;
  std::vector<Span> spans;
};

void draw_lane(Canvas& canvas, const Lane& lane, const Scale& x, double y, double pixel) {
  canvas.text({left - 10, y + lane_height * 0.68}, lane.name, {{"text-anchor", "end"}});
  std::vector<Span> bars = lane.spans;
  std::sort(bars.begin(), bars.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  Span bar{0, -1};
  const auto draw = [&] {
    if (bar.end < bar.begin) return;
    const double from = x.place(bar.begin), to = std::max(x.place(bar.end), from + 0.5);
    canvas.polyline({{from, y}, {to, y}, {to, y + lane_height}, {from, y + lane_height}},
                    {{"fill", std::string(lane.colour)}, {"stroke", "none"}}, true);
  };
  for (const Span& one : bars) {
    if (bar.end >= bar.begin && one.begin - bar.end < pixel / 2) {
      bar.end = std::max(bar.end, one.end);
      continue;
    }
    draw();
    bar = one;
  }
  draw();
}

std::vector<Lane> lanes_of(const Found& found) {
  std::vector<Lane> lanes{
      {"moves in", "#1f77b4", {}}, {"operators", "#2ca02c", found.timeline.tasks}, {"moves out", "#d62728", {}}};
  for (std::size_t m = 0; m < found.plan.moves.size(); ++m)
    (found.plan.moves[m].in ? lanes[0] : lanes[2]).spans.push_back(found.timeline.moves[m]);
  return lanes;
}

void draw_held(Canvas& canvas, const std::vector<Held>& all, const Scale& x, const Scale& y, double end) {
  std::vector<Point> line;
  const std::size_t every = all.size() / most_steps + 1;
  for (std::size_t i = 0; i < all.size(); i += every) {
    std::int64_t most = 0;
    for (std::size_t j = i; j < std::min(all.size(), i + every); ++j) most = std::max(most, all[j].bytes);
    const double at = x.place(all[i].seconds), bytes = y.place(static_cast<double>(most) / 1e9);
    if (!line.empty()) line.push_back({at, line.back().y});
    line.push_back({at, bytes});
  }
  if (!line.empty()) line.push_back({x.place(end), line.back().y});
  canvas.polyline(line, {{"fill", "none"}, {"stroke", "#555555"}, {"stroke-width", "1.5"}});
}

}  // namespace

std::string timeline_svg(const TaskGraph& graph, const SearchOptions& options, const Found& found) {
  const std::string title =
      fmt::format("{} in {}: {:.4g} s, {:.3f} of ideal", graph.name, short_bytes(static_cast<double>(options.capacity)),
                  found.timeline.seconds, graph.seconds() / std::max(found.timeline.seconds, 1e-300));
  const std::vector<Lane> lanes = lanes_of(found);
  const double plot_top = top + static_cast<double>(lanes.size()) * (lane_height + lane_gap) + 10;
  Canvas canvas = Canvas::as_file(width, plot_top + plot_height + 60, title);
  canvas.text({left, 28}, title, {{"font-weight", "bold"}});
  Scale x(ScaleKind::linear, left, width - right), y(ScaleKind::linear, plot_top + plot_height, plot_top);
  const std::vector<Held> bytes = held(graph, found.plan, found.timeline);
  x.take(0);
  x.take(found.timeline.seconds);
  x.close();
  y.take(0);
  y.take(static_cast<double>(options.capacity) / 1e9);
  for (const Held& one : bytes) y.take(static_cast<double>(one.bytes) / 1e9);
  y.leave_room();
  const double pixel = found.timeline.seconds / (width - left - right);
  double lane_top = top;
  for (const Lane& lane : lanes) {
    draw_lane(canvas, lane, x, lane_top, pixel);
    lane_top += lane_height + lane_gap;
  }
  draw_axes(canvas, {{left, plot_top, width - left - right, plot_height}, x, y, "seconds", "GB held", {}, true});
  const double limit = y.place(static_cast<double>(options.capacity) / 1e9);
  canvas.line({left, limit}, {width - right, limit}, {{"stroke", "#d62728"}, {"stroke-dasharray", "6 4"}});
  draw_held(canvas, bytes, x, y, found.timeline.seconds);
  return std::move(canvas).markup();
}

}  // namespace kasen::swap
