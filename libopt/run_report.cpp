#include "libopt/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "libcore/error.h"
#include "libopt/cost.h"
#include "libopt/json_text.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;
constexpr int format_version = 1;

// Names of counters and where they live: writer, reader and merge share the rows.
struct OpField {
  const char* key;
  std::int64_t OpCount::*member;
  bool summed;  // over ranks
};
constexpr OpField op_fields[] = {
    {"executions", &OpCount::executions, false},
    {"read_bytes", &OpCount::read_bytes, true},
    {"written_bytes", &OpCount::written_bytes, true},
    {"network_bytes", &OpCount::network_bytes, true},
    {"turns", &OpCount::turns, false},
};

struct PartField {
  const char* key;
  std::int64_t PartCount::*member;
};
constexpr PartField part_fields[] = {
    {"buffer_bytes", &PartCount::buffer_bytes},
    {"exchange_bytes", &PartCount::exchange_bytes},
    {"matrix_bytes", &PartCount::matrix_bytes},
    {"input_bytes", &PartCount::input_bytes},
};

struct TrafficField {
  const char* key;
  std::int64_t Traffic::*member;
};
constexpr TrafficField traffic_fields[] = {
    {"worker_bytes", &Traffic::worker_bytes},
    {"rank_bytes", &Traffic::rank_bytes},
    {"rank_messages", &Traffic::rank_messages},
};

struct RankField {
  const char* key;
  int RankCount::*member;
};
constexpr RankField rank_fields[] = {
    {"rank", &RankCount::rank}, {"first_worker", &RankCount::first_worker}, {"workers", &RankCount::workers}};

// JSON has no infinity and no NaN.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(); }
double or_nan(const Json& number) {
  return number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>();
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fault(const std::string& what) const {
    fail(ExitStatus::bad_input, what, "the file is not a run's counters, or it was edited",
         "write it with kasen run --stats", Location{file_, 0, 0});
  }

  template <class T>
  T get(const Json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fault(fmt::format("the key '{}' is missing", key));
    try {
      return object.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
      fault(fmt::format("the key '{}' has another type than expected", key));
    }
  }

  std::int64_t count(const Json& object, const char* key) const {
    if (object.is_object() && object.contains(key) && !object.at(key).is_number_integer()) {
      fault(fmt::format("the key '{}' is not a whole number", key));
    }
    return get<std::int64_t>(object, key);
  }

 private:
  std::string file_;
};

Json loops_json(const std::vector<LoopTurns>& loops) {
  Json json = Json::array();
  for (const LoopTurns& loop : loops) {
    Json entry{{"number", loop.number}, {"watched", loop.watched}, {"every", loop.every}, {"turns", Json::array()}};
    if (loop.limit) entry["limit"] = finite(*loop.limit);
    for (const TurnSample& t : loop.turns) entry["turns"].push_back({t.turn, finite(t.change), t.seconds});
    json.push_back(std::move(entry));
  }
  return json;
}

std::vector<LoopTurns> read_loops(const Json& json, const Reader& reader, size_t operators) {
  std::vector<LoopTurns> loops;
  for (const Json& entry : json) {
    LoopTurns& loop = loops.emplace_back();
    loop.number = static_cast<int>(reader.count(entry, "number"));
    if (loop.number < 0 || static_cast<size_t>(loop.number) >= operators) reader.fault("a loop is not an operator");
    loop.watched = reader.get<std::string>(entry, "watched");
    loop.every = reader.count(entry, "every");
    if (entry.contains("limit") && entry.at("limit").is_number()) loop.limit = reader.get<double>(entry, "limit");
    for (const Json& turn : reader.get<Json>(entry, "turns")) {
      if (!turn.is_array() || turn.size() != 3 || !turn[0].is_number_integer() || !turn[2].is_number() ||
          !(turn[1].is_null() || turn[1].is_number())) {
        reader.fault("a turn is not [number, change, seconds]");
      }
      loop.turns.push_back({turn[0].get<std::int64_t>(), or_nan(turn[1]), turn[2].get<double>()});
    }
  }
  return loops;
}

Json ranks_json(const std::vector<RankCount>& ranks) {
  Json json = Json::array();
  for (const RankCount& rank : ranks) {
    Json entry = Json::object();
    for (const RankField& field : rank_fields) entry[field.key] = rank.*field.member;
    entry["seconds"] = rank.seconds;
    entry["transition_seconds"] = rank.transition_seconds;
    entry["resident_bytes"] = rank.resident_bytes;
    json.push_back(std::move(entry));
  }
  return json;
}

std::vector<RankCount> read_ranks(const Json& json, const Reader& reader) {
  std::vector<RankCount> ranks;
  for (const Json& entry : json) {
    RankCount& rank = ranks.emplace_back();
    for (const RankField& field : rank_fields) rank.*field.member = static_cast<int>(reader.count(entry, field.key));
    rank.seconds = reader.get<double>(entry, "seconds");
    rank.transition_seconds = reader.get<double>(entry, "transition_seconds");
    rank.resident_bytes = reader.count(entry, "resident_bytes");
  }
  return ranks;
}

// What one process spent in gathers and scatters. One that a product makes itself counts as the product's.
RankCount rank_count(const Module& module, const RunResult& result) {
  RankCount rank;
  if (!result.parts.empty()) rank.first_worker = result.parts.front().worker;
  rank.workers = static_cast<int>(result.parts.size());
  rank.seconds = result.seconds;
  for_each_op(module, [&](const Op& op, int number, int) {
    if (row(op.code).group == OpGroup::transition) {
      rank.transition_seconds += result.ops.at(static_cast<size_t>(number)).seconds;
    }
  });
  return rank;
}

}  // namespace

