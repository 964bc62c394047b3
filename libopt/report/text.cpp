#include <fmt/format.h>

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libopt/bounds/tables.h"
#include "libopt/cost/footprint.h"
#include "libopt/report/live_set.h"
#include "libopt/sync/ahead.h"
#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

std::string cell(const ReportContext& c, const Polynomial& polynomial) {
  return polynomial.is_zero() ? "-" : c.formula(polynomial);
}

std::string heading(const ReportContext& c) {
  const CostReport& report = c.report();
  std::string text = fmt::format("{}, level {}", report.program, report.level);
  if (!c.module().source_name.empty()) text += fmt::format(", from {}", c.module().source_name);
  text += '\n';
  if (report.unplaced) text += "This module has no states yet: all vectors are costed as if partitioned (state P).\n";
  for (const std::string& word : assumptions_of(c.module())) text += "The program assumes " + word + ".\n";
  if (c.sizes() == nullptr) return text;
  text += fmt::format("Sizes from {}:", c.sizes()->origin);
  for (const auto& [symbol, value] : c.sizes()->totals) {
    if (symbol.kind != SymbolKind::whole) text += fmt::format(" {} = {};", c.name(symbol), grouped(value));
  }
  text.back() = '\n';
  for (const std::string& note : c.sizes()->notes) text += fmt::format("Assumed: {}.\n", note);
  return text;
}

// Returns the notes on speculated operators, by number.
std::vector<std::string> ahead_notes(const Module& module) {
  const IdMap<ValueId, const Op*> ahead = made_ahead(module);
  std::vector<std::string> notes;
  for_each_op(module, [&](const Op& op, int, int) {
    const bool branch = op.speculated && ahead[op.results.at(0)] != nullptr;
    notes.emplace_back(branch ? "  (the likely branch's)" : op.speculated ? "  (next iteration's)" : "");
  });
  return notes;
}

std::string label(const ReportContext& c, const CostRow& row, const std::vector<std::string>& notes) {
  std::string text(static_cast<size_t>(2 * row.depth), ' ');
  if (row.code == OpCode::while_loop || row.code == OpCode::for_loop || row.code == OpCode::if_else) {
    return text + c.place(row);
  }
  return text + row.text + notes[static_cast<size_t>(row.number)];
}

std::string operator_table(const ReportContext& c, const Column& column) {
  std::vector<std::vector<std::string>> rows{{"line", "operator", "state", "reads", "writes", "network"}};
  const std::vector<std::string> notes = ahead_notes(c.module());
  int line = 0;
  for (const CostRow& row : c.report().rows) {
    if (!c.is_worth_a_line(row)) continue;
    const std::string source = c.source_line(row.where);
    if (row.where.line != line && !source.empty()) rows.push_back({fmt::format("{:>4} | {}", row.where.line, source)});
    line = row.where.line;
    const Cost& cost = row.*column.of_row;
    if (row.region >= 0) {
      rows.push_back({"", label(c, row, notes), row.state});
      continue;
    }
    rows.push_back({"", label(c, row, notes), row.state, cell(c, column.form(cost.read)),
                    cell(c, column.form(cost.written)), cell(c, column.form(cost.network))});
  }
  return table_text(rows);
}

// Returns "reads 20 V + 24 nnz bytes" and, if sizes are known, the number.
std::string sentence(const ReportContext& c, const Column& column, const Measure& measure, const Cost& cost) {
  const Polynomial polynomial = column.form(cost.*measure.part);
  return fmt::format("  {} {} bytes{}\n", measure.text, c.formula(polynomial), c.number(polynomial, bytes_text));
}

std::string summary(const ReportContext& c, const Column& column, const Cost& cost) {
  std::string text;
  for (const Measure& measure : measures()) {
    const bool is_model = column.key == "model";
    if (measure.key.ends_with("_elements") || (measure.model_only && !is_model)) continue;
    text += sentence(c, column, measure, cost);
    if (measure.key != "network_bytes" || !is_model) continue;
    if (const Polynomial by_axis = printed_form(cost.network); by_axis != paper_form(cost.network)) {
      text += fmt::format("    by axis: {} bytes{}\n", c.formula(by_axis), c.number(by_axis, bytes_text));
    }
  }
  return text;
}

std::string iterations_text(const ReportContext& c, const LoopCost& loop) {
  const auto iterations = c.value(loop.trips);
  const bool given = c.sizes() != nullptr && iterations && !loop.trips.constant();
  if (loop.expected && !(given && *iterations != *loop.expected))
    return fmt::format("{} iteration{} expected", grouped(*loop.expected), *loop.expected == 1 ? "" : "s");
  return iterations ? fmt::format("{} iteration{}", grouped(*iterations), *iterations == 1 ? "" : "s")
                    : fmt::format("{} iterations", c.formula(loop.trips));
}

