#include "tools/run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "libcore/analysis/boxes.h"
#include "libcore/base/count_text.h"
#include "libcore/json/report.h"

namespace kasen::tools {
namespace {

constexpr size_t listed_operators = 5;

std::string statement(const Module& module, const Op& op) {
  const std::string name =
      op.code == OpCode::region ? fmt::format("region {}", region_name(op.kind)) : std::string(row(op.code).name);
  const std::string source = source_of(module, op);
  return source.empty() ? name : fmt::format("{:<20} {}", name, source);
}

std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

bool starts_call(std::string_view text, const std::string& name) {
  if (name.empty() || !text.starts_with(name)) return false;
  return trimmed(text.substr(name.size())).starts_with('(');
}

// The line of `def NAME(` in the program's text; 0: the function is from elsewhere.
size_t line_of_def(const Module& module, const std::string& name) {
  for (size_t line = 1; line <= module.source.size(); ++line) {
    const std::string_view text = trimmed(module.source[line - 1]);
    if (text.starts_with("def ") && starts_call(trimmed(text.substr(4)), name)) return line;
  }
  return 0;
}

// Whether a statement makes this: it begins with `NAME =` or `NAME :`, or, of a function's result, with `return`.
bool makes(std::string_view statement, const std::string& name) {
  statement = trimmed(statement);
  if (name.empty()) return statement.starts_with("return ");
  if (!statement.starts_with(name)) return false;
  statement = trimmed(statement.substr(name.size()));
  return statement.starts_with(':') || (statement.starts_with('=') && !statement.starts_with("=="));
}

bool a_statement_makes(std::string_view line, const std::string& name) {
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find_first_of("{};", at), line.size());
    if (makes(line.substr(at, end - at), name)) return true;
    at = end + 1;
  }
  return false;
}

// The only line of the function that makes a value of this name; of several, or none, that of its `def`.
size_t line_in_def(const Module& module, size_t def, const std::string& name) {
  size_t found = 0;
  for (size_t line = def, depth = 0; line <= module.source.size(); ++line) {
    const std::string text = module.source[line - 1].substr(0, module.source[line - 1].find('#'));
    depth += static_cast<size_t>(std::count(text.begin(), text.end(), '{'));
    if (line > def && a_statement_makes(text, name)) {
      if (found > 0) return def;
      found = line;
    }
    depth -= std::min(depth, static_cast<size_t>(std::count(text.begin(), text.end(), '}')));
    if (depth == 0) break;
  }
  return found > 0 ? found : def;
}

// The identifier that stands at an operator's place in the program.
std::string word_at(const Module& module, const Location& where) {
  const std::string& line = module.source[static_cast<size_t>(where.line) - 1];
  const auto from = static_cast<size_t>(std::max(where.column, 1)) - 1;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  size_t end = std::min(from, line.size());
  while (end < line.size() && is_part(line[end])) ++end;
  return from < end ? line.substr(from, end - from) : "";
}

// Of an operator of a called function, whose place is the call: "settle() at line 3 called from line 12". What it makes
// has the name "settle.u", or, of the result, one of the caller's.
std::string call_of(const Module& module, const Op& op) {
  const auto line = static_cast<size_t>(op.where.line);
  if (line == 0 || line > module.source.size() || op.results.empty()) return "";
  std::string made = module.value(op.results[0]).name, function;
  if (const size_t dot = made.rfind('.'); dot == std::string::npos) {
    function = word_at(module, op.where);
    made.clear();
    if (line_of_def(module, function) == 0) return "";
  } else {
    function = made.substr(0, dot);
    function.erase(0, function.rfind('.') + 1);
    made.erase(0, dot + 1);
    made.erase(std::min(made.find_last_not_of("0123456789") + 1, made.size()));  // "u_3" is a further `u`
    if (made.ends_with('_')) made.pop_back();
  }
  const size_t def = line_of_def(module, function);
  if (def == line) return "";
  const std::string at = def > 0 ? fmt::format(" at line {}", line_in_def(module, def, made)) : "";
  return fmt::format(", {}(){} called from line {}", function, at, line);
}

