// The parts of the report as one page (pages/html.cpp joins them). Each returns markup in which all text from a
// program, a file's name or a run is escaped. Internal to libopt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libopt/picture/layout.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/run_report.h"
#include "libopt/time/times.h"

namespace kasen {

// A module on the page. `key` begins the names of its elements: "a12" is operator 12 of the plan, "b12" of the module
// before.
struct Side {
  std::string key, title;
  const ReportContext& context;
};

// A run beside the prediction.
struct RunFacts {
  const RunReport& run;
  Check check;
  std::vector<OperatorTime> times;  // by operator's number
  MachineProfile machine;           // the share of the machine that a rank has
  std::string machine_name;         // empty if nobody gave one
};

[[nodiscard]] std::string page_style();
[[nodiscard]] std::string_view graph_style();  // what it has of graphs
[[nodiscard]] std::string_view page_script();
// The hash of the script as a page's security policy takes it: base64 of SHA-256. No other script may run there.
[[nodiscard]] std::string_view page_script_hash();

// Up to the beginning of its body. `other_script_hash` is that of a second script.
[[nodiscard]] std::string page_head(const std::string& title, std::string_view other_script_hash = {});

[[nodiscard]] std::string picture_svg(const Picture& picture, const Placed& placed, const std::string& key);
// Draws it into a file, which has no lines of a program to lead to.
void draw_picture(Canvas& canvas, const Picture& picture, const Placed& placed);

// A formula as markup: "24 N trips", or its largest terms, which open to all of them.
[[nodiscard]] std::string formula_text(const ReportContext& context, const Polynomial& polynomial);
[[nodiscard]] std::string source_panel(const Module& module);
// Costs of an iteration of each loop and of the program, beside those before where there are some.
[[nodiscard]] std::string summary_tables(const Side& side, const Side* before);
[[nodiscard]] std::string operator_table(const Side& side, const Column& column);
[[nodiscard]] std::string memory_section(const ReportContext& context);

// States the run's distance from the prediction, where its time went, how it was shared, and how it converged.
[[nodiscard]] std::string run_cards(const RunFacts& facts);
[[nodiscard]] std::string run_sections(const ReportContext& context, const RunFacts& facts);
// Returns "1.2 ms", "34 MB = predicted" for an operator's box, or both numbers as warnings. It is empty if the operator
// did not run.
[[nodiscard]] OperatorNote run_note(const ReportContext& context, const RunFacts& facts, int number);
// States how the run's loops went.
[[nodiscard]] std::string iterations_section(const ReportContext& context, const RunFacts& facts);
[[nodiscard]] std::string grouped_count(std::int64_t count, const std::string& what);  // "1,200 iterations"

struct Curve {
  std::string title, across, up;  // the labels of the axes
  std::vector<Point> points;      // in ascending order of x
  std::optional<double> limit;    // a line across
};
[[nodiscard]] std::string curve_svg(const Curve& curve);

// Returns "<div class=bar>" with pieces of these shares (0 to 1) of the width, each with its class and its title.
struct BarPiece {
  double share = 0;
  std::string style, title;
};
[[nodiscard]] std::string bar(const std::vector<BarPiece>& pieces);

}  // namespace kasen
