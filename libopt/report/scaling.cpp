#include "libopt/report/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libopt/text/report_parts.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

// The numbers for one number of workers.
struct Row {
  std::int64_t workers = 0, masters = 0, slaves = 0, entries = 0;
  std::int64_t most_masters = 0, most_slaves = 0, most_entries = 0;  // on one worker
  std::vector<std::optional<std::int64_t>> network;                  // an iteration of each outermost loop, then all
  std::vector<std::optional<PredictedTime>> times;
  double imbalance = 1;  // of the slowest worker, which has these times
};

std::int64_t most(const Sizes& sizes, const std::vector<Symbol>& symbols) {
  std::int64_t largest = 0;
  for (int worker = 0; worker < sizes.workers; ++worker) {
    std::int64_t here = 0;
    for (const Symbol& symbol : symbols) here += sizes.on_worker(worker, symbol);
    largest = std::max(largest, here);
  }
  return largest;
}

std::int64_t total(const Sizes& sizes, const std::vector<Symbol>& symbols) {
  std::int64_t sum = 0;
  for (const Symbol& symbol : symbols) sum += sizes.totals.at(symbol);
  return sum;
}

struct Counted {
  std::vector<Symbol> masters, slaves, entries;
};

// Finds the dimensions that are cut and used, and the sparse inputs.
Counted symbols_of(const Module& module, const Sizes& sizes) {
  Counted counted;
  for (const Dimension& dim : module.dims) {
    const Symbol masters{SymbolKind::size, dim.name, {}, -1}, slaves{SymbolKind::slaves, dim.name, {}, -1};
    if (dim.local || !sizes.totals.contains(masters)) continue;
    counted.masters.push_back(masters);
    counted.slaves.push_back(slaves);
  }
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::input && module.type(op.results[0]).sparse) {
      counted.entries.push_back({SymbolKind::entries, op.name, {}, -1});
    }
  }
  return counted;
}

std::vector<size_t> outermost(const CostReport& report) {
  std::vector<size_t> loops;
  for (size_t i = 0; i < report.loops.size(); ++i) {
    if (report.loops[i].parent < 0) loops.push_back(i);
  }
  return loops;
}

Row row_of(const Module& module, const Sizes& sizes, const MachineProfile& machine) {
  const ReportContext context(module, &sizes);
  const Counted counted = symbols_of(module, sizes);
  Row row;
  row.workers = sizes.workers;
  row.masters = total(sizes, counted.masters);
  row.slaves = total(sizes, counted.slaves);
  row.entries = total(sizes, counted.entries);
  row.most_masters = most(sizes, counted.masters);
  row.most_slaves = most(sizes, counted.slaves);
  row.most_entries = most(sizes, counted.entries);
  const PlanTimes times = predicted_times(module, &sizes, machine);
  row.imbalance = times.imbalance;
  for (const size_t i : outermost(context.report())) {
    row.network.push_back(context.value(context.report().loops[i].actual.network));
    row.times.push_back(times.iterations[i]);
  }
  row.network.push_back(context.value(context.report().actual.network));
  row.times.push_back(times.program);
  return row;
}

// The row of a point, and for an estimate also the rows of its bounds.
struct Line {
  Row row;
  std::optional<std::pair<Row, Row>> bounds;

  // Returns the number that `of` takes from a row, with the distance of the bounds.
  template <class Of>
  [[nodiscard]] std::string number(const Of& of) const {
    const std::optional<std::int64_t> value = of(row);
    if (!value) return "not known";
    if (!bounds) return grouped(*value);
    const auto low = of(bounds->first), high = of(bounds->second);
    return fmt::format("{} +- {}", grouped(*value), grouped(std::max(*value - *low, *high - *value)));
  }
};

std::string balance(std::int64_t most, std::int64_t all, std::int64_t workers) {
  if (all == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(most) * static_cast<double>(workers) / static_cast<double>(all));
}

std::string cut_table(const std::vector<Line>& lines) {
  std::vector<std::vector<std::string>> table{{"workers", "masters", "slaves", "entries", "largest worker:", "masters",
                                               "slaves", "entries", "balance of entries"}};
  for (const Line& line : lines) {
    const Row& row = line.row;
    table.push_back({grouped(row.workers), grouped(row.masters),
                     line.number([](const Row& r) { return std::optional(r.slaves); }), grouped(row.entries), "",
                     grouped(row.most_masters), line.number([](const Row& r) { return std::optional(r.most_slaves); }),
                     grouped(row.most_entries), balance(row.most_entries, row.entries, row.workers)});
  }
  return table_text(table);
}

std::string iteration_table(const std::vector<Line>& lines, size_t which) {
  std::vector<std::vector<std::string>> table{{"workers", "network bytes", "a worker", "predicted time", "memory",
                                               "computing", "imbalance", "network", "messages", "speed-up"}};
  const std::optional<PredictedTime>& first = lines.front().row.times[which];
  for (const Line& of : lines) {
    const Row& row = of.row;
    const auto& time = row.times[which];
    const auto share = [&](const Row& r) {
      return r.network[which] ? std::optional(*r.network[which] / r.workers) : std::nullopt;
    };
    std::vector<std::string> line{grouped(row.workers), of.number([&](const Row& r) { return r.network[which]; }),
                                  of.number(share)};
    if (time) {
      for (const double seconds : {time->sum(), time->memory, time->compute}) line.push_back(duration_text(seconds));
      line.push_back(fmt::format("{:.2f}", row.imbalance));
      for (const double seconds : {time->network, time->messages}) line.push_back(duration_text(seconds));
      line.push_back(first ? fmt::format("{:.2f}", first->sum() / time->sum()) : "");
    } else {
      line.emplace_back("not known");
    }
    table.push_back(std::move(line));
  }
  return table_text(table);
}

