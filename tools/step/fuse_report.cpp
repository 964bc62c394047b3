#include "tools/step/fuse_report.h"

#include <algorithm>
#include <optional>

#include "libcore/ir/regions.h"
#include "libcore/json/report.h"
#include "libopt/options/pass.h"
#include "libopt/report/explain.h"
#include "libopt/report/report.h"

namespace kasen::tools {
namespace {

Json regions_json(const Module& plan) {
  Json json = Json::array();
  for_each_op(plan, [&](const Op& op, int number, int) {
    if (op.code != OpCode::region) return;
    json.push_back({{"number", number},
                    {"region", region_name(op.kind)},
                    {"line", op.where.line > 0 ? Json(op.where.line) : Json()},
                    {"operators", op.blocks.at(0).ops.size() - 1}});
  });
  return json;
}

int count_transitions(const Module& plan) {
  int count = 0;
  for_each_op(plan, [&](const Op& op, int, int) { count += row(op.code).group == OpGroup::transition ? 1 : 0; });
  return count;
}

}  // namespace

std::string fuse_document(const Module& plan, const FuseReport& report, const PlanNotes& notes,
                          const OptimizeOptions& options, LawChecker& laws) {
  const std::optional<Sizes> known = options.sizes ? std::optional(options.sizes(plan)) : std::nullopt;
  const Sizes* sizes = known ? &*known : nullptr;
  Json json = new_report("fusion");
  json["program"] = plan.name;
  json["level"] = plan.level;
  json["output"] = report.output;
  json["strategy"] = report.strategy;
  json["sync"] = report.sync;
  json["fitted_to"] = plan.fitted_to.empty() ? Json() : Json(plan.fitted_to);
  json["observed"] = report.observed;
  json["defaults"] = notes.defaults;
  json["regions"] = regions_json(plan);
  json["transitions"] = count_transitions(plan);
  json["buffers"] = plan.buffers.size();
  json["cost"] = Json::parse(report_json(plan, sizes, &options.machine));
  const bool explains = report.explains && report.tilings.is_null();
  json["explanation"] =
      explains ? explanation_json(explanation_of(plan, sizes, &notes, options.machine, laws)) : Json();
  json["tilings"] = report.tilings;
  return report_document(json);
}

std::string passes_document() {
  Json json = new_report("passes");
  json["passes"] = Json::array();
  for (const PassRow& pass : pass_rows())
    json["passes"].push_back({{"pass", pass.name}, {"steps", pass.steps}, {"does", pass.doc}, {"order", pass.why}});
  return report_document(json);
}

}  // namespace kasen::tools
