#include "tools/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kasen::tools {
namespace {

constexpr size_t listed_operators = 5;

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

Word element(const WholeOutput& output, std::int64_t i) {
  const Scalar scalar = output.data.element.scalar();
  return load_word(scalar, output.data.plane(0) + i * scalar_bytes(scalar));
}

// Larger first; NaN last; equal ones by index.
std::vector<std::int64_t> largest(const WholeOutput& output, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<size_t>(output.data.count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const bool real = is_float(output.data.element.scalar());
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const Word x = element(output, a);
    const Word y = element(output, b);
    if (!real) return x.i != y.i ? x.i > y.i : a < b;
    if (std::isnan(x.f) || std::isnan(y.f)) return !std::isnan(x.f) && std::isnan(y.f);
    return x.f != y.f ? x.f > y.f : a < b;
  };
  const auto middle = order.begin() + std::min<std::int64_t>(count, output.data.count);
  std::partial_sort(order.begin(), middle, order.end(), before);
  order.erase(middle, order.end());
  return order;
}

std::string statement(const Module& module, const Op& op) {
  const std::string name = op.code == OpCode::region ? fmt::format("region {}", region_name(op.kind)) : std::string(row(op.code).name);
  const auto line = static_cast<size_t>(op.where.line);
  if (line == 0 || line > module.source.size()) return name;
  std::string text = module.source[line - 1];
  text.erase(0, text.find_first_not_of(" \t"));
  return fmt::format("{:<20} {}:{}: {}", name, op.where.file.empty() ? module.source_name : op.where.file, line, text);
}

// The operators that took most of the time, loops themselves left out.
std::string slowest(const Module& module, const RunResult& counts) {
  std::vector<std::pair<double, std::string>> rows;
  double total = 0;
  for_each_op(module, [&](const Op& op, int number, int) {
    const OpCount& count = counts.ops[static_cast<size_t>(number)];
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop || op.code == OpCode::if_else;
    if (loop || count.seconds <= 0) return;
    total += count.seconds;
    rows.emplace_back(count.seconds, statement(module, op));
  });
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), listed_operators); ++i) {
    text += fmt::format("  {:5.1f} %  {:9.3f} ms  {}\n", 100 * rows[i].first / total, rows[i].first * 1e3, rows[i].second);
  }
  return text;
}

std::int64_t outer_turns(const Module& module, const RunResult& counts) {
  std::int64_t turns = 0;
  for_each_op(module, [&](const Op& op, int number, int depth) {
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    if (loop && depth == 0) turns += counts.ops[static_cast<size_t>(number)].turns;
  });
  return turns;
}

}  // namespace

std::string top_text(const std::vector<WholeOutput>& outputs, int count) {
  std::string text;
  if (count <= 0) return text;
  for (const WholeOutput& output : outputs) {
    const bool vector = output.dims.size() == 1 && output.type.list == 0 && output.data.element.is_scalar();
    if (!vector) continue;
    const Scalar scalar = output.data.element.scalar();
    text += fmt::format("{:>12}  {}\n", output.dims[0], output.name);
    for (const std::int64_t i : largest(output, count)) {
      const std::int64_t id = output.original.empty() ? i : output.original[static_cast<size_t>(i)];
      const Word value = element(output, i);
      text += is_float(scalar) ? fmt::format("{:>12}  {:.9g}\n", id, value.f) : fmt::format("{:>12}  {}\n", id, literal_text(scalar, value));
    }
  }
  return text;
}

std::string summary_text(const Module& module, const RunResult& counts, const RunFacts& facts) {
  const std::int64_t turns = outer_turns(module, counts);
  std::string text = fmt::format("{} workers on {} rank{} of {} thread{}, {}\n", facts.workers, facts.ranks, facts.ranks == 1 ? "" : "s",
                                 facts.threads, facts.threads == 1 ? "" : "s", facts.kernels);
  text += fmt::format("read {:.3f} s, prepare {:.3f} s, run {:.3f} s, write {:.3f} s", facts.reading_seconds, facts.preparing_seconds,
                      counts.seconds, facts.writing_seconds);
  if (turns > 0) text += fmt::format("; {} turns, {:.3f} ms each", turns, counts.seconds * 1e3 / static_cast<double>(turns));
  text += fmt::format("\nnetwork: {} bytes between workers, {} of them between ranks in {} messages\n", grouped(counts.traffic.worker_bytes),
                      grouped(counts.traffic.rank_bytes), grouped(counts.traffic.rank_messages));
  const std::string slow = slowest(module, counts);
  if (!slow.empty()) text += "where the time went:\n" + slow;
  text += fmt::format("result: {}\n", facts.result_file);
  if (!facts.stats_file.empty()) text += fmt::format("counters: {}\n", facts.stats_file);
  return text;
}

std::string turn_text(const Turn& turn) {
  const std::int64_t number = turn.place.turns.empty() ? 0 : turn.place.turns.front();
  const std::string change = std::isnan(turn.change) ? "" : fmt::format("  change {:.3e}", turn.change);
  return fmt::format("turn {}{}  {:.1f} s", number, change, turn.seconds);
}

}  // namespace kasen::tools