std::vector<Line> lines_of(const Module& module, const std::vector<ScalingPoint>& points,
                           const MachineProfile& machine) {
  std::vector<Line> lines;
  for (const ScalingPoint& point : points) {
    Line line{row_of(module, point.sizes, machine), {}};
    if (point.bounds) {
      line.bounds.emplace(row_of(module, point.bounds->first, machine), row_of(module, point.bounds->second, machine));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> titles(const Module& module) {
  const ReportContext context(module, nullptr);
  std::vector<std::string> texts;
  for (const size_t i : outermost(context.report())) {
    texts.push_back("an iteration of the " +
                    context.place(context.report().rows[static_cast<size_t>(context.report().loops[i].number)]));
  }
  texts.emplace_back("the whole program");
  return texts;
}

// One line of the plot. Points without a value (or 0, which has no logarithm) are left out.
struct PlotCurve {
  std::string name, color;
  std::vector<std::pair<double, double>> points;
};

constexpr double width = 640, height = 400, left = 60, right = 170, top = 30, bottom = 40;

class Plot {
 public:
  explicit Plot(const std::vector<PlotCurve>& curves) {
    for (const PlotCurve& curve : curves) {
      for (const auto& [x, y] : curve.points) {
        x0_ = std::min(x0_, std::log10(x));
        x1_ = std::max(x1_, std::log10(x));
        y0_ = std::min(y0_, std::floor(std::log10(y)));
        y1_ = std::max(y1_, std::ceil(std::log10(y)));
      }
    }
    if (x1_ <= x0_) x1_ = x0_ + 1;
    if (y1_ <= y0_) y1_ = y0_ + 1;
  }

  [[nodiscard]] double x(double value) const {
    return left + (std::log10(value) - x0_) / (x1_ - x0_) * (width - left - right);
  }
  [[nodiscard]] double y(double value) const {
    return height - bottom - (std::log10(value) - y0_) / (y1_ - y0_) * (height - top - bottom);
  }

  // Draws a named line for each power of ten.
  [[nodiscard]] std::string grid() const {
    std::string text;
    const int step = std::max(1, static_cast<int>(y1_ - y0_) / 10);
    for (int power = static_cast<int>(y0_); power <= static_cast<int>(y1_); power += step) {
      const double at = y(std::pow(10, power));
      text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", left, at,
                          width - right, at);
      text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">1e{}</text>\n", left - 6, at + 4, power);
    }
    return text;
  }

 private:
  double x0_ = INFINITY, x1_ = -INFINITY, y0_ = INFINITY, y1_ = -INFINITY;
};

std::string curve_text(const Plot& plot, const PlotCurve& curve, size_t place) {
  std::string path;
  for (const auto& [x, y] : curve.points) path += fmt::format("{:.1f},{:.1f} ", plot.x(x), plot.y(y));
  std::string text =
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, curve.color);
  for (const auto& [x, y] : curve.points) {
    text +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", plot.x(x), plot.y(y), curve.color);
  }
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", width - right + 10,
                            top + 18.0 * static_cast<double>(place + 1), curve.color, curve.name);
}

// Returns the curves of the first outermost loop.
std::vector<PlotCurve> curves_of(const std::vector<Line>& lines) {
  std::vector<PlotCurve> curves{
      {"slaves", "#1b6ca8", {}}, {"network bytes", "#c0392b", {}}, {"time, microseconds", "#27864a", {}}};
  for (const Line& line : lines) {
    const Row& row = line.row;
    const auto add = [&](PlotCurve& curve, double value) {
      if (value > 0) curve.points.emplace_back(static_cast<double>(row.workers), value);
    };
    add(curves[0], static_cast<double>(row.slaves));
    add(curves[1], static_cast<double>(row.network.front().value_or(0)));
    add(curves[2], row.times.front() ? row.times.front()->sum() * 1e6 : 0);
  }
  std::erase_if(curves, [](const PlotCurve& curve) { return curve.points.empty(); });
  return curves;
}

}  // namespace

std::string scaling_text(const Module& module, const std::vector<ScalingPoint>& points, const MachineProfile& machine) {
  const std::vector<Line> rows = lines_of(module, points, machine);
  std::string text =
      fmt::format("{} on {}: how it would be cut\n\n", module.name, points.front().sizes.origin) + cut_table(rows);
  const std::vector<std::string> names = titles(module);
  for (size_t i = 0; i < names.size(); ++i) {
    const bool whole_program = i + 1 == names.size();
    if (whole_program && i > 0 && !rows.front().row.times[i]) continue;  // its iterations are not known
    text +=
        fmt::format("\n{} (each worker a process: {})\n\n", names[i], machine_text(machine)) + iteration_table(rows, i);
  }
  return text;
}

std::string scaling_svg(const Module& module, const std::vector<ScalingPoint>& points, const MachineProfile& machine) {
  const std::vector<Line> rows = lines_of(module, points, machine);
  const std::vector<PlotCurve> curves = curves_of(rows);
  const Plot plot(curves);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  text += fmt::format("<text x=\"{}\" y=\"18\">{}: {}</text>\n", left, module.name, titles(module).front());
  if (!curves.empty()) text += plot.grid();
  for (size_t i = 0; i < curves.size(); ++i) text += curve_text(plot, curves[i], i);
  for (const Line& line : rows) {
    const Row& row = line.row;
    if (curves.empty()) break;
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                        plot.x(static_cast<double>(row.workers)), height - bottom + 18, row.workers);
  }
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">workers</text>\n</svg>\n",
                            (left + width - right) / 2, height - 6);
}

}  // namespace kasen