std::string totals(const ReportContext& c, const Column& column) {
  std::string text;
  for (const LoopCost& loop : c.report().loops) {
    const CostRow& row = c.report().rows[static_cast<size_t>(loop.number)];
    text += fmt::format("\nPer iteration of the {} ({}):\n", c.place(row), iterations_text(c, loop));
    text += summary(c, column, loop.*column.of_loop);
  }
  text += "\nWhole program:\n";
  text += summary(c, column, c.report().*column.of_program);
  return text;
}

// Where the arrays that are live at one time take most.
std::string live_text(const ReportContext& c, int number) {
  if (number < 0) return {};
  const CostRow& row = c.report().rows.at(static_cast<size_t>(number));
  if (row.where.line == 0) return {};
  return fmt::format("Arrays that are live at one time take most at line {}.\n", row.where.line);
}

// On the worker where they do.
std::string live_text(const ReportContext& c, const std::vector<LiveSet>& live) {
  const auto most = std::max_element(live.begin(), live.end(), [](auto& a, auto& b) { return a.bytes < b.bytes; });
  return most == live.end() ? std::string() : live_text(c, most->number);
}

// Where the plan's mesh names nodes: what of all that is sent goes from node to node.
std::string nodes_text(const ReportContext& c) {
  if (!names_nodes(c.module()) || c.sizes() == nullptr || c.sizes()->by_worker.empty()) return {};
  const auto traffic = traffic_of_workers(c);
  if (!traffic) return {};
  std::int64_t sent = 0;
  for (const std::int64_t bytes : traffic->sent) sent += bytes;
  return fmt::format("\nNetwork bytes of the whole program: {} between nodes, {} inside a node.\n",
                     grouped(traffic->between_nodes), grouped(sent - traffic->between_nodes));
}

std::string memory_text(const ReportContext& c) {
  const Footprint memory = footprint(c.module());
  std::string text = "\nMemory held by the run, over all workers (without padding):\n";
  const auto line = [&](const char* what, const Polynomial& polynomial) {
    const Polynomial form = printed_form(polynomial);
    text += fmt::format("  {} {} bytes{}\n", what, c.formula(form), c.number(form, bytes_text));
  };
  line("buffers", memory.buffers);
  const auto live_form = largest_live_form(c.module(), [&](const Polynomial& form) { return c.value(form); });
  if (live_form) {
    line("live at one time", live_form->bytes);
    if (const Polynomial gap = memory.buffers - live_form->bytes; !gap.terms().empty()) line("gap between these", gap);
  }
  line("matrices", memory.matrices);
  line("inputs", memory.inputs);
  if (c.sizes() == nullptr || c.sizes()->by_worker.empty())
    return text +
           "  not counted here, but in a run: exchange areas, lists of indices, kernels (known from --bundle)\n" +
           (live_form ? live_text(c, live_form->number) : std::string());
  text += "Exactly, by worker (bytes; sends and receives of the whole program, as above):\n";
  const auto traffic = traffic_of_workers(c);
  const std::vector<LiveSet> live = largest_live_sets(c.module(), *c.sizes());
  std::vector<std::vector<std::string>> rows{
      {"  worker", "buffers", "live", "gap", "exchange", "matrices", "inputs", "lists", "sends", "receives"}};
  for (const PartCount& part : predict_parts(c.module(), *c.sizes())) {
    const std::int64_t live_bytes = live.at(static_cast<size_t>(part.worker)).bytes;
    rows.push_back({fmt::format("  {}", part.worker), grouped(part.buffer_bytes), grouped(live_bytes),
                    grouped(part.buffer_bytes - live_bytes), grouped(part.exchange_bytes), grouped(part.matrix_bytes),
                    grouped(part.input_bytes), part.list_bytes < 0 ? "-" : grouped(part.list_bytes),
                    traffic ? grouped(traffic->sent.at(static_cast<size_t>(part.worker))) : "-",
                    traffic ? grouped(traffic->received.at(static_cast<size_t>(part.worker))) : "-"});
  }
  text += table_text(rows);
  text += live_text(c, live);
  const std::int64_t kernels = predict_kernel_bytes(c.module(), *c.sizes());
  if (kernels == 0) return text;
  return text + fmt::format("Generated kernels hold {} more: matrices of products in loops, rows sorted by length.\n",
                            bytes_text(kernels));
}

}  // namespace

std::string report_text(const Module& module, const Sizes* sizes, bool model) {
  const ReportContext context(module, sizes);
  std::string text = heading(context);
  for (const Column& column : columns_in_text(model)) {
    text += fmt::format("\n{}; bytes of one execution\n\n", column.title);
    text += operator_table(context, column);
    text += totals(context, column);
  }
  return text + nodes_text(context) + memory_text(context) + bounds_text(context);
}

}  // namespace kasen
