#include "libcore/analysis/boxes.h"
#include "libcore/json/report.h"
#include "libopt/bounds/tables.h"
#include "libopt/cost/footprint.h"
#include "libopt/report/live_set.h"
#include "libopt/report/report.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

Json entry(const ReportContext& c, const Polynomial& polynomial) {
  Json json{{"formula", c.formula(polynomial)}};
  if (const auto value = c.value(polynomial)) {
    json["value"] = *value;
    if (c.is_most(polynomial)) json["at_most"] = true;
  } else if (const std::vector<std::string> names = c.lacks(polynomial); !names.empty()) {
    json["lacks"] = names;
  }
  return json;
}

Json cost_json(const ReportContext& c, const Column& column, const Cost& cost) {
  Json json = Json::object();
  const bool is_model = column.key == "model";
  for (const Measure& measure : measures()) {
    if (measure.model_only && !is_model) continue;
    json[measure.key] = entry(c, column.form(cost.*measure.part));
  }
  if (is_model) json["network_bytes_by_axis"] = entry(c, printed_form(cost.network));
  return json;
}

Json row_json(const ReportContext& c, const CostRow& row) {
  Json json{{"number", row.number}, {"operator", row.text}, {"state", row.state}, {"depth", row.depth}};
  if (row.where.line > 0) json["line"] = row.where.line;
  if (const std::string source = c.source_line(row.where); !source.empty()) json["source"] = source;
  if (row.loop >= 0) json["loop"] = row.loop;
  if (row.region >= 0) json["region"] = row.region;
  if (row.speculated) json["speculated"] = true;
  json["executions"] = entry(c, row.executions);
  for (const Column& column : report_columns()) {
    if (row.region < 0) json[column.key] = cost_json(c, column, row.*column.of_row);
  }
  return json;
}

Json loop_json(const ReportContext& c, const LoopCost& loop) {
  Json json{{"number", loop.number}};
  if (loop.where.line > 0) json["line"] = loop.where.line;
  json["trips"] = entry(c, loop.trips);
  if (loop.expected) json["expected"] = *loop.expected;
  for (const Column& column : report_columns()) json[column.key] = cost_json(c, column, loop.*column.of_loop);
  return json;
}

Json memory_json(const ReportContext& c) {
  const Footprint memory = footprint(c.module());
  Json json{{"buffers", entry(c, printed_form(memory.buffers))},
            {"matrices", entry(c, printed_form(memory.matrices))},
            {"inputs", entry(c, printed_form(memory.inputs))}};
  const auto live_form = largest_live_form(c.module(), [&](const Polynomial& form) { return c.value(form); });
  if (live_form) {
    json["live"] = entry(c, printed_form(live_form->bytes));
    json["gap"] = entry(c, printed_form(memory.buffers - live_form->bytes));
  }
  if (c.sizes() == nullptr || c.sizes()->by_worker.empty()) {
    json["not_counted"] = {"exchange", "lists", "generated_kernels"};
    return json;
  }
  const auto traffic = traffic_of_workers(c);
  const std::vector<LiveSet> live = largest_live_sets(c.module(), *c.sizes());
  Json workers = Json::array();
  for (const PartCount& part : predict_parts(c.module(), *c.sizes())) {
    workers.push_back({{"worker", part.worker},
                       {"buffer_bytes", part.buffer_bytes},
                       {"live_bytes", live.at(static_cast<size_t>(part.worker)).bytes},
                       {"exchange_bytes", part.exchange_bytes},
                       {"matrix_bytes", part.matrix_bytes},
                       {"input_bytes", part.input_bytes}});
    if (part.list_bytes >= 0) workers.back()["list_bytes"] = part.list_bytes;
    if (!traffic) continue;
    workers.back()["sent_bytes"] = traffic->sent.at(static_cast<size_t>(part.worker));
    workers.back()["received_bytes"] = traffic->received.at(static_cast<size_t>(part.worker));
  }
  json["workers"] = std::move(workers);
  json["generated_kernels_bytes"] = predict_kernel_bytes(c.module(), *c.sizes());
  return json;
}

Json module_json(const ReportContext& c, const MachineProfile* machine) {
  const CostReport& report = c.report();
  Json json{{"program", report.program}, {"level", report.level}, {"unplaced", report.unplaced}};
  if (!c.module().source_name.empty()) json["source"] = c.module().source_name;
  if (c.sizes() != nullptr) {
    Json sizes{{"origin", c.sizes()->origin}, {"values", Json::object()}, {"assumed", c.sizes()->notes}};
    for (const auto& [symbol, value] : c.sizes()->totals) {
      if (symbol.kind != SymbolKind::whole) sizes["values"][c.name(symbol)] = value;
    }
    json["sizes"] = std::move(sizes);
  }
  json["assumptions"] = assumptions_of(c.module());
  json["operators"] = Json::array();
  for (const CostRow& row : report.rows) json["operators"].push_back(row_json(c, row));
  json["loops"] = Json::array();
  for (const LoopCost& loop : report.loops) json["loops"].push_back(loop_json(c, loop));
  for (const Column& column : report_columns()) {
    json["program_" + column.key] = cost_json(c, column, report.*column.of_program);
  }
  json["memory"] = memory_json(c);
  if (Json bounds = bounds_json(c, machine); !bounds.is_null()) json["bounds"] = std::move(bounds);
  if (machine != nullptr) json["times"] = times_json(c.module(), c.sizes(), *machine);
  if (!names_nodes(c.module()) || c.sizes() == nullptr || c.sizes()->by_worker.empty()) return json;
  if (const auto traffic = traffic_of_workers(c)) json["network_between_nodes"] = traffic->between_nodes;
  return json;
}

}  // namespace

std::string report_json(const Module& module, const Sizes* sizes, const MachineProfile* machine) {
  Json report = new_report("cost");
  report.update(module_json(ReportContext(module, sizes), machine));
  return report_document(report);
}

std::string compare_json(const Measured& before, const Measured& after) {
  Json report = new_report("comparison");
  report["before"] = module_json(ReportContext(before.module, before.sizes), nullptr);
  report["after"] = module_json(ReportContext(after.module, after.sizes), nullptr);
  return report_document(report);
}

}  // namespace kasen
