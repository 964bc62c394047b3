#include "libopt/tasks/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "libcore/ir/module.h"
#include "libcore/json/report.h"
#include "libopt/text/report_parts.h"

namespace kasen::tasks {
namespace {

const CostRow& row_of(const CostReport& report, int number) { return report.rows.at(static_cast<std::size_t>(number)); }

std::string sources_text(const TaskRow& row) {
  std::string text;
  for (const Source& source : row.from)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", source.worker, grouped(source.bytes));
  return text;
}

std::string operator_word(const CostReport& report, const TaskRow& row) {
  if (row.adds) return "add up";
  return fmt::format("{}{}", kasen::row(row_of(report, row.number).code).name, row.onto ? " onto" : "");
}

// "and 78 more"
std::string more_text(std::size_t all, std::size_t most, const char* whats) {
  if (all <= most) return {};
  return fmt::format("and {} more of {} {} (--format csv has all)\n", grouped(static_cast<std::int64_t>(all - most)),
                     grouped(static_cast<std::int64_t>(all)), whats);
}

Json task_json(const CostReport& report, const TaskRow& row) {
  Json json{{"task", row.task},
            {"operator", row_of(report, row.number).text},
            {"makes", row.makes},
            {"adds", row.adds},
            {"onto", row.onto},
            {"worker", row.worker},
            {"node", row.node},
            {"round", row.round + 1},
            {"made_bytes", row.made},
            {"read_bytes", row.read},
            {"written_bytes", row.written},
            {"copied_bytes", row.copied},
            {"from", Json::array()}};
  for (const Source& source : row.from) json["from"].push_back({{"worker", source.worker}, {"bytes", source.bytes}});
  return json;
}

Json worker_json(const WorkerLoad& load) {
  return {{"node", load.node},          {"tasks", load.tasks},
          {"read_bytes", load.read},    {"written_bytes", load.written},
          {"sent_bytes", load.sent},    {"received_bytes", load.received},
          {"block_bytes", load.blocks}, {"area_bytes", load.area}};
}

Json region_json(const CostReport& report, const RegionTasks& region) {
  Json json{{"number", region.number},
            {"operator", row_of(report, region.number).text},
            {"line", row_of(report, region.number).where.line},
            {"rounds", region.rounds},
            {"nodes", region.nodes},
            {"read_bytes", region.read},
            {"written_bytes", region.written},
            {"sent_bytes", region.sent},
            {"bytes_between_nodes", region.between_nodes}};
  for (const char* list : {"tasks", "handed_on", "workers", "curve"}) json[list] = Json::array();
  for (const TaskRow& row : region.tasks) json["tasks"].push_back(task_json(report, row));
  for (const HandedOn& block : region.handed_on)
    json["handed_on"].push_back(
        {{"block", block.block}, {"from", block.from}, {"to", block.to}, {"bytes", block.bytes}});
  for (const WorkerLoad& load : region.workers) json["workers"].push_back(worker_json(load));
  for (const CurvePoint& point : region.curve) {
    Json one{{"tasks", point.tasks}, {"nodes", Json::array()}};
    for (const NodeLoad& node : point.nodes)
      one["nodes"].push_back({{"memory", node.memory}, {"in", node.in}, {"out", node.out}});
    json["curve"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string region_title(const CostReport& report, const RegionTasks& region) {
  const CostRow& row = row_of(report, region.number);
  const std::string where = row.where.line > 0 ? fmt::format(" at line {}", row.where.line) : std::string();
  return fmt::format("region of blocks{}: {} tasks in {} rounds on {} workers of {} nodes", where,
                     grouped(std::ssize(region.tasks)), region.rounds, region.workers.size(), region.nodes);
}

std::string totals_text(const RegionTasks& region) {
  return fmt::format("Each execution reads {}, writes {}, and sends {} between workers, {} of them between nodes.",
                     bytes_text(region.read), bytes_text(region.written), bytes_text(region.sent),
                     bytes_text(region.between_nodes));
}

Rows worker_rows(const RegionTasks& region) {
  Rows rows{{"worker", "node", "tasks", "reads", "writes", "sends", "receives", "blocks", "area"}};
  int worker = 0;
  for (const WorkerLoad& load : region.workers) {
    rows.push_back({std::to_string(worker++), std::to_string(load.node), grouped(load.tasks), grouped(load.read),
                    grouped(load.written), grouped(load.sent), grouped(load.received), grouped(load.blocks),
                    grouped(load.area)});
  }
  return rows;
}

Rows task_rows(const CostReport& report, const RegionTasks& region, std::size_t most) {
  Rows rows{{"round", "task", "operator", "makes", "worker", "node", "reads", "writes", "from"}};
  for (std::size_t i = 0; i < std::min(most, region.tasks.size()); ++i) {
    const TaskRow& row = region.tasks[i];
    rows.push_back({std::to_string(row.round + 1), std::to_string(row.task), operator_word(report, row), row.makes,
                    std::to_string(row.worker), std::to_string(row.node), grouped(row.read), grouped(row.written),
                    sources_text(row)});
  }
  return rows;
}

Rows handed_on_rows(const RegionTasks& region, std::size_t most) {
  Rows rows{{"result", "from", "to", "bytes"}};
  for (std::size_t i = 0; i < std::min(most, region.handed_on.size()); ++i) {
    const HandedOn& block = region.handed_on[i];
    rows.push_back({block.block, std::to_string(block.from), std::to_string(block.to), grouped(block.bytes)});
  }
  return rows;
}

std::string tasks_text(const Module& module, const std::vector<RegionTasks>& regions) {
  const CostReport report = measure(module);
  std::string text;
  for (const RegionTasks& region : regions) {
    text += fmt::format("{}{}\n{}\n\n{}\n", text.empty() ? "" : "\n", region_title(report, region), totals_text(region),
                        table_text(worker_rows(region)));
    text += table_text(task_rows(report, region, most_shown)) + more_text(region.tasks.size(), most_shown, "tasks");
    if (region.handed_on.empty()) continue;
    text += fmt::format("\nbehind the last round, results go to their owners:\n{}{}",
                        table_text(handed_on_rows(region, most_shown)),
                        more_text(region.handed_on.size(), most_shown, "blocks"));
  }
  return text;
}

std::string tasks_json(const Module& module, const std::vector<RegionTasks>& regions) {
  const CostReport report = measure(module);
  Json json = new_report("tasks");
  json["program"] = module.name;
  json["regions"] = Json::array();
  for (const RegionTasks& region : regions) json["regions"].push_back(region_json(report, region));
  return report_document(json, 1);
}

std::string tasks_csv(const Module& module, const std::vector<RegionTasks>& regions) {
  const CostReport report = measure(module);
  std::string text = "region,round,task,operator,makes,worker,node,reads,writes,receives,from\n";
  for (const RegionTasks& region : regions) {
    for (const TaskRow& row : region.tasks) {
      std::string from;
      for (const Source& source : row.from)
        from += fmt::format("{}{}:{}", from.empty() ? "" : " ", source.worker, source.bytes);
      fmt::format_to(std::back_inserter(text), "{},{},{},{},\"{}\",{},{},{},{},{},{}\n", region.number, row.round + 1,
                     row.task, operator_word(report, row), row.makes, row.worker, row.node, row.read, row.written,
                     row.received(), from);
    }
    for (const HandedOn& block : region.handed_on) {
      const bool here = block.from == block.to;
      fmt::format_to(std::back_inserter(text), "{},{},,result,\"{}\",{},{},{},{},{},{}\n", region.number,
                     region.rounds + 1, block.block, block.to,
                     region.workers.at(static_cast<std::size_t>(block.to)).node, here ? block.bytes : 0,
                     here ? block.bytes : 0, here ? 0 : block.bytes,
                     here ? std::string() : fmt::format("{}:{}", block.from, block.bytes));
    }
  }
  return text;
}

}  // namespace kasen::tasks
