#include <fmt/format.h>

#include "libcore/json/report.h"
#include "libopt/swap/report/serve.h"
#include "libopt/text/report_parts.h"

namespace kasen::swap {
namespace {

using Table = std::vector<std::vector<std::string>>;

std::string seconds_text(double seconds) { return fmt::format("{:.4g} s", seconds); }

std::string models_text(const std::vector<ServedModel>& models) {
  Table rows{{"models", "name", "alone", "cold", "partitioned", "parameters", "pool", "share"}};
  for (std::size_t first = 0, end = 0; first < models.size(); first = end) {
    const ServedModel& one = models[first];
    while (end < models.size() && models[end] == one) ++end;
    rows.push_back({fmt::format("{}", end - first), one.name, seconds_text(one.whole), seconds_text(one.cold),
                    seconds_text(one.in_share), short_bytes(static_cast<double>(one.stays)),
                    short_bytes(static_cast<double>(one.pool)), short_bytes(static_cast<double>(one.share))});
  }
  return table_text(rows);
}

Json served_json(const Served& one) {
  return {{"mean", one.mean},
          {"p50", one.p50},
          {"p99", one.p99},
          {"waiting", one.waiting},
          {"throughput", one.throughput},
          {"busy", one.busy},
          {"loads", one.loads}};
}

}  // namespace

std::string serve_text(const std::vector<ServedModel>& models, const ServeOptions& options,
                       const std::vector<ServedRate>& rates) {
  std::string text = fmt::format("{} models, memory {}, {} requests\n\n", models.size(),
                                 short_bytes(static_cast<double>(options.capacity)), grouped(options.requests));
  text += models_text(models) + "\n";
  Table rows{{"requests", "memory", "mean", "p50", "p99", "served", "busy", "loads"}};
  for (const ServedRate& rate : rates) {
    for (const Serving serving : servings) {
      const Served& one = rate.by[static_cast<std::size_t>(serving)];
      rows.push_back({fmt::format("{:g}/s", rate.rate), name_of(serving), seconds_text(one.mean), seconds_text(one.p50),
                      seconds_text(one.p99), fmt::format("{:.4g}/s", one.throughput), fmt::format("{:.3f}", one.busy),
                      grouped(one.loads)});
    }
  }
  return text + table_text(rows);
}

std::string serve_json(const std::vector<ServedModel>& models, const ServeOptions& options,
                       const std::vector<ServedRate>& rates) {
  Json json = new_report("serving");
  json["memory"] = options.capacity;
  json["requests"] = options.requests;
  for (const ServedModel& one : models)
    json["models"].push_back({{"name", one.name},
                              {"seconds", one.whole},
                              {"cold_seconds", one.cold},
                              {"partitioned_seconds", one.in_share},
                              {"load_seconds", one.load},
                              {"unload_seconds", one.unload},
                              {"parameter_bytes", one.stays},
                              {"pool_bytes", one.pool},
                              {"share_bytes", one.share}});
  for (const ServedRate& rate : rates) {
    Json by{{"rate", rate.rate}};
    for (const Serving serving : servings)
      by[name_of(serving)] = served_json(rate.by[static_cast<std::size_t>(serving)]);
    json["rates"].push_back(std::move(by));
  }
  return report_document(json, 1);
}

}  // namespace kasen::swap
