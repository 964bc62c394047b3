// The results of an experiment in JSON.
#include "libcore/json/report.h"
#include "tools/experiment/means.h"
#include "tools/experiment/summary.h"

namespace kasen::tools {
namespace {

Json settings_of_point_json(const Point& point) {
  Json json = Json::object();
  for (const Setting& setting : point.settings) json[setting.label()] = setting.text;
  return json;
}

// Numbers of no run are not known.
Json point_json(const PointSummary& s) {
  Json json{{"settings", settings_of_point_json(*s.point)},
            {"runs", s.runs},
            {"failed", s.failed},
            {"differing", s.differing},
            {"seconds", s.seconds}};
  const bool ran = s.runs > 0;
  const auto of_runs = [&](const char* key, auto number) { json[key] = ran ? Json(number) : Json(); };
  of_runs("median_seconds", s.median);
  of_runs("mad_seconds", s.mad);
  of_runs("least_seconds", s.least);
  of_runs("most_seconds", s.most);
  json["iteration_median_seconds"] = s.iteration_median > 0 ? Json(s.iteration_median) : Json();
  json["speedup"] = s.speedup > 0 ? Json(s.speedup) : Json();
  of_runs("network_bytes", s.network_bytes);
  of_runs("held_bytes", s.held_all);
  of_runs("most_held_bytes", s.held);
  of_runs("peak_bytes", s.peak_bytes);
  json["outputs"] = Json::object();
  for (const auto& [name, text] : s.outputs) {
    const Json value = Json::parse(text, nullptr, false);
    json["outputs"][name] = value.is_number() || value.is_boolean() ? value : Json(text);
  }
  json["bytes"] = Json::array();
  for (const auto& [what, both] : s.bytes)
    json["bytes"].push_back({{"what", what}, {"predicted", both.first}, {"counted", both.second}});
  return json;
}

Json frame(const char* kind, const Experiment& experiment, const Matrix& matrix) {
  Json json = new_report(kind);
  json["name"] = experiment.name;
  json["folder"] = experiment.folder;
  json["repetitions"] = experiment.repetitions;
  json["varied"] = matrix.varied;
  json["left_out"] = matrix.left_out;
  json["points"] = Json::array();
  return json;
}

}  // namespace

std::string summary_json(const Summary& summary) {
  Json json = frame("experiment", *summary.experiment, *summary.matrix);
  for (const PointSummary& point : summary.points) json["points"].push_back(point_json(point));
  json["means"] = means_json(summary);
  return report_document(json);
}

std::string matrix_json(const Experiment& experiment, const Matrix& matrix) {
  Json json = frame("matrix", experiment, matrix);
  for (const Point& point : matrix.points) json["points"].push_back({{"settings", settings_of_point_json(point)}});
  return report_document(json);
}

}  // namespace kasen::tools
