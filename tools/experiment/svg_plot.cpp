#include "tools/experiment/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasen::tools {
namespace {

constexpr double plot_width = 480, plot_height = 340, left = 76, top = 34, bottom = 48, legend = 350;
constexpr double row_height = 18;
constexpr size_t longest_name = 50;
// People with any colour vision can distinguish these (Okabe and Ito).
constexpr std::array<const char*, 7> colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#000000"};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text.substr(0, longest_name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else {
      safe += byte < 0x20 || byte >= 0x7f ? '?' : c;
    }
  }
  return text.size() > longest_name ? safe + ".." : safe;
}

// One axis, from numbers to positions on the page.
class Scale {
 public:
  Scale(bool logarithmic, double begin, double end) : log_(logarithmic), begin_(begin), end_(end) {}

  void take(double value) {
    least_ = std::min(least_, of(value));
    most_ = std::max(most_, of(value));
  }
  void take(const Scale& other) {
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
  }
  // Leaves room around the marks; a linear axis begins at 0.
  void close() {
    if (!(least_ <= most_)) least_ = most_ = 0;
    if (!log_) least_ = std::min(least_, 0.0);
    if (most_ - least_ < 1e-9) most_ = least_ + 1;
    const double room = (most_ - least_) * 0.05;
    most_ += room;
    if (log_) least_ -= room;
  }
  [[nodiscard]] double place(double value) const {
    return begin_ + (of(value) - least_) / (most_ - least_) * (end_ - begin_);
  }
  [[nodiscard]] bool has(double value) const {
    return (!log_ || value > 0) && std::isfinite(value) && of(value) >= least_ && of(value) <= most_;
  }
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

  [[nodiscard]] std::vector<double> ticks() const {
    if (log_ && most_ - least_ >= 1) return powers();
    std::vector<double> ticks;
    const double low = log_ ? std::pow(10, least_) : least_, high = log_ ? std::pow(10, most_) : most_;
    const double raw = (high - low) / 6, unit = std::pow(10, std::floor(std::log10(raw)));
    const double step = unit * (raw < 2 * unit ? 2 : raw < 5 * unit ? 5 : 10);
    for (double k = std::ceil(low / step); k * step <= high; ++k) ticks.push_back(k * step);
    return ticks;
  }

 private:
  // Powers of ten; where these are few, with values between them: 1, 2 and 5 times, or 1 and 3 times.
  [[nodiscard]] std::vector<double> powers() const {
    const double decades = most_ - least_, step = std::max(1.0, std::ceil(decades / 8));
    const std::vector<double> between = decades < 3   ? std::vector<double>{1, 2, 5}
                                        : decades < 5 ? std::vector<double>{1, 3}
                                                      : std::vector<double>{1};
    std::vector<double> ticks;
    for (double power = std::floor(least_); power <= most_; power += step) {
      for (const double times : between) ticks.push_back(times * std::pow(10, power));
    }
    return ticks;  // those outside are left out where they are drawn
  }

  [[nodiscard]] double of(double value) const { return log_ ? std::log10(value) : value; }
  bool log_;
  double begin_, end_, least_ = INFINITY, most_ = -INFINITY;
};

std::string tick_text(double value) {
  if (value != 0 && (std::abs(value) >= 1e4 || std::abs(value) < 1e-3)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.4g}", value);
}

class SvgPage {
 public:
  explicit SvgPage(Plot& plot)
      : plot_(plot), x_(plot.log_x, left, left + plot_width), y_(plot.log_y, top + plot_height, top) {
    for (PlotSeries& series : plot_.series) {
      std::erase_if(series.marks, [&](const PlotMark& mark) { return !x_.shows(mark.x) || !y_.shows(mark.y); });
      for (const PlotMark& mark : series.marks) {
        x_.take(mark.x);
        for (const double y : {mark.y, mark.low, mark.high}) {
          if (y_.shows(y)) y_.take(y);
        }
      }
    }
    if (plot_.square) {
      x_.take(y_);
      y_.take(x_);
    }
    x_.close();
    y_.close();
  }

