#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "libopt/draw/canvas.h"
#include "libopt/draw/scale.h"
#include "libopt/picture/streams.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

constexpr double width = 1100, left = 110, right = 30, lane_height = 22, lane_gap = 8, top = 34, title_height = 24,
                 plot_height = 130, axis_height = 46;
constexpr double least_gap = 2;            // of bars, in pixels
constexpr std::size_t most_titles = 200;   // of bars in a lane
constexpr std::size_t most_points = 1000;  // of the curve: as many as pixels can show

struct LaneKind {
  StreamKind kind;
  std::string_view name, style, colour;
};
constexpr std::array<LaneKind, 3> lane_kinds{{{StreamKind::operators, "operators", "operators", "#2ca02c"},
                                              {StreamKind::disk_read, "disk read", "disk-read", "#1f77b4"},
                                              {StreamKind::disk_write, "disk write", "disk-write", "#d62728"}}};

// Spans that are drawn as one.
struct Bar {
  double begin = 0, end = 0, busy = 0;
  std::int64_t count = 0, bytes = 0;
  int number = -1;
  std::set<std::string> arrays;
};

// Of all streams of a kind, by time. Arrays may be read side by side.
std::vector<Bar> bars_of(const RunTimeline& timeline, StreamKind kind, double gap) {
  std::vector<std::pair<const TimeSpan*, const std::string*>> spans;
  for (const TimeStream& stream : timeline.streams) {
    for (const TimeSpan& span : stream.spans)
      if (stream.kind == kind) spans.emplace_back(&span, &stream.array);
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.first->begin < b.first->begin; });
  std::vector<Bar> bars;
  for (const auto& [span, array] : spans) {
    const bool apart = bars.empty() || span->begin - bars.back().end >= gap ||
                       (span->number != bars.back().number && span->end - bars.back().begin >= gap);
    if (apart) bars.push_back({span->begin, span->end, 0, 0, 0, span->number, {}});
    Bar& bar = bars.back();
    bar.end = std::max(bar.end, span->end);
    bar.busy = std::min(bar.busy + span->busy, bar.end - bar.begin);
    bar.count += span->count;
    bar.bytes += span->bytes;
    if (bar.number != span->number) bar.number = -1;
    if (!array->empty()) bar.arrays.insert(*array);
  }
  return bars;
}

