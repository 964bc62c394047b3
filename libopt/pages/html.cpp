// The report as one page that needs nothing else. It has no links to other places and no fonts. Its script only lights
// up related parts, and the page's policy lets run only the script with this digest.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/draw/page_text.h"
#include "libopt/pages/results_page.h"
#include "libopt/picture/page.h"
#include "libopt/report/report.h"
#include "libopt/report/streams.h"
#include "libopt/tasks/tables.h"
#include "libopt/time/time_case.h"

namespace kasen {
namespace {

std::string heading(const ReportContext& c, const PageParts& parts) {
  const CostReport& report = c.report();
  std::string text = fmt::format("<header><h1>{}</h1>\n<p class=\"sub\">{}, level {}", page_text(report.program),
                                 parts.run != nullptr ? "a run of the plan"
                                 : report.level > 2   ? "plan"
                                                      : "module",
                                 report.level);
  if (!c.module().source_name.empty()) text += fmt::format(", from {}", page_text(c.module().source_name));
  if (c.sizes() != nullptr) text += fmt::format("; sizes from {}", page_text(c.sizes()->origin));
  text += "</p>\n";
  if (report.unplaced) text += "<p>No states yet: all vectors are costed as if partitioned (state P).</p>\n";
  for (const std::string& word : assumptions_of(c.module())) {
    text += fmt::format("<p>The program assumes {}.</p>\n", page_text(word));
  }
  if (c.sizes() == nullptr) return text + "</header>\n";
  text += "<div class=\"chips\">";
  std::set<std::string> said;  // a size of 0 may have no name of its own
  for (const auto& [symbol, value] : c.sizes()->totals) {
    const std::string chip = fmt::format("<span>{} = {}</span>", page_text(c.name(symbol)), grouped(value));
    if (symbol.kind != SymbolKind::whole && said.insert(chip).second) text += chip;
  }
  text += "</div>\n";
  for (const std::string& note : c.sizes()->notes)
    text += fmt::format("<p class=\"note\">Assumed: {}.</p>\n", page_text(note));
  const std::vector<std::string> lacks = c.lacks(report.actual.read + report.actual.written + report.actual.network);
  if (!lacks.empty())
    text += fmt::format("<p class=\"note\">Formulas of {} stay without numbers: give these, too.</p>\n",
                        page_text(fmt::format("{}", fmt::join(lacks, ", "))));
  return text + "</header>\n";
}

// Links to the sections that exist.
std::string navigation(const std::string& sections) {
  constexpr std::array<std::pair<const char*, const char*>, 11> all{{{"results", "Results"},
                                                                     {"origin", "How they were made"},
                                                                     {"program", "Program and costs"},
                                                                     {"graph", "Dependence graph"},
                                                                     {"tasks", "Tasks"},
                                                                     {"time", "Time"},
                                                                     {"streams", "Streams"},
                                                                     {"convergence", "Iteration by iteration"},
                                                                     {"balance", "Balance"},
                                                                     {"check", "Predicted and counted"},
                                                                     {"memory", "Memory"}}};
  std::string text = "<nav>";
  for (const auto& [id, title] : all) {
    if (sections.find(fmt::format("<section id=\"{}\"", id)) == std::string::npos) continue;
    text += fmt::format("<a href=\"#{}\">{}</a>", id, title);
  }
  return text + "</nav>\n";
}

constexpr std::string_view legend =
    "<p class=\"legend\"><span><i class=\"part\"></i>P: on its master alone</span><span><i class=\"cons\"></i>C: "
    "masters "
    "and slaves agree</span><span><i class=\"pre\"></i>PR: shares, to be reduced</span><span><i "
    "class=\"shared\"></i>whole "
    "on every worker</span><span><i class=\"matrix\"></i>matrix</span><span><i class=\"net\"></i>gather or scatter, "
    "with "
    "the bytes it sends</span><span><i class=\"region\"></i>region: one fused loop</span>";
constexpr std::string_view run_legend =
    "<span><i class=\"differs\"></i>counted bytes that are not the predicted ones</span></p>\n<p class=\"note\">The "
    "last "
    "lines of a box are of the whole run: its time on the slowest rank, the bytes that it touched or sent, and whether "
    "these are the predicted ones. Point at a box for all of its numbers.";

struct Drawn {
  std::string text;
  double width = 0;  // of the widest picture
};

// Pictures, and their places: of none, if Graphviz does not place them.
struct PlacedPictures {
  std::vector<Picture> pictures;
  std::vector<Placed> places;
};

// Of several modules: Graphviz is started once for all of them, since its start takes longer than the placing.
void place_together(std::span<PlacedPictures* const> modules, const PageParts& parts) {
  if (!parts.place) return;
  std::vector<Picture> all;
  for (const PlacedPictures* module : modules) all.insert(all.end(), module->pictures.begin(), module->pictures.end());
  const std::string graphs = dot_text(all, parts.most_arrows);
  const std::optional<std::string> answer = graphs.empty() ? graphs : parts.place(graphs);
  const auto placed = answer ? read_placing(*answer, all, parts.most_arrows) : std::nullopt;
  if (!placed) return;
  auto next = placed->begin();
  for (PlacedPictures* module : modules) {
    const auto end = next + std::ssize(module->pictures);
    module->places.assign(next, end);
    next = end;
  }
}

// Draws the pictures of a module, as Graphviz places them or, if it does not, in the order of the program.
Drawn drawn_pictures(const Side& side, const PlacedPictures& all, std::size_t most_arrows) {
  const bool placed = !all.places.empty();
  Drawn drawn;
  std::string& text = drawn.text;
  for (size_t i = 0; i < all.pictures.size(); ++i) {
    const Picture& picture = all.pictures[i];
    const Placed where = placed ? all.places[i] : place_in_order(picture);
    drawn.width = std::max(drawn.width, where.width);
    if (i > 0) {
      text += fmt::format("<h3 id=\"{}{}-inside\">{}</h3>\n", side.key, picture.number, page_text(picture.title));
    }
    text += "<div class=\"canvas\">" + picture_svg(picture, where, side.key) + "</div>\n";
    if (placed && !is_for_dot(picture, most_arrows)) {
      text += fmt::format("<p class=\"note\">In the program's order, for its {} arrows.</p>\n", picture.edges.size());
    }
  }
  if (!placed) text += "<p class=\"note\">Drawn in the program's order: Graphviz (dot) did not place it.</p>\n";
  return drawn;
}

// A picture that would not fit beside the table stands above it.
std::string panel(const Side& side, const char* name, const PlacedPictures& pictures, std::size_t most_arrows) {
  constexpr double widest_beside = 680;
  const Drawn drawn = drawn_pictures(side, pictures, most_arrows);
  std::string text = fmt::format("<div class=\"panel {}\"><h3>{}</h3><div class=\"split{}\"><div>\n", name, side.title,
                                 drawn.width > widest_beside ? " stacked" : "");
  text += drawn.text + "</div><div class=\"costs\">\n";
  for (const Column& column : report_columns()) {
    if (column.key == "actual") text += operator_table(side, column);
  }
  for (const Column& column : report_columns()) {
    if (column.key == "actual") continue;
    text += fmt::format("<details><summary>{}</summary>{}</details>\n", page_text(column.title),
                        operator_table(side, column));
  }
  return text + "</div></div></div>\n";
}

std::string graph_section(const Side& side, const Side* before, const NodeNote& note, const PageParts& parts) {
  std::string text = "<section id=\"graph\"><h2>Data dependence graph</h2>\n" + std::string(legend);
  text += std::string(parts.run != nullptr ? run_legend : "") + "</p>\n";
  text += "<div class=\"tabs\"><input type=\"radio\" name=\"view\" id=\"v-after\" checked>";
  if (before != nullptr) {
    text +=
        "<label for=\"v-after\">After fusing</label><input type=\"radio\" name=\"view\" id=\"v-before\"><label "
        "for=\"v-before\">Before fusing</label><input type=\"radio\" name=\"view\" id=\"v-both\"><label "
        "for=\"v-both\">Side by side</label>";
  }
  text += "<input type=\"checkbox\" id=\"v-fit\"><label for=\"v-fit\">Fit to width</label><div class=\"panels\">\n";
  PlacedPictures after{pictures_of(side.context, note), {}}, earlier;
  const auto no_note = [](int) { return OperatorNote(); };
  if (before != nullptr) earlier.pictures = pictures_of(before->context, no_note);
  place_together(std::array{&earlier, &after}, parts);
  if (before != nullptr) text += panel(*before, "before", earlier, parts.most_arrows);
  return text + panel(side, "after", after, parts.most_arrows) + "</div></div></section>\n";
}

std::string tiling_table(const TilingTable& table) {
  if (table.rows.empty()) return {};
  std::string text =
      "<table class=\"tilings\"><caption>Cuts over the mesh: sent between workers in the whole run</caption><tbody>\n";
  for (const TilingBytes& row : table.rows) {
    text += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td><td>{}</td></tr>\n", page_text(row.name),
                        row.bytes < 0 ? "none found" : short_bytes(row.bytes), page_text(row.note));
  }
  text += "</tbody></table>\n";
  if (table.defaults.empty()) return text;
  return text + fmt::format("<p class=\"note\">With default sizes: {}.</p>\n",
                            page_text(fmt::format("{}", fmt::join(table.defaults, ", "))));
}

std::string page(const ReportContext& context, const ReportContext* context_before, const RunFacts* facts,
                 const PageParts& parts) {
  const bool compared = context_before != nullptr;
  const Side side{"a", compared ? "After fusing" : "", context};
  const std::optional<Side> before =
      compared ? std::optional<Side>({"b", "Before fusing", *context_before}) : std::nullopt;
  const Side* was = before ? &*before : nullptr;
  const NodeNote note = [&](int number) {
    return facts != nullptr ? run_note(context, *facts, number) : OperatorNote();
  };
  std::string text = page_head(context.report().program + (facts != nullptr ? ": a run" : ": cost"));
  text += heading(context, parts);
  if (facts != nullptr) text += run_cards(*facts);
  std::string sections = results_section(parts.results) + origin_section(parts.origin) +
                         "<section id=\"program\" class=\"two\"><div><h2>Program</h2>\n" +
                         source_panel(context.module()) + "</div><div><h2>Costs</h2>\n<div class=\"scroll\">" +
                         summary_tables(side, was) + tiling_table(parts.tilings) + "</div></div></section>\n";
  sections += graph_section(side, was, note, parts);
  sections += tasks::tasks_section(context.module(), context.sizes());
  if (facts != nullptr) sections += run_sections(context, *facts);
  sections += streams_section(context.module(), context.sizes(), parts.machine, parts.run);
  sections +=
      "<section id=\"memory\"><h2>Memory</h2>\n<div class=\"scroll\">" + memory_section(context) + "</div></section>\n";
  text += navigation(sections) + "<main>" + sections + "</main>\n";
  return text + fmt::format("<script>{}</script></body></html>\n", page_script());
}

}  // namespace

std::string report_html(const Module& module, const Sizes* sizes, const PageParts& parts) {
  const ReportContext context(module, sizes);
  std::optional<ReportContext> before;
  if (parts.before != nullptr) before.emplace(parts.before->module, parts.before->sizes);
  std::optional<RunFacts> facts;
  if (parts.run != nullptr) {
    if (sizes == nullptr) throw InternalError("a run's page needs its bundle's sizes");
    facts.emplace(RunFacts{*parts.run, check_against(module, *sizes, *parts.run),
                           operator_times(module, *sizes, *parts.run, parts.machine),
                           machine_of_rank(parts.machine, *parts.run), parts.machine_name});
  }
  return page(context, before ? &*before : nullptr, facts ? &*facts : nullptr, parts);
}

}  // namespace kasen
