#include "libopt/time/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "libcore/json/text.h"
#include "libopt/cost/cost.h"
#include "libopt/time/run_report_fields.h"
#include "libopt/time/timeline_json.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json loops_json(const std::vector<LoopIterations>& loops) {
  Json json = Json::array();
  for (const LoopIterations& loop : loops) {
    Json entry{{"number", loop.number}, {"watched", loop.watched}, {"every", loop.every}, {"turns", Json::array()}};
    if (loop.limit) entry["limit"] = finite(*loop.limit);
    for (const IterationSample& t : loop.iterations)
      entry["turns"].push_back({t.iteration, finite(t.change), t.seconds});
    json.push_back(std::move(entry));
  }
  return json;
}

template <class Words>
std::string_view word_of(const Words& words, SymbolKind kind) {
  return std::find_if(std::begin(words), std::end(words), [&](const KindWord& row) { return row.kind == kind; })->word;
}

// The first branch runs as often as its yield.
Json control_json(const Module& module, const std::vector<OpCount>& counts) {
  std::vector<std::pair<const Op*, int>> control;  // with its number
  std::map<const Op*, int> numbers;
  for_each_op(module, [&](const Op& op, int number, int) {
    numbers[&op] = number;
    const bool counted = op.code == OpCode::while_loop || op.code == OpCode::for_loop || op.code == OpCode::if_else;
    if (counted && op.where.line > 0) control.emplace_back(&op, number);
  });
  Json json = Json::array();
  for (const auto& [op, number] : control) {
    const bool branch = op->code == OpCode::if_else;
    const auto end = static_cast<std::size_t>(numbers.at(&op->blocks.at(0).ops.back()));
    const auto own = static_cast<std::size_t>(number);
    if (std::max(own, end) >= counts.size()) continue;
    Json entry{{"what", word_of(control_words, branch ? SymbolKind::taken : SymbolKind::trips)},
               {"line", op->where.line},
               {"column", op->where.column},
               {"executions", counts[own].executions},
               {"times", branch ? counts[end].executions : counts[own].iterations}};
    if (!op->where.file.empty() && op->where.file != module.source_name) entry["file"] = op->where.file;
    json.push_back(std::move(entry));
  }
  return json;
}

