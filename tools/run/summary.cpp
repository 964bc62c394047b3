#include "tools/run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/analysis/boxes.h"
#include "libcore/base/count_text.h"

namespace kasen::tools {
namespace {

constexpr size_t listed_operators = 5;

std::string statement(const Module& module, const Op& op) {
  const std::string name =
      op.code == OpCode::region ? fmt::format("region {}", region_name(op.kind)) : std::string(row(op.code).name);
  const std::string source = source_of(module, op);
  return source.empty() ? name : fmt::format("{:<20} {}", name, source);
}

// The operators that took most of the time, without the loops themselves.
std::string slowest(const Module& module, const RunReport& report) {
  std::vector<std::pair<double, std::string>> rows;
  double total = 0;
  for_each_op(module, [&](const Op& op, int number, int) {
    const OpCount& count = report.ops[static_cast<size_t>(number)];
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop || op.code == OpCode::if_else;
    if (loop || count.seconds <= 0) return;
    total += count.seconds;
    rows.emplace_back(count.seconds, statement(module, op));
  });
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), listed_operators); ++i) {
    text +=
        fmt::format("  {:5.1f} %  {:9.3f} ms  {}\n", 100 * rows[i].first / total, rows[i].first * 1e3, rows[i].second);
  }
  return text;
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
std::string pool_text(const Module& module, const RunReport& report) {
  std::int64_t bytes = 0, most = 0;
  for (const PartCount& part : report.parts) {
    bytes += part.buffer_bytes;
    most = std::max(most, part.buffer_bytes);
  }
  const auto buffers = static_cast<std::size_t>(std::count_if(
      module.buffers.begin(), module.buffers.end(), [](const BufferDecl& buffer) { return !buffer.on_disk; }));
  return fmt::format("pool: {} of {} bytes, at most {} on a worker; allocations after a loop's first iteration: {}\n",
                     count_text(buffers, "buffer"), grouped(bytes), grouped(most), report.late_allocations);
}

// Of a run whose arrays went by from a disk.
std::string disk_text(const RunReport& report) {
  std::int64_t read = 0, written = 0;
  for (const OpCount& op : report.ops) {
    read += op.disk_read_bytes;
    written += op.disk_written_bytes;
  }
  if (read + written == 0) return "";
  return fmt::format("disk: {} bytes read, {} written\n", grouped(read), grouped(written));
}

// Says how much of the preparation came from the bundle; nothing where nothing did.
std::string forms_text(const RunReport& report) {
  std::int64_t loaded = 0, made = 0;
  for (const RankCount& rank : report.by_rank) {
    loaded += rank.loaded_forms;
    made += rank.made_forms;
  }
  if (loaded == 0) return "";
  return fmt::format("forms of sparse matrices: {} from the bundle, {} made\n", loaded, made);
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

std::string summary_text(const Module& module, const RunReport& report, const RunTimes& times) {
  const std::int64_t iterations = outer_iterations(module, report);
  std::string text =
      fmt::format("{} on {} of {}, {} kernels\n", count_text(report.workers, "worker"),
                  count_text(report.ranks, "rank"), count_text(report.threads, "thread"), report.kernels);
  text += pool_text(module, report);
  text +=
      fmt::format("read {:.3f} s, prepare {:.3f} s, run {:.3f} s, ", times.reading, times.preparing, report.seconds);
  if (!report.verified.empty()) text += fmt::format("verify {:.3f} s, ", times.verifying);
  text += fmt::format("write {:.3f} s", times.writing);
  if (iterations > 0)
    text += fmt::format("; {}, {:.3f} ms each", count_text(iterations, "iteration"),
                        report.seconds * 1e3 / static_cast<double>(iterations));
  text += fmt::format("\nnetwork: {} bytes between workers, {} of them between ranks in {} message{}\n",
                      grouped(report.traffic.worker_bytes), grouped(report.traffic.rank_bytes),
                      grouped(report.traffic.rank_messages), report.traffic.rank_messages == 1 ? "" : "s");
  if (names_nodes(module)) text += fmt::format("nodes: {} bytes between them\n", grouped(report.traffic.node_bytes));
  text += disk_text(report);
  text += forms_text(report);
  const std::string slow = slowest(module, report);
  if (!slow.empty()) text += "where the time went:\n" + slow;
  return text;
}

std::string iteration_text(const Iteration& iteration) {
  const std::int64_t number = iteration.place.iterations.empty() ? 0 : iteration.place.iterations.front();
  const std::string change = std::isnan(iteration.change) ? "" : fmt::format("  change {:.3e}", iteration.change);
  return fmt::format("iteration {}{}  {:.1f} s", number, change, iteration.seconds);
}

}  // namespace kasen::tools
