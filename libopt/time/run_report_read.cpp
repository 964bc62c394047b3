// Reads a run's counters from a file that may have been edited.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/nesting.h"
#include "libopt/time/run_report_fields.h"
#include "libopt/time/timeline_json.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t any_count = std::numeric_limits<std::int64_t>::max();

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

  // Counters are not negative. (As an int64, a larger number would be another one.)
  std::int64_t count(const Json& object, const char* key, std::int64_t most = any_count) const {
    if (!object.is_object() || !object.contains(key)) fault(fmt::format("the key '{}' is missing", key));
    return number(object.at(key), key, most);
  }

  std::int64_t number(const Json& value, const char* key, std::int64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
      fault(fmt::format("the key '{}' is not an integer from 0 to {}", key, most));
    return value.get<std::int64_t>();
  }

  // Reads a number of workers, ranks or threads.
  int small_count(const Json& object, const char* key) const {
    return static_cast<int>(count(object, key, std::numeric_limits<int>::max()));
  }

  const Json& list(const Json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key) || !object.at(key).is_array())
      fault(fmt::format("the key '{}' is not a list", key));
    return object.at(key);
  }

 private:
  std::string file_;
};

std::vector<LoopIterations> read_loops(const Json& json, const Reader& reader, size_t operators) {
  std::vector<LoopIterations> loops;
  for (const Json& entry : json) {
    LoopIterations& loop = loops.emplace_back();
    loop.number = reader.small_count(entry, "number");
    if (static_cast<size_t>(loop.number) >= operators) reader.fault("a loop is not an operator");
    loop.watched = reader.get<std::string>(entry, "watched");
    loop.every = reader.count(entry, "every");
    if (entry.contains("limit") && entry.at("limit").is_number()) loop.limit = reader.get<double>(entry, "limit");
    for (const Json& iteration : reader.list(entry, "turns")) {
      if (!iteration.is_array() || iteration.size() != 3 || !iteration[0].is_number_unsigned() ||
          !iteration[2].is_number() || !(iteration[1].is_null() || iteration[1].is_number())) {
        reader.fault("an iteration is not [number, change, seconds]");
      }
      loop.iterations.push_back(
          {reader.number(iteration[0], "turns", any_count), or_nan(iteration[1]), iteration[2].get<double>()});
    }
  }
  return loops;
}

std::vector<RankCount> read_ranks(const Json& json, const Reader& reader) {
  std::vector<RankCount> ranks;
  for (const Json& entry : json) {
    RankCount& rank = ranks.emplace_back();
    for (const RankField& field : rank_fields) rank.*field.member = reader.small_count(entry, field.key);
    rank.seconds = reader.get<double>(entry, "seconds");
    rank.transition_seconds = reader.get<double>(entry, "transition_seconds");
    rank.resident_bytes = reader.count(entry, "resident_bytes");
    if (!entry.contains("preparing_seconds")) continue;
    rank.preparing_seconds = reader.get<double>(entry, "preparing_seconds");
    rank.loaded_forms = reader.count(entry, "loaded_forms");
    rank.made_forms = reader.count(entry, "made_forms");
    if (!entry.contains("made_kernels")) continue;
    rank.made_kernels = reader.count(entry, "made_kernels");
    rank.kept_kernels = reader.count(entry, "kept_kernels");
  }
  return ranks;
}

std::vector<MadeChoice> read_choices(const Json& json, const Reader& reader) {
  std::vector<MadeChoice> choices;
  for (const Json& entry : json) {
    MadeChoice& made = choices.emplace_back();
    for (const ChoiceField& field : choice_fields) made.*field.member = reader.get<std::string>(entry, field.key);
    if (entry.contains("gain")) made.gain = reader.get<double>(entry, "gain");
  }
  return choices;
}

std::map<std::string, std::string> read_params_of_run(const Json& json, const Reader& reader) {
  if (!json.is_object()) reader.fault("'params' is no object");
  std::map<std::string, std::string> params;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean()) reader.fault("a param has no value");
    params[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return params;
}

std::vector<VerifiedOutput> read_verified(const Json& json, const Reader& reader) {
  std::vector<VerifiedOutput> outputs;
  for (const Json& entry : json) {
    VerifiedOutput& output = outputs.emplace_back();
    output.output = reader.get<std::string>(entry, "output");
    for (const VerifiedField& field : verified_fields) output.*field.member = reader.count(entry, field.key);
    output.largest = reader.get<double>(entry, "largest_difference");
    output.by_rounding = reader.get<bool>(entry, "by_rounding");
    output.not_verified = reader.get<std::string>(entry, "not_verified");
  }
  return outputs;
}

template <class Words>
SymbolKind read_kind(const Json& entry, const Reader& reader, const Words& words) {
  const auto word = reader.get<std::string>(entry, "what");
  const auto* const row =
      std::find_if(std::begin(words), std::end(words), [&](const auto& r) { return r.word == word; });
  if (row == std::end(words)) reader.fault(fmt::format("'{}' is not counted", word));
  return row->kind;
}

