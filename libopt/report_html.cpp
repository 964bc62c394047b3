// The report as one page that needs nothing else: no scripts, no links.
#include <fmt/format.h>

#include "libopt/footprint.h"
#include "libopt/report_parts.h"

namespace kasen {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

constexpr std::string_view style = R"(body{font:14px/1.45 sans-serif;max-width:75em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;margin:.5em 0 1.5em}td,th{padding:.15em .8em;text-align:left;border-bottom:1px solid #ddd}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tr.source td{background:#f4f4f4;font-family:monospace}
td.op{font-family:monospace;white-space:pre}tr.inner td{color:#777})";

std::string quantity(const ReportContext& c, const Polynomial& polynomial) {
  if (polynomial.is_zero()) return "<td class=\"n\">-</td>";
  const auto value = c.value(polynomial);
  const std::string title = value ? fmt::format(" title=\"{}\"", bytes_text(*value)) : "";
  return fmt::format("<td class=\"n\"{}>{}</td>", title, escaped(c.formula(polynomial)));
}

std::string operator_rows(const ReportContext& c, const Column& column) {
  std::string text =
      "<table><tr><th>operator</th><th>state</th><th class=\"n\">reads</th><th class=\"n\">writes</th>"
      "<th class=\"n\">network</th></tr>\n";
  int line = 0;
  for (const CostRow& row : c.report().rows) {
    if (!c.is_worth_a_line(row)) continue;
    const std::string source = c.source_line(row.where);
    if (row.where.line != line && !source.empty()) {
      text += fmt::format("<tr class=\"source\"><td colspan=\"5\">{} {}</td></tr>\n", row.where.line, escaped(source));
    }
    line = row.where.line;
    const Cost& cost = row.*column.of_row;
    const bool inner = row.region >= 0;
    text += fmt::format("<tr{}><td class=\"op\">{}{}</td><td>{}</td>", inner ? " class=\"inner\"" : "",
                        std::string(static_cast<size_t>(2 * row.depth), ' '), escaped(row.text), escaped(row.state));
    for (const Polynomial* p : {&cost.read, &cost.written, &cost.network}) {
      text += inner ? std::string("<td></td>") : quantity(c, column.form(*p));
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

std::string summary_rows(const ReportContext& c, const Column& column, const std::string& title, const Cost& cost) {
  std::string text = fmt::format("<h3>{}</h3>\n<table>", escaped(title));
  for (const Measure& measure : measures()) {
    if (measure.model_only && column.key != "model") continue;
    const Polynomial polynomial = column.form(cost.*measure.part);
    const auto value = c.value(polynomial);
    const bool elements = measure.key.ends_with("_elements");
    const std::string shown = !value ? std::string() : elements ? grouped(*value) : bytes_text(*value);
    text += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", measure.text,
                        escaped(c.formula(polynomial)), shown);
  }
  return text + "</table>\n";
}

}  // namespace

std::string report_html(const Module& module, const Sizes* sizes) {
  const ReportContext c(module, sizes);
  const CostReport& report = c.report();
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}: "
      "cost</title><style>{1}</style></head>\n"
      "<body><h1>{0}, level {2}</h1>\n",
      escaped(report.program), style, report.level);
  if (report.unplaced) text += "<p>No states yet: all vectors are costed as if partitioned (state P).</p>\n";
  for (const std::string& word : assumptions_of(module)) {
    text += fmt::format("<p>The program assumes {}.</p>\n", escaped(word));
  }
  if (sizes != nullptr) {
    text += fmt::format("<p>Sizes from {}:", escaped(sizes->origin));
    for (const auto& [symbol, value] : sizes->totals) {
      if (symbol.kind != SymbolKind::whole) text += fmt::format(" {} = {};", escaped(c.name(symbol)), grouped(value));
    }
    text += "</p>\n";
  }
  for (const Column& column : report_columns()) {
    text += fmt::format("<h2>{}</h2>\n", escaped(column.title)) + operator_rows(c, column);
    for (const LoopCost& loop : report.loops) {
      const std::string title =
          fmt::format("Per iteration of the {}", c.place(report.rows[static_cast<size_t>(loop.number)]));
      text += summary_rows(c, column, title, loop.*column.of_loop);
    }
    text += summary_rows(c, column, "Whole program", report.*column.of_program);
  }
  return text + "</body></html>\n";
}

}  // namespace kasen
