#include <fmt/format.h>

#include "libopt/cost/footprint.h"
#include "libopt/draw/page_text.h"
#include "libopt/picture/page.h"

namespace kasen {
namespace {

// Shows a number with the formula that gives it, or the formula alone if sizes are not known.
std::string quantity(const ReportContext& c, const Polynomial& polynomial) {
  if (polynomial.is_zero()) return "<td class=\"n\" data-value=\"0\">-</td>";
  const auto value = c.value(polynomial);
  const std::string formula = formula_text(c, polynomial);
  if (!value) return fmt::format("<td class=\"n\">{}</td>", formula);
  const std::string_view at_most = c.is_most(polynomial) ? "≤ " : "";
  const std::string small = polynomial.constant() ? "" : fmt::format("<div class=\"small\">{}</div>", formula);
  return fmt::format("<td class=\"n\" data-value=\"{}\">{}{}{}</td>", *value, at_most, grouped(*value), small);
}

std::string saved_cell(const ReportContext& a, const Polynomial& before, const ReportContext& b,
                       const Polynomial& after) {
  const auto from = a.value(before), to = b.value(after);
  if (!from || !to) {  // formulas that name loops by their lines: the modules number them differently
    return fmt::format("<td class=\"n\">{}</td>", a.formula(before) == b.formula(after) ? "same" : "");
  }
  if (*from == *to) return "<td class=\"n\">same</td>";
  const double percent = *from == 0 ? 0 : 100.0 * static_cast<double>(*from - *to) / static_cast<double>(*from);
  return fmt::format("<td class=\"n {}\">{}{}</td>", *to < *from ? "good" : "bad", grouped(*from - *to),
                     *from == 0 ? "" : fmt::format("<small>{:.1f} %</small>", percent));
}

struct Costs {
  const Cost* before = nullptr;
  const Cost& after;
};

std::string summary_table(const Side& side, const Side* before, const Column& column, const std::string& title,
                          const Costs& costs) {
  std::string text =
      fmt::format("<table class=\"summary\"><caption>{}</caption><thead><tr><th></th>", page_text(title));
  text += costs.before != nullptr ? "<th class=\"n\">before</th><th class=\"n\">after</th><th class=\"n\">saved</th>"
                                  : "<th class=\"n\"></th>";
  text += "</tr></thead><tbody>\n";
  for (const Measure& measure : measures()) {
    if (measure.model_only && column.key != "model") continue;
    const Polynomial after = column.form(costs.after.*measure.part);
    const bool bytes = measure.key.ends_with("_bytes");
    text += fmt::format("<tr><th>{}{}</th>", measure.text, bytes ? "<small>bytes</small>" : "");
    if (costs.before != nullptr) {
      const Polynomial was = column.form(costs.before->*measure.part);
      text += quantity(before->context, was) + quantity(side.context, after) +
              saved_cell(before->context, was, side.context, after);
    } else {
      text += quantity(side.context, after);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

std::string column_tables(const Side& side, const Side* before, const Column& column) {
  const CostReport& report = side.context.report();
  std::string text;
  const bool alike = before != nullptr && before->context.report().loops.size() == report.loops.size();
  for (size_t i = 0; i < report.loops.size(); ++i) {
    const LoopCost& loop = report.loops[i];
    const std::string title =
        fmt::format("An iteration of the {}", side.context.place(report.rows[static_cast<size_t>(loop.number)]));
    const Cost* was = alike ? &(before->context.report().loops[i].*column.of_loop) : nullptr;
    text += summary_table(side, before, column, title, {was, loop.*column.of_loop});
  }
  const Cost* was = before != nullptr ? &(before->context.report().*column.of_program) : nullptr;
  return text + summary_table(side, before, column, "Whole program", {was, report.*column.of_program});
}

std::string operator_row(const Side& side, const Column& column, const CostRow& row) {
  const std::string op = fmt::format("{}{}", side.key, row.number);
  const bool actual = column.key == "actual";  // the same operator stands in both tables: one has the name
  const std::string id = actual ? fmt::format(" id=\"row-{}\"", op) : "";
  std::string text = fmt::format("<tr{} class=\"{}\" data-op=\"{}\"{}>", id, row.region >= 0 ? "inner" : "outer", op,
                                 row.where.line > 0 ? fmt::format(" data-line=\"{}\"", row.where.line) : "");
  const bool control = kasen::row(row.code).group == OpGroup::control && row.code != OpCode::region;
  text +=
      fmt::format("<td class=\"op\" style=\"padding-left:{}ch\"><a href=\"#{}\">{}</a><small>{}</small></td>",
                  row.depth * 2 + 1, op, page_text(control ? side.context.place(row) : row.text), page_text(row.state));
  const Cost& cost = row.*column.of_row;
  for (const Polynomial* p : {&cost.read, &cost.written, &cost.network}) {
    text += row.region >= 0 ? std::string("<td></td>") : quantity(side.context, column.form(*p));
  }
  return text + "</tr>\n";
}

}  // namespace

std::string source_panel(const Module& module) {
  if (module.source.empty()) return "<p>The module does not carry its program's text.</p>\n";
  std::string text = "<pre class=\"source\">";
  for (size_t i = 0; i < module.source.size(); ++i) {
    text += fmt::format("<span class=\"src\" id=\"L{0}\" data-line=\"{0}\"><i>{0}</i>{1}\n</span>", i + 1,
                        page_text(module.source[i]));
  }
  return text + "</pre>\n";
}

std::string summary_tables(const Side& side, const Side* before) {
  std::string text;
  for (const std::string_view key : {"actual", "model"}) {
    for (const Column& column : report_columns()) {
      if (column.key != key) continue;
      if (key == "model") text += fmt::format("<details><summary>{}</summary>\n", page_text(column.title));
      text += column_tables(side, before, column);
      if (key == "model") text += "</details>\n";
    }
  }
  return text;
}

std::string operator_table(const Side& side, const Column& column) {
  std::string text =
      "<table class=\"operators\"><caption>Bytes of one execution</caption><thead><tr><th>operator, state</th><th "
      "class=\"n\">reads</th>"
      "<th class=\"n\">writes</th><th class=\"n\">network</th></tr></thead><tbody>\n";
  int line = 0;
  for (const CostRow& row : side.context.report().rows) {
    if (row.code == OpCode::yield) continue;
    const std::string source = side.context.source_line(row.where);
    if (row.where.line != line && !source.empty()) {
      text += fmt::format(
          "<tr class=\"from\" data-line=\"{0}\"><td colspan=\"4\"><a href=\"#L{0}\">{0}</a> {1}</td></tr>\n",
          row.where.line, page_text(source));
    }
    line = row.where.line;
    text += operator_row(side, column, row);
  }
  return text + "</tbody></table>\n";
}

std::string memory_section(const ReportContext& c) {
  const Footprint memory = footprint(c.module());
  std::string text = "<table><caption>Held by a run, over all workers, without padding (bytes)</caption><tbody>\n";
  const auto line = [&](const char* what, const Polynomial& polynomial) {
    text += fmt::format("<tr><th>{}</th>{}</tr>\n", what, quantity(c, printed_form(polynomial)));
  };
  line("buffers", memory.buffers);
  line("matrices", memory.matrices);
  line("inputs", memory.inputs);
  text += "</tbody></table>\n";
  if (c.sizes() == nullptr || c.sizes()->by_worker.empty()) {
    return text +
           "<p class=\"note\">Not counted here, but in a run: exchange areas, lists of indices and kernels. They are "
           "known from a bundle.</p>\n";
  }
  const std::vector<PartCount> parts = predict_parts(c.module(), *c.sizes());
  std::int64_t most = 1;
  for (const PartCount& part : parts) most = std::max(most, part.held());
  text +=
      "<table class=\"workers\"><caption>On each worker, to the byte</caption><thead><tr><th>worker</th>"
      "<th class=\"n\">buffers</th><th class=\"n\">exchange</th><th class=\"n\">matrices</th><th "
      "class=\"n\">inputs</th><th class=\"n\">lists</th>"
      "<th class=\"wide\"></th></tr></thead><tbody>\n";
  for (const PartCount& part : parts) {
    text += fmt::format("<tr><th>{}</th>", part.worker);
    std::vector<BarPiece> pieces;
    const std::pair<const char*, std::int64_t> held[] = {{"buffers", part.buffer_bytes},
                                                         {"exchange", part.exchange_bytes},
                                                         {"matrices", part.matrix_bytes},
                                                         {"inputs", part.input_bytes},
                                                         {"lists", std::max<std::int64_t>(part.list_bytes, 0)}};
    for (const auto& [what, bytes] : held) {
      text += fmt::format("<td class=\"n\" data-value=\"{}\">{}</td>", bytes, grouped(bytes));
      pieces.push_back({static_cast<double>(bytes) / static_cast<double>(most), what,
                        fmt::format("{}: {}", what, bytes_text(bytes))});
    }
    text += fmt::format("<td class=\"wide\">{}</td></tr>\n", bar(pieces));
  }
  return text +
         "</tbody></table>\n<p class=\"key\"><i class=\"buffers\"></i>buffers <i class=\"exchange\"></i>exchange "
         "<i class=\"matrices\"></i>matrices <i class=\"inputs\"></i>inputs "
         "<i class=\"lists\"></i>lists</p>\n";
}

std::string bar(const std::vector<BarPiece>& pieces) {
  std::string text = "<div class=\"bar\">";
  for (const BarPiece& piece : pieces) {
    if (piece.share <= 0) continue;
    text += fmt::format("<i class=\"{}\" style=\"width:{:.2f}%\" title=\"{}\"></i>", piece.style, 100 * piece.share,
                        page_text(piece.title));
  }
  return text + "</div>";
}

}  // namespace kasen