Json sizes_json(const Polynomial::Bindings& sizes) {
  Json json = Json::array();
  for (const auto& [symbol, number] : sizes) {
    Json entry{{"what", word_of(size_words, symbol.kind)}, {"name", symbol.name}, {"number", number}};
    if (!symbol.set.empty()) {  // of one axis
      entry["matrix"] = symbol.set.front().matrix;
      entry["axis"] = symbol.set.front().axis == Axis::rows ? "rows" : "cols";
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json ranks_json(const std::vector<RankCount>& ranks) {
  Json json = Json::array();
  for (const RankCount& rank : ranks) {
    Json entry = Json::object();
    for (const RankField& field : rank_fields) entry[field.key] = rank.*field.member;
    entry["seconds"] = rank.seconds;
    entry["transition_seconds"] = rank.transition_seconds;
    entry["resident_bytes"] = rank.resident_bytes;
    entry["preparing_seconds"] = rank.preparing_seconds;
    entry["loaded_forms"] = rank.loaded_forms;
    entry["made_forms"] = rank.made_forms;
    entry["made_kernels"] = rank.made_kernels;
    entry["kept_kernels"] = rank.kept_kernels;
    json.push_back(std::move(entry));
  }
  return json;
}

Json verified_json(const std::vector<VerifiedOutput>& outputs) {
  Json json = Json::array();
  for (const VerifiedOutput& output : outputs) {
    Json entry{{"output", output.output}};
    for (const VerifiedField& field : verified_fields) entry[field.key] = output.*field.member;
    entry["largest_difference"] = output.largest;
    entry["by_rounding"] = output.by_rounding;
    entry["not_verified"] = output.not_verified;
    json.push_back(std::move(entry));
  }
  return json;
}

Json choices_json(const std::vector<MadeChoice>& choices) {
  Json json = Json::array();
  for (const MadeChoice& made : choices) {
    Json entry = Json::object();
    for (const ChoiceField& field : choice_fields) entry[field.key] = made.*field.member;
    if (made.gain > 0) entry["gain"] = made.gain;
    json.push_back(std::move(entry));
  }
  return json;
}

// FNV-1a: enough to distinguish plans, and the same on every machine.
std::string digest_of_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return fmt::format("{:016x}", hash);
}

// Counts the time of one process in gathers and scatters. A product's own gather or scatter counts as the product's.
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
  report.source_digest = source_digest(module);
  report.ops = result.ops;
  report.lines = result.lines;
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
  for (size_t i = 0; i < std::min(all.lines.size(), rank.lines.size()); ++i) {
    all.lines[i].executions = std::max(all.lines[i].executions, rank.lines[i].executions);
    all.lines[i].seconds = std::max(all.lines[i].seconds, rank.lines[i].seconds);
  }
  all.parts.insert(all.parts.end(), rank.parts.begin(), rank.parts.end());
  std::sort(all.parts.begin(), all.parts.end(),
            [](const PartCount& a, const PartCount& b) { return a.worker < b.worker; });
  for (const TrafficField& field : traffic_fields) all.traffic.*field.member += rank.traffic.*field.member;
  all.kernel_bytes += rank.kernel_bytes;
  all.late_allocations += rank.late_allocations;
  all.seconds = std::max(all.seconds, rank.seconds);
  all.workers = static_cast<int>(all.parts.size());
  all.threads = std::max(all.threads, rank.threads);
  all.by_rank.insert(all.by_rank.end(), rank.by_rank.begin(), rank.by_rank.end());
  std::sort(all.by_rank.begin(), all.by_rank.end(),
            [](const RankCount& a, const RankCount& b) { return a.rank < b.rank; });
}

// A number or a truth value as such, all else (a tuple, an infinite number) as text.
Json params_json(const std::map<std::string, std::string>& params) {
  Json json = Json::object();
  for (const auto& [name, text] : params) {
    const Json value = Json::parse(text, nullptr, false);
    json[name] = value.is_number() || value.is_boolean() ? value : Json(text);
  }
  return json;
}

std::string run_report_json(const Module& module, const RunReport& report) {
  const CostReport cost = measure(module);
  Json json{{"kasen_run", run_report_version},
            {"kind", "counters"},
            {"version", run_report_version},
            {"program", report.program},
            {"plan_digest", report.plan_digest},
            {"bundle_digest", report.bundle_digest},
            {"source_digest", report.source_digest},
            {"workers", report.workers},
            {"ranks", report.ranks},
            {"threads", report.threads},
            {"kernels", report.kernels},
            {"seconds", report.seconds},
            {"kernel_bytes", report.kernel_bytes},
            {"late_allocations", report.late_allocations}};
  if (!report.processor.empty()) json["processor"] = report.processor;
  if (!report.choices.empty()) json["choices"] = choices_json(report.choices);
  json["params"] = params_json(report.params);
  for (const TrafficField& field : traffic_fields) {
    if (field.always || report.traffic.*field.member != 0) json["traffic"][field.key] = report.traffic.*field.member;
  }
  json["operators"] = Json::array();
  for (size_t i = 0; i < report.ops.size(); ++i) {
    Json op{{"number", i}};
    if (i < cost.rows.size()) op["operator"] = cost.rows[i].text;
    if (i < cost.rows.size() && cost.rows[i].where.line > 0) op["line"] = cost.rows[i].where.line;
    for (const OpField& field : op_fields) {
      if (field.always || report.ops[i].*field.member != 0) op[field.key] = report.ops[i].*field.member;
    }
    op["seconds"] = report.ops[i].seconds;
    json["operators"].push_back(std::move(op));
  }
  json["control"] = control_json(module, report.ops);
  json["sizes"] = sizes_json(report.sizes);
  json["schedule"] = Json::array();
  for (const LineTime& line : report.lines)
    json["schedule"].push_back({{"executions", line.executions}, {"seconds", line.seconds}});
  json["parts"] = Json::array();
  for (const PartCount& part : report.parts) {
    Json entry{{"worker", part.worker}};
    for (const PartField& field : part_fields)
      if (part.*field.member >= 0) entry[field.key] = part.*field.member;
    json["parts"].push_back(std::move(entry));
  }
  json["by_rank"] = ranks_json(report.by_rank);
  json["loops"] = loops_json(report.loops);
  if (report.timeline) json["timeline"] = timeline_as_json(*report.timeline);
  if (!report.verified.empty()) json["verified"] = verified_json(report.verified);
  return json_text(json) + '\n';
}

std::string module_digest(const Module& module) { return digest_of_text(print_module(module, false)); }

std::string source_digest(const Module& module) {
  if (module.source.empty()) return {};
  return digest_of_text(fmt::format("{}", fmt::join(module.source, "\n")));
}

}  // namespace kasen
