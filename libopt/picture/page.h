// The parts of the report as one page (report/html.cpp puts them together). Each returns markup in which all that comes
// from a program, a file's name or a run is escaped. Internal to libopt.
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

// A module on the page. `key` begins the names of its elements: "a12" is operator 12 of the plan, "b12" of what it was
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
  MachineProfile machine;           // the share of it that a rank has
  std::string machine_name;         // empty: nobody gave one
};

[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();
// Of the script, as a page's security policy takes it: base64 of SHA-256. Nothing else may run there.
[[nodiscard]] std::string_view page_script_hash();

[[nodiscard]] std::string picture_svg(const Picture& picture, const Placed& placed, const std::string& key);

[[nodiscard]] std::string source_panel(const Module& module);
// Costs of a turn of each loop and of the program, beside those before where there are some.
[[nodiscard]] std::string summary_tables(const Side& side, const Side* before);
[[nodiscard]] std::string operator_table(const Side& side, const Column& column);
[[nodiscard]] std::string memory_section(const ReportContext& context);

// How far the run was from the prediction, where its time went, how it was shared, and how it converged.
[[nodiscard]] std::string run_cards(const RunFacts& facts);
[[nodiscard]] std::string run_sections(const ReportContext& context, const RunFacts& facts);
// "1.2 ms", "34 MB = predicted" for an operator's box, or both numbers as warnings; nothing where it did not run.
[[nodiscard]] OperatorNote run_note(const ReportContext& context, const RunFacts& facts, int number);
// How its loops went.
[[nodiscard]] std::string turns_section(const ReportContext& context, const RunFacts& facts);
[[nodiscard]] std::string grouped_count(std::int64_t count, const std::string& what);  // "1 turn", "1,200 turns"

struct Curve {
  std::string title, across, up;  // what the axes are
  std::vector<Point> points;      // in ascending order of x
  std::optional<double> limit;    // a line across
};
[[nodiscard]] std::string curve_svg(const Curve& curve);

// "<div class=bar>" with pieces of these shares (0 to 1) of the width, each with its class and what it says.
struct BarPiece {
  double share = 0;
  std::string style, title;
};
[[nodiscard]] std::string bar(const std::vector<BarPiece>& pieces);

}  // namespace kasen
