#include "tools/experiment/means.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "libopt/text/report_parts.h"
#include "tools/common/csv.h"

namespace kasen::tools {
namespace {

std::vector<std::string> labels_left(const Summary& summary) {
  const std::vector<std::string>& over = summary.experiment->mean_over;
  std::vector<std::string> left;
  for (const std::string& label : summary.matrix->varied)
    if (std::find(over.begin(), over.end(), label) == over.end()) left.push_back(label);
  return left;
}

// A number, nan or an infinity; nothing of truth values and of what a point lacks.
std::optional<double> number_of(const PointSummary& point, const std::string& output) {
  const auto found = point.outputs.find(output);
  if (found == point.outputs.end()) return std::nullopt;
  double number = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [at, fault] = std::from_chars(found->second.data(), end, number);
  return fault == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

// The outputs that are a number at some point.
std::set<std::string> numeric_outputs(const Summary& summary) {
  std::set<std::string> names;
  for (const PointSummary& point : summary.points)
    for (const auto& [name, text] : point.outputs)
      if (number_of(point, name)) names.insert(name);
  return names;
}

void add_point(MeanGroup& group, const PointSummary& point) {
  ++group.points;
  for (OutputMean& output : group.outputs) {
    const std::optional<double> number = number_of(point, output.name);
    output.whole = output.whole && number;
    if (number) output.values.push_back(*number);
  }
}

Json json_number(double number) {
  return std::isfinite(number) ? Json(number) : Json(std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
}

}  // namespace

double OutputMean::mean() const {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double OutputMean::deviation() const {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double middle = mean();
  const double squares = std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
    return sum + (value - middle) * (value - middle);
  });
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<MeanGroup> means_of(const Summary& summary) {
  if (summary.experiment->mean_over.empty()) return {};
  const std::set<std::string> names = numeric_outputs(summary);
  std::vector<MeanGroup> groups;
  std::map<std::vector<std::string>, std::size_t> places;
  const std::vector<std::string> left = labels_left(summary);
  for (const PointSummary& point : summary.points) {
    const auto [place, added] = places.emplace(settings_of(*point.point, left), groups.size());
    if (added) {
      MeanGroup& group = groups.emplace_back(MeanGroup{.first = point.point, .outputs = {}});
      for (const std::string& name : names) group.outputs.push_back({.name = name, .values = {}});
    }
    add_point(groups[place->second], point);
  }
  return groups;
}

std::vector<std::vector<std::string>> mean_rows(const Summary& summary, int digits) {
  const std::vector<MeanGroup> groups = means_of(summary);
  if (groups.empty()) return {};
  const std::vector<std::string> left = labels_left(summary);
  std::vector<std::vector<std::string>> table(1, left);
  table[0].emplace_back("points");
  for (const OutputMean& output : groups.front().outputs)
    table[0].insert(table[0].end(), {"mean " + output.name, "deviation " + output.name});
  const auto shown = [&](double number) {
    return digits > 0 ? fmt::format("{:.{}g}", number, digits) : fmt::format("{}", number);
  };
  for (const MeanGroup& group : groups) {
    std::vector<std::string>& row = table.emplace_back(settings_of(*group.first, left));
    row.push_back(fmt::format("{}", group.points));
    for (const OutputMean& output : group.outputs) {
      const std::string none = digits > 0 ? "-" : "";
      row.push_back(output.whole ? shown(output.mean()) : none);
      row.push_back(output.whole && group.points > 1 ? shown(output.deviation()) : none);
    }
  }
  return table;
}

std::string means_table(const Summary& summary) {
  const std::vector<std::vector<std::string>> rows = mean_rows(summary, 6);
  if (rows.empty()) return {};
  return fmt::format("\nmeans over {}:\n{}", fmt::join(summary.experiment->mean_over, ", "), table_text(rows));
}

std::string means_csv(const Summary& summary) {
  std::string text;
  for (const std::vector<std::string>& row : mean_rows(summary, 0)) text += csv_line(row);
  return text;
}

Json means_json(const Summary& summary) {
  if (summary.experiment->mean_over.empty()) return {};
  Json json{{"over", summary.experiment->mean_over}, {"groups", Json::array()}};
  const std::vector<std::string> left = labels_left(summary);
  for (const MeanGroup& group : means_of(summary)) {
    Json settings = Json::object(), outputs = Json::array();
    const std::vector<std::string> texts = settings_of(*group.first, left);
    for (std::size_t k = 0; k < left.size(); ++k) settings[left[k]] = texts[k];
    for (const OutputMean& output : group.outputs)
      outputs.push_back({{"name", output.name},
                         {"mean", output.whole ? json_number(output.mean()) : Json()},
                         {"deviation", output.whole && group.points > 1 ? json_number(output.deviation()) : Json()}});
    json["groups"].push_back({{"settings", settings}, {"points", group.points}, {"outputs", outputs}});
  }
  return json;
}

}  // namespace kasen::tools
