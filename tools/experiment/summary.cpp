#include "tools/experiment/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libopt/text/report_parts.h"
#include "tools/common/csv.h"

namespace kasen::tools {
namespace {

// All settings but the parallel one.
std::string others(const Point& point, const std::string& parallel) {
  std::string text;
  for (const Setting& setting : point.settings) {
    if (setting.label() != parallel) text += fmt::format("{}={}\n", setting.label(), setting.text);
  }
  return text;
}

void add_run(PointSummary& s, const Json& row, std::vector<double>& iterations) {
  if (row.at("status") != "done") {
    ++s.failed;
    return;
  }
  ++s.runs;
  if (!row.at("agrees").get<bool>()) ++s.differing;
  s.seconds.push_back(row.at("seconds").get<double>());
  for (const Json& iteration : row.at("turn_seconds")) iterations.push_back(iteration.get<double>());
  s.peak_bytes = std::max(s.peak_bytes, row.at("peak_bytes").get<std::int64_t>());
  s.held_all = 0;
  for (const Json& held : row.at("held_bytes")) {
    s.held = std::max(s.held, held.get<std::int64_t>());
    s.held_all += held.get<std::int64_t>();
  }
  for (const auto& [what, both] : row.at("bytes").items())
    s.bytes[what] = {both.at("predicted").get<std::int64_t>(), both.at("counted").get<std::int64_t>()};
  s.outputs.clear();
  if (row.contains("outputs"))
    for (const auto& [name, value] : row["outputs"].items())
      s.outputs[name] = value.is_string() ? value.get<std::string>() : value.dump();
  if (const auto network = s.bytes.find("network bytes"); network != s.bytes.end())
    s.network_bytes = network->second.second;
}

void finish(PointSummary& s, const std::vector<double>& iterations) {
  if (s.seconds.empty()) return;
  s.median = median(s.seconds);
  std::vector<double> distances;
  for (const double seconds : s.seconds) distances.push_back(std::abs(seconds - s.median));
  s.mad = median(distances);
  const auto [least, most] = std::minmax_element(s.seconds.begin(), s.seconds.end());
  s.least = *least;
  s.most = *most;
  s.iteration_median = iterations.empty() ? 0 : median(iterations);
}

std::string parallel_setting(const Matrix& matrix) {
  for (const char* name : {"workers", "ranks", "threads"}) {
    if (std::find(matrix.varied.begin(), matrix.varied.end(), name) != matrix.varied.end()) return name;
  }
  return {};
}

std::string agreement_word(const PointSummary& s) { return s.runs == 0 ? "-" : s.differing > 0 ? "differs" : "equal"; }

std::string seconds_text(double seconds) { return fmt::format("{:.6f}", seconds); }

const Setting* labelled(const Point& point, const std::string& label) {
  const auto found = std::find_if(point.settings.begin(), point.settings.end(),
                                  [&](const Setting& setting) { return setting.label() == label; });
  return found == point.settings.end() ? nullptr : &*found;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Summary summarize(const Experiment& experiment, const Matrix& matrix, const Rows& rows,
                  const std::vector<std::string>& digests) {
  Summary summary{&experiment, &matrix, parallel_setting(matrix), {}};
  std::map<std::string, double> first;  // median of the first point of each group
  for (size_t i = 0; i < matrix.points.size(); ++i) {
    PointSummary& s = summary.points.emplace_back();
    s.point = &matrix.points[i];
    std::vector<double> iterations;
    for (int repetition = 0; repetition < experiment.repetitions; ++repetition) {
      if (const Json* row = rows.find(digests[i], repetition)) add_run(s, *row, iterations);
    }
    finish(s, iterations);
    if (summary.parallel.empty() || s.runs == 0) continue;
    const double before = first.try_emplace(others(*s.point, summary.parallel), s.median).first->second;
    s.speedup = s.median > 0 ? before / s.median : 0;
  }
  return summary;
}

std::vector<std::string> settings_of(const Point& point, const std::vector<std::string>& labels) {
  std::vector<std::string> texts;
  for (const std::string& label : labels) {
    const Setting* setting = labelled(point, label);
    texts.push_back(setting == nullptr ? "-" : setting->text);
  }
  return texts;
}

namespace {

// The names of the scalar outputs of all points.
std::set<std::string> outputs_of(const Summary& summary) {
  std::set<std::string> names;
  for (const PointSummary& s : summary.points)
    for (const auto& [name, value] : s.outputs) names.insert(name);
  return names;
}

std::string output_of(const PointSummary& s, const std::string& name, const char* none) {
  const auto value = s.outputs.find(name);
  return value == s.outputs.end() ? none : value->second;
}

// With six digits, as in tables of results.
std::string shown_output(const PointSummary& s, const std::string& name) {
  const std::string text = output_of(s, name, "-");
  const Json value = Json::parse(text, nullptr, false);
  return value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : text;
}

}  // namespace

std::vector<std::vector<std::string>> summary_rows(const Summary& summary) {
  const std::vector<std::string>& varied = summary.matrix->varied;
  std::vector<std::vector<std::string>> table(1, varied);
  auto& head = table.front();
  head.insert(head.end(), {"runs", "median s", "MAD s", "min s", "max s", "turn ms"});
  if (!summary.parallel.empty()) head.emplace_back("speed-up");
  head.insert(head.end(), {"network bytes", "most held", "peak", "check"});
  const std::set<std::string> outputs = outputs_of(summary);
  head.insert(head.end(), outputs.begin(), outputs.end());
  for (const PointSummary& s : summary.points) {
    auto& row = table.emplace_back(settings_of(*s.point, varied));
    row.push_back(s.failed > 0 ? fmt::format("{}, {} failed", s.runs, s.failed) : fmt::format("{}", s.runs));
    for (const double seconds : {s.median, s.mad, s.least, s.most})
      row.push_back(s.runs > 0 ? seconds_text(seconds) : "-");
    row.push_back(s.iteration_median > 0 ? fmt::format("{:.3f}", s.iteration_median * 1e3) : "-");
    if (!summary.parallel.empty()) row.push_back(s.speedup > 0 ? fmt::format("{:.2f}", s.speedup) : "-");
    for (const std::int64_t bytes : {s.network_bytes, s.held, s.peak_bytes})
      row.push_back(s.runs > 0 ? grouped(bytes) : "-");
    row.push_back(agreement_word(s));
    for (const std::string& name : outputs) row.push_back(shown_output(s, name));
  }
  return table;
}

std::string summary_table(const Summary& summary) { return table_text(summary_rows(summary)); }

std::string summary_csv(const Summary& summary) {
  std::vector<std::string> labels;
  for (const PointSummary& s : summary.points) {
    for (const Setting& setting : s.point->settings) {
      if (std::find(labels.begin(), labels.end(), setting.label()) == labels.end()) labels.push_back(setting.label());
    }
  }
  std::vector<std::string> names;
  for (const PointSummary& s : summary.points) {
    for (const auto& [name, both] : s.bytes) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& label : labels) text += csv_cell(label) + ',';
  text += "runs,failed,median_s,mad_s,min_s,max_s,turn_median_s,speedup,held_bytes,most_held_bytes,peak_bytes,check";
  for (const std::string& name : names) text += fmt::format(",\"{0}, predicted\",\"{0}, counted\"", name);
  const std::set<std::string> outputs = outputs_of(summary);
  for (const std::string& name : outputs) text += ',' + csv_cell("output " + name);
  text += '\n';
  for (const PointSummary& s : summary.points) {
    for (const std::string& label : labels) {
      const Setting* setting = labelled(*s.point, label);
      text += (setting == nullptr ? "" : csv_cell(setting->text)) + ',';
    }
    text += fmt::format("{},{},", s.runs, s.failed);
    for (const double number : {s.median, s.mad, s.least, s.most, s.iteration_median, s.speedup})
      text += s.runs > 0 ? fmt::format("{},", number) : ",";
    text += s.runs > 0 ? fmt::format("{},{},{},", s.held_all, s.held, s.peak_bytes) : ",,,";
    text += agreement_word(s);
    for (const std::string& name : names) {
      const auto both = s.bytes.find(name);
      text += both == s.bytes.end() ? ",," : fmt::format(",{},{}", both->second.first, both->second.second);
    }
    for (const std::string& name : outputs) text += ',' + csv_cell(output_of(s, name, ""));
    text += '\n';
  }
  return text;
}

}  // namespace kasen::tools