RunReport make_run_report(const Module& module, const RunResult& result) {
  RunReport report;
  report.program = module.name;
  report.plan_digest = module_digest(module);
  report.ops = result.ops;
  report.parts = result.parts;
  report.traffic = result.traffic;
  report.kernel_bytes = result.kernel_bytes;
  report.late_allocations = result.late_allocations;
  report.seconds = result.seconds;
  report.workers = static_cast<int>(result.parts.size());
  report.by_rank = {rank_count(module, result)};
  return report;
}

void merge(RunReport& all, const RunReport& rank) {
  if (all.ops.size() != rank.ops.size()) throw InternalError("two ranks ran different plans");
  for (size_t i = 0; i < all.ops.size(); ++i) {
    for (const OpField& field : op_fields) {
      std::int64_t& sum = all.ops[i].*field.member;
      const std::int64_t other = rank.ops[i].*field.member;
      sum = field.summed ? sum + other : std::max(sum, other);
    }
    all.ops[i].seconds = std::max(all.ops[i].seconds, rank.ops[i].seconds);
  }
  all.parts.insert(all.parts.end(), rank.parts.begin(), rank.parts.end());
  std::sort(all.parts.begin(), all.parts.end(),
            [](const PartCount& a, const PartCount& b) { return a.worker < b.worker; });
  for (const TrafficField& field : traffic_fields) all.traffic.*field.member += rank.traffic.*field.member;
  all.kernel_bytes += rank.kernel_bytes;
  all.late_allocations += rank.late_allocations;
  all.seconds = std::max(all.seconds, rank.seconds);
  all.workers = static_cast<int>(all.parts.size());
  all.by_rank.insert(all.by_rank.end(), rank.by_rank.begin(), rank.by_rank.end());
  std::sort(all.by_rank.begin(), all.by_rank.end(),
            [](const RankCount& a, const RankCount& b) { return a.rank < b.rank; });
}

std::string run_report_json(const Module& module, const RunReport& report) {
  const CostReport cost = measure(module);
  Json json{{"kasen_run", format_version},
            {"program", report.program},
            {"plan_digest", report.plan_digest},
            {"bundle_digest", report.bundle_digest},
            {"workers", report.workers},
            {"ranks", report.ranks},
            {"threads", report.threads},
            {"kernels", report.kernels},
            {"seconds", report.seconds},
            {"kernel_bytes", report.kernel_bytes},
            {"late_allocations", report.late_allocations}};
  for (const TrafficField& field : traffic_fields) json["traffic"][field.key] = report.traffic.*field.member;
  json["operators"] = Json::array();
  for (size_t i = 0; i < report.ops.size(); ++i) {
    Json op{{"number", i}};
    if (i < cost.rows.size()) op["operator"] = cost.rows[i].text;
    if (i < cost.rows.size() && cost.rows[i].where.line > 0) op["line"] = cost.rows[i].where.line;
    for (const OpField& field : op_fields) op[field.key] = report.ops[i].*field.member;
    op["seconds"] = report.ops[i].seconds;
    json["operators"].push_back(std::move(op));
  }
  json["parts"] = Json::array();
  for (const PartCount& part : report.parts) {
    Json entry{{"worker", part.worker}};
    for (const PartField& field : part_fields) entry[field.key] = part.*field.member;
    json["parts"].push_back(std::move(entry));
  }
  json["by_rank"] = ranks_json(report.by_rank);
  json["loops"] = loops_json(report.loops);
  return json_text(json) + '\n';
}

RunReport read_run_report(const std::string& text, const std::string& file) {
  const Reader reader(file);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) reader.fault("this is not JSON");
  const std::int64_t version = reader.count(json, "kasen_run");
  if (version != format_version) {
    fail(ExitStatus::bad_input, fmt::format("counters of version {} are not known", version),
         fmt::format("this tool reads version {}", format_version), "use the tools of one release",
         Location{file, 0, 0});
  }
  RunReport report;
  report.program = reader.get<std::string>(json, "program");
  report.plan_digest = reader.get<std::string>(json, "plan_digest");
  report.bundle_digest = reader.get<std::string>(json, "bundle_digest");
  report.workers = static_cast<int>(reader.count(json, "workers"));
  report.ranks = static_cast<int>(reader.count(json, "ranks"));
  report.threads = static_cast<int>(reader.count(json, "threads"));
  report.kernels = reader.get<std::string>(json, "kernels");
  report.seconds = reader.get<double>(json, "seconds");
  report.kernel_bytes = reader.count(json, "kernel_bytes");
  report.late_allocations = reader.count(json, "late_allocations");
  for (const TrafficField& field : traffic_fields) {
    report.traffic.*field.member = reader.count(reader.get<Json>(json, "traffic"), field.key);
  }
  for (const Json& entry : reader.get<Json>(json, "operators")) {
    OpCount& op = report.ops.emplace_back();
    if (reader.count(entry, "number") + 1 != static_cast<std::int64_t>(report.ops.size())) {
      reader.fault("the operators are not numbered 0, 1, 2, ...");
    }
    for (const OpField& field : op_fields) op.*field.member = reader.count(entry, field.key);
    op.seconds = reader.get<double>(entry, "seconds");
  }
  for (const Json& entry : reader.get<Json>(json, "parts")) {
    PartCount& part = report.parts.emplace_back();
    part.worker = static_cast<int>(reader.count(entry, "worker"));
    for (const PartField& field : part_fields) part.*field.member = reader.count(entry, field.key);
  }
  if (json.contains("by_rank")) report.by_rank = read_ranks(json.at("by_rank"), reader);
  if (json.contains("loops")) report.loops = read_loops(json.at("loops"), reader, report.ops.size());
  return report;
}

// FNV-1a: enough to tell plans apart, and the same on every machine.
std::string module_digest(const Module& module) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : print_module(module, false)) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace kasen
