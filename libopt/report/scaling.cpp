#include "libopt/report/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/json/report.h"
#include "libopt/draw/plot.h"
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
  std::string method;
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
    if (sizes.totals.contains(slaves)) counted.slaves.push_back(slaves);
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

// A sample does not know the reach of reads, so that no row has it.
Row row_of(const Module& module, Sizes sizes, const MachineProfile& machine) {
  sizes.reaches.clear();
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
  const bool methods = !lines.front().row.method.empty();
  if (methods) table[0].insert(table[0].begin() + 1, "method");
  for (const Line& line : lines) {
    const Row& row = line.row;
    table.push_back({grouped(row.workers), grouped(row.masters),
                     line.number([](const Row& r) { return std::optional(r.slaves); }), grouped(row.entries), "",
                     grouped(row.most_masters), line.number([](const Row& r) { return std::optional(r.most_slaves); }),
                     grouped(row.most_entries), balance(row.most_entries, row.entries, row.workers)});
    if (methods) table.back().insert(table.back().begin() + 1, row.method);
  }
  return table_text(table);
}

std::string iteration_table(const std::vector<Line>& lines, size_t which) {
  std::vector<std::vector<std::string>> table{{"workers", "network bytes", "a worker", "predicted time", "memory",
                                               "computing", "imbalance", "network", "messages", "hidden", "speed-up"}};
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
      for (const double seconds : {time->network, time->messages, time->hidden}) line.push_back(duration_text(seconds));
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
    line.row.method = point.method;
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

template <class Of>
Json range_json(const Line& line, const Of& of) {
  if (!line.bounds) return {};
  const auto low = of(line.bounds->first), high = of(line.bounds->second);
  return low && high ? Json::array({*low, *high}) : Json();
}

// The costs of an iteration of each outermost loop, then of the whole program.
Json costs_json(const Line& line, const std::vector<std::string>& names) {
  Json json = Json::array();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto& network = line.row.network[i];
    json.push_back({{"what", names[i]},
                    {"network_bytes", network ? Json(*network) : Json()},
                    {"network_bytes_between", range_json(line, [&](const Row& r) { return r.network[i]; })},
                    {"time", time_json(line.row.times[i])}});
  }
  return json;
}

// One quantity with its unit, of the first outermost loop.
struct PlottedPart {
  const char *title, *unit;
  double (*of)(const Row& row);
};
constexpr std::array<PlottedPart, 3> plotted{{
    {"slaves on all workers", "slaves", [](const Row& row) { return static_cast<double>(row.slaves); }},
    {"sent between workers", "MB",
     [](const Row& row) { return static_cast<double>(row.network.front().value_or(0)) / 1e6; }},
    {"predicted time", "ms", [](const Row& row) { return row.times.front() ? row.times.front()->sum() * 1e3 : 0; }},
}};

// A series for each method; what has no place on a logarithmic axis is left out.
Plot plot_of(const PlottedPart& quantity, const std::vector<Line>& lines) {
  Plot plot{.title = quantity.title, .x_name = "workers", .y_name = quantity.unit};
  plot.log_x = plot.log_y = true;
  for (const Line& line : lines) {
    const auto workers = static_cast<double>(line.row.workers);
    if (std::find(plot.x_ticks.begin(), plot.x_ticks.end(), workers) == plot.x_ticks.end())
      plot.x_ticks.push_back(workers);
    const std::string name = line.row.method.empty() ? "as the bundle is cut" : line.row.method;
    auto series =
        std::find_if(plot.series.begin(), plot.series.end(), [&](const PlotSeries& of) { return of.name == name; });
    if (series == plot.series.end()) series = plot.series.insert(series, {name, {}});
    PlotMark mark{workers, quantity.of(line.row)};
    if (line.bounds) {
      mark.low = quantity.of(line.bounds->first);
      mark.high = quantity.of(line.bounds->second);
    }
    series->marks.push_back(mark);
  }
  return plot;
}

bool has_marks(const Plot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(), [](const PlotSeries& series) {
    return std::any_of(series.marks.begin(), series.marks.end(), [](const PlotMark& mark) { return mark.y > 0; });
  });
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

std::string scaling_json(const Module& module, const std::vector<ScalingPoint>& points, const MachineProfile& machine) {
  Json json = new_report("scaling");
  json["program"] = module.name;
  json["origin"] = points.front().sizes.origin;
  json["machine"] = machine_text(machine);
  json["points"] = Json::array();
  const std::vector<std::string> names = titles(module);
  for (const Line& line : lines_of(module, points, machine)) {
    const Row& row = line.row;
    json["points"].push_back(
        {{"workers", row.workers},
         {"masters", row.masters},
         {"slaves", row.slaves},
         {"slaves_between", range_json(line, [](const Row& r) { return std::optional(r.slaves); })},
         {"entries", row.entries},
         {"most_masters", row.most_masters},
         {"most_slaves", row.most_slaves},
         {"most_slaves_between", range_json(line, [](const Row& r) { return std::optional(r.most_slaves); })},
         {"most_entries", row.most_entries},
         {"imbalance", row.imbalance},
         {"costs", costs_json(line, names)}});
  }
  return report_document(json);
}

std::string scaling_svg(const Module& module, const std::vector<ScalingPoint>& points, const MachineProfile& machine) {
  const std::vector<Line> rows = lines_of(module, points, machine);
  std::vector<Plot> plots;
  for (const PlottedPart& quantity : plotted) {
    Plot plot = plot_of(quantity, rows);
    if (has_marks(plot)) plots.push_back(std::move(plot));
  }
  return plots_svg(fmt::format("{}: {}", module.name, titles(module).front()), std::move(plots));
}

}  // namespace kasen