  std::string text() {
    const double rows = row_height * static_cast<double>(plot_.series.size() + 1);
    const double height = std::max(top + plot_height + bottom, top + rows);
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        left + plot_width + legend, height, escaped(plot_.title));
    write(left, 20, "start", plot_.title, 14);
    axes();
    if (plot_.square) diagonal();
    for (size_t i = 0; i < plot_.series.size(); ++i) draw(plot_.series[i], i);
    return text_ + "</svg>\n";
  }

 private:
  void write(double x, double y, const char* anchor, const std::string& words, int size = 12,
             const std::string& more = {}) {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\"{}>{}</text>\n", x, y,
                         anchor, size, more, escaped(words));
  }

  void line(double x1, double y1, double x2, double y2, const std::string& color, const std::string& more = {}) {
    text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1, y1,
                         x2, y2, color, more);
  }

  void axes() {
    const double right = left + plot_width, base = top + plot_height;
    for (const double tick : plot_.x_ticks.empty() ? x_.ticks() : plot_.x_ticks) {
      if (!x_.has(tick)) continue;
      line(x_.place(tick), top, x_.place(tick), base, "#e4e4e4");
      write(x_.place(tick), base + 16, "middle", tick_text(tick));
    }
    for (const double tick : y_.ticks()) {
      if (!y_.has(tick)) continue;
      line(left, y_.place(tick), right, y_.place(tick), "#e4e4e4");
      write(left - 6, y_.place(tick) + 4, "end", tick_text(tick));
    }
    line(left, base, right, base, "#444");
    line(left, top, left, base, "#444");
    write(left + plot_width / 2, base + 36, "middle", plot_.x_name);
    const double middle = top + plot_height / 2;
    write(16, middle, "middle", plot_.y_name, 12, fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle));
  }

  // Both axes have one range.
  void diagonal() { line(left, top + plot_height, left + plot_width, top, "#999", " stroke-dasharray=\"5 4\""); }

  void draw(const PlotSeries& series, size_t place) {
    const std::string color = series.dashed ? "#999" : colors[place % colors.size()];
    if (series.line && series.marks.size() > 1) {
      std::string path;
      for (const PlotMark& mark : series.marks)
        path += fmt::format(" {:.1f},{:.1f}", x_.place(mark.x), y_.place(mark.y));
      text_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{}/>\n",
                           path.substr(1), color, series.dashed ? " stroke-dasharray=\"5 4\"" : "");
    }
    for (const PlotMark& mark : series.marks) {
      if (series.dashed) break;  // a series that is not measured has no marks
      const double x = x_.place(mark.x);
      if (mark.low != mark.high && y_.shows(mark.low) && y_.shows(mark.high))
        line(x, y_.place(mark.low), x, y_.place(mark.high), color);
      dot(x, y_.place(mark.y), place, color);
    }
    name(series, place, color);
  }

  // Where there are more series than colours, the next ones are hollow.
  void dot(double x, double y, size_t place, const std::string& color) {
    text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\" stroke=\"{}\"/>\n", x, y,
                         place / colors.size() % 2 == 0 ? color : "white", color);
  }

  // A row of the legend, with the line and the mark as they are drawn.
  void name(const PlotSeries& series, size_t place, const std::string& color) {
    const double at = top + row_height * static_cast<double>(place) + 12, x = left + plot_width + 14;
    text_ += "<g>\n";
    if (series.line)
      line(x, at - 4, x + 16, at - 4, color,
           series.dashed ? " stroke-width=\"1.5\" stroke-dasharray=\"5 4\"" : " stroke-width=\"1.5\"");
    if (!series.dashed) dot(x + 8, at - 4, place, color);
    write(x + 22, at, "start", series.name, 11);
    text_ += "</g>\n";
  }

  Plot& plot_;
  Scale x_, y_;
  std::string text_;
};

}  // namespace

std::string svg_text(Plot plot) { return SvgPage(plot).text(); }

}  // namespace kasen::tools
