#include "libopt/draw/scale.h"

#include <fmt/format.h>

#include <algorithm>

namespace kasen {
namespace {

// So that some six of them make the span.
double round_step(double span) {
  const double rough = span / 6, power = std::pow(10, std::floor(std::log10(rough)));
  return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
}

}  // namespace

void Scale::take(double value) {
  if (!shows(value)) return;
  least_ = std::min(least_, of(value));
  most_ = std::max(most_, of(value));
}

void Scale::close() {
  if (!(least_ <= most_)) least_ = most_ = 0;
  const double size = std::max(std::abs(least_), std::abs(most_));
  if (most_ - least_ <= 1e-9 * size) most_ = least_ + (is_log() ? 1 : std::max(size, 1.0));
}

void Scale::leave_room() {
  if (!is_log()) take(0);
  close();
  const double room = (most_ - least_) * 0.05;
  most_ += room;
  if (is_log()) least_ -= room;
}

void Scale::round_out() {
  if (!is_log() && least_ > 0 && least_ < most_ / 2) take(0);
  close();
  const double step = is_log() ? 1 : round_step(most_ - least_);
  least_ = std::floor(least_ / step) * step;
  most_ = std::max(std::ceil(most_ / step) * step, least_ + step);
}

bool Scale::has(double value) const {
  const double rounding = 1e-9 * (most_ - least_);
  return shows(value) && of(value) >= least_ - rounding && of(value) <= most_ + rounding;
}

std::vector<double> Scale::ticks() const {
  std::vector<double> ticks;
  const auto add = [&](double tick) {
    if (has(tick)) ticks.push_back(tick);
  };
  const double decades = most_ - least_;
  if (is_log() && decades >= 1) {
    // Where decades are few, what lies between, too: 1, 2 and 5 times, or 1 and 3.
    const std::vector<std::vector<double>> times{{1, 2, 5}, {1, 3}, {1}};
    const double step = std::max(1.0, std::ceil(decades / 8));
    for (double power = std::floor(least_); power <= most_; power += step) {
      for (const double t : times[decades < 3 ? 0 : decades < 5 ? 1 : 2]) add(t * std::pow(10, power));
    }
    return ticks;
  }
  const double low = is_log() ? std::pow(10, least_) : least_, high = is_log() ? std::pow(10, most_) : most_;
  const double step = std::max(round_step(high - low), kind_ == ScaleKind::whole ? 1.0 : 0.0);
  for (double k = std::floor(low / step); k <= high / step + 1; ++k) add(k == 0 ? 0 : k * step);
  return ticks;
}

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

void draw_axes(Canvas& canvas, const Axes& axes) {
  const Rect& paper = axes.paper;
  const double right = paper.x + paper.width, base = paper.y + paper.height;
  for (const double tick : axes.x_ticks.empty() ? axes.x.ticks() : axes.x_ticks) {
    if (!axes.x.has(tick)) continue;
    const double at = axes.x.place(tick);
    if (axes.framed) canvas.line({at, paper.y}, {at, base}, {{"class", "grid"}});
    canvas.text({at, base + 16}, number_text(tick), {{"class", "across"}});
  }
  for (const double tick : axes.y.ticks()) {
    const double at = axes.y.place(tick);
    canvas.line({paper.x, at}, {right, at}, {{"class", "grid"}});
    canvas.text({paper.x - 6, at + 4}, number_text(tick), {{"class", "mark"}});
  }
  if (axes.framed) canvas.polyline({{paper.x, paper.y}, {paper.x, base}, {right, base}}, {{"class", "axis"}});
  canvas.text({paper.x + paper.width / 2, base + 32}, axes.x_name, {{"class", "across"}});
  if (axes.y_name.empty()) return;
  const Point middle{16, paper.y + paper.height / 2};
  canvas.text(middle, axes.y_name,
              {{"class", "across"}, {"transform", fmt::format("rotate(-90 {:.1f} {:.1f})", middle.x, middle.y)}});
}

}  // namespace kasen
