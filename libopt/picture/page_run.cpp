// The page of a run: counts beside predictions, where the time went, and the work of each rank and worker.
#include <fmt/format.h>

#include <algorithm>

#include "libopt/draw/page_text.h"
#include "libopt/picture/run_facts.h"

namespace kasen {
namespace {

// Returns the bytes that an operator moves: touched, for gathers and scatters sent.
std::int64_t moved(const CostRow& row, const OperatorBytes& bytes) {
  return is_transition(row) ? bytes.network : bytes.read + bytes.written;
}

const ComparedOperator& compared(const RunFacts& facts, const CostRow& row) {
  return facts.check.operators.at(static_cast<size_t>(row.number));
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

// Shows the time that a step took and the least that the machine's rates allow it, on one scale.
std::string time_bars(const OperatorTime& time, double most) {
  const PredictedTime& p = time.predicted;
  const auto piece = [&](const char* style, double seconds) {
    return BarPiece{seconds / most, style, fmt::format("{}: {}", style, duration_text(seconds))};
  };
  return bar({piece("measured", time.measured)}) + bar({piece("memory", p.memory), piece("computing", p.compute),
                                                        piece("network", p.network), piece("messages", p.messages)});
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

struct Rate {
  double reached = 0, of_machine = 0;  // bytes a second of a rank; of the machine
  bool known = false;
};

// Among workers of one rank, gathers and scatters move data in memory.
Rate rate_of(const CostRow& row, const RunFacts& facts) {
  const bool network = is_transition(row) && facts.run.ranks > 1;
  const auto bytes = static_cast<double>(moved(row, compared(facts, row).counted));
  const double machine = network ? facts.machine.network_bandwidth : facts.machine.memory_bandwidth;
  return {bytes / facts.run.ranks / counted(facts, row.number).seconds, machine, bytes > 0};
}

// The prediction stands beneath.
std::string bytes_cell(const CostRow& row, const ComparedOperator& both) {
  const std::int64_t count = moved(row, both.counted), predicted = moved(row, both.predicted);
  std::string beneath;
  if (!both.agrees()) {
    beneath = fmt::format("<small class=\"bad\">predicted {}</small>", grouped(predicted));
  } else if (count > 0) {
    beneath = "<small>= predicted</small>";
  }
  return fmt::format("<td class=\"n\" data-value=\"{}\">{}{}</td>", count, count == 0 ? "-" : grouped(count), beneath);
}

std::string time_row(const ReportContext& context, const CostRow& row, const RunFacts& facts, double total,
                     double most) {
  const OperatorTime& time = facts.times.at(static_cast<size_t>(row.number));
  const Rate rate = rate_of(row, facts);
  const std::string source = context.source_line(row.where);
  const char* kind = is_transition(row) ? "net" : row.code == OpCode::region ? "region" : "";
  std::string text = fmt::format(
      "<tr data-op=\"a{0}\"{1}><td class=\"op\"><i class=\"kind {2}\"></i><a href=\"#a{0}\">{3}</a>{4}</td>",
      row.number, row.where.line > 0 ? fmt::format(" data-line=\"{}\"", row.where.line) : "", kind, page_text(row.text),
      source.empty() ? "" : fmt::format("<small>{} {}</small>", row.where.line, page_text(source)));
  text += fmt::format("<td class=\"n\">{}</td>{}<td class=\"n\">{}<small>{}</small></td>",
                      grouped(counted(facts, row.number).executions), bytes_cell(row, compared(facts, row)),
                      duration_text(time.measured), percent_text(time.measured / total));
  const double least = time.predicted.sum();
  text += least > 0 ? fmt::format("<td class=\"n\">{}<small>{}</small></td>", duration_text(least),
                                  percent_text(least / time.measured))
                    : "<td class=\"n\">-</td>";
  text += rate.known ? fmt::format("<td class=\"n\">{}/s<small>{}</small></td>", short_bytes(rate.reached),
                                   percent_text(rate.reached / rate.of_machine))
                     : "<td class=\"n\">-</td>";
  return text + fmt::format("<td class=\"wide\">{}</td></tr>\n", time_bars(time, most));
}

std::string time_table(const std::string& rows) {
  return "<div class=\"scroll\"><table class=\"times\"><thead><tr><th>step</th><th class=\"n\">times</th><th "
         "class=\"n\">bytes</th><th class=\"n\">took</th><th class=\"n\">roofline</th><th class=\"n\">reached</th><th "
         "class=\"wide\"></th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

// The steps that took time, the longest first.
struct Steps {
  std::vector<const CostRow*> rows;
  double total = 0, most = 1e-12, transitions = 0;
};

Steps steps_of(const ReportContext& context, const RunFacts& facts) {
  Steps steps;
  const auto time_of = [&](const CostRow* row) { return facts.times.at(static_cast<size_t>(row->number)); };
  for (const CostRow& row : context.report().rows) {
    if (!has_time(row, counted(facts, row.number))) continue;
    const OperatorTime time = time_of(&row);
    steps.rows.push_back(&row);
    steps.total += time.measured;
    steps.transitions += is_transition(row) ? time.measured : 0;
    steps.most = std::max({steps.most, time.measured, time.predicted.sum()});
  }
  std::stable_sort(steps.rows.begin(), steps.rows.end(),
                   [&](const CostRow* a, const CostRow* b) { return time_of(a).measured > time_of(b).measured; });
  return steps;
}

std::string time_words(const RunFacts& facts, const Steps& steps) {
  const std::string rates =
      facts.machine_name.empty()
          ? "These are the built-in rates, not this machine's: <code>kasen measure --calibrate -o machine.yaml</code> "
            "measures them, <code>--machine machine.yaml</code> gives them."
          : fmt::format("The rates are those of {}: {}.", page_text(facts.machine_name),
                        page_text(machine_text(facts.machine)));
  return fmt::format(
      "<p>Regions and operators took {}, gathers and scatters {} ({}), waiting for slower ranks included. The "
      "upper bar is a step's time, over all its executions, on the slowest rank; the lower bar is its roofline, the "
      "least that the machine's rates allow. {}</p>\n<p class=\"legend\"><span><i class=\"region\"></i>region</span>"
      "<span><i class=\"net\"></i>gather or scatter</span><span><i class=\"measured\"></i>took</span><span><i "
      "class=\"memory\"></i>memory</span><span><i class=\"computing\"></i>computing beyond that</span><span><i "
      "class=\"network\"></i>network</span><span><i class=\"messages\"></i>messages</span></p>\n",
      duration_text(steps.total - steps.transitions), duration_text(steps.transitions),
      percent_text(steps.transitions / steps.total), rates);
}

std::string time_section(const ReportContext& context, const RunFacts& facts) {
  const Steps steps = steps_of(context, facts);
  if (steps.rows.empty()) return {};
  std::string shown, small;
  int small_ones = 0;
  for (const CostRow* row : steps.rows) {
    const bool is_small = facts.times.at(static_cast<size_t>(row->number)).measured < 1e-3 * steps.total &&
                          compared(facts, *row).agrees();
    small_ones += is_small ? 1 : 0;
    (is_small ? small : shown) += time_row(context, *row, facts, steps.total, steps.most);
  }
  std::string text =
      "<section id=\"time\"><h2>Where the time went</h2>\n" + time_words(facts, steps) + time_table(shown);
  if (small_ones > 0) {
    text += fmt::format("<details><summary>{} of less than 0.1 % each</summary>{}</details>\n",
                        grouped_count(small_ones, "step"), time_table(small));
  }
  return text +
         "<p class=\"note\">Bytes: touched, for gathers and scatters sent. Roofline: predicted, and its share of the "
         "time taken. Reached: by one rank, and its share of the machine's rate; more than 100 % came from the "
         "caches.</p></section>\n";
}

// Returns the bytes that a worker touches in the whole run, by the data that it holds; nothing if its own sizes do not
// give them.
std::optional<std::int64_t> touched(const ReportContext& context, const RunFacts& facts, size_t worker) {
  std::int64_t sum = 0;
  Polynomial::Bindings here = context.sizes()->by_worker.at(worker);
  here[{SymbolKind::workers, "", {}, -1}] = 1;  // of what all workers touch alike
  const auto add = [&](const Cost& cost, int runs) {
    const auto bytes = (cost.read + cost.written).evaluate(here);
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

// Shows the bytes that the workers touch. They are left out if their shares do not sum to the counted bytes (data that
// all hold are touched once, or rows are counted apart).
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

}  // namespace

std::string run_cards(const RunFacts& facts) {
  const RunReport& run = facts.run;
  std::int64_t iterations = 0, planned = 0, resident = 0;
  for (const LoopIterations& loop : run.loops) iterations += counted(facts, loop.number).iterations;
  for (const PartCount& p : run.parts) planned += p.held();
  for (const RankCount& rank : run.by_rank) resident += rank.resident_bytes;
  const bool right = facts.check.mismatches.empty();
  std::string text = "<div class=\"cards\">";
  text += card("run", duration_text(run.seconds),
               iterations > 0 ? fmt::format("{}, {} each", grouped_count(iterations, "iteration"),
                                            duration_text(run.seconds / static_cast<double>(iterations)))
                              : "");
  text += card("on", grouped_count(run.workers, "worker"),
               fmt::format("{} of {}, {} kernels", grouped_count(run.ranks, "rank"),
                           grouped_count(run.threads, "thread"), run.kernels));
  text += card("network", short_bytes(static_cast<double>(run.traffic.worker_bytes)),
               fmt::format("{} between ranks, {}", short_bytes(static_cast<double>(run.traffic.rank_bytes)),
                           grouped_count(run.traffic.rank_messages, "message")));
  text += card(
      "memory", short_bytes(static_cast<double>(planned)),
      resident > 0 ? fmt::format("planned; processes held {}", short_bytes(static_cast<double>(resident))) : "planned");
  return text +
         card("predicted and counted", right ? "equal" : "DIFFERENT",
              right ? "to the byte"
                    : grouped_count(static_cast<std::int64_t>(facts.check.mismatches.size()), "difference")) +
         "</div>\n";
}

std::string run_sections(const ReportContext& context, const RunFacts& facts) {
  return time_section(context, facts) + iterations_section(context, facts) + balance_section(context, facts) +
         "<section id=\"check\"><h2>Predicted and counted</h2>\n<div class=\"scroll\">" + checked_table(facts.check) +
         "</div></section>\n";
}

}  // namespace kasen