// The operators that took most of the time, without the loops themselves. Where several are of one statement, as those
// of a function that it calls, what they make tells them apart: "settle.u_3", of `u` in the function `settle`. Of a
// function, its own line stands behind that of the call.
std::vector<SlowOperator> slowest(const Module& module, const RunReport& report) {
  std::vector<SlowOperator> rows;
  std::vector<std::string> made, calls;
  std::map<std::string, int> alike;
  double total = 0;
  for_each_op(module, [&](const Op& op, int number, int) {
    const OpCount& count = report.ops[static_cast<size_t>(number)];
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop || op.code == OpCode::if_else;
    if (loop || count.seconds <= 0) return;
    total += count.seconds;
    rows.push_back({count.seconds, 0, statement(module, op)});
    made.push_back(op.results.empty() ? "" : module.value(op.results[0]).name);
    calls.push_back(call_of(module, op));
    ++alike[rows.back().what];
  });
  for (size_t k = 0; k < rows.size(); ++k)
    rows[k].what += (alike.at(rows[k].what) > 1 && !made[k].empty() ? fmt::format(" ({})", made[k]) : "") + calls[k];
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  rows.resize(std::min(rows.size(), listed_operators));
  for (SlowOperator& row : rows) row.share = row.seconds / total;
  return rows;
}

std::int64_t outer_iterations(const Module& module, const RunReport& report) {
  std::int64_t iterations = 0;
  for_each_op(module, [&](const Op& op, int number, int depth) {
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    if (loop && depth == 0) iterations += report.ops[static_cast<size_t>(number)].iterations;
  });
  return iterations;
}

// The pool holds the plan's buffers; kasen measure predicts its size.
std::string pool_text(const RunSummary& summary) {
  return fmt::format("pool: {} of {} bytes, at most {} on a worker; allocations after a loop's first iteration: {}\n",
                     count_text(summary.buffers, "buffer"), grouped(summary.pool_bytes),
                     grouped(summary.most_pool_bytes), summary.report->late_allocations);
}

// Of a run whose arrays went by from a disk.
std::string disk_text(const RunSummary& summary) {
  if (summary.disk_read_bytes + summary.disk_written_bytes == 0) return "";
  return fmt::format("disk: {} bytes read, {} written\n", grouped(summary.disk_read_bytes),
                     grouped(summary.disk_written_bytes));
}

// Says how much of the preparation came from the bundle; nothing where nothing did.
std::string forms_text(const RunSummary& summary) {
  if (summary.loaded_forms == 0) return "";
  return fmt::format("forms of sparse matrices: {} from the bundle, {} made\n", summary.loaded_forms,
                     summary.made_forms);
}

std::string slowest_text(const RunSummary& summary) {
  std::string text;
  for (const SlowOperator& row : summary.slowest)
    text += fmt::format("  {:5.1f} %  {:9.3f} ms  {}\n", 100 * row.share, row.seconds * 1e3, row.what);
  return text.empty() ? text : "where the time went:\n" + text;
}

