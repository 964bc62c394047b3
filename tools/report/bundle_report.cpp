#include "tools/report/bundle_report.h"

#include "libcore/json/report.h"

namespace kasen::tools {
namespace {

Json dim_json(const DimStatistics& dim) {
  return {{"name", dim.name},
          {"size", dim.size},
          {"local", dim.local},
          {"whole", dim.whole},
          {"slaves", dim.slaves},
          {"masters_by_worker", dim.masters_by_worker},
          {"slaves_by_worker", dim.slaves_by_worker}};
}

Json matrix_json(const MatrixStatistics& m) {
  return {{"name", m.name},
          {"row_dim", m.row_dim},
          {"col_dim", m.col_dim},
          {"batches", m.batches},
          {"entries", m.entries},
          {"row_slaves", m.row_slaves},
          {"col_slaves", m.col_slaves},
          {"entries_by_worker", m.entries_by_worker},
          {"row_slaves_by_worker", m.row_slaves_by_worker},
          {"col_slaves_by_worker", m.col_slaves_by_worker},
          {"row_mirrors_by_worker", m.row_mirrors_by_worker},
          {"col_mirrors_by_worker", m.col_mirrors_by_worker}};
}

Json words_json(const Dictionary& dictionaries) {
  Json json = Json::array();
  for (const auto& [input, columns] : dictionaries)
    for (const auto& [number, column] : columns)
      json.push_back({{"input", input}, {"column", number}, {"name", column.name}, {"words", column.words.size()}});
  return json;
}

}  // namespace

Json bundle_report(const BundleInfo& info, const std::vector<KeptForm>& forms) {
  Json json = new_report("bundle");
  json["digest"] = info.digest;
  json["workers"] = info.workers;
  json["any_workers"] = info.any_workers;
  json["method"] = info.method;
  json["theta"] = info.theta;
  json["hash"] = info.hash;
  std::vector<std::string> notes = info.read_notes;
  notes.insert(notes.end(), info.notes.begin(), info.notes.end());
  json["notes"] = notes;
  json["sources"] = info.sources;
  for (const char* list : {"stored", "dims", "matrices", "forms"}) json[list] = Json::array();
  for (const auto& [array, table] : info.stored)
    json["stored"].push_back({{"array", array}, {"path", table.path}, {"bytes", table.bytes}});
  for (const DimStatistics& dim : info.statistics.dims) json["dims"].push_back(dim_json(dim));
  for (const MatrixStatistics& matrix : info.statistics.matrices) json["matrices"].push_back(matrix_json(matrix));
  for (const KeptForm& form : forms)
    json["forms"].push_back({{"form", form.text}, {"workers", form.workers}, {"bytes", form.bytes}});
  json["words"] = words_json(info.dictionaries);
  return json;
}

}  // namespace kasen::tools
