#include "tools/go/go_report.h"

#include "libcore/json/report.h"

namespace kasen::tools {
namespace {

Json parsed(const std::string& report) { return report.empty() ? Json() : Json::parse(report); }

}  // namespace

std::string go_document(const GoFiles& files, const std::string& run, const std::string& comparison) {
  const bool reports = !comparison.empty();
  const auto of_report = [&](const char* name) { return reports ? Json(files.file(name)) : Json(); };
  Json json = new_report("go");
  json["files"] = {{"plan", files.file("plan.kir")},     {"bundle", files.file("bundle")},
                   {"fused", files.file("fused.kir")},   {"unfused", of_report("unfused.kir")},
                   {"counters", files.file("run.json")}, {"costs", of_report("report.txt")},
                   {"page", of_report("report.html")}};
  json["run"] = parsed(run);
  json["comparison"] = parsed(comparison);
  return report_document(json);
}

}  // namespace kasen::tools
