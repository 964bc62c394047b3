// The page of a run: what was counted beside what was predicted, where the time went, who did how much.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libopt/picture/page.h"
#include "libopt/picture/page_text.h"

namespace kasen {
namespace {

const OpCount& counted(const RunFacts& facts, int number) { return facts.run.ops.at(static_cast<size_t>(number)); }

// What passes by: bytes touched, for gathers and scatters bytes sent.
std::int64_t moved(const CostRow& row, const OpCount& count) {
  const bool network = kasen::row(row.code).group == OpGroup::transition;
  return network ? count.network_bytes : count.read_bytes + count.written_bytes;
}

bool holds_others(const CostRow& row) {
  return kasen::row(row.code).group == OpGroup::control && row.code != OpCode::region;
}

bool has_time(const CostRow& row, const OpCount& count) {
  return row.region < 0 && !holds_others(row) && row.code != OpCode::yield && count.executions > 0 && count.seconds > 0;
}

std::string card(const std::string& what, const std::string& number, const std::string& more) {
  return fmt::format("<div class=\"card\"><span>{}</span><b>{}</b><small>{}</small></div>\n", page_text(what),
                     page_text(number), page_text(more));
}

std::string checked_table(const Check& check) {
  std::string text =
      "<table class=\"check\"><thead><tr><th></th><th class=\"n\">predicted</th><th "
      "class=\"n\">counted</th><th></th></tr>"
      "</thead><tbody>\n";
  const auto line = [&](const Compared& c, const std::string& what) {
    text += fmt::format(
        "<tr{}><th>{}</th><td class=\"n\" data-value=\"{}\">{}</td><td class=\"n\" data-value=\"{}\">{}</td><td "
        "class=\"{}\">{}</td></tr>\n",
        c.where.line > 0 ? fmt::format(" data-line=\"{}\"", c.where.line) : "", page_text(what), c.predicted,
        grouped(c.predicted), c.counted, grouped(c.counted), c.agrees() ? "good" : "bad",
        c.agrees() ? "equal" : "DIFFERENT");
  };
  for (const Compared& c : check.totals) line(c, c.what);
  for (const Compared& c : check.mismatches) {
    if (!c.statement.empty()) line(c, c.statement + ": " + c.what);
  }
  return text + "</tbody></table>\n";
}

// Time a step took, and the least that the machine's rates allow it, on one scale.
std::string time_bars(const OperatorTime& time, double most) {
  const PredictedTime& p = time.predicted;
  const auto piece = [&](const char* style, double seconds) {
    return BarPiece{seconds / most, style, fmt::format("{}: {}", style, duration_text(seconds))};
  };
  return bar({piece("measured", time.measured)}) + bar({piece("memory", p.memory), piece("computing", p.compute),
                                                        piece("network", p.network), piece("messages", p.messages)});
}

struct Rate {
  double reached = 0, of_machine = 0;  // bytes a second of a rank; the machine's
  bool known = false;
};

// Among workers of one rank gathers and scatters move in memory.
Rate rate_of(const CostRow& row, const RunFacts& facts) {
  const OpCount& count = counted(facts, row.number);
  const bool network = kasen::row(row.code).group == OpGroup::transition && facts.run.ranks > 1;
  const auto bytes = static_cast<double>(moved(row, count));
  const double machine = network ? facts.machine.network_bandwidth : facts.machine.memory_bandwidth;
  return {bytes / facts.run.ranks / count.seconds, machine, bytes > 0};
}

std::string time_row(const ReportContext& context, const CostRow& row, const RunFacts& facts, double total,
                     double most) {
  const OpCount& count = counted(facts, row.number);
  const OperatorTime& time = facts.times.at(static_cast<size_t>(row.number));
  const Rate rate = rate_of(row, facts);
  const std::string source = context.source_line(row.where);
  std::string text =
      fmt::format("<tr data-op=\"a{0}\"{1}><td class=\"op\"><a href=\"#a{0}\">{2}</a>{3}</td>", row.number,
                  row.where.line > 0 ? fmt::format(" data-line=\"{}\"", row.where.line) : "", page_text(row.text),
                  source.empty() ? "" : fmt::format("<small>{} {}</small>", row.where.line, page_text(source)));
  text += fmt::format(
      "<td class=\"n\">{}</td><td class=\"n\" data-value=\"{}\">{}</td><td class=\"n\">{}<small>{:.1f} %</small></td>",
      grouped(count.executions), moved(row, count), grouped(moved(row, count)), duration_text(time.measured),
      100 * time.measured / total);
  const double least = time.predicted.sum();
  text += least > 0 ? fmt::format("<td class=\"n\">{}<small>{:.0f} %</small></td>", duration_text(least),
                                  100 * least / time.measured)
                    : "<td class=\"n\">-</td>";
  text += rate.known ? fmt::format("<td class=\"n\">{}/s<small>{:.0f} %</small></td>", short_bytes(rate.reached),
                                   100 * rate.reached / rate.of_machine)
                     : "<td class=\"n\">-</td>";
  return text + fmt::format("<td class=\"wide\">{}</td></tr>\n", time_bars(time, most));
}

std::string time_section(const ReportContext& context, const RunFacts& facts) {
  std::vector<const CostRow*> rows;
  double total = 0, most = 1e-12;
  for (const CostRow& row : context.report().rows) {
    if (!has_time(row, counted(facts, row.number))) continue;
    const OperatorTime& time = facts.times.at(static_cast<size_t>(row.number));
    rows.push_back(&row);
    total += time.measured;
    most = std::max({most, time.measured, time.predicted.sum()});
  }
  if (rows.empty()) return {};
  const auto longer = [&](const CostRow* a, const CostRow* b) {
    return facts.times[static_cast<size_t>(a->number)].measured > facts.times[static_cast<size_t>(b->number)].measured;
  };
  std::stable_sort(rows.begin(), rows.end(), longer);
  std::string text = fmt::format(
      "<section id=\"time\"><h2>Where the time went</h2>\n<p>The upper bar is what a step took, over all its "
      "executions, "
      "on the slowest rank; the lower bar the least that the machine's rates allow "
      "(<i class=\"key memory\"></i>memory, <i class=\"key computing\"></i>computing beyond that, "
      "<i class=\"key network\"></i>network, <i class=\"key messages\"></i>messages). {}</p>\n",
      facts.machine_name.empty()
          ? "These are the built-in rates, not this machine's: <code>kasen measure --calibrate -o machine.yaml</code> "
            "measures them, <code>--machine machine.yaml</code> gives them."
          : fmt::format("The rates are those of {}: {}.", page_text(facts.machine_name),
                        page_text(machine_text(facts.machine))));
  text +=
      "<div class=\"scroll\"><table class=\"times\"><thead><tr><th>step</th><th class=\"n\">times</th><th "
      "class=\"n\">bytes</th><th class=\"n\">took</th><th class=\"n\">roofline</th><th class=\"n\">reached</th><th "
      "class=\"wide\"></th></tr></thead><tbody>\n";
  for (const CostRow* row : rows) text += time_row(context, *row, facts, total, most);
  return text +
         "</tbody></table></div>\n<p class=\"note\">Bytes: touched, of gathers and scatters sent. Roofline: predicted, "
         "and its share of what was taken. Reached: by one rank, and its share of the machine's rate; more than 100 % "
         "came from the caches.</p></section>\n";
}

// Bytes that a worker touches in the whole run, by what it holds; nothing where its own sizes do not tell.
std::optional<std::int64_t> touched(const ReportContext& context, const RunFacts& facts, size_t worker) {
  std::int64_t sum = 0;
  const auto add = [&](const Cost& cost, int runs) {
    const auto bytes = (cost.read + cost.written).evaluate(context.sizes()->by_worker.at(worker));
    if (bytes) sum += *bytes * counted(facts, runs).executions;
    return bytes.has_value();
  };
  for (const CostRow& row : context.report().rows) {
    if (!add(row.actual, row.number)) return std::nullopt;
    for (const EndCost& end : row.ends) {
      if (!add(end.actual, end.yield)) return std::nullopt;
    }
  }
  return sum;
}

// What the workers touch. Where their shares do not make up what all counted (what all hold is touched once, or rows
// are told apart), they are left out.
std::string worker_bars(const ReportContext& context, const RunFacts& facts) {
  std::vector<std::int64_t> shares;
  std::int64_t most = 1, sum = 0, all = 0;
  for (size_t worker = 0; worker < context.sizes()->by_worker.size(); ++worker) {
    const auto bytes = touched(context, facts, worker);
    if (!bytes) return {};
    shares.push_back(*bytes);
    most = std::max(most, *bytes);
    sum += *bytes;
  }
  for (const OpCount& op : facts.run.ops) all += op.read_bytes + op.written_bytes;
  if (sum != all || sum == 0) return {};
  std::string text =
      "<div class=\"scroll\"><table class=\"touched\"><thead><tr><th>worker</th><th class=\"n\">bytes touched</th><th "
      "class=\"wide\"></th></tr></thead><tbody>\n";
  for (size_t worker = 0; worker < shares.size(); ++worker) {
    const double share = static_cast<double>(shares[worker]) / static_cast<double>(most);
    text +=
        fmt::format("<tr><th>{}</th><td class=\"n\" data-value=\"{}\">{}</td><td class=\"wide\">{}</td></tr>\n", worker,
                    shares[worker], grouped(shares[worker]), bar({{share, "memory", bytes_text(shares[worker])}}));
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(shares.size());
  return text +
         fmt::format(
             "</tbody></table></div>\n<p class=\"note\">The worker with most touches {:.2f} times the mean.</p>\n",
             static_cast<double>(most) / mean);
}

std::string balance_section(const ReportContext& context, const RunFacts& facts) {
  const std::vector<RankCount>& ranks = facts.run.by_rank;
  if (ranks.empty()) return {};
  double most = 1e-12, sum = 0;
  for (const RankCount& rank : ranks) {
    most = std::max(most, rank.seconds);
    sum += rank.seconds - rank.transition_seconds;
  }
  const double mean = sum / static_cast<double>(ranks.size());
  double slowest = 0;
  for (const RankCount& rank : ranks) slowest = std::max(slowest, rank.seconds - rank.transition_seconds);
  std::string text =
      "<section id=\"balance\"><h2>Balance</h2>\n<div class=\"scroll\"><table class=\"ranks\"><thead><tr><th>rank</th>"
      "<th>workers</th><th class=\"n\">computing</th><th class=\"n\">transitions</th><th class=\"n\">memory held</th>"
      "<th class=\"wide\"></th></tr></thead><tbody>\n";
  for (const RankCount& rank : ranks) {
    const double computing = std::max(0.0, rank.seconds - rank.transition_seconds);
    const std::string workers = rank.workers == 1
                                    ? std::to_string(rank.first_worker)
                                    : fmt::format("{} to {}", rank.first_worker, rank.first_worker + rank.workers - 1);
    text += fmt::format(
        "<tr><th>{}</th><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"wide\">{}</td></tr>\n",
        rank.rank, workers, duration_text(computing), duration_text(rank.transition_seconds),
        rank.resident_bytes > 0 ? bytes_text(rank.resident_bytes) : "-",
        bar({{computing / most, "computing", "computing"},
             {rank.transition_seconds / most, "network", "transitions"}}));
  }
  text += fmt::format(
      "</tbody></table></div>\n<p class=\"note\"><i class=\"key computing\"></i>computing <i class=\"key "
      "network\"></i>gathers and scatters, waiting for others included. The slowest rank computes {:.2f} times as long "
      "as "
      "the mean.",
      mean > 0 ? slowest / mean : 1);
  return text + " Memory held is the most that the process ever had, all of it.</p>\n" + worker_bars(context, facts) +
         "</section>\n";
}

std::string loop_curves(const ReportContext& context, const LoopTurns& loop) {
  const std::string place = context.place(context.report().rows.at(static_cast<size_t>(loop.number)));
  const std::string thinned = loop.every > 1 ? fmt::format(", every {}th turn", loop.every) : "";
  Curve change{loop.watched + thinned, "turn of the " + place, loop.watched, {}, loop.limit};
  Curve time{"time of a turn, ms" + thinned, "turn of the " + place, "ms", {}, {}};
  double before = 0;
  std::int64_t turn_before = 0;
  for (const TurnSample& t : loop.turns) {
    const auto x = static_cast<double>(t.turn);
    if (std::isfinite(t.change)) change.points.push_back({x, t.change});
    if (turn_before > 0 && t.turn > turn_before) {
      time.points.push_back({x, 1e3 * (t.seconds - before) / static_cast<double>(t.turn - turn_before)});
    }
    turn_before = t.turn;
    before = t.seconds;
  }
  std::string text;
  if (change.points.size() > 1) text += fmt::format("<figure>{}</figure>\n", curve_svg(change));
  if (time.points.size() > 1) text += fmt::format("<figure>{}</figure>\n", curve_svg(time));
  return text;
}

std::string convergence_section(const ReportContext& context, const RunFacts& facts) {
  std::string curves;
  for (const LoopTurns& loop : facts.run.loops) curves += loop_curves(context, loop);
  if (curves.empty()) return {};
  return "<section id=\"convergence\"><h2>Turn by turn</h2>\n<div class=\"curves\">" + curves + "</div></section>\n";
}

}  // namespace

std::string run_note(const ReportContext& context, const RunFacts& facts, int number) {
  const CostRow& row = context.report().rows.at(static_cast<size_t>(number));
  const OpCount& count = counted(facts, number);
  if (holds_others(row) && count.executions > 0 && count.turns > 0) {
    return fmt::format("{} turns, {}", grouped(count.turns), duration_text(count.seconds));
  }
  if (!has_time(row, count) || count.seconds < 1e-6) return {};
  const std::int64_t bytes = moved(row, count);
  const std::string time = duration_text(count.seconds);
  return bytes > 0 ? fmt::format("{}, {}", time, short_bytes(static_cast<double>(bytes))) : time;
}

std::string run_cards(const RunFacts& facts) {
  const RunReport& run = facts.run;
  std::int64_t turns = 0, planned = 0, resident = 0;
  for (const LoopTurns& loop : run.loops) turns += counted(facts, loop.number).turns;
  for (const PartCount& p : run.parts) {
    planned += p.buffer_bytes + p.exchange_bytes + p.matrix_bytes + p.input_bytes;
  }
  for (const RankCount& rank : run.by_rank) resident += rank.resident_bytes;
  const bool right = facts.check.mismatches.empty();
  std::string text = "<div class=\"cards\">";
  text += card("run", duration_text(run.seconds),
               turns > 0 ? fmt::format("{} turns, {} each", grouped(turns),
                                       duration_text(run.seconds / static_cast<double>(turns)))
                         : "");
  text += card("on", fmt::format("{} worker{}", run.workers, run.workers == 1 ? "" : "s"),
               fmt::format("{} rank{} of {} thread{}, {} kernels", run.ranks, run.ranks == 1 ? "" : "s", run.threads,
                           run.threads == 1 ? "" : "s", run.kernels));
  text += card("network", short_bytes(static_cast<double>(run.traffic.worker_bytes)),
               fmt::format("{} between ranks, {} messages", short_bytes(static_cast<double>(run.traffic.rank_bytes)),
                           grouped(run.traffic.rank_messages)));
  text += card(
      "memory", short_bytes(static_cast<double>(planned)),
      resident > 0 ? fmt::format("planned; processes held {}", short_bytes(static_cast<double>(resident))) : "planned");
  return text +
         card("predicted and counted", right ? "equal" : "DIFFERENT",
              right ? "to the byte" : fmt::format("{} numbers differ", facts.check.mismatches.size())) +
         "</div>\n";
}

std::string run_sections(const ReportContext& context, const RunFacts& facts) {
  return time_section(context, facts) + convergence_section(context, facts) + balance_section(context, facts) +
         "<section id=\"check\"><h2>Predicted and counted</h2>\n<div class=\"scroll\">" + checked_table(facts.check) +
         "</div></section>\n";
}

}  // namespace kasen