std::string moment_text(double seconds) {
  return std::abs(seconds) < 1 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

class StreamsDrawing {
 public:
  StreamsDrawing(const StreamsPicture& picture, bool in_page)
      : picture_(picture), framed_(!in_page), x_(ScaleKind::linear, left, width - right) {
    x_.take(0);
    double end = 0, height = top;
    for (const StreamsPanel& panel : picture.panels) {
      end = std::max(end, panel.of->seconds);
      height += panel_height(panel);
    }
    x_.take(end > 0 ? end : 1);
    x_.close();
    gap_ = least_gap * end / (width - left - right);
    canvas_.emplace(in_page ? Canvas::in_page(width, height, picture.title, "curve")
                            : Canvas::as_file(width, height, picture.title));
  }

  std::string run() {
    canvas_->text({left, 22}, picture_.title, {{"class", "title"}, {"font-weight", "bold"}});
    double at = top;
    for (const StreamsPanel& panel : picture_.panels) {
      draw(panel, at);
      at += panel_height(panel);
    }
    return std::move(*canvas_).markup();
  }

 private:
  [[nodiscard]] static bool has(const RunTimeline& timeline, StreamKind kind) {
    return std::any_of(timeline.streams.begin(), timeline.streams.end(),
                       [&](const TimeStream& stream) { return stream.kind == kind; });
  }
  [[nodiscard]] static double panel_height(const StreamsPanel& panel) {
    double height = title_height + plot_height + axis_height;
    for (const LaneKind& lane : lane_kinds) height += has(*panel.of, lane.kind) ? lane_height + lane_gap : 0;
    return height;
  }

  void draw(const StreamsPanel& panel, double at) {
    canvas_->text({left, at + 14}, panel.title, {{"class", "key"}});
    at += title_height;
    for (const LaneKind& lane : lane_kinds) {
      if (!has(*panel.of, lane.kind)) continue;
      draw_lane(lane, *panel.of, at);
      at += lane_height + lane_gap;
    }
    draw_held(panel, at);
  }

  void draw_lane(const LaneKind& lane, const RunTimeline& timeline, double y) {
    canvas_->text({left - 10, y + lane_height * 0.68}, lane.name, {{"class", "mark"}});
    canvas_->begin("g", {{"class", fmt::format("stream {}", lane.style)}, {"fill", std::string(lane.colour)}});
    const std::vector<Bar> bars = bars_of(timeline, lane.kind, gap_);
    for (const Bar& bar : bars) {
      const double from = x_.place(bar.begin), to = std::max(x_.place(bar.end), from + 0.5);
      const double share = bar.end > bar.begin ? bar.busy / (bar.end - bar.begin) : 1;
      Canvas::Look look{{"stroke", "none"}};
      if (share < 0.995) look.emplace_back("fill-opacity", fmt::format("{:.2f}", 0.25 + 0.75 * share));
      if (bars.size() <= most_titles) canvas_->begin("g", {}, title_of(bar));
      canvas_->polyline({{from, y}, {to, y}, {to, y + lane_height}, {from, y + lane_height}}, look, true);
      if (bars.size() <= most_titles) canvas_->end();
    }
    canvas_->end();
  }

  [[nodiscard]] std::string title_of(const Bar& bar) const {
    std::string text = bar.count == 1 ? "" : fmt::format("{} together, ", bar.count);
    const auto number = static_cast<std::size_t>(std::max(bar.number, 0));
    if (bar.number >= 0 && number < picture_.operators.size()) text += picture_.operators[number] + ", ";
    if (!bar.arrays.empty()) text += fmt::format("{}, ", fmt::join(bar.arrays, ", "));
    if (bar.bytes > 0) text += fmt::format("{}, ", short_bytes(static_cast<double>(bar.bytes)));
    text += fmt::format("{} from {} on", moment_text(bar.end - bar.begin), moment_text(bar.begin));
    if (bar.busy < 0.995 * (bar.end - bar.begin)) text += fmt::format(", busy for {}", moment_text(bar.busy));
    return text;
  }

  void draw_held(const StreamsPanel& panel, double y) {
    const RunTimeline& timeline = *panel.of;
    Scale up(ScaleKind::linear, y + plot_height, y);
    up.take(0);
    up.take(1e-6);
    up.take(static_cast<double>(timeline.memory) / 1e6);
    for (const HeldAt& held : timeline.held) up.take(static_cast<double>(held.bytes) / 1e6);
    up.leave_room();
    draw_axes(*canvas_,
              {{left, y, width - left - right, plot_height}, x_, up, "seconds", "MB, " + panel.held, {}, framed_});
    if (timeline.memory > 0) {
      const double limit = up.place(static_cast<double>(timeline.memory) / 1e6);
      canvas_->begin("g", {{"class", "memory-limit"}}, "limit: " + bytes_text(timeline.memory));
      canvas_->line({left, limit}, {width - right, limit}, {{"stroke", "#d62728"}, {"stroke-dasharray", "6 4"}});
      canvas_->end();
    }
    canvas_->polyline(curve_of(timeline, up),
                      {{"class", "held"}, {"fill", "none"}, {"stroke", "#888888"}, {"stroke-width", "1.5"}});
  }

  [[nodiscard]] std::vector<Point> curve_of(const RunTimeline& timeline, const Scale& up) const {
    std::vector<Point> line;
    const std::size_t every = timeline.held.size() / most_points + 1;
    for (std::size_t i = 0; i < timeline.held.size(); i += every) {
      std::int64_t most = 0;
      for (std::size_t j = i; j < std::min(timeline.held.size(), i + every); ++j)
        most = std::max(most, timeline.held[j].bytes);
      const double at = x_.place(timeline.held[i].seconds);
      if (!line.empty()) line.push_back({at, line.back().y});
      line.push_back({at, up.place(static_cast<double>(most) / 1e6)});
    }
    if (!line.empty()) line.push_back({std::max(x_.place(timeline.seconds), line.back().x), line.back().y});
    return line;
  }

  const StreamsPicture& picture_;
  const bool framed_;
  Scale x_;
  double gap_ = 0;  // in seconds
  std::optional<Canvas> canvas_;
};

}  // namespace

std::string streams_svg(const StreamsPicture& picture, bool in_page) { return StreamsDrawing(picture, in_page).run(); }

}  // namespace kasen