Json verified_json(const RunReport& report) {
  Json json = Json::array();
  for (const VerifiedOutput& output : report.verified)
    json.push_back({{"output", output.output},
                    {"elements", output.elements},
                    {"recomputed", output.recomputed},
                    {"differing", output.differing},
                    {"largest_difference", real_json(output.largest)},
                    {"not_verified", output.not_verified.empty() ? Json() : Json(output.not_verified)}});
  return json;
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

std::string source_of(const Module& module, const Op& op) {
  const auto line = static_cast<size_t>(op.where.line);
  if (line == 0 || line > module.source.size()) return "";
  std::string text = module.source[line - 1];
  text.erase(0, text.find_first_not_of(" \t"));
  return fmt::format("{}:{}: {}", op.where.file.empty() ? module.source_name : op.where.file, line, text);
}

RunSummary summarize(const Module& module, const RunReport& report, const RunTimes& times) {
  RunSummary summary{.report = &report, .times = times, .iterations = outer_iterations(module, report)};
  for (const PartCount& part : report.parts) {
    summary.pool_bytes += part.buffer_bytes;
    summary.most_pool_bytes = std::max(summary.most_pool_bytes, part.buffer_bytes);
  }
  summary.buffers = std::count_if(module.buffers.begin(), module.buffers.end(),
                                  [](const BufferDecl& buffer) { return !buffer.on_disk; });
  for (const OpCount& op : report.ops) {
    summary.disk_read_bytes += op.disk_read_bytes;
    summary.disk_written_bytes += op.disk_written_bytes;
  }
  for (const RankCount& rank : report.by_rank) {
    summary.loaded_forms += rank.loaded_forms;
    summary.made_forms += rank.made_forms;
  }
  summary.has_nodes = names_nodes(module);
  summary.slowest = slowest(module, report);
  return summary;
}

std::string summary_text(const RunSummary& summary) {
  const RunReport& report = *summary.report;
  const RunTimes& times = summary.times;
  std::string text =
      fmt::format("{} on {} of {}, {} kernels\n", count_text(report.workers, "worker"),
                  count_text(report.ranks, "rank"), count_text(report.threads, "thread"), report.kernels);
  text += pool_text(summary);
  text +=
      fmt::format("read {:.3f} s, prepare {:.3f} s, run {:.3f} s, ", times.reading, times.preparing, report.seconds);
  if (!report.verified.empty()) text += fmt::format("verify {:.3f} s, ", times.verifying);
  text += fmt::format("write {:.3f} s", times.writing);
  if (summary.iterations > 0)
    text += fmt::format("; {}, {:.3f} ms each", count_text(summary.iterations, "iteration"),
                        report.seconds * 1e3 / static_cast<double>(summary.iterations));
  text += fmt::format("\nnetwork: {} bytes between workers, {} of them between ranks in {} message{}\n",
                      grouped(report.traffic.worker_bytes), grouped(report.traffic.rank_bytes),
                      grouped(report.traffic.rank_messages), report.traffic.rank_messages == 1 ? "" : "s");
  if (summary.has_nodes) text += fmt::format("nodes: {} bytes between them\n", grouped(report.traffic.node_bytes));
  return text + disk_text(summary) + forms_text(summary) + slowest_text(summary);
}

Json summary_json(const RunSummary& summary) {
  const RunReport& report = *summary.report;
  Json json{{"program", report.program},           {"workers", report.workers}, {"ranks", report.ranks},
            {"threads", report.threads},           {"kernels", report.kernels}, {"iterations", summary.iterations},
            {"params", params_json(report.params)}};
  json["times"] = {{"read_seconds", summary.times.reading},
                   {"prepare_seconds", summary.times.preparing},
                   {"run_seconds", report.seconds},
                   {"verify_seconds", report.verified.empty() ? Json() : Json(summary.times.verifying)},
                   {"write_seconds", summary.times.writing}};
  json["pool"] = {{"buffers", summary.buffers},
                  {"bytes", summary.pool_bytes},
                  {"most_bytes", summary.most_pool_bytes},
                  {"late_allocations", report.late_allocations}};
  json["network"] = {{"worker_bytes", report.traffic.worker_bytes},
                     {"rank_bytes", report.traffic.rank_bytes},
                     {"rank_messages", report.traffic.rank_messages},
                     {"node_bytes", summary.has_nodes ? Json(report.traffic.node_bytes) : Json()}};
  json["disk"] = {{"read_bytes", summary.disk_read_bytes}, {"written_bytes", summary.disk_written_bytes}};
  json["forms"] = {{"loaded", summary.loaded_forms}, {"made", summary.made_forms}};
  json["slowest"] = Json::array();
  for (const SlowOperator& row : summary.slowest)
    json["slowest"].push_back({{"what", row.what}, {"seconds", row.seconds}, {"share", row.share}});
  json["verified"] = verified_json(report);
  return json;
}

std::string files_text(const MadeFiles& made) {
  std::string text;
  for (const std::string& file : made.results) text += fmt::format("result: {}\n", file);
  if (!made.dictionary.empty()) text += fmt::format("words: {}\n", made.dictionary);
  if (!made.counters.empty()) text += fmt::format("counters: {}\n", made.counters);
  return text;
}

std::string run_document(const RunSummary& summary, const Json& results, const MadeFiles& made,
                         const Json& checkpoints) {
  const auto file = [](const std::string& name) { return name.empty() ? Json() : Json(name); };
  Json json = new_report("run");
  json.update(summary_json(summary));
  json["results"] = results;
  json["files"] = {{"results", made.results},
                   {"dictionary", file(made.dictionary)},
                   {"counters", file(made.counters)},
                   {"trace", file(made.trace)}};
  json["checkpoints"] = checkpoints;
  return report_document(json);
}

std::string iteration_text(const Iteration& iteration) {
  const std::int64_t number = iteration.place.iterations.empty() ? 0 : iteration.place.iterations.front();
  const std::string change = std::isnan(iteration.change) ? "" : fmt::format("  change {:.3e}", iteration.change);
  return fmt::format("iteration {}{}  {:.1f} s", number, change, iteration.seconds);
}

}  // namespace kasen::tools