std::vector<ControlCount> read_control(const Json& json, const Reader& reader) {
  std::vector<ControlCount> control;
  for (const Json& entry : json) {
    ControlCount& count = control.emplace_back();
    count.kind = read_kind(entry, reader, control_words);
    count.where = {entry.contains("file") ? reader.get<std::string>(entry, "file") : std::string(),
                   reader.small_count(entry, "line"), reader.small_count(entry, "column")};
    count.executions = reader.count(entry, "executions");
    count.times = reader.count(entry, "times");
  }
  return control;
}

Polynomial::Bindings read_sizes(const Json& json, const Reader& reader) {
  Polynomial::Bindings sizes;
  for (const Json& entry : json) {
    Symbol symbol{read_kind(entry, reader, size_words), reader.get<std::string>(entry, "name"), {}, -1};
    if (entry.contains("matrix")) {
      const Axis axis = reader.get<std::string>(entry, "axis") == "rows" ? Axis::rows : Axis::cols;
      symbol.set = {SlaveAtom{reader.get<std::string>(entry, "matrix"), axis}};
    }
    sizes[symbol] = reader.count(entry, "number");
  }
  return sizes;
}

}  // namespace

RunReport read_run_report(const std::string& text, const std::string& file) {
  const Reader reader(file);
  if (nests_deeper(text, deepest_json)) reader.fault("this is nested too deeply");
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) reader.fault("this is not JSON");
  const std::int64_t version = reader.count(json, "kasen_run");
  if (version != run_report_version) {
    fail(ExitStatus::bad_input, fmt::format("counters of version {} are not known", version),
         fmt::format("this tool reads version {}", run_report_version), "use the tools of one release",
         Location{file, 0, 0});
  }
  RunReport report;
  report.program = reader.get<std::string>(json, "program");
  report.plan_digest = reader.get<std::string>(json, "plan_digest");
  report.bundle_digest = reader.get<std::string>(json, "bundle_digest");
  if (json.contains("source_digest")) report.source_digest = reader.get<std::string>(json, "source_digest");
  if (json.contains("control")) report.control = read_control(reader.list(json, "control"), reader);
  if (json.contains("sizes")) report.sizes = read_sizes(reader.list(json, "sizes"), reader);
  report.workers = reader.small_count(json, "workers");
  report.ranks = reader.small_count(json, "ranks");
  report.threads = reader.small_count(json, "threads");
  report.kernels = reader.get<std::string>(json, "kernels");
  if (json.contains("processor")) report.processor = reader.get<std::string>(json, "processor");
  if (json.contains("choices")) report.choices = read_choices(reader.list(json, "choices"), reader);
  if (json.contains("params")) report.params = read_params_of_run(json.at("params"), reader);
  report.seconds = reader.get<double>(json, "seconds");
  report.kernel_bytes = reader.count(json, "kernel_bytes");
  report.late_allocations = reader.count(json, "late_allocations");
  const Json traffic = reader.get<Json>(json, "traffic");
  for (const TrafficField& field : traffic_fields) {
    if (field.always || traffic.contains(field.key)) report.traffic.*field.member = reader.count(traffic, field.key);
  }
  for (const Json& entry : reader.list(json, "operators")) {
    OpCount& op = report.ops.emplace_back();
    if (reader.count(entry, "number") + 1 != static_cast<std::int64_t>(report.ops.size())) {
      reader.fault("the operators are not numbered 0, 1, 2, ...");
    }
    for (const OpField& field : op_fields) {
      if (field.always || entry.contains(field.key)) op.*field.member = reader.count(entry, field.key);
    }
    op.seconds = reader.get<double>(entry, "seconds");
  }
  if (json.contains("schedule")) {
    for (const Json& entry : reader.list(json, "schedule"))
      report.lines.push_back({reader.count(entry, "executions"), reader.get<double>(entry, "seconds")});
  }
  for (const Json& entry : reader.list(json, "parts")) {
    PartCount& part = report.parts.emplace_back();
    part.worker = reader.small_count(entry, "worker");
    for (const PartField& field : part_fields)
      if (field.always || entry.contains(field.key)) part.*field.member = reader.count(entry, field.key);
  }
  if (json.contains("by_rank")) report.by_rank = read_ranks(reader.list(json, "by_rank"), reader);
  if (json.contains("loops")) report.loops = read_loops(reader.list(json, "loops"), reader, report.ops.size());
  if (json.contains("timeline")) {
    report.timeline =
        read_timeline(json.at("timeline"), report.ops.size(), [&](const std::string& what) { reader.fault(what); });
  }
  if (json.contains("verified")) report.verified = read_verified(reader.list(json, "verified"), reader);
  return report;
}

}  // namespace kasen
